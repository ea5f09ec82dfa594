"""The signatures that type checkers see are those of the functions that are called."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

from operator_runtime import ops
from operator_runtime._internal.loader import native


def parameters(source: str, name: str) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of each parameter of the function that `source` defines; annotations are left alone."""
    scope: dict[str, Any] = {}
    exec(f"from __future__ import annotations\n{source}", scope)
    return [(p.name, p.kind, p.default) for p in inspect.signature(scope[name]).parameters.values()]


def written() -> dict[str, str]:
    """The text of every function that the files of operators declare."""
    operators = {name.removeprefix("prepare_").removesuffix("_") for name in ops.__all__}
    trees = [ast.parse((Path(ops.__file__).parent / f"{operator}.py").read_text()) for operator in sorted(operators)]
    return {node.name: ast.unparse(node) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def bound(name: str) -> str:
    """The same of the native function: nanobind writes its n-th default as \\n, and keeps the values beside the text."""
    ((text, _, defaults),) = getattr(native, name).__nb_signature__
    for index, value in reversed([*enumerate(defaults)]):
        text = text.replace(f"\\{index}", repr(value))
    return f"{text}: ..."


def test_every_function_is_declared_and_nothing_else() -> None:
    assert sorted(written()) == sorted(ops.__all__)


@pytest.mark.parametrize("name", ops.__all__)
def test_a_declared_signature_is_that_of_the_function(name: str) -> None:
    declared = parameters(written()[name], name)
    assert declared == parameters(bound(name), name)
    assert len(declared) >= 2

"""The package as a whole: what it exports, its three forms, backends, documentation, and what importing it does not do."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import operator_runtime as rt
import operator_runtime.backend
from operator_runtime._internal import loader, stamp
from operator_runtime.backend import Backend, available_backends, emulated_backends, normalize_backend
from python_process import assert_runs, run_python

OPERATORS = ("copy", "reduce_sum", "softmax", "vector_add")
BUILT = sorted(path.name for path in (Path(__file__).resolve().parent.parent / "ops").iterdir() if path.is_dir())
TWELVE = sorted(form.format(op) for op in OPERATORS for form in ("{}", "{}_", "prepare_{}"))
DOCUMENTED = [getattr(rt, name) for name in rt.ops.__all__] + [rt.is_supported, normalize_backend]

KINDS = pytest.mark.parametrize("kind", [torch, np], ids=["torch", "numpy"])
FORMS = pytest.mark.parametrize("form", ["allocating", "out", "prepared"])


def test_the_package_and_its_ops_export_the_twelve_functions() -> None:
    assert set(TWELVE) <= set(rt.ops.__all__)
    assert set(rt.__all__) == {*rt.ops.__all__, "DimError", "Prepared", "__version__", "is_supported", "ops"}
    for name in TWELVE:
        assert getattr(rt, name) is getattr(rt.ops, name)
        assert callable(getattr(rt, name))


def test_every_file_of_ops_is_an_operator_with_three_forms() -> None:
    for found in pkgutil.iter_modules(rt.ops.__path__):
        module = importlib.import_module(f"operator_runtime.ops.{found.name}")
        assert sorted(module.__all__) == sorted([found.name, f"{found.name}_", f"prepare_{found.name}"])


def test_the_version_is_that_of_the_header(root: Path) -> None:
    assert f'#define OPRT_VERSION_STRING "{rt.__version__}"' in (root / "include/operator_runtime/version.h").read_text()


def run(form: str, op: str, out: Any, *inputs: Any, **attributes: Any) -> Any:
    if form == "allocating":
        return getattr(rt, op)(*inputs, **attributes)
    if form == "out":
        assert getattr(rt, f"{op}_")(out, *inputs, **attributes) is out
        return out
    with getattr(rt, f"prepare_{op}")(out, *inputs, **attributes) as prepared:
        prepared.run()
    return out


@KINDS
@FORMS
def test_copy_copies(form: str, kind: Any) -> None:
    x = kind.arange(6).reshape(2, 3).T
    result = run(form, "copy", kind.zeros((3, 2), dtype=x.dtype), x)
    assert type(result) is type(x)
    assert result.tolist() == [[0, 3], [1, 4], [2, 5]]


@KINDS
@FORMS
def test_vector_add_broadcasts(form: str, kind: Any) -> None:
    result = run(form, "vector_add", kind.zeros((2, 3)), kind.ones((2, 1)), kind.ones(3))
    assert result.tolist() == [[2, 2, 2]] * 2


@KINDS
@FORMS
@pytest.mark.parametrize(
    ("attributes", "want"),
    [
        ({}, 15),
        ({"dim": ()}, 15),
        ({"dim": 0}, [3, 5, 7]),
        ({"dim": [-1]}, [3, 12]),
        ({"dim": (1, 0), "keepdim": True}, [[15]]),
        ({"dim": 1, "keepdim": True}, [[3], [12]]),
    ],
    ids=str,
)
def test_reduce_sum_sums_dims(form: str, kind: Any, attributes: dict[str, Any], want: Any) -> None:
    out = kind.zeros(np.shape(want), dtype=kind.int64)
    result = run(form, "reduce_sum", out, kind.arange(6).reshape(2, 3), **attributes)
    assert result.dtype == kind.int64
    assert result.tolist() == want


@KINDS
@FORMS
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax_normalises_a_dim(form: str, kind: Any, dim: int) -> None:
    x = kind.zeros((2, 4))
    result = run(form, "softmax", kind.ones((2, 4)), x, dim=dim)
    assert result.tolist() == [[1 / x.shape[dim]] * 4] * 2


@pytest.mark.parametrize("dtype", ["float32", "torch.float32", torch.float32, np.float32, np.dtype("float32")], ids=repr)
def test_the_dtype_of_a_sum_may_be_named_in_any_way(dtype: Any) -> None:
    assert rt.reduce_sum(torch.full((1000,), 1.0, dtype=torch.bfloat16), dtype=dtype).dtype == torch.float32
    assert rt.reduce_sum(np.full(4000, 1.0, np.float16), dtype=dtype) == 4000


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,) * 8])
def test_tensors_of_any_rank_and_without_elements_are_taken(shape: tuple[int, ...]) -> None:
    for x in (torch.ones(shape), np.ones(shape)):
        assert rt.copy(x).shape == shape
        assert float(rt.reduce_sum(x)) == x.reshape(-1).shape[0]


def test_is_supported_answers_with_the_text_of_the_error() -> None:
    x = torch.ones(2, 3)
    assert rt.is_supported("softmax", x, x, dim=-1, backend="cpu") == (True, "")
    assert rt.is_supported("softmax", x, x, 5) == (False, "softmax: dim is 5, expected -2..1 for a 2-D input")
    assert rt.is_supported("copy", x, x.double())[1].startswith("copy: float64 to float32 is not supported")
    assert rt.is_supported("copy", x, x.to_sparse())[1].startswith("copy: x is a sparse tensor")
    assert rt.is_supported("copy", x, x, backend="tilelang") == (False, "copy: there are no TileLang operators in this build")


def test_is_supported_raises_for_what_is_no_question() -> None:
    with pytest.raises(TypeError, match="x is a list"):
        rt.is_supported("copy", torch.ones(1), [1.0])
    with pytest.raises(ValueError, match=f"op is 'cosine', expected one of {', '.join(BUILT)}"):
        rt.is_supported("cosine", torch.ones(1))


@pytest.mark.parametrize("function", DOCUMENTED, ids=lambda function: function.__name__)
def test_the_example_in_a_docstring_runs(function: Any) -> None:
    examples = doctest.DocTestParser().get_doctest(function.__doc__, {}, function.__name__, None, None)
    assert examples.examples
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("name", ["cpu", "CPU", "Nvidia", "METAX", "tilelang", "auto"])
def test_a_backend_is_named_in_any_case(name: str) -> None:
    assert normalize_backend(name) is Backend[name.upper()]
    assert normalize_backend(Backend[name.upper()]) is Backend[name.upper()]


def test_no_backend_means_auto() -> None:
    assert normalize_backend(None) is Backend.AUTO


def test_an_unknown_backend_is_a_value_error_that_lists_the_names() -> None:
    with pytest.raises(ValueError, match="backend is 'cuda', expected one of auto, cpu, nvidia, metax, tilelang"):
        normalize_backend("cuda")


@pytest.mark.parametrize("value", [0, True, b"cpu", ["cpu"]])
def test_what_is_no_backend_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match="expected a name, a Backend or None"):
        normalize_backend(value)


def test_every_backend_is_available_or_has_a_reason() -> None:
    reasons = available_backends()
    assert list(reasons) == ["cpu", "nvidia", "metax", "tilelang"]
    assert reasons["cpu"] == ""
    assert reasons["nvidia"] or reasons["metax"] or emulated_backends()


@pytest.mark.parametrize("backend", ["cpu", "CPU", Backend.CPU, Backend.AUTO, None])
def test_functions_take_a_backend_as_normalize_backend_does(backend: Any) -> None:
    x = np.ones(3)
    assert rt.copy(x, backend=backend).tolist() == [1, 1, 1]
    assert rt.prepare_copy(x, x, backend=backend).backend == "cpu"


def test_the_package_works_where_torch_cannot_be_imported() -> None:
    code = """
        import sys
        sys.modules["torch"] = None
        import numpy as np, operator_runtime as rt
        x = np.ones((2, 3), np.float32)
        print(rt.reduce_sum(x, 0).tolist(), rt.softmax(np.zeros(2)).tolist(), rt.copy_(np.zeros(2), np.ones(2)).tolist())
        with rt.prepare_vector_add(x, x, x) as prepared:
            prepared.run()
        print(x.tolist())
    """
    assert assert_runs(code) == "[2.0, 2.0, 2.0] [0.5, 0.5] [1.0, 1.0]\n[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]\n"


def test_import_loads_neither_torch_nor_numpy_nor_a_driver() -> None:
    code = """
        import sys
        import operator_runtime
        print(sorted({"torch", "numpy"} & set(sys.modules)), "libcuda.so" in open("/proc/self/maps").read())
    """
    assert assert_runs(code) == "[] False\n"


def test_import_leaves_subnormal_numbers_alone() -> None:
    code = """
        import numpy as np, operator_runtime as rt
        tiny = np.full(100, 2e-40, np.float32)
        print(bool((tiny * np.float32(0.5) > 0).all()), bool((rt.vector_add(tiny, tiny) > 0).all()))
    """
    assert assert_runs(code) == "True True\n"


def test_a_build_with_a_part_of_the_operators_exports_these() -> None:
    code = """
        import sys
        from operator_runtime._internal import loader
        class Part:
            def __getattr__(self, name):
                if "softmax" in name:
                    raise AttributeError(name)
                return getattr(whole, name)
        whole, loader.native = loader.native, Part()
        for name in [name for name in sys.modules if name.startswith("operator_runtime") and "_internal." not in name]:
            del sys.modules[name]
        import operator_runtime
        print(" ".join(sorted(operator_runtime.ops.__all__)))
    """
    assert assert_runs(code).split() == sorted(name for name in rt.ops.__all__ if "softmax" not in name)


def test_a_folder_without_a_build_is_an_import_error_with_the_line_to_build_it(tmp_path: Path) -> None:
    done = run_python("import operator_runtime", CAMP_BUILD_DIR=str(tmp_path))
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith(f"ImportError: operator_runtime: {tmp_path} holds no native module")
    assert f"Build it: CAMP_BUILD_DIR={tmp_path} {loader.ROOT}/scripts/run.sh (for " in error
    assert f"-B {tmp_path} -DPython_EXECUTABLE={sys.executable} && cmake --build {tmp_path}" in error


def test_the_default_build_is_made_by_the_script(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match=rf"Build it: {tmp_path}/scripts/run.sh \(for .*\), or for this interpreter: cmake"):
        loader.find_module(tmp_path, tmp_path / "build")


def test_a_build_for_another_python_is_an_import_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "python").mkdir()
    (tmp_path / "python/_native.cpython-31-x86_64-linux-gnu.so").touch()
    with pytest.raises(ImportError, match=r"was built for another Python \(_native\.cpython-31-.*Build it: .*cmake"):
        loader.find_module(tmp_path, tmp_path)


def test_a_build_folder_is_relative_to_the_current_folder_and_else_to_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, tree = tmp_path / "here", tmp_path / "tree"
    (here / "near").mkdir(parents=True)
    monkeypatch.chdir(here)
    for named, want in (("near", here / "near"), ("far", tree / "far"), (str(tmp_path), tmp_path), ("", tree / "build")):
        monkeypatch.setenv("CAMP_BUILD_DIR", named)
        assert loader.build_folder(tree) == want


@pytest.fixture
def stamped(tmp_path: Path) -> Path:
    """A tree with one header and one binding, and a build in it that has their stamp."""
    for name in ("include/operator_runtime/tensor.h", "python/native/module.cc", "ops/copy/python.cc", "ops/copy/copy.cc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "build/python").mkdir(parents=True)
    command = [sys.executable, stamp.__file__, str(tmp_path), str(tmp_path / "build/python/_native.stamp")]
    subprocess.run(command, check=True)
    return tmp_path


@pytest.mark.parametrize("file", ["include/operator_runtime/tensor.h", "python/native/module.cc", "ops/copy/python.cc"])
def test_a_module_of_other_sources_is_an_import_error_that_says_rebuild(stamped: Path, file: str) -> None:
    loader.check_stamp(stamped, stamped / "build")
    (stamped / file).write_text("changed")
    with pytest.raises(ImportError, match=f"was built from other sources.*Rebuild with {stamped}/scripts/run.sh"):
        loader.check_stamp(stamped, stamped / "build")


def test_a_module_without_a_stamp_is_an_import_error(stamped: Path) -> None:
    (stamped / "build/python/_native.stamp").unlink()
    with pytest.raises(ImportError, match="was built from other sources"):
        loader.check_stamp(stamped, stamped / "build")


def test_what_the_binding_does_not_see_does_not_change_the_stamp(stamped: Path) -> None:
    (stamped / "ops/copy/copy.cc").write_text("changed")
    loader.check_stamp(stamped, stamped / "build")


def test_without_sources_there_is_nothing_to_compare(tmp_path: Path) -> None:
    loader.check_stamp(tmp_path, tmp_path)

"""Documents: snippets equal their sources, links lead somewhere, lengths stay within bounds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SYNC = ROOT / "scripts" / "sync_snippets.py"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FOLDERS = r"include|src|ops|python|tests|examples|scripts|cmake|docs|\.ci"


def sync(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SYNC), "--root", str(root), *options], capture_output=True, text=True)


def test_snippets_equal_their_sources() -> None:
    result = sync(ROOT, "--check")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "a.py").write_text("x = 1\nif x:\n    # [part]\n    y = 2\n    # [/part]\nz = 3\n")
    (tmp_path / "docs" / "a.md").write_text(
        "<!-- snippet: a.py#part -->\n```\nold\n```\ntext\n"
        '<!-- snippet: a.py "if x" .. "    y" -->\n```python\n```\n'
        '<!-- snippet: a.py "z = " -->\n```python\n```\n'
        "<!-- snippet: a.py -->\n```python\n```\n"
    )
    return tmp_path


def test_a_document_with_an_old_snippet_is_named_and_left_alone(small_tree: Path) -> None:
    before = (small_tree / "docs" / "a.md").read_text()
    result = sync(small_tree, "--check")
    assert result.returncode == 1
    assert "docs/a.md" in result.stdout
    assert (small_tree / "docs" / "a.md").read_text() == before


def test_snippets_are_cut_by_marker_by_text_and_whole(small_tree: Path) -> None:
    assert sync(small_tree).returncode == 0
    assert (small_tree / "docs" / "a.md").read_text() == (
        "<!-- snippet: a.py#part -->\n```python\ny = 2\n```\ntext\n"
        '<!-- snippet: a.py "if x" .. "    y" -->\n```python\nif x:\n    y = 2\n```\n'
        '<!-- snippet: a.py "z = " -->\n```python\nz = 3\n```\n'
        "<!-- snippet: a.py -->\n```python\nx = 1\nif x:\n    y = 2\nz = 3\n```\n"
    )
    assert sync(small_tree, "--check").returncode == 0


@pytest.mark.parametrize("source", ["b.py", "a.py#missing", 'a.py "nowhere" .. "y"', 'a.py "y = 2" .. "x = 1"'])
def test_a_snippet_without_source_is_an_error(small_tree: Path, source: str) -> None:
    (small_tree / "docs" / "a.md").write_text(f"<!-- snippet: {source} -->\n```\n```\n")
    result = sync(small_tree)
    assert result.returncode == 1
    assert result.stdout.startswith("docs/a.md: ")


def test_a_marker_without_a_block_is_an_error(small_tree: Path) -> None:
    (small_tree / "docs" / "a.md").write_text("<!-- snippet: a.py#part -->\n\ntext\n")
    assert sync(small_tree, "--check").returncode == 1


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files_of_the_tree(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_paths_in_backticks_exist(document: Path) -> None:
    """`ops/softmax/softmax.cc` and the like; a path with <op> or * is a pattern."""
    built = document.read_text().split("## Planned, not built")[0]
    named = re.findall(rf"`((?:{FOLDERS})/[\w./-]*\w/?)`", built)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_documents_stay_short() -> None:
    limits = {ROOT / "README.md": 150} | dict.fromkeys((ROOT / "docs" / "ops").glob("*.md"), 60)
    lengths = {path.name: (len(path.read_text().splitlines()), limit) for path, limit in limits.items()}
    assert {name: numbers for name, numbers in lengths.items() if numbers[0] > numbers[1]} == {}


def test_every_operator_has_a_page() -> None:
    operators = {path.name for path in (ROOT / "ops").iterdir() if path.is_dir()}
    pages = {path.stem for path in (ROOT / "docs" / "ops").glob("*.md")}
    assert pages <= operators
    assert {"copy", "vector_add", "reduce_sum", "softmax"} <= pages

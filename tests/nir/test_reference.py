"""The reference pages are what the tables say now."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from gallette.compiler.nir.algebraic.rules import all_rules
from gallette.compiler.nir.run.reference import PAGES, algebraic_page, main, own_passes
from tests.checklists import step

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_regenerating_a_page_changes_nothing(name: str) -> None:
    committed = (FOLDER / name).read_text(encoding="utf-8")
    what = {"opcodes.md": "opcode", "intrinsics.md": "intrinsic", "passes.md": "pass"}
    said = step("compiler/nir", what.get(name, "rewrite rule"), "page")
    assert committed == PAGES[name](), said


def test_pages_say_that_they_are_generated(tmp_path: Path) -> None:
    assert main(str(tmp_path)) == 0
    for name in PAGES:
        assert "Generated" in (tmp_path / name).read_text(encoding="utf-8").splitlines()[0]


def test_every_rule_is_on_its_page() -> None:
    page = algebraic_page()
    missing = [str(rule) for rule in all_rules() if str(rule) not in page]
    assert missing == []


def test_every_pass_has_a_test() -> None:
    """A shader with `CHECK` lines, or another test here, names it."""
    files = [f for f in Path(__file__).parent.rglob("*") if f.suffix in (".nir", ".py")]
    words = set(re.findall(r"\w+", "\n".join(f.read_text(encoding="utf-8") for f in files)))
    assert [n for n in own_passes() if n not in words] == [], step("compiler/nir", "pass", "test")


def test_every_pass_says_what_it_is_for() -> None:
    silent = [name for name, info in own_passes().items() if len(info.doc) < 40]
    assert silent == [], step("compiler/nir", "pass", "docstring")
    for name, info in own_passes().items():
        assert info.function.__name__ == name
        assert inspect.getdoc(info.function) == info.doc

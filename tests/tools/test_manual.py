"""The pages made from parsers and tables, and the table of environment variables."""

from __future__ import annotations

import re

import pytest

from gallette.compiler.environment import VARIABLES
from gallette.manual import PAGES
from tests.tools.documents import ROOT

LAYERS = ("compiler", "pipe", "drivers", "state_tracker", "piglit_subset", "gallette")
READ = re.compile(r'environ(?:\.get|\.pop|\.setdefault)?[\[(]\s*"(GALLETTE_\w+)"|"(GALLETTE_\w+)"')


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_what_the_tables_say(path: str) -> None:
    """After a change of an option or a variable: `python -m gallette.manual`."""
    pytest.importorskip("llvmlite")
    assert (ROOT / path).read_text(encoding="utf-8") == PAGES[path]()


def test_every_variable_that_is_read_is_in_the_table() -> None:
    table = ROOT / "compiler" / "environment.py"
    sources = [p for layer in LAYERS for p in (ROOT / layer).rglob("*.py") if p.resolve() != table]
    found = {
        name
        for path in sources
        for names in READ.findall(path.read_text(encoding="utf-8"))
        for name in names
        if name
    }
    found -= {"GALLETTE_VERSION"}  # a constant
    assert found == set(VARIABLES)


def test_a_variable_is_described_in_sentences() -> None:
    assert all(v.doc.endswith(".") and not v.value.endswith(".") for v in VARIABLES.values())

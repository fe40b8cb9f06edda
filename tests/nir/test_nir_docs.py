"""The examples of docs/nir.md do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nir_cases import read_cases

PAGE = Path(__file__).parents[2] / "docs" / "nir.md"
BLOCKS = re.findall(r"```(nir|python)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_example(number: int, tmp_path: Path) -> None:
    language, code = BLOCKS[number]
    if language == "python":
        exec(compile(code, str(PAGE), "exec"), {})
        return
    file = tmp_path / "example.nir"
    file.write_text(code, encoding="utf-8")
    cases = read_cases(file)
    assert cases
    for case in cases:
        assert case.checks
        case.check()


def test_the_page_has_examples_of_both_kinds() -> None:
    assert {language for language, _ in BLOCKS} == {"nir", "python"}

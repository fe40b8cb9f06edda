"""Formats of images in modules: each is named, and declared where the grammar wants that."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_written_modules import front_end, written

import gallette.compiler.spirv as package
from gallette.compiler.spirv.emit.types import FORMATS

GRAMMAR = Path(package.__file__).parent / "data" / "grammar.txt"
EXTENDED = "StorageImageExtendedFormats"


def of_the_grammar() -> dict[str, bool]:
    """Formats, and whether they need a capability of their own."""
    found: dict[str, bool] = {}
    inside = False
    for line in GRAMMAR.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not line.startswith("."):
            inside = "ImageFormat" in words
        elif inside and words[1] != "Unknown":
            found[words[1]] = EXTENDED in words
    return found


def test_the_grammar_has_all_of_them() -> None:
    known = of_the_grammar()
    assert sum(known.values()) > 20 and sum(not extended for extended in known.values()) > 10
    assert set(FORMATS.values()) <= set(known)
    assert len(set(FORMATS.values())) == len(FORMATS)


@pytest.mark.parametrize("format", FORMATS)
def test_an_image_of_a_format(format: str) -> None:
    name = FORMATS[format]
    assert name.lower() == format.replace("_", "")
    kind = "u" if format.endswith("ui") else "i" if format.endswith("i") else ""
    shader = front_end(
        "frag",
        f"layout({format}, binding = 0) writeonly uniform {kind}image2D a;\n"
        f"void main() {{ imageStore(a, ivec2(1), {kind}vec4(1)); }}",
    )
    lines = written(shader)
    images = [line for line in lines if "OpTypeImage" in line]
    assert [line.split()[-1] for line in images] == [name]
    declared = [line for line in lines if line == f"OpCapability {EXTENDED}"]
    assert len(declared) == of_the_grammar()[name]

"""Limits on what a module may make the compiler do: past them, reading ends with an error."""

from __future__ import annotations

import pytest

from fuzz.bombs import BOMBS
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import SpirvError
from gallette.compiler.spirv.read.translate import spirv_to_nir


def error_of(name: str, size: int) -> str:
    module = assemble(BOMBS[f"spirv/{name}"].make(size))
    with pytest.raises(SpirvError) as found:
        spirv_to_nir(module)
    return str(found.value)


def test_structures_that_double_have_a_bounded_size() -> None:
    assert "has more than 65536 members, with those of its members" in error_of(
        "structs_that_double", 40
    )


def test_structures_have_a_bounded_depth() -> None:
    assert "has more than 256 levels of arrays and structures" in error_of("structs", 300)


def test_control_flow_has_a_bounded_depth() -> None:
    assert "control flow is nested too deeply" in error_of("ifs", 1000)


def test_long_modules_are_read() -> None:
    for name, size in (("functions", 500), ("blocks", 1000), ("phi", 500), ("pointers", 1000)):
        spirv_to_nir(assemble(BOMBS[f"spirv/{name}"].make(size))).unref()

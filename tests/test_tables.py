"""What is declared once stays as it was declared: no row of a table can be changed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from gallette.compiler.debug import FLAGS
from gallette.compiler.nir.ir import addresses
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.metadata import ANALYSES
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.texops import TEX_OPS
from gallette.compiler.nir.run.pass_runner import all_passes
from gallette.compiler.spirv.grammar import grammar
from gallette.drivers.faulty.faults import FAULTS
from gallette.drivers.machines.isa.types import TYPES
from gallette.drivers.machines.simd.isa.opcodes import OPCODES as SIMD_OPCODES
from gallette.drivers.machines.tiler.isa.opcodes import OPCODES as TILER_OPCODES
from gallette.pipe.formats import FORMATS
from gallette.pipe.keys import LOWERINGS
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS
from gallette.state_tracker.texturing.texture_targets import TARGETS

_INSTRUCTIONS = [
    *grammar().by_opcode.values(),
    *(one for each in grammar().extended.values() for one in each.by_opcode.values()),
]
TABLES: dict[str, Collection[Any]] = {
    "debug flags": FLAGS.values(),
    "address formats": addresses.FORMATS.values(),
    "intrinsics": INTRINSICS.values(),
    "analyses": ANALYSES,
    "opcodes": OPCODES.values(),
    "texture operations": TEX_OPS.values(),
    "passes": all_passes().values(),
    "types of registers": TYPES.values(),
    "faults": FAULTS.values(),
    "opcodes of the simd machine": SIMD_OPCODES.values(),
    "opcodes of the tiler's machine": TILER_OPCODES.values(),
    "pixel formats": FORMATS.values(),
    "lowerings": LOWERINGS.values(),
    "internal formats": INTERNAL_FORMATS.values(),
    "texture targets": TARGETS.values(),
    "channels of pixel formats": [c for format in FORMATS.values() for c in format.channels],
    "instructions of SPIR-V": _INSTRUCTIONS,
    "operands of SPIR-V": [spec for instr in _INSTRUCTIONS for spec in instr.operands],
    "enumerants of SPIR-V": [
        one for kind in grammar().enums.values() for one in kind.by_value.values()
    ],
}


@pytest.mark.parametrize("table", TABLES)
def test_rows_of_a_table_cannot_be_changed(table: str) -> None:
    assert TABLES[table]
    for row in TABLES[table]:
        for field in fields(row):
            with pytest.raises(FrozenInstanceError):
                setattr(row, field.name, getattr(row, field.name))

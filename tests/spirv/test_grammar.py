"""The grammar table is what the registry's files give, where these are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gallette.compiler.spirv.grammar import grammar
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.operands import IDS, Context, operands_of

ROOT = Path(__file__).parents[2]
HEADERS = Path("/usr/include/spirv/unified1")


def test_the_table_is_generated() -> None:
    if not (HEADERS / "spirv.core.grammar.json").exists():
        pytest.skip("spirv-headers is not installed")
    program = [sys.executable, str(ROOT / "bench" / "spirv_grammar.py"), str(HEADERS)]
    text = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    table = (ROOT / "compiler" / "spirv" / "data" / "grammar.txt").read_text()
    if text.splitlines()[0] == table.splitlines()[0]:  # another version says other things
        assert text == table


def test_instructions_of_ids_alone_say_how_many_there_are() -> None:
    """One word less, or one more, than all their operands are."""
    checked = 0
    for info in grammar().by_name.values():
        kinds = {spec.kind for spec in info.operands}
        if not kinds or kinds - IDS or any(spec.quantifier for spec in info.operands):
            continue
        count = len(info.operands)
        message = f"words of operands, but {count} are expected"
        for wrong in (count - 1, count + 1):
            with pytest.raises(SpirvError, match=f"{wrong} {message}"):
                operands_of(Instruction(info.opcode, (1,) * wrong), Context())
        found = operands_of(Instruction(info.opcode, (1,) * count), Context())
        assert [o.kind for o in found] == [spec.kind for spec in info.operands]
        checked += 1
    assert checked > 200

"""The register map of explain: what somebody still reads is there, cycle by cycle."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.machines.register_picture import BUSY, IDLE, WAIT, map_picture
from gallette.drivers.machines.tiler.backend.register_map import (
    MOST_WAIT,
    live_registers,
    register_map,
)
from gallette.drivers.machines.tiler.compile import BackendOptions, compile_shader
from gallette.drivers.machines.tiler.isa.table import ISA
from tests.tiler.test_backend import random_program

LOOP = """mov r0.x, #0x0
mov r0.y, #0x3f800000
(rpt5)nop
add.f r0.x, r0.x, r0.y
cmps.f.lt p0.x, r0.x, c0.x
(rpt5)nop
br !p0.x, @8
jump @3
mov r0.z, r0.x
rt null, r0.z, desc=0xf04 len=1 res=0
end"""


def test_a_value_needed_in_the_next_round_lives_to_the_jump() -> None:
    live = live_registers([ISA.read_line(line) for line in LOOP.splitlines()])
    x, y, z = (np.flatnonzero(live[nr]).tolist() for nr in range(3))
    assert x == [0, 1, 2, 3, 4, 5, 6, 7]
    assert y == [1, 2, 3, 4, 5, 6, 7]  # read again if the loop goes on
    assert z == [8]


def test_cycles_are_columns() -> None:
    code = [ISA.read_line(line) for line in LOOP.splitlines()]
    stalls = [0] * len(code)
    stalls[9] = 100
    table, strip = register_map(code, stalls)
    assert table.shape[1] == len(strip) == len(code) + 5 + 5 + MOST_WAIT
    assert np.count_nonzero(strip == WAIT) == MOST_WAIT
    assert np.count_nonzero(strip == IDLE) == 12
    assert table[2, strip == WAIT].all()  # the payload stays while the message waits
    # The loop's value is known by the instruction that wrote it last.
    assert set(table[0, strip == BUSY].tolist()) == {0, 1, 4}


@pytest.mark.parametrize("seed", range(3))
def test_what_is_read_was_there(seed: int) -> None:
    made = compile_shader(random_program(seed), BackendOptions())
    code = made.executable.code
    live = live_registers(code)
    for at, instr in enumerate(code):
        for before in range(at):
            after = code[before]
            leads = after.op.name in ("jump", "br", "brdead") and after.target == at
            falls = before == at - 1 and after.op.name not in ("jump", "end")
            if leads or falls:
                for k in range(len(instr.srcs)):
                    assert live[list(instr.read(k)), before].all()
    assert not live[made.registers :].any() and live.any()
    table, strip = register_map(code, made.stalls)
    assert map_picture(table, 2, strip=strip).shape[2] == 3

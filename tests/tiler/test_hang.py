"""A machine that hangs is a lost context with a report."""

from __future__ import annotations

import pytest

from gallette.compiler.errors import ResetError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.draw.compute import GroupLanes
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.machine.hang import MachineHangError
from gallette.drivers.common.work import Work
from gallette.drivers.tiler.compile import BackendOptions
from gallette.drivers.tiler.program import Counters, compile_program


def kernel(dead: bool) -> Shader:
    """Half of the invocations leave before a barrier, or stay in a loop for ever."""
    b = Builder.shader_main(Stage.COMPUTE, "kernel")
    number = b.intrinsic("load_local_invocation_index", [], num_components=1)
    first = b.ult(number, b.imm_int(16))
    if dead:
        b.push_if(first)
        b.intrinsic("barrier", [])
        b.pop_if()
    else:
        b.push_loop()
        b.break_if(first)
        b.pop_loop()
    return b.shader


def launch(shader: Shader) -> None:
    program = compile_program(shader, BackendOptions(), Counters())
    lanes = GroupLanes(0, 2, (2, 1, 1), (32, 1, 1), 0)
    program.bind(ShaderResources(work=Work(1 << 20))).compute(lanes)


def test_an_endless_loop_is_reported_with_pc_mask_and_registers() -> None:
    with pytest.raises(MachineHangError) as error:
        launch(kernel(False))
    text = str(error.value)
    assert "endless loop" in text
    assert "thread 0 of 1: pc " in text and "execution mask 0xffff0000ffff0000" in text
    assert "jump @" in text or "br " in text
    assert "  r0.x" in text
    assert issubclass(MachineHangError, ResetError)


def test_a_dead_barrier_is_reported() -> None:
    with pytest.raises(MachineHangError, match="dead barrier: 16 of 32 invocations of workgroup 0"):
        launch(kernel(True))

"""A simulated machine that hangs is a lost context with a report; other contexts go on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import ResetError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.draw.compute import GroupLanes
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.work import Work
from gallette.drivers.machines.program import Counters, MachineProgram
from gallette.drivers.machines.simd import compile as simd_compile
from gallette.drivers.machines.simulator.threads import MachineHangError
from gallette.drivers.machines.tiler import compile as tiler_compile
from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import linked


@dataclass(frozen=True)
class Machine:
    """How a machine's programs are made, and what its reports look like."""

    name: str
    compiled: Callable[[Shader], Any]
    thread: str  # the first one that still runs, of 64 invocations of which half are in the loop
    branches: tuple[str, ...]  # one of which it executed last
    register: str
    waiting: str  # the same for 32 channels at a barrier


MACHINES = [
    Machine(
        "simd",
        lambda shader: simd_compile.compile_shader(shader, simd_compile.BackendOptions(width=16)),
        "thread 1 of 4: pc ",
        ("while(16) @", "break(16) @"),
        "  g0   00000001 00000000",
        "0xffff",
    ),
    Machine(
        "tiler",
        lambda shader: tiler_compile.compile_shader(shader, tiler_compile.BackendOptions()),
        "thread 0 of 1: pc ",
        ("jump @", "br p0."),
        "  r0.x",
        "0xffff0000ffff0000",
    ),
]
machines = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)


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


def launch(machine: Machine, shader: Shader) -> None:
    lanes = GroupLanes(0, 2, (2, 1, 1), (32, 1, 1), 0)
    program = MachineProgram(shader, machine.compiled(shader), Counters())
    program.bind(ShaderResources(work=Work(1 << 20))).compute(lanes)


@machines
def test_an_endless_loop_is_reported_with_pc_mask_and_registers(machine: Machine) -> None:
    with pytest.raises(MachineHangError) as error:
        launch(machine, kernel(False))
    text = str(error.value)
    assert "endless loop" in text
    assert machine.thread in text and f"execution mask {machine.waiting}" in text
    assert any(branch in text for branch in machine.branches)
    assert machine.register in text
    assert issubclass(MachineHangError, ResetError)


@machines
def test_a_dead_barrier_is_reported(machine: Machine) -> None:
    with pytest.raises(MachineHangError, match="dead barrier: 16 of 32 invocations of workgroup 0"):
        launch(machine, kernel(True))


# -- through OpenGL --------------------------------------------------------------------------------

VERTEX = """#version 430
void main() {
    gl_Position = vec4(float(gl_VertexID % 2) * 4.0 - 1.0, float(gl_VertexID / 2) * 4.0 - 1.0,
                       0.0, 1.0);
}"""
FRAGMENT = """#version 430
uniform float s;
out vec4 c;
void main() { c = vec4(0, 1, 0, 1); %s }"""
REGISTER = r"\n  [gr][0-9.xyzw]+ .*00000002"
ENDLESS = "int i = 2; while (i != 1) i = (i + int(s)) & 1022; c = vec4(i);"
BARRIER = """#version 430
layout(local_size_x = 32) in;
void main() { if (gl_LocalInvocationIndex < 16u) barrier(); }"""


def loop_for_ever(gl: GLInterface) -> None:
    linked(gl, vertex=VERTEX, fragment=FRAGMENT % ENDLESS)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)


def wait_for_ever(gl: GLInterface) -> None:
    linked(gl, compute=BARRIER)
    gl.dispatch_compute(1, 1, 1)


@machines
@pytest.mark.parametrize(
    ("hang", "told"),
    [
        (
            loop_for_ever,
            ("endless loop", "pc ", "execution mask 0x", r"\n  [gr][0-9.xyzw]+ .*00000002"),
        ),
        (wait_for_ever, ("dead barrier: 16 of 32 invocations", "pc ", "execution mask 0x")),
    ],
    ids=["loop", "barrier"],
)
def test_a_hang_loses_the_context_and_no_other(
    machine: Machine,
    hang: Callable[[GLInterface], None],
    told: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = tmp_path / "gallette.toml"
    settings.write_text(f'[[application]]\ndriver = "{machine.name}"\nbudget = 8000000\n')
    monkeypatch.setenv("GALLETTE_CONFIG", str(settings))
    options: dict[str, Any] = {"profile": "compat", "version": (4, 3), "size": (16, 16)}
    with create_context(machine.name, **options) as gl:
        gl.enable(GL.DEBUG_OUTPUT)
        hang(gl)
        gl.finish()
        assert gl.get_error() == GL.CONTEXT_LOST
        assert gl.get_graphics_reset_status() == GL.GUILTY_CONTEXT_RESET
        logged = gl.get_debug_message_log(100)[-1].text
        printed = capsys.readouterr().err
        for part in told:
            assert re.search(part, logged) and re.search(part, printed)
    gl.release()
    with create_context(machine.name, **options) as other:
        linked(other, vertex=VERTEX, fragment=FRAGMENT % "")
        other.draw_arrays(GL.TRIANGLES, 0, 3)
        data = other.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
        assert np.frombuffer(data, np.uint8).tolist() == [0, 255, 0, 255]
    other.release()

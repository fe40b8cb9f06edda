"""A machine that hangs is a lost context with a report; other machines' contexts go on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gallette.compiler.errors import ResetError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.draw.compute import GroupLanes
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.work import Work
from gallette.drivers.simd.compile import BackendOptions
from gallette.drivers.simd.machine.executable import MachineHangError
from gallette.drivers.simd.program import Counters, compile_program
from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL


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
    program = compile_program(shader, BackendOptions(width=16), Counters())
    lanes = GroupLanes(0, 2, (2, 1, 1), (32, 1, 1), 0)
    program.bind(ShaderResources(work=Work(1 << 20))).compute(lanes)


def test_an_endless_loop_is_reported_with_pc_mask_and_registers() -> None:
    with pytest.raises(MachineHangError) as error:
        launch(kernel(False))
    text = str(error.value)
    assert "endless loop" in text
    assert "thread 1 of 4: pc " in text and "execution mask 0xffff" in text
    assert "while(16) @" in text or "break(16) @" in text
    assert "  g0   00000001 00000000" in text


def test_a_dead_barrier_is_reported() -> None:
    with pytest.raises(MachineHangError, match="dead barrier: 16 of 32 invocations of workgroup 0"):
        launch(kernel(True))


def test_a_hang_loses_the_context_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gallette.toml"
    settings.write_text('[[application]]\ndriver = "simd"\nbudget = 8000000\n')
    monkeypatch.setenv("GALLETTE_CONFIG", str(settings))
    gl = create_context("simd", profile="compat", version=(3, 3), size=(16, 16))
    with gl:
        program = _program(gl, "int i = 0; while (i != 1) i = (i + int(s)) & 1022; c = vec4(i);")
        gl.use_program(program)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        gl.finish()
        assert gl.get_error() == GL.CONTEXT_LOST
        assert gl.get_graphics_reset_status() == GL.GUILTY_CONTEXT_RESET
    other = create_context("simd", profile="compat", version=(3, 3), size=(16, 16))
    with other:
        other.use_program(_program(other, ""))
        other.draw_arrays(GL.TRIANGLES, 0, 3)
        data = other.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
        assert np.frombuffer(data, np.uint8).tolist() == [0, 255, 0, 255]
    assert issubclass(MachineHangError, ResetError)


_FRAGMENT = "uniform float s;\nout vec4 c;\nvoid main() { c = vec4(0, 1, 0, 1); %s }"


def _program(gl: object, body: str) -> int:
    made = gl.create_program()  # type: ignore[attr-defined]
    for kind, text in (
        (
            GL.VERTEX_SHADER,
            "void main() { gl_Position = vec4(float(gl_VertexID % 2) * 4.0 - 1.0, "
            "float(gl_VertexID / 2) * 4.0 - 1.0, 0.0, 1.0); }",
        ),
        (GL.FRAGMENT_SHADER, _FRAGMENT % body),
    ):
        shader = gl.create_shader(kind)  # type: ignore[attr-defined]
        gl.shader_source(shader, "#version 330\n" + text)  # type: ignore[attr-defined]
        gl.compile_shader(shader)  # type: ignore[attr-defined]
        gl.attach_shader(made, shader)  # type: ignore[attr-defined]
    gl.link_program(made)  # type: ignore[attr-defined]
    return int(made)

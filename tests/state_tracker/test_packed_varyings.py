"""More varyings than slots: components follow each other without gaps, whatever their types."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL

TYPES = {
    "float": 1, "vec2": 2, "vec3": 3, "vec4": 4, "mat2": 4, "mat3x2": 6, "mat3": 9,
    "int": 1, "ivec3": 3, "uvec2": 2, "double": 1, "dvec3": 3, "dmat2x3": 6,
}  # fmt: skip


def _value(kind: str, first: int) -> str:
    return f"{kind}({', '.join(str(first + i) for i in range(TYPES[kind]))})"


def _program(gl: Context, vertex: str, fragment: str, captured: str = "") -> int:
    program = gl.create_program()
    for kind, source in ((GL.VERTEX_SHADER, vertex), (GL.FRAGMENT_SHADER, fragment)):
        shader = gl.create_shader(kind)
        gl.shader_source(shader, source)
        gl.compile_shader(shader)
        assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(shader)
        gl.attach_shader(program, shader)
    if captured:
        gl.transform_feedback_varyings(program, [captured], GL.INTERLEAVED_ATTRIBS)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS)[0], gl.get_program_info_log(program)
    return program


def _mix(seed: int, words: int) -> list[tuple[str, int]]:
    """Random types and array lengths (0: no array) that fill about `words` components."""
    random_ = random.Random(seed)
    found: list[tuple[str, int]] = []
    while words > 0:
        kind = random_.choice(list(TYPES))
        length = random_.choice((0, 0, 2, 3))
        size = TYPES[kind] * max(length, 1) * (2 if kind.startswith("d") else 1)
        if size > words:
            kind, length, size = "float", 0, 1
        found.append((kind, length))
        words -= size
    return found


@pytest.mark.parametrize("seed", range(4))
def test_mixed_types_fill_every_component(seed: int) -> None:
    out, into, write, check = [], [], [], []
    for i, (kind, length) in enumerate(_mix(seed, 118)):
        flat = "flat " if kind[0] in "iud" else ""
        array = f"[{length}]" if length else ""
        out.append(f"{flat}out {kind} v{i}{array};")
        into.append(f"{flat}in {kind} v{i}{array};")
        for e in range(max(length, 1)):
            name = f"v{i}[{e}]" if length else f"v{i}"
            value = _value(kind, 10 * i + e)
            write.append(f"{name} = {value};")
            check.append(f"if ({name} != {value}) bad = {i + 1};")
    vertex = (
        "#version 430\n" + "\n".join(out) + "\nvoid main() { gl_Position = vec4(gl_VertexID & 1,"
        "gl_VertexID >> 1, 0, 0.5) * 2.0 - vec4(0.5, 0.5, 0, 0); gl_Position.w = 1.0;"
        + " ".join(write)
        + "}"
    )
    fragment = (
        "#version 430\n"
        + "\n".join(into)
        + "\nout vec4 c; void main() { int bad = 0;"
        + " ".join(check)
        + "c = vec4(float(bad) / 255.0, 1, 0, 1); }"
    )
    with Context(profile="compat", version=(4, 3), size=(4, 4)) as gl:
        gl.use_program(_program(gl, vertex, fragment))
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        pixels = np.frombuffer(gl.read_pixels(2, 2, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
        assert pixels.tolist() == [0, 255, 0, 255]
    gl.release()


def test_elements_are_indexed_at_run_time_and_captured() -> None:
    vertex = """#version 430
        uniform int which; out vec3 a[20]; out vec3 b[20]; out float last[7];
        void main() {
            gl_Position = vec4(0, 0, 0, 1);
            for (int i = 0; i < 20; i++) { a[i] = vec3(i, i + 1, i + 2); b[i] = -a[i]; }
            for (int i = 0; i < 7; i++) last[i] = 0.0;
            last[which] = float(which);
        }"""
    fragment = """#version 430
        uniform int which; in vec3 a[20]; in vec3 b[20]; in float last[7]; out vec4 c;
        void main() { c = vec4(a[which] / 255.0, (last[which] - b[which + 1].x) / 255.0); }"""
    with Context(profile="compat", version=(4, 3), size=(1, 1)) as gl:
        program = _program(gl, vertex, fragment, captured="b[7]")
        gl.use_program(program)
        gl.uniform1i(gl.get_uniform_location(program, "which"), 5)
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffer)
        gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, 12, None, GL.STATIC_READ)
        gl.begin_transform_feedback(GL.POINTS)
        gl.draw_arrays(GL.POINTS, 0, 1)
        gl.end_transform_feedback()
        read = gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, 12)
        assert np.frombuffer(read, np.float32).tolist() == [-7, -8, -9]
        pixels = np.frombuffer(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
        assert pixels.tolist() == [5, 6, 7, 11]
    gl.release()

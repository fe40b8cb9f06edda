"""Programs of SPIR-V for OpenGL (ARB_gl_spirv) with arrays of arrays, members of structures and
arrays of blocks as resources: what glslang makes of a shader does what its GLSL does.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conversions import tool

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import compiled, errors

VERTEX = """
layout(location = 0) flat out int unused;
void main() {
    unused = 0;
    gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0.0, 1.0);
}
"""
HEAD = "layout(location = 0) uniform int i;\nlayout(location = 0) out vec4 c;\n"
AT = "vec2(0.5)"

# Declarations and the colour; `i` is 0 and 1. Resources 0 to 7 are bound, uniforms 3 to 23 are set.
FRAGMENTS: dict[str, tuple[str, str]] = {
    "blocks": (
        "layout(std140, binding = 1) uniform B { vec4 a; } b[3];",
        "b[0].a + b[i].a * 2.0 + b[2 - i].a * 4.0",
    ),
    "blocks in arrays of arrays": (
        "layout(std140, binding = 1) uniform B { vec4 a; } b[2][2];",
        "b[0][1].a + b[i][1 - i].a * 2.0 + b[i][i].a * 4.0",
    ),
    "storage blocks in arrays of arrays": (
        "layout(std430, binding = 1) readonly buffer B { vec4 a; } b[2][2];",
        "b[0][1].a + b[i][1 - i].a * 2.0 + b[i][i].a * 4.0",
    ),
    "samplers in arrays of arrays": (
        "layout(binding = 1) uniform sampler2D s[2][2];",
        f"texture(s[0][1], {AT}) + texture(s[i][1 - i], {AT}) * 2.0 + texture(s[i][i], {AT}) * 4.0",
    ),
    "a sampler in a structure": (
        "struct S { vec4 k; sampler2D t; }; layout(location = 3) uniform S s;",
        f"texture(s.t, {AT}) * 2.0 + s.k",
    ),
    "a structure of samplers only": (
        "struct S { sampler2D t, u; }; layout(location = 3) uniform S s;",
        f"texture(s.t, {AT}) * 2.0 + texture(s.u, {AT})",
    ),
    "samplers in arrays of structures": (
        "struct S { vec4 k; sampler2D t[2]; }; layout(location = 3) uniform S s[2];",
        f"texture(s[0].t[1], {AT}) * 2.0 + s[1].k + texture(s[i].t[0], {AT})",
    ),
    "samplers in structures of structures": (
        "struct R { float f; sampler2D t[2]; }; struct S { vec4 k; R r[2]; };"
        "layout(location = 3) uniform S s[2];",
        f"texture(s[0].r[1].t[1], {AT}) * 2.0 + s[1].k"
        f" + texture(s[i].r[i].t[i], {AT}) * s[1].r[0].f",
    ),
    "images in arrays of arrays": (
        "layout(binding = 1, rgba8) uniform readonly image2D s[2][2];",
        "imageLoad(s[0][1], ivec2(0)) + imageLoad(s[i][1 - i], ivec2(0)) * 2.0",
    ),
    "uniforms in arrays of arrays": (
        "layout(location = 3) uniform vec4 s[2][2];",
        "s[0][1] + s[i][1 - i] * 2.0 + s[i][i] * 4.0",
    ),
}

# Declarations, what is written, and the floats (of both buffers) a vertex captures.
LOOP = "for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)"
CAPTURED: dict[str, tuple[str, str, list[list[float]]]] = {
    "an array of arrays": (
        "layout(xfb_buffer = 0, xfb_offset = 0, location = 0) out vec2 x[2][2];",
        f"{LOOP} x[i][j] = vec2(i * 10 + j, 7);",
        [[0, 7, 1, 7, 10, 7, 11, 7], []],
    ),
    "after a gap": (
        "layout(xfb_buffer = 0, xfb_offset = 4, xfb_stride = 20, location = 0) out float x[2][2];",
        f"{LOOP} x[i][j] = float(i * 10 + j + 1);",
        [[0, 1, 2, 11, 12], []],
    ),
    "matrices": (
        "layout(xfb_buffer = 1, xfb_offset = 0, location = 0) out mat2x3 x[2][2];",
        f"{LOOP} x[i][j] = mat2x3(i, j, 5, 6, 7, i + j);",
        [[], [0, 0, 5, 6, 7, 0, 0, 1, 5, 6, 7, 1, 1, 0, 5, 6, 7, 1, 1, 1, 5, 6, 7, 2]],
    ),
    "structures in arrays of arrays": (
        "struct S { float f[2]; vec2 b; };"
        "layout(xfb_buffer = 0, xfb_offset = 0, location = 0) out S x[2][2];",
        f"{LOOP} {{ x[i][j].b = vec2(i, j); x[i][j].f[0] = 8.0; x[i][j].f[1] = float(i); }}",
        [[8, 0, 0, 0, 8, 0, 0, 1, 8, 1, 1, 0, 8, 1, 1, 1], []],
    ),
    "a block": (
        "layout(xfb_buffer = 0, xfb_offset = 0, location = 0) out B"
        " { vec2 a[2][2]; layout(xfb_offset = 36) float b; } x;",
        f"{LOOP} x.a[i][j] = vec2(i, j); x.b = 7.0;",
        [[0, 0, 0, 1, 1, 0, 1, 1, 0, 7], []],
    ),
    "blocks of an array go to buffers one after the other": (
        "layout(xfb_buffer = 0, xfb_offset = 0, location = 0) out B { float a[2]; vec2 b; } x[2];",
        f"{LOOP} {{ x[i].a[j] = float(i * 10 + j); x[i].b = vec2(5, i); }}",
        [[0, 1, 5, 0], [10, 11, 5, 1]],
    ),
}


def shader(gl: Any, kind: int, text: str, folder: Path | None) -> int:
    """A shader of GLSL, or, with a folder to work in, of what glslang makes of it."""
    text = f"#version 450\n{text}"
    if folder is None:
        return compiled(gl, kind, text)
    source = folder / ("a.vert" if kind == GL.VERTEX_SHADER else "a.frag")
    source.write_text(text)
    command = [tool("glslangValidator"), "-G", str(source), "-o", str(folder / "a.spv")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    data = (folder / "a.spv").read_bytes()
    name: int = gl.create_shader(kind)
    gl.shader_binary(1, [name], int(GL.SHADER_BINARY_FORMAT_SPIR_V), data, len(data))
    gl.specialize_shader(name, "main", 0, None, None)
    assert gl.get_shaderiv(name, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(name)
    return name


def program(gl: Any, texts: dict[int, str], folder: Path | None) -> int:
    name: int = gl.create_program()
    for kind, text in texts.items():
        gl.attach_shader(name, shader(gl, kind, text, folder))
    gl.link_program(name)
    assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
    gl.use_program(name)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    return name


def bind_resources(gl: Any) -> None:
    for number in range(8):
        (buffer, texture) = gl.gen_buffers(1)[0], gl.gen_textures(1)[0]
        block = np.array([number / 64, (7 - number) / 64, number**2 / 255, number / 32], np.float32)
        for target in (GL.UNIFORM_BUFFER, GL.SHADER_STORAGE_BUFFER):
            gl.bind_buffer(target, buffer)
            gl.buffer_data(target, 16, block, GL.STATIC_DRAW)
            gl.bind_buffer_base(target, number, buffer)
        gl.active_texture(GL.TEXTURE0 + number)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 1, 1)
        texel = np.array([number * 2, 20 - number * 2, number**2 // 2, 3 * number], np.uint8)
        layout = (GL.RGBA, GL.UNSIGNED_BYTE, texel)
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 1, 1, *layout)
        gl.bind_image_texture(number, texture, 0, 0, 0, GL.READ_ONLY, GL.RGBA8)


def set_uniforms(gl: Any) -> None:
    """Each location gets a unit, a vector or a number: whatever its type takes."""
    for place in range(3, 24):
        gl.uniform1i(place, place % 8)
        if errors(gl):
            gl.uniform4fv(place, 1, np.array([place / 99, 0.1, 0.02 * place, 0], np.float32))
        if errors(gl):
            gl.uniform1f(place, place / 25)
        errors(gl)


def colours(gl: Any, declared: str, colour: str, folder: Path | None) -> list[bytes]:
    text = f"{HEAD}{declared}\nvoid main() {{ c = {colour}; }}"
    program(gl, {GL.VERTEX_SHADER: VERTEX, GL.FRAGMENT_SHADER: text}, folder)
    bind_resources(gl)
    found = []
    for number in (0, 1):
        gl.uniform1i(0, number)
        set_uniforms(gl)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        found.append(bytes(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)))
    assert errors(gl) == []
    return found


@pytest.mark.native
@pytest.mark.parametrize("name", FRAGMENTS)
def test_resources_of_modules_are_those_of_glsl(name: str, tmp_path: Path) -> None:
    native = native_context(profile="core", version=(4, 5), size=(2, 2))
    wanted = colours(native, *FRAGMENTS[name], None)
    native.release()
    assert len({*wanted}) == 2 or name in (
        "a sampler in a structure",
        "a structure of samplers only",
    )
    for driver in ("numpipe", "jit"):
        gl = create_context(driver, profile="core", version=(4, 6), size=(2, 2))
        for folder in (None, tmp_path):
            assert colours(gl, *FRAGMENTS[name], folder) == wanted, (driver, folder)
        gl.release()


def captured(gl: Any) -> list[npt.NDArray[np.float32]]:
    """What two vertices leave in two buffers."""
    buffers = gl.gen_buffers(2)
    target = GL.TRANSFORM_FEEDBACK_BUFFER
    for index, buffer in enumerate(buffers):
        gl.bind_buffer(target, buffer)
        gl.buffer_data(target, 256, np.zeros(64, np.float32), GL.STATIC_DRAW)
        gl.bind_buffer_base(target, index, buffer)
    gl.enable(GL.RASTERIZER_DISCARD)
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 2)
    gl.end_transform_feedback()
    gl.disable(GL.RASTERIZER_DISCARD)
    found = []
    for buffer in buffers:
        out = np.zeros(64, np.float32)
        gl.bind_buffer(target, buffer)
        gl.get_buffer_sub_data(target, 0, 256, out)
        found.append(out)
    assert errors(gl) == []
    return found


@pytest.mark.parametrize("from_glsl", [True, False])
@pytest.mark.parametrize("name", CAPTURED)
def test_what_modules_capture(name: str, from_glsl: bool, tmp_path: Path) -> None:
    declared, body, wanted = CAPTURED[name]
    gl = create_context("numpipe", profile="core", version=(4, 6), size=(2, 2))
    if from_glsl:  # which has no locations for blocks in arrays
        declared = declared.replace(", location = 0", "")
    text = f"{declared}\nvoid main() {{ {body} gl_Position = vec4(0); }}"
    program(gl, {GL.VERTEX_SHADER: text}, None if from_glsl else tmp_path)
    for found, values in zip(captured(gl), wanted, strict=True):
        assert found.tolist() == (values * 2 + [0.0] * 64)[:64]
    gl.release()


NAMED = """#version 450
out B { vec2 a[2]; float f; } x[2];
out vec2 k[2][3];
void main() {
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) x[i].a[j] = vec2(i * 10 + j, 1.0);
        for (int j = 0; j < 3; j++) k[i][j] = vec2(i, j);
        x[i].f = 5.0 + i;
    }
    gl_Position = vec4(0);
}"""
ARRAYS = "native GL does not capture arrays of arrays, or their elements"
NAMES: list[tuple[list[str], list[float], str]] = [
    (["B[0].a"], [0, 1, 1, 1], ""),
    (["B[1].a[1]"], [11, 1], ""),
    (["B[1].f"], [6], ""),
    (["B[0].f", "B[1].f"], [5, 6], ""),
    (["B.f"], [], ""),
    (["B.a[0]"], [], ""),
    (["B[2].f"], [], ""),
    (["x[1].f"], [], ""),
    (["k"], [], ""),
    (["k[1]"], [1, 0, 1, 1, 1, 2], ARRAYS),
    (["k[1][2]"], [1, 2], ""),
]


@pytest.mark.native
def test_names_of_what_is_captured() -> None:
    """Members of blocks in arrays are named by the element, arrays of arrays by their innermost."""
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (2, 2)}
    for gl in (create_context("numpipe", **options), native_context(**options)):
        of_native = "numpipe" not in str(gl.get_string(GL.RENDERER))
        made = compiled(gl, GL.VERTEX_SHADER, NAMED)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        for names, wanted, reason in NAMES:
            name = gl.create_program()
            gl.attach_shader(name, made)
            gl.transform_feedback_varyings(name, len(names), names, GL.INTERLEAVED_ATTRIBS)
            gl.link_program(name)
            found: list[float] = []
            if gl.get_programiv(name, GL.LINK_STATUS)[0]:
                gl.use_program(name)
                found = captured(gl)[0][: len(wanted)].tolist()
            assert (found == wanted) != bool(of_native and reason), (names, found)
        gl.release()

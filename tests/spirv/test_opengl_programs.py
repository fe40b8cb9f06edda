"""Programs of SPIR-V for OpenGL (ARB_gl_spirv) with arrays of arrays, members of structures and
arrays of blocks as resources: what glslang makes of a shader does what its GLSL does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conversions import glslang

from gallette.state_tracker import GL, create_context
from tests.cases import Case, each, sections
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
FILE = Path(__file__).with_name("opengl_programs.txt")


def shader(gl: Any, kind: int, text: str, as_module: bool) -> int:
    """A shader of GLSL, or of what glslang makes of it."""
    text = f"#version 450\n{text}"
    if not as_module:
        return compiled(gl, kind, text)
    data = glslang("-G", "vert" if kind == GL.VERTEX_SHADER else "frag", text)
    name: int = gl.create_shader(kind)
    gl.shader_binary(1, [name], int(GL.SHADER_BINARY_FORMAT_SPIR_V), data, len(data))
    gl.specialize_shader(name, "main", 0, None, None)
    assert gl.get_shaderiv(name, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(name)
    return name


def program(gl: Any, texts: dict[int, str], as_module: bool) -> int:
    name: int = gl.create_program()
    for kind, text in texts.items():
        gl.attach_shader(name, shader(gl, kind, text, as_module))
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


def colours(gl: Any, declared: str, colour: str, as_module: bool) -> list[bytes]:
    text = f"{HEAD}{declared}\nvoid main() {{ c = {colour}; }}"
    program(gl, {GL.VERTEX_SHADER: VERTEX, GL.FRAGMENT_SHADER: text}, as_module)
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
@each(FILE, "resources")
def test_resources_of_modules_are_those_of_glsl(case: Case) -> None:
    native = native_context(profile="core", version=(4, 5), size=(2, 2))
    wanted = colours(native, case.text, case.answer, False)
    native.release()
    assert len({*wanted}) == 2 or case.name in (
        "a sampler in a structure",
        "a structure of samplers only",
    )
    for driver in ("numpipe", "jit"):
        gl = create_context(driver, profile="core", version=(4, 6), size=(2, 2))
        for as_module in (False, True):
            assert colours(gl, case.text, case.answer, as_module) == wanted, (driver, as_module)
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
@each(FILE, "captured")
def test_what_modules_capture(case: Case, from_glsl: bool) -> None:
    declared, _, body = case.text.partition("\n")
    wanted = [list(map(float, answer.split())) for answer in case.answers]
    gl = create_context("numpipe", profile="core", version=(4, 6), size=(2, 2))
    if from_glsl:  # which has no locations for blocks in arrays
        declared = declared.replace(", location = 0", "")
    text = f"{declared}\nvoid main() {{ {body} gl_Position = vec4(0); }}"
    program(gl, {GL.VERTEX_SHADER: text}, not from_glsl)
    for found, values in zip(captured(gl), wanted, strict=True):
        assert found.tolist() == (values * 2 + [0.0] * 64)[:64]
    gl.release()


BLOCK_PROPERTIES = ("BUFFER_BINDING", "BUFFER_DATA_SIZE", "NUM_ACTIVE_VARIABLES")
PLACE = ("TYPE", "ARRAY_SIZE", "OFFSET", "ARRAY_STRIDE", "MATRIX_STRIDE", "IS_ROW_MAJOR")
TOP = ("TOP_LEVEL_ARRAY_SIZE", "TOP_LEVEL_ARRAY_STRIDE")
INTERFACES = {
    "UNIFORM": PLACE,
    "BUFFER_VARIABLE": (*PLACE, *TOP),
    "UNIFORM_BLOCK": BLOCK_PROPERTIES,
    "SHADER_STORAGE_BLOCK": BLOCK_PROPERTIES,
}


def described(gl: Any, text: str, as_module: bool) -> dict[str, list[list[int]]]:
    """The properties of what is in the blocks of a program of one shader, without the names."""
    name = gl.create_program()
    gl.attach_shader(name, shader(gl, GL.VERTEX_SHADER, text, as_module))
    gl.link_program(name)
    found = {}
    for interface, properties in INTERFACES.items():
        kind = getattr(GL, interface)
        (count,) = gl.get_program_interfaceiv(name, kind, GL.ACTIVE_RESOURCES)
        asked = [[getattr(GL, p)] for p in properties]
        found[interface] = sorted(
            [int(gl.get_program_resourceiv(name, kind, i, 1, p)[0]) for p in asked]
            for i in range(count)
        )
    assert errors(gl) == []
    return found


@pytest.mark.native
@each(FILE, "blocks")
def test_blocks_of_modules_are_described_as_those_of_glsl(case: Case) -> None:
    text = f"{case.text}\nvoid main() {{ gl_Position = vec4({case.answer}); }}"
    native = native_context(profile="core", version=(4, 5), size=(2, 2))
    gl = create_context("numpipe", profile="core", version=(4, 6), size=(2, 2))
    wanted = described(native, text, False)
    assert sum(map(len, wanted.values())) > 2
    for as_module in (False, True):
        assert described(gl, text, as_module) == wanted, as_module
    native.release()
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


@pytest.mark.native
def test_names_of_what_is_captured() -> None:
    """Members of blocks in arrays are named by the element, arrays of arrays by their innermost."""
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (2, 2)}
    for gl in (create_context("numpipe", **options), native_context(**options)):
        of_native = "numpipe" not in str(gl.get_string(GL.RENDERER))
        made = compiled(gl, GL.VERTEX_SHADER, NAMED)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        for case in sections(FILE)["names"].cases:
            names = case.text.split()
            wanted = list(map(float, case.answers[0].replace("none", "").split()))
            name = gl.create_program()
            gl.attach_shader(name, made)
            gl.transform_feedback_varyings(name, len(names), names, GL.INTERLEAVED_ATTRIBS)
            gl.link_program(name)
            found: list[float] = []
            if gl.get_programiv(name, GL.LINK_STATUS)[0]:
                gl.use_program(name)
                found = captured(gl)[0][: len(wanted)].tolist()
            assert (found == wanted) != bool(of_native and case.answers[1:]), (names, found)
        gl.release()

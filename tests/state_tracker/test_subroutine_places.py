"""Indices of subroutines and locations of their uniforms that a shader gives itself."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context

VERTEX = """#version 430
void main() { gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0.0, 1.0); }
"""
FRAGMENT = """#version 430
subroutine float F(float x);
subroutine(F) float last(float x) { return x; }
layout(index = 3) subroutine(F) float one(float x) { return 0.2; }
subroutine(F) float two(float x) { return 0.4; }
layout(index = 0) subroutine(F) float three(float x) { return 0.6; }
subroutine uniform F before;
layout(location = 1) subroutine uniform F pick[2];
subroutine uniform F after;
out vec4 color;
void main() { color = vec4(before(1.0), pick[0](1.0), pick[1](1.0), after(1.0)); }
"""
NAMES = {"last": 1.0, "one": 0.2, "two": 0.4, "three": 0.6}
PLACES = ("before", "pick[0]", "pick[1]", "after")


def program(gl: Any, fragment: str = FRAGMENT) -> int:
    made: int = gl.create_program()
    for kind, text in ((GL.VERTEX_SHADER, VERTEX), (GL.FRAGMENT_SHADER, fragment)):
        shader = gl.create_shader(kind)
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        gl.attach_shader(made, shader)
        gl.delete_shader(shader)
    gl.link_program(made)
    return made


def pictures(gl: Any) -> list[list[int]]:
    """A pixel for each way to turn the choices round."""
    made = program(gl)
    assert gl.get_programiv(made, GL.LINK_STATUS)[0], gl.get_program_info_log(made)
    index = {name: gl.get_subroutine_index(made, GL.FRAGMENT_SHADER, name) for name in NAMES}
    assert (index["one"], index["three"]) == (3, 0)
    assert sorted(index.values()) == [0, 1, 2, 3]
    where = [gl.get_subroutine_uniform_location(made, GL.FRAGMENT_SHADER, n) for n in PLACES]
    assert where[1:3] == [1, 2]
    assert len(set(where)) == 4
    (count,) = gl.get_program_stageiv(
        made, GL.FRAGMENT_SHADER, GL.ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS
    )
    gl.use_program(made)
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 1, 1)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, 1, 0)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.viewport(0, 0, 1, 1)
    found = []
    names = list(NAMES)
    for turn in range(4):
        chosen = [0] * count
        for place, name in zip(where, names[turn:] + names[:turn], strict=True):
            chosen[place] = index[name]
        gl.uniform_subroutinesuiv(GL.FRAGMENT_SHADER, count, chosen)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        found.append(list(bytes(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))))
    return found


WANTED = [255, 51, 102, 153]


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_what_the_shader_says_is_where_it_is(driver: str) -> None:
    gl = create_context(driver, profile="core", version=(4, 5))
    assert pictures(gl) == [WANTED[i:] + WANTED[:i] for i in range(4)]
    gl.release()


@pytest.mark.native
def test_on_native_gl_too() -> None:
    gl = native_context(profile="core", version=(4, 5))
    assert pictures(gl) == [WANTED[i:] + WANTED[:i] for i in range(4)]
    gl.release()


def test_indices_that_are_left_out_are_no_subroutines() -> None:
    gl = create_context("numpipe", profile="core", version=(4, 5))
    text = "\n".join(
        line for line in FRAGMENT.splitlines() if not line.startswith("subroutine(F)")
    ).replace("index = 0", "index = 1")
    made = program(gl, text)
    assert gl.get_programiv(made, GL.LINK_STATUS)[0], gl.get_program_info_log(made)
    stage = GL.FRAGMENT_SHADER
    assert gl.get_program_stageiv(made, stage, GL.ACTIVE_SUBROUTINES) == [2]
    assert [gl.get_active_subroutine_name(made, stage, i) for i in range(2)] == ["three", "one"]
    gl.get_active_subroutine_name(made, stage, 2)
    assert gl.get_error() == GL.INVALID_VALUE
    assert gl.get_subroutine_index(made, stage, "") == GL.INVALID_INDEX
    assert [gl.get_subroutine_index(made, stage, n) for n in ("one", "three")] == [3, 1]
    count = gl.get_program_interfaceiv(made, GL.FRAGMENT_SUBROUTINE, GL.ACTIVE_RESOURCES)
    assert list(count) == [2]
    gl.use_program(made)
    gl.uniform_subroutinesuiv(stage, 4, [3, 1, 3, 1])
    assert gl.get_error() == GL.NO_ERROR
    for bad in (0, 2, 4):
        gl.uniform_subroutinesuiv(stage, 4, [3, 1, bad, 1])
        assert gl.get_error() == GL.INVALID_VALUE
    gl.release()


NESTED = """#version 450
subroutine float F(); subroutine(F) layout(index = 0) float one() { return 0.2; }
subroutine(F) layout(index = 1) float two() { return 0.6; }
layout(location = 0) subroutine uniform F f[2][2]; layout(location = 0) uniform int i;
out vec4 color;
void main() { color = vec4(f[0][1](), f[i][0](), f[1][i](), f[1 - i][1 - i]()); }"""


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_arrays_of_arrays_of_subroutines_are_called(driver: str) -> None:
    gl = create_context(driver, profile="core", version=(4, 5), size=(4, 4))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    made = program(gl, NESTED)
    stage = GL.FRAGMENT_SHADER
    assert gl.get_program_stageiv(made, stage, GL.ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS) == [4]
    names = [gl.get_active_subroutine_uniform_name(made, stage, i) for i in range(2)]
    assert names == ["f[0][0]", "f[1][0]"]
    assert gl.get_subroutine_uniform_location(made, stage, "f[1][1]") == 3
    gl.use_program(made)
    for chosen, i in (([0, 1, 1, 0], 1), ([1, 0, 1, 0], 0), ([0, 0, 0, 1], 1)):
        gl.uniform_subroutinesuiv(stage, 4, chosen)
        gl.uniform1i(0, i)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        places = (1, 2 * i, 2 + i, 2 * (1 - i) + 1 - i)
        wanted = [(51, 153)[chosen[place]] for place in places]
        found = list(bytes(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)))
        assert found == wanted
    assert gl.get_error() == GL.NO_ERROR
    gl.release()


ES_HEAD = "#version 310 es\n#extension GL_OES_sample_variables : require\nprecision highp float;"


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_es_shaders_have_their_extensions_in_any_context(driver: str) -> None:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (4, 4)}
    gl: Any = native_context(**options) if driver == "native" else create_context(driver, **options)
    for head, works in ((ES_HEAD, True), (ES_HEAD.replace("310 es", "450"), False)):
        shader = gl.create_shader(GL.FRAGMENT_SHADER)
        text = f"{head} out vec4 c; void main() {{ c = vec4(gl_SampleID); }}"
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        assert bool(gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]) == works
    gl.release()

"""Indices of subroutines and locations of their uniforms that a shader gives itself."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.state_tracker import GL
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

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
    return linked(gl, vertex=VERTEX, fragment=fragment, used=False)


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


@pytest.mark.native
def test_on_native_gl_too() -> None:
    gl = native_context(profile="core", version=(4, 5))
    assert pictures(gl) == [WANTED[i:] + WANTED[:i] for i in range(4)]
    gl.release()

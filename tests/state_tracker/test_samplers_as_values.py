"""ARB_bindless_texture: samplers bound to units are values, too, wherever they come from.

Uniforms say which unit; each way to copy, pass and pick must end at the texture of that unit.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gallette.state_tracker import GL, GLInterface, create_context

from .test_bindless import SIZE, bound_picture, drawn, handle_program, texture

DECLARED = """#extension GL_ARB_gpu_shader_int64 : enable
    struct S { sampler2D a; float k; sampler2D b[2]; };
    uniform sampler2D t[3]; uniform S s[2]; uniform int which;
    S given(int i) { return s[i]; }
    S both(S x, S y, bool first) { return first ? x : y; }
    vec4 look(S x, vec2 at) { return texture(x.b[1], at) * x.k; }
    sampler2D second(sampler2D x[2]) { return x[1]; }
    void put(out sampler2D x, sampler2D y) { x = y; }
    vec4 whole(vec2 uv) { BODY }
"""
UNITS = {
    "t[0]": 0, "t[1]": 1, "t[2]": 2,
    "s[0].a": 3, "s[0].b[0]": 4, "s[0].b[1]": 5, "s[1].a": 6, "s[1].b[0]": 7, "s[1].b[1]": 8,
}  # fmt: skip
# code (`which` is 1) -> the sampler it ends at
CASES = {
    "sampler2D x = t[which + 1]; return texture(x, uv);": "t[2]",
    "sampler2D x[3] = t; return texture(x[which], uv);": "t[1]",
    "return texture(sampler2D(uvec2(t[which])), uv);": "t[1]",
    "return texture(sampler2D(uint64_t(t[which - 1])), uv);": "t[0]",
    "uint64_t x = uint64_t(s[which].b[which]); return texture(sampler2D(x), uv);": "s[1].b[1]",
    "S x = s[1]; return texture(x.a, uv) * x.k;": "s[1].a",
    "S x = s[which]; return texture(x.b[which], uv) * x.k;": "s[1].b[1]",
    "S x = s[0]; S y = x; return texture(y.b[which - 1], uv) * y.k;": "s[0].b[0]",
    "S x[2] = s; return texture(x[which].b[0], uv) * x[which].k;": "s[1].b[0]",
    "S x[2] = s; S y = x[which]; y.a = x[0].b[1]; return texture(y.a, uv) * y.k;": "s[0].b[1]",
    "return texture(given(which).a, uv) * given(0).k;": "s[1].a",
    "return texture(given(0).b[which], uv);": "s[0].b[1]",
    "return look(s[which], uv);": "s[1].b[1]",
    "return look(given(0), uv);": "s[0].b[1]",
    "return look(both(s[0], s[1], which == 1), uv);": "s[0].b[1]",
    "return look(both(s[0], given(1), which == 0), uv);": "s[1].b[1]",
    "return texture(second(s[which].b), uv);": "s[1].b[1]",
    "sampler2D x; put(x, s[0].b[0]); return texture(x, uv);": "s[0].b[0]",
    "S x = S(t[1], 1.0, s[1].b); return texture(x.a, uv);": "t[1]",
    "S x = S(t[1], 1.0, s[1].b); return texture(x.b[which - 1], uv) * x.k;": "s[1].b[0]",
    "sampler2D x = which == 1 ? s[1].a : t[0]; return texture(x, uv);": "s[1].a",
    "return texture(which == 2 ? s[1].a : t[0], uv);": "t[0]",
}


@pytest.fixture
def gl() -> Iterator[GLInterface]:
    context = create_context("numpipe", version=(4, 3), size=(SIZE, SIZE))
    yield context
    context.release()


def test_every_way_ends_at_its_texture(gl: GLInterface) -> None:
    textures = [texture(gl, 30 + unit) for unit in range(len(UNITS))]
    wanted = {name: bound_picture(gl, textures[unit]) for name, unit in UNITS.items()}
    for unit, name in enumerate(textures):
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.bind_texture(GL.TEXTURE_2D, name)
    wrong = []
    for body, expected in CASES.items():
        made = handle_program(gl, DECLARED.replace("BODY", body), "whole(uv)")
        for sampler, unit in UNITS.items():
            gl.uniform1i(gl.get_uniform_location(made, sampler), unit)
        gl.uniform1i(gl.get_uniform_location(made, "which"), 1)
        for i in range(2):
            gl.uniform1f(gl.get_uniform_location(made, f"s[{i}].k"), 1.0)
        if (drawn(gl) != wanted[expected]).any():
            wrong.append(body)
        gl.delete_program(made)
    assert wrong == []

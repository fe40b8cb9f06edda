"""Outputs of patches: invocations write components of one vector, by constant and by dynamic index;
and textures that tessellation shaders read. The native GL draws the same colours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, linked

HEAD = """#version 450
uniform int k;
layout(binding = 0) uniform sampler2D s;
layout(binding = 1) uniform sampler2DArray layers;
layout(binding = 2) uniform usampler2D numbers;
layout(binding = 3) uniform sampler2DShadow depth;
struct Q { vec4 v; vec2 w[2]; };
"""
VERTEX = """#version 450
void main() { gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0.0, 1.0); }
"""
FRAGMENT = "#version 450\nin vec4 colour; out vec4 c; void main() { c = colour; }"
ONE = "if (gl_InvocationID == 0) "
START = "vec4(0.1, 0.2, 0.3, 0.4)"

# What is declared for `patch`, what each of three invocations writes, the colour.
WRITTEN: dict[str, tuple[str, str, str]] = {
    "a component of each invocation": (
        "vec3 p", "p[gl_InvocationID] = float(gl_InvocationID + 1) / 5.0;", "vec4(p, 1.0)",
    ),
    "columns of a matrix": (
        "mat3 p", "p[gl_InvocationID][2 - gl_InvocationID] = 0.6; p[gl_InvocationID]"
        "[(3 - gl_InvocationID) % 3] = 0.2; p[gl_InvocationID][(4 - gl_InvocationID) % 3] = 0.0;",
        "vec4(p[0] + p[1] * 0.5 + p[2] * 0.2, 1.0)",
    ),
    "components of elements of an array": (
        "vec4 p[2]", "p[gl_InvocationID & 1][gl_InvocationID] = 0.2; "
        "p[1 - (gl_InvocationID & 1)][gl_InvocationID] = 0.6; if (gl_InvocationID == 2) "
        "p[0].w = p[1].w = 0.4;", "p[0] + p[1] * 0.5",
    ),
    "after the whole": (
        "vec4 p", f"p = {START}; barrier(); {ONE} p[k] = 0.8;", "p",
    ),
    "of a vector that begins at a component": (
        "vec3 p", f"{ONE} {{ p = vec3(0.2, 0.4, 0.6); p[k] = 0.8; }}", "vec4(p, 1.0)",
    ),
    "of a block": (
        "B { vec4 a; vec4 b[2]; } o",
        f"{ONE} {{ o.a = o.b[0] = o.b[1] = {START}; o.a[k] = 0.5; o.b[k & 1][k] = 0.8; }}",
        "(o.a + o.b[0] + o.b[1]) * 0.5",
    ),
    "of a structure": (
        "Q p", f"{ONE} {{ p.v = {START}; p.w[0] = p.w[1] = vec2(0.2); p.v[k] = 0.8;"
        " p.w[k & 1][k & 1] = 0.6; }", "p.v * 0.5 + vec4(p.w[0], p.w[1]) * 0.5",
    ),
    "swizzles of two invocations": (
        "vec4 p", f"{ONE} p.yw = vec2(0.4, 0.8); else if (gl_InvocationID == 1) p.x = 0.2;"
        " else p.z = 0.6;", "p",
    ),
}  # fmt: skip
READ = {
    "implicit": "texture(s, vec2(0.25)) * 0.5",
    "level": "textureLod(s, vec2(0.5), 1.0)",
    "gradients": "textureGrad(s, vec2(0.25), vec2(0.2), vec2(0.2))",
    "offset": "textureOffset(s, vec2(0.25), ivec2(1, 0)) * 0.5",
    "fetched": "texelFetch(s, ivec2(0, 1), 0)",
    "gathered": "textureGather(s, vec2(0.5))",
    "size": "vec4(textureSize(s, 0), textureQueryLevels(s), 1) / 5.0",
    "layer": "texture(layers, vec3(0.5, 0.5, 1.0))",
    "integers": "vec4(texture(numbers, vec2(0.5))) / 255.0",
    "compared below": "vec4(texture(depth, vec3(0.5, 0.5, 0.4)))",
    "compared above": "vec4(texture(depth, vec3(0.5, 0.5, 0.6)), 0, 0, 1)",
}


def stages(patch: str, write: str, colour: str) -> dict[int, str]:
    layout = "layout(location = 1, component = 1) " if patch == "vec3 p" else ""
    out, into = (f"{layout}patch {way} {patch};" if patch else "" for way in ("out", "in"))
    control = f"""{HEAD}layout(vertices = 3) out; {out}
void main() {{
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 1.0;
    gl_TessLevelInner[0] = 1.0;
    {write}
}}"""
    evaluation = f"""{HEAD}layout(triangles) in; {into} out vec4 colour;
void main() {{
    gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position
        + gl_TessCoord.z * gl_in[2].gl_Position;
    colour = {colour};
}}"""
    return {
        GL.VERTEX_SHADER: VERTEX,
        GL.TESS_CONTROL_SHADER: control,
        GL.TESS_EVALUATION_SHADER: evaluation,
        GL.FRAGMENT_SHADER: FRAGMENT,
    }


def image(gl: Any, unit: int, target: int, form: int, size: tuple[int, ...], *data: Any) -> None:
    """A texture of nearest texels with a level for each of `data`: layout, type and texels."""
    gl.active_texture(GL.TEXTURE0 + unit)
    gl.bind_texture(target, gl.gen_textures(1)[0])
    getattr(gl, f"tex_storage{len(size)}d")(target, len(data), form, *size)
    for level, part in enumerate(data):
        extent = (0,) * len(size), (*(max(n >> level, 1) for n in size[:2]), *size[2:])
        getattr(gl, f"tex_sub_image{len(size)}d")(target, level, *extent[0], *extent[1], *part)
    for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(target, name, GL.NEAREST_MIPMAP_NEAREST if name == GL.TEXTURE_MIN_FILTER
                          and len(data) > 1 else GL.NEAREST)  # fmt: skip


def textures(gl: Any) -> None:
    rgba, four = (GL.RGBA, GL.UNSIGNED_BYTE), np.array([9, 99, 199, 255], np.uint8)
    texels = np.arange(16, dtype=np.uint8) * 15
    image(gl, 0, GL.TEXTURE_2D, GL.RGBA8, (2, 2), (*rgba, texels), (*rgba, four))
    image(gl, 1, GL.TEXTURE_2D_ARRAY, GL.RGBA8, (1, 1, 2), (*rgba, texels[:8].copy()))
    image(gl, 2, GL.TEXTURE_2D, GL.RGBA8UI, (1, 1), (GL.RGBA_INTEGER, GL.UNSIGNED_BYTE, four))
    half = np.array([0.5], np.float32)
    image(gl, 3, GL.TEXTURE_2D, GL.DEPTH_COMPONENT32F, (1, 1), (GL.DEPTH_COMPONENT, GL.FLOAT, half))
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE)


def colours(gl: Any, texts: dict[int, str]) -> list[bytes]:
    name = linked(gl, texts)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.patch_parameteri(GL.PATCH_VERTICES, 3)
    found = []
    for number in range(3):
        gl.uniform1i(gl.get_uniform_location(name, "k"), number)
        errors(gl)  # not every program looks at it
        gl.draw_arrays(GL.PATCHES, 0, 3)
        found.append(bytes(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)))
    assert errors(gl) == []
    return found


@pytest.mark.native
def test_patches_and_their_textures() -> None:
    pytest.importorskip("llvmlite")
    rows = {f"written: {name}": stages(*row) for name, row in WRITTEN.items()}
    for name, look in READ.items():
        rows[f"read by evaluation: {name}"] = stages("", "", look)
        rows[f"read by control: {name}"] = stages("vec4 p", f"{ONE} p = {look};", "p")
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (2, 2)}
    native = native_context(**options)
    ours = [create_context(driver, **options) for driver in ("numpipe", "jit")]
    wrong = []
    for gl in (native, *ours):
        gl.make_current()
        textures(gl)
    for name, texts in rows.items():
        seen = []
        for gl in (native, *ours):
            gl.make_current()
            seen.append(np.frombuffer(b"".join(colours(gl, texts)), np.uint8).astype(int))
        expected, *found = seen
        if not expected.any() or any(abs(one - expected).max() > 1 for one in found):
            wrong.append((name, *(s.tolist() for s in seen)))
    assert wrong == []
    for gl in (native, *ours):
        gl.make_current()
        gl.release()

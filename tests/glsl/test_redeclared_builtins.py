"""Built-in variables declared once more, each in every stage that has it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.compiler.glsl.builtins.variables import lookup, names
from gallette.compiler.glsl.language import Language
from gallette.compiler.link.limits import Limits
from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

HEADS = {
    "vertex": "",
    "tess_ctrl": "layout(vertices = 3) out;",
    "tess_eval": "layout(triangles) in;",
    "geometry": "layout(points) in; layout(points, max_vertices = 1) out;",
    "fragment": "",
    "compute": "layout(local_size_x = 1) in;",
}
KINDS = {
    "vertex": GL.VERTEX_SHADER,
    "tess_ctrl": GL.TESS_CONTROL_SHADER,
    "tess_eval": GL.TESS_EVALUATION_SHADER,
    "geometry": GL.GEOMETRY_SHADER,
    "fragment": GL.FRAGMENT_SHADER,
    "compute": GL.COMPUTE_SHADER,
}
MORE = set(
    """
    vertex gl_ClipVertex, vertex gl_FogFragCoord, vertex gl_PointSize, vertex gl_Position,
    tess_ctrl gl_PrimitiveID, tess_ctrl gl_TessLevelInner, tess_ctrl gl_TessLevelOuter,
    tess_eval gl_ClipVertex, tess_eval gl_FogFragCoord, tess_eval gl_PointSize,
    tess_eval gl_Position, tess_eval gl_PrimitiveID, tess_eval gl_TessLevelInner,
    tess_eval gl_TessLevelOuter,
    geometry gl_ClipVertex, geometry gl_FogFragCoord, geometry gl_Layer, geometry gl_PointSize,
    geometry gl_Position, geometry gl_PrimitiveID, geometry gl_ViewportIndex,
    fragment gl_FogFragCoord, fragment gl_FragColor, fragment gl_FragData, fragment gl_Layer,
    fragment gl_PrimitiveID, fragment gl_SampleMask, fragment gl_SampleMaskIn,
    fragment gl_ViewportIndex
    """.replace("\n    ", " ")
    .strip()
    .split(", ")
)
"""What Mesa refuses to hear again: it says nothing new, and other compilers take it."""


def variables() -> Iterator[tuple[str, str, str, str]]:
    """Stage, name, and what stands before and behind it where it is declared."""
    for stage in HEADS:
        language = Language(version=450, es=False, compat=True, stage=stage)
        for name in sorted(names(language)):
            found = lookup(name, language, Limits())
            if found is None:
                continue
            type, dims = found.type, ""
            while type.element is not None:
                dims += f"[{type.length or ''}]"
                type = type.element
            if not type.is_struct:
                patch = "patch " if found.patch else ""
                yield stage, name, f"{patch}{found.storage} {type}", dims


def sources(qualifier: str = "") -> dict[str, str]:
    """A shader for each, never seen before: Mesa believes its cache that a shader compiles."""
    new = uuid.uuid4().hex
    return {
        f"{stage} {name}": f"#version 450 compatibility\n{HEADS[stage]}\n"
        f"{qualifier} {before} {name}{dims};\nvoid main() {{}}  // {new}\n"
        for stage, name, before, dims in variables()
    }


def taken(gl: GLInterface, shaders: dict[str, str]) -> set[str]:
    """Which of them compile."""
    found = set()
    for what, source in shaders.items():
        shader = gl.create_shader(KINDS[what.split()[0]])
        gl.shader_source(shader, source)
        gl.compile_shader(shader)
        if gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
            found.add(what)
        gl.delete_shader(shader)
    gl.release()
    return found


def both(shaders: dict[str, str]) -> tuple[set[str], set[str]]:
    """What we take, and what the native GL takes."""
    return (
        taken(create_context("numpipe", profile="compat", version=(4, 5)), shaders),
        taken(native_context(profile="compat", version=(4, 5)), shaders),
    )


@pytest.mark.native
def test_as_they_are() -> None:
    ours, native = both(sources())
    assert native <= ours
    assert ours - native == MORE


@pytest.mark.native
@pytest.mark.parametrize("qualifier", ["flat", "smooth", "noperspective"])
def test_interpolated_in_another_way(qualifier: str) -> None:
    """Colours and coordinates between stages; Mesa lets it be said of distances and places too."""
    ours, native = both(sources(qualifier))
    assert ours <= native
    more = {what.split()[1] for what in native - ours}
    assert more == {"gl_ClipDistance", "gl_CullDistance", "gl_FragCoord"}


def drawn(gl: GLInterface, qualifier: str, first: str, second: str) -> list[int]:
    """A triangle in perspective by a fragment shader of two parts, which declare gl_Color so."""
    head = "#version 150 compatibility\n"
    declared = [f"{each} in vec4 gl_Color;\n" if each else "" for each in (first, second)]
    vertex = f"{qualifier} out vec4 gl_FrontColor;\nvoid main() {{ "
    parts = (
        (GL.VERTEX_SHADER, vertex + "gl_Position = gl_Vertex; gl_FrontColor = gl_Color; }"),
        (GL.FRAGMENT_SHADER, f"{declared[0]}void part(); void main() {{ part(); }}"),
        (GL.FRAGMENT_SHADER, f"{declared[1]}void part() {{ gl_FragColor = gl_Color; }}"),
    )
    linked(gl, [(kind, head + text) for kind, text in parts])
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.begin(GL.TRIANGLES)
    for color, w, x, y in (((1, 0, 0), 1, -1, -1), ((0, 1, 0), 3, 3, -3), ((0, 0, 1), 1, -1, 1)):
        gl.color3f(*map(float, color))
        gl.vertex4f(float(x), float(y), 0.0, float(w))
    gl.end()
    pixels = np.zeros((8, 8, 4), np.uint8)
    gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE, pixels)
    found: list[int] = (pixels[0, :6, :3].astype(int) // 4).ravel().tolist()
    return found


@pytest.mark.native
def test_what_one_shader_of_a_stage_declares_counts_for_all() -> None:
    """Native GL is asked where the first one does: it does not look at the others."""
    options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (8, 8)}
    native, ours = native_context(**options), create_context("numpipe", **options)
    pictures = []
    for qualifier in ("flat", "noperspective", "smooth"):
        wanted = drawn(native, qualifier, qualifier, "")
        pictures.append(wanted)
        for first, second in ((qualifier, qualifier), (qualifier, ""), ("", qualifier)):
            found = drawn(ours, qualifier, first, second)
            assert np.abs(np.subtract(found, wanted)).max() <= 1, (first, second)
    assert pictures[0] != pictures[1] != pictures[2]
    native.release()
    ours.release()

"""Built-in variables declared once more, each in every stage that has it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from gallette.compiler.glsl.builtins.limits import Limits
from gallette.compiler.glsl.builtins.variables import lookup, names
from gallette.compiler.glsl.language import Language
from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

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

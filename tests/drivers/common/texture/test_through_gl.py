"""Textures through the whole stack: the same GL calls on numpipe and on the native GL.

Coordinates are interpolated by each side itself, so a few pixels on texel edges may differ; all
others must agree to one part in 255.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from native_side import native_or_skip
from sampling_scene import GL_FORMAT, SAMPLER, Native, Scene

from gallette.pipe.enums import Filter, MipFilter, Target, Wrap
from gallette.pipe.state import SamplerState
from gallette.state_tracker import create_context

L, N = Filter.LINEAR, Filter.NEAREST

pytestmark = pytest.mark.native


class Ours(Native):
    """The same scenes on numpipe."""

    version = "#version 330\n" + "".join(
        f"#extension GL_ARB_{name} : enable\n"
        for name in ("texture_gather", "texture_query_lod", "texture_cube_map_array")
    )
    version += "#define textureQueryLod textureQueryLOD\n"


@pytest.fixture(scope="module")
def native() -> Iterator[Native]:
    yield from native_or_skip()


@pytest.fixture
def ours() -> Iterator[Native]:
    yield Ours(create_context("numpipe", profile="compat"))


def compare(native: Native, ours: Native, scene: Scene, expression: str) -> None:
    Native.version = "#version 400"
    expected, _ = native.render(scene, expression)
    Native.version = Ours.version
    try:
        got, _ = ours.render(scene, expression)
    finally:
        Native.version = "#version 400"
    difference = np.abs(got - expected).max(axis=-1)
    assert (difference > 1.01 / 255).mean() <= 0.001


def sampler(filter: Filter, mip: MipFilter, wrap: Wrap = Wrap.REPEAT) -> SamplerState:
    return SamplerState(wrap, wrap, wrap, filter, filter, mip)


@pytest.mark.parametrize("format", [f for f in GL_FORMAT if "INT" not in f])
def test_formats(native: Native, ours: Native, format: str) -> None:
    scene = Scene(format=format, levels=5, sampler=sampler(L, MipFilter.LINEAR))
    compare(native, ours, scene, "color = vec4(texture(tex, COORD));")


@pytest.mark.parametrize("target", SAMPLER, ids=lambda t: t.value)
def test_targets(native: Native, ours: Native, target: Target) -> None:
    depths = {
        Target.TEXTURE_3D: 8,
        Target.TEXTURE_CUBE: 6,
        Target.TEXTURE_CUBE_ARRAY: 12,
        Target.TEXTURE_1D_ARRAY: 3,
        Target.TEXTURE_2D_ARRAY: 3,
    }
    height = 1 if target in (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY) else 16
    rectangle = target is Target.TEXTURE_RECT
    mip = MipFilter.NONE if rectangle else MipFilter.LINEAR
    scene = Scene(
        target,
        width=16,
        height=height,
        depth=depths.get(target, 1),
        levels=1 if rectangle else 5,
        sampler=sampler(L, mip, Wrap.CLAMP_TO_EDGE),
        matrix=(2, 0.3, 0.1, -0.4, 1.5, 0.2),
    )
    compare(native, ours, scene, "color = texture(tex, COORD);")


@pytest.mark.parametrize(
    "expression",
    [
        "color = textureLod(tex, COORD, uv.x * 2.0);",
        "color = texture(tex, COORD, 0.7);",
        "color = textureGrad(tex, COORD, vec2(0.05, 0.01) * uv.x, vec2(0.01, 0.1) * uv.y);",
        "color = textureOffset(tex, COORD, ivec2(3, -2));",
        "color = textureProj(tex, vec3(COORD, 1.3));",
        "color = texelFetch(tex, ivec2(uv.xy * 40.0), 1);",
        "color = vec4(textureSize(tex, 1), 0.0, 0.0);",
        "color = textureGather(tex, COORD);",
        "color = vec4(textureQueryLod(tex, COORD), 0.0, 0.0);",
        "color = vec4(0.0); if (uv.x > 0.3) color = texture(tex, COORD);",
    ],
)
def test_ways_of_sampling(native: Native, ours: Native, expression: str) -> None:
    scene = Scene(
        width=64,
        height=32,
        levels=7,
        matrix=(1.9137, 0.3173, 0.1234, -0.4321, 1.5177, 0.2357),  # few pixels on texel edges
        sampler=sampler(L, MipFilter.LINEAR),
    )
    compare(native, ours, scene, expression)


@pytest.mark.parametrize("mip", list(MipFilter))
@pytest.mark.parametrize(("least", "most"), [(N, L), (L, N)])
def test_where_magnification_begins(
    native: Native, ours: Native, least: Filter, most: Filter, mip: MipFilter
) -> None:
    """Levels of detail beside zero and exactly there, with filters that differ."""
    wrap = Wrap.REPEAT
    scene = Scene(
        levels=5,
        matrix=(1.9137, 0.3173, 0.1234, -0.4321, 1.5177, 0.2357),
        sampler=SamplerState(wrap, wrap, wrap, least, most, mip),
    )
    steps = "(floor(uv.x * 9.0) - 4.0) / 4.0"
    compare(native, ours, scene, f"color = textureLod(tex, COORD, {steps});")

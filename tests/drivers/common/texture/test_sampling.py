"""Sampling against the native GL: the same coordinates, the same texture, the same numbers.

A lookup is put together from code for addresses, levels, texels and filters, so tests try every
two or three choices of these together and not every product.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from native_side import native_or_skip
from sampling_scene import Native, Scene, sample

from gallette.pipe.enums import CompareFunc, Filter, MipFilter, Target, Wrap
from gallette.pipe.state import SamplerState
from gallette.state_tracker import create_context
from tests.covering import rows

L, N = Filter.LINEAR, Filter.NEAREST
BORDER = (0.2, 0.4, 0.6, 0.8)
BOTH = RGBA8, RGBA32F = "R8G8B8A8_UNORM", "R32G32B32A32_FLOAT"
F32 = np.float32

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def native() -> Iterator[Native]:
    yield from native_or_skip()


def sampler(
    min_filter: Filter = L,
    mag_filter: Filter = L,
    mip: MipFilter = MipFilter.NONE,
    wrap: Wrap = Wrap.REPEAT,
    **more: Any,
) -> SamplerState:
    return SamplerState(wrap, wrap, wrap, min_filter, mag_filter, mip, **more)


def check(
    native: Native,
    scene: Scene,
    expression: str = "color = texture(tex, COORD);",
    op: str = "tex",
    tolerance: float = 2e-6,
    **how: Any,
) -> None:
    """Every pixel within the tolerance (the best a float32 path can be asked for)."""
    expected, where = native.render(scene, expression)
    got = sample(scene, where, op, **how)
    np.testing.assert_allclose(got, expected[..., : got.shape[-1]], rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    "format,wrap,filter,size", rows(BOTH, list(Wrap), (N, L), ((16, 16), (13, 7)), strength=3)
)
def test_wrap_modes(
    native: Native, format: str, wrap: Wrap, filter: Filter, size: tuple[int, int]
) -> None:
    state = sampler(filter, filter, wrap=wrap, border_color=BORDER)
    check(native, Scene(format=format, width=size[0], height=size[1], sampler=state))


SMALLER, LARGER = (4, 0.3, 0.1, -0.4, 3, 0.2), (0.5, 0.1, 0.1, -0.1, 0.6, 0.2)
MIPS = MipFilter.NEAREST, MipFilter.LINEAR


@pytest.mark.parametrize(
    "format,mip,filters,size,matrix",
    rows(BOTH, MIPS, ((L, L), (N, N), (N, L), (L, N)), (64, 50), (SMALLER, LARGER), strength=3),
)
def test_mipmaps(
    native: Native,
    format: str,
    mip: MipFilter,
    filters: tuple[Filter, Filter],
    size: int,
    matrix: tuple[float, ...],
) -> None:
    scene = Scene(
        format=format,
        width=size,
        height=size,
        levels=size.bit_length(),
        sampler=sampler(*filters, mip),
        matrix=matrix,
    )
    check(native, scene)


WIDE: dict[str, Any] = {
    "width": 64,
    "height": 32,
    "levels": 7,
    "matrix": (2, 0.3, 0.1, -0.4, 1.5, 0.2),
}
FILTERS = [(L, L, MipFilter.LINEAR), (N, L, MipFilter.NEAREST), (N, L, MipFilter.LINEAR)]


@pytest.mark.parametrize(
    "format,filters",
    [(RGBA8, FILTERS[0]), (RGBA32F, FILTERS[0]), (RGBA8, FILTERS[1]), (RGBA32F, FILTERS[2])],
)
class TestLevelOfDetail:
    def scene(self, format: str, filters: Any, **more: Any) -> Scene:
        return Scene(format=format, sampler=sampler(*filters, **more), **WIDE)

    def test_explicit_by_lane(self, native: Native, format: str, filters: Any) -> None:
        scene = self.scene(format, filters)
        expression = "color = textureLod(tex, COORD, uv.x * 2.0);"
        check(native, scene, expression, "txl", lod=lambda c: c[0] * F32(2))

    def test_explicit_constant(self, native: Native, format: str, filters: Any) -> None:
        scene = self.scene(format, filters)
        expression = "color = textureLod(tex, COORD, 1.5);"
        check(native, scene, expression, "txl", lod=F32(1.5))

    def test_bias(self, native: Native, format: str, filters: Any) -> None:
        scene = self.scene(format, filters)
        expression = "color = texture(tex, COORD, 0.7);"
        check(native, scene, expression, "txb", bias=F32(0.7))

    def test_bias_by_lane(self, native: Native, format: str, filters: Any) -> None:
        scene = self.scene(format, filters)
        expression = "color = texture(tex, COORD, uv.x);"
        check(native, scene, expression, "txb", bias=lambda c: c[0])

    def test_gradients(self, native: Native, format: str, filters: Any) -> None:
        scene = self.scene(format, filters)
        expression = (
            "color = textureGrad(tex, COORD, vec2(0.05, 0.01) * uv.x, vec2(0.01, 0.1) * uv.y);"
        )
        check(
            native,
            scene,
            expression,
            "txd",
            ddx=lambda c: [F32(0.05) * c[0], F32(0.01) * c[0]],
            ddy=lambda c: [F32(0.01) * c[1], F32(0.1) * c[1]],
        )

    def test_sampler_bias_and_clamps(self, native: Native, format: str, filters: Any) -> None:
        check(native, self.scene(format, filters, lod_bias=0.6, min_lod=0.5, max_lod=1.7))

    @pytest.mark.parametrize("wrap", [Wrap.REPEAT, Wrap.CLAMP_TO_EDGE, Wrap.MIRROR_REPEAT])
    def test_texel_offsets(self, native: Native, format: str, filters: Any, wrap: Wrap) -> None:
        scene = self.scene(format, filters, wrap=wrap)
        expression = "color = textureOffset(tex, COORD, ivec2(3, -2));"
        check(native, scene, expression, offset=[np.int32(3), np.int32(-2)])


@pytest.mark.parametrize("format", [RGBA8, RGBA32F])
def test_level_query(native: Native, format: str) -> None:
    scene = Scene(format=format, sampler=sampler(mip=MipFilter.LINEAR), **WIDE)
    check(native, scene, "color = vec4(textureQueryLod(tex, COORD), 0.0, 0.0);", "lod")


GATHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("textureGather(tex, COORD)", {}),
    "component": ("textureGather(tex, COORD, 2)", {"gather_component": 2}),
    "offset": (
        "textureGatherOffset(tex, COORD, ivec2(1, -3))",
        {"offset": [np.int32(1), np.int32(-3)]},
    ),
}


@pytest.fixture(scope="module", params=["native", "jit"])
def side(request: pytest.FixtureRequest, native: Native) -> Iterator[Native]:
    if request.param == "native":
        yield native
        return
    pytest.importorskip("llvmlite")
    ours = Native(create_context("jit", profile="compat", version=(4, 6), size=(4, 4)))
    yield ours
    ours.gl.release()


@pytest.mark.parametrize("wrap,gather,size", rows(list(Wrap), list(GATHERS), ((64, 32), (13, 7))))
def test_gather(side: Native, wrap: Wrap, size: tuple[int, int], gather: str) -> None:
    """Far outside the image on both sides: each of the four texels is wrapped for itself."""
    scene = Scene(
        format=RGBA32F, width=size[0], height=size[1], matrix=(2.4, 0.3, 0.1, -0.4, 2.1, 0.2),
        sampler=sampler(wrap=wrap, border_color=BORDER),
    )  # fmt: skip
    expression, how = GATHERS[gather]
    check(side, scene, f"color = {expression};", "tg4", tolerance=0, **how)


SHAPES = {
    Target.TEXTURE_1D: (16, 1, 1, 5),
    Target.TEXTURE_3D: (16, 8, 4, 5),
    Target.TEXTURE_1D_ARRAY: (16, 1, 3, 5),
    Target.TEXTURE_2D_ARRAY: (16, 8, 3, 5),
    Target.TEXTURE_RECT: (16, 9, 1, 1),
}


SOME_WRAPS = (Wrap.REPEAT, Wrap.CLAMP_TO_EDGE, Wrap.CLAMP_TO_BORDER, Wrap.CLAMP)


@pytest.mark.parametrize("format,target,wrap,filter", rows(BOTH, list(SHAPES), SOME_WRAPS, (N, L)))
def test_targets(native: Native, format: str, target: Target, wrap: Wrap, filter: Filter) -> None:
    width, height, depth, levels = SHAPES[target]
    if target is Target.TEXTURE_RECT and wrap is Wrap.REPEAT:  # there is no such thing
        wrap = Wrap.CLAMP_TO_EDGE
    mip = MipFilter.LINEAR if levels > 1 else MipFilter.NONE
    state = sampler(filter, filter, mip, wrap, border_color=BORDER)
    scene = Scene(target, format, width, height, depth, levels, sampler=state)
    check(native, scene)


DIRECTIONS = (1, 0, 0.1, 0, 1, 0.1), (3, 0, 0.3, 0, 3, 0.7), (8, 0, 1, 0, 8, 2)


@pytest.mark.parametrize(
    "format,seamless,mip,filter,matrix",
    rows(BOTH, (False, True), (MipFilter.NONE, MipFilter.LINEAR), (N, L), DIRECTIONS, strength=3),
)
def test_cube_maps(
    native: Native,
    format: str,
    seamless: bool,
    mip: MipFilter,
    filter: Filter,
    matrix: tuple[float, ...],
) -> None:
    state = sampler(filter, filter, mip, Wrap.CLAMP_TO_EDGE, seamless_cube_map=seamless)
    scene = Scene(Target.TEXTURE_CUBE, format, 8, 8, 6, 4, sampler=state, matrix=matrix)
    check(native, scene)
    scene = Scene(Target.TEXTURE_CUBE_ARRAY, format, 8, 8, 18, 4, sampler=state, matrix=matrix)
    check(native, scene)


@pytest.mark.parametrize(
    "format,func,filter", rows(("Z32_FLOAT", "Z16_UNORM"), list(CompareFunc), (N, L))
)
def test_depth_comparison(native: Native, format: str, func: CompareFunc, filter: Filter) -> None:
    state = sampler(
        filter, filter, wrap=Wrap.CLAMP_TO_EDGE, compare_enabled=True, compare_func=func
    )
    expression = "color = vec4(vec3(texture(tex, vec3(COORD, uv.z))), 1.0);"
    check(native, Scene(format=format, sampler=state), expression, compare=lambda c: c[2])


@pytest.mark.parametrize(
    "format",
    [
        "R8_UNORM",
        "R8G8_UNORM",
        "R8G8B8A8_SNORM",
        "R8G8B8A8_SRGB",
        "R16G16B16A16_FLOAT",
        "R32_FLOAT",
        "R16G16B16A16_UNORM",
        "B5G6R5_UNORM",
        "R10G10B10A2_UNORM",
        "R11G11B10_FLOAT",
    ],
)
def test_formats(native: Native, format: str) -> None:
    tolerance = 0.0013 if "SRGB" in format else 2e-6  # llvmpipe approximates the sRGB curve
    for filter, wrap in ((N, Wrap.REPEAT), (L, Wrap.CLAMP_TO_BORDER)):
        state = sampler(filter, filter, MipFilter.LINEAR, wrap, border_color=BORDER)
        scene = Scene(format=format, width=16, height=16, levels=5, sampler=state)
        check(native, scene, tolerance=tolerance)


def test_integer_textures(native: Native) -> None:
    state = sampler(N, N, MipFilter.NEAREST)
    scene = Scene(format="R8G8B8A8_UINT", width=16, height=16, levels=5, sampler=state)
    check(native, scene, "color = vec4(texture(tex, COORD));")


def test_fetch_reads_texels_of_a_level(native: Native) -> None:
    scene = Scene(sampler=sampler(N, N, MipFilter.NEAREST), **WIDE)
    expected, where = native.render(scene, "color = texelFetch(tex, ivec2(uv.xy * 40.0), 1);")
    inside = (where * F32(40)).astype(np.int32)
    got = sample(scene, inside, "txf", lod=np.int32(1))
    np.testing.assert_allclose(got, expected, atol=1e-6)

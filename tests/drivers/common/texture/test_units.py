"""Texture units alone: what no other implementation can be asked about, and robustness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.drivers.common.texture import Unit, texture_unit
from gallette.drivers.common.texture import unit as unit_module
from gallette.pipe.enums import CompareFunc, Filter, MipFilter, Reduction, Swizzle, Target, Wrap
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import SamplerState, SamplerView

Array = npt.NDArray[Any]
F32 = np.float32
NEAREST = SamplerState(
    Wrap.REPEAT, Wrap.REPEAT, Wrap.REPEAT, Filter.NEAREST, Filter.NEAREST, MipFilter.NONE
)
LINEAR = SamplerState(
    Wrap.REPEAT, Wrap.REPEAT, Wrap.REPEAT, Filter.LINEAR, Filter.LINEAR, MipFilter.NONE
)


def texture(
    format: str = "R8G8B8A8_UNORM",
    width: int = 8,
    height: int = 8,
    target: Target = Target.TEXTURE_2D,
    **more: Any,
) -> HostResource:
    desc = ResourceDesc(target, FORMATS[format], width, height, **more)
    resource = create_resource(desc, ResourceLedger())
    rng = np.random.default_rng(5)
    for level in resource.storage:
        level[...] = rng.integers(0, 256, level.shape, np.uint8)
    resource.touch()
    return resource


def view_of(resource: HostResource, **more: Any) -> SamplerView:
    desc = resource.desc
    more.setdefault("target", desc.target)
    more.setdefault("format", desc.format)
    more.setdefault("last_level", desc.last_level)
    more.setdefault("last_layer", desc.array_size - 1)
    return SamplerView(resource, **more)


def lanes(*values: float, dtype: Any = F32) -> Array:
    return np.array(values, dtype)


def test_units_are_cached_per_view_and_sampler() -> None:
    resource = texture()
    assert texture_unit(view_of(resource), NEAREST) is texture_unit(view_of(resource), NEAREST)
    assert texture_unit(view_of(resource), NEAREST) is not texture_unit(view_of(resource), LINEAR)


def test_a_write_shows_in_units_made_before() -> None:
    for format in ("R8G8B8A8_UNORM", "B5G6R5_UNORM", "DXT1_RGBA"):
        resource = texture(format)
        unit = texture_unit(view_of(resource), LINEAR)
        at = [lanes(0.3, 0.7), lanes(0.2, 0.9)]
        before = np.array(unit.sample("tex", at, 2))
        resource.storage[0][...] = 0
        resource.touch()
        after = np.array(unit.sample("tex", at, 2))
        assert before.any()
        assert not after[:3].any()


@pytest.mark.parametrize("format", ["R8G8B8A8_UNORM", "R8_UNORM", "L8_UNORM", "R32G32_FLOAT"])
@pytest.mark.parametrize("sampler", [NEAREST, LINEAR], ids=["nearest", "linear"])
@pytest.mark.parametrize("op", ["tex", "txl", "tg4", "txf"])
def test_uniform_coordinates_give_uniform_results(
    op: str, sampler: SamplerState, format: str
) -> None:
    """Of channels that are there and of constants."""
    at: list[Any] = [3, 1] if op == "txf" else [F32(0.4), F32(0.1)]
    more = {"lod": np.asarray(F32(0))} if op == "txl" else {}
    for swizzle in ((Swizzle.X, Swizzle.Y, Swizzle.Z, Swizzle.W), (Swizzle.ONE, Swizzle.ZERO) * 2):
        unit = texture_unit(view_of(texture(format), swizzle=swizzle), sampler)
        single = unit.sample(op, [np.asarray(c) for c in at], 64, **more)
        many = unit.sample(op, [np.full(64, c) for c in at], 64, **more)
        assert len(single) == 4
        for one, spread in zip(single, many, strict=True):
            assert np.ndim(one) == 0
            assert (spread == one).all()


GRIDS = """R8G8B8A8_UNORM B8G8R8X8_UNORM R8G8_UNORM L8A8_UNORM A8_UNORM B5G6R5_UNORM R8G8B8A8_SNORM
R8G8B8A8_SRGB R16G16B16A16_FLOAT R11G11B10_FLOAT R9G9B9E5_FLOAT R16_UNORM Z32_FLOAT DXT1_RGBA"""


@pytest.mark.parametrize("wrap", [Wrap.CLAMP_TO_EDGE, Wrap.REPEAT])
@pytest.mark.parametrize("format", GRIDS.split())
def test_a_grid_is_filtered_as_its_points_are(
    format: str, wrap: Wrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_module, "_AT_ONCE", 64)
    sampler = replace(LINEAR, wrap_s=wrap, wrap_t=wrap)
    unit = texture_unit(view_of(texture(format, 12, 20)), sampler)
    s, t = (np.linspace(*ends, dtype=F32) for ends in ((-0.2, 1.1, 17), (1.3, -0.4, 23)))
    shape = (t.size, s.size)
    flat = [np.broadcast_to(c, shape).reshape(-1) for c in (s, t[:, None])]
    with np.errstate(all="ignore"):
        points = unit.sample("tex", flat, s.size * t.size)
        blocks = list(unit.grid(s, t))
        assert len(blocks) > 1
        for rows, texels in blocks:
            for found, expected in zip(unit.filter("tex").planes(texels), points, strict=True):
                some = np.broadcast_to(expected, s.size * t.size).reshape(shape)[rows]
                np.testing.assert_array_equal(np.broadcast_to(found, some.shape), some)


@pytest.mark.parametrize("mipmap", MipFilter)
@pytest.mark.parametrize("op", ["tex", "txb", "txl", "txd", "lod"])
@pytest.mark.parametrize("quads", [False, True])
def test_uniform_coordinates_choose_the_level_of_many(
    quads: bool, op: str, mipmap: MipFilter
) -> None:
    """Which differ from no neighbour: the level is the bias, or what else is said of it."""
    unit = texture_unit(
        view_of(texture(last_level=3)), replace(LINEAR, min_mip_filter=mipmap, lod_bias=0.25)
    )
    at = [F32(0.4), F32(0.1)]
    for said in (-1.0, 0.5, 1.75, 9.0):
        value = np.asarray(F32(said))
        steep = [np.asarray(F32(abs(said) / 8)), np.asarray(F32(0))]
        more: dict[str, Any] = {
            "tex": {},
            "txb": {"bias": value},
            "txl": {"lod": value},
            "txd": {"ddx": steep, "ddy": steep[::-1]},
            "lod": {},
        }[op]
        wide = {
            k: [np.full(64, x) for x in v] if isinstance(v, list) else np.full(64, v)
            for k, v in more.items()
        }
        single = unit.sample(op, [np.asarray(c) for c in at], 64, quads=quads, **more)
        many = unit.sample(op, [np.full(64, c) for c in at], 64, quads=quads, **wide)
        for one, spread in zip(single, many, strict=True):
            assert np.ndim(one) == 0
            assert (spread == one).all(), said


def test_mixed_uniform_and_varying_coordinates() -> None:
    unit = texture_unit(view_of(texture()), LINEAR)
    mixed = unit.sample("tex", [np.asarray(F32(0.4)), np.linspace(0, 1, 8, dtype=F32)], 8)
    spread = unit.sample("tex", [np.full(8, 0.4, F32), np.linspace(0, 1, 8, dtype=F32)], 8)
    for a, b in zip(mixed, spread, strict=True):
        np.testing.assert_array_equal(np.broadcast_to(a, (8,)), b)


@pytest.mark.parametrize("sampler", [NEAREST, LINEAR], ids=["nearest", "linear"])
@pytest.mark.parametrize("wrap", Wrap, ids=lambda w: w.name)
def test_any_coordinate_is_survived(sampler: SamplerState, wrap: Wrap) -> None:
    filter = sampler.min_img_filter
    state = SamplerState(wrap, wrap, wrap, filter, filter, MipFilter.NONE)
    wild = lanes(np.nan, np.inf, -np.inf, 1e30, -1e30, 1e-40, -0.0, 3e9)
    for format in ("R8G8B8A8_UNORM", "R32G32B32A32_FLOAT"):
        for size in (8, 7):
            resource = texture(format, size, size)
            if "FLOAT" in format:
                resource.view(0, F32)[...] = 0.5
            unit = Unit(view_of(resource), state)
            found = unit.sample("tex", [wild, wild[::-1].copy()], 8)
            assert len(found) == 4


def test_results_do_not_depend_on_how_lanes_are_chunked_or_strided() -> None:
    rng = np.random.default_rng(3)
    u, v = rng.random(1000).astype(F32) * 3 - 1, rng.random(1000).astype(F32) * 3 - 1
    for format in ("R8G8B8A8_UNORM", "R16G16B16A16_UNORM", "R8G8B8A8_SRGB"):
        unit = texture_unit(view_of(texture(format, 13, 7)), LINEAR)
        whole = np.array(unit.sample("tex", [u, v], 1000))
        parts = [unit.sample("tex", [u[i : i + 7], v[i : i + 7]], 7) for i in range(0, 994, 7)]
        joined = np.concatenate([np.array(p) for p in parts], axis=1)
        np.testing.assert_array_equal(joined.view(np.uint32), whole[:, :994].view(np.uint32))
        strided = unit.sample("tex", [u[::3], v[::3]], u[::3].size)
        np.testing.assert_array_equal(np.array(strided), whole[:, ::3])


def test_fetch_outside_the_texture_reads_zero() -> None:
    unit = texture_unit(view_of(texture(last_level=2)))
    x = lanes(-1, 8, 0, 0, 3, 4, dtype=np.int32)
    y = lanes(0, 0, -1, 8, 3, 3, dtype=np.int32)
    lod = lanes(0, 0, 0, 0, 3, 1, dtype=np.int32)
    found = np.array(unit.sample("txf", [x, y], 6, lod=lod))
    assert not found.any()
    inside = np.array(unit.sample("txf", [lanes(3, dtype=np.int32)] * 2, 1, lod=np.int32(1)))
    assert inside.any()


def test_sizes_by_target() -> None:
    two = texture(width=16, height=8, last_level=3)
    unit = texture_unit(view_of(two))
    assert [int(e) for e in unit.sample("txs", [], 1, lod=np.int32(1))] == [8, 4]
    assert [int(e) for e in unit.sample("txs", [], 1, lod=np.int32(9))] == [0, 0]
    assert [int(e) for e in unit.sample("query_levels", [], 1)] == [4]
    part = texture_unit(view_of(two, first_level=1, last_level=2))
    assert [int(e) for e in part.sample("txs", [], 1)] == [8, 4]
    assert [int(e) for e in part.sample("query_levels", [], 1)] == [2]
    volume = texture(target=Target.TEXTURE_3D, depth=4)
    assert [int(e) for e in texture_unit(view_of(volume)).sample("txs", [], 1)] == [8, 8, 4]
    cubes = texture(target=Target.TEXTURE_CUBE_ARRAY, array_size=12)
    assert [int(e) for e in texture_unit(view_of(cubes)).sample("txs", [], 1)] == [8, 8, 2]
    rows = texture(target=Target.TEXTURE_1D_ARRAY, height=1, array_size=3)
    assert [int(e) for e in texture_unit(view_of(rows)).sample("txs", [], 1)] == [8, 3]


def test_views_swizzle() -> None:
    resource = texture("R8G8B8A8_UNORM")
    swizzle = (Swizzle.W, Swizzle.ONE, Swizzle.X, Swizzle.ZERO)
    at = [lanes(0.1, 0.6), lanes(0.9, 0.3)]
    for sampler in (NEAREST, LINEAR):
        plain = texture_unit(view_of(resource), sampler).sample("tex", at, 2)
        mixed = texture_unit(view_of(resource, swizzle=swizzle), sampler).sample("tex", at, 2)
        np.testing.assert_array_equal(mixed[0], plain[3])
        np.testing.assert_array_equal(mixed[2], plain[0])
        assert np.all(mixed[1] == 1)
        assert np.all(mixed[3] == 0)


@pytest.mark.parametrize("mipmap", [MipFilter.NONE, MipFilter.LINEAR])
def test_views_of_constants_alone(mipmap: MipFilter) -> None:
    swizzle = (Swizzle.ONE, Swizzle.ZERO, Swizzle.ZERO, Swizzle.ONE)
    view = view_of(texture("R8G8B8A8_UNORM"), swizzle=swizzle)
    for sampler in (NEAREST, LINEAR):
        unit = texture_unit(view, replace(sampler, min_mip_filter=mipmap))
        found = unit.sample("tex", [lanes(0.1, 0.6), lanes(0.9, 0.3)], 2)
        assert [float(np.max(plane)) for plane in found] == [1.0, 0.0, 0.0, 1.0]


def test_luminance_and_alpha_formats_replicate() -> None:
    at = [lanes(0.1, 0.6), lanes(0.9, 0.3)]
    light = texture_unit(view_of(texture("L8A8_UNORM")), LINEAR).sample("tex", at, 2)
    np.testing.assert_array_equal(light[0], light[2])
    assert (light[3] != light[0]).any()
    alpha = texture_unit(view_of(texture("A8_UNORM")), NEAREST).sample("tex", at, 2)
    assert not np.any(alpha[0])
    assert np.all(alpha[3] > 0)


def test_buffer_textures_fetch_a_range() -> None:
    resource = create_resource(
        ResourceDesc(Target.BUFFER, FORMATS["R8_UNORM"], 64), ResourceLedger()
    )
    resource.storage[0].reshape(-1).view(np.float32)[...] = np.arange(16)
    view = SamplerView(
        resource, FORMATS["R32G32_FLOAT"], Target.BUFFER, buffer_offset=8, buffer_size=24
    )
    unit = texture_unit(view)
    found = unit.sample("txf", [lanes(0, 2, 3, -1, dtype=np.int32)], 4)
    assert found[0].tolist() == [2, 6, 0, 0]
    assert found[1].tolist() == [3, 7, 0, 0]
    assert [int(e) for e in unit.sample("txs", [], 1)] == [3]


def test_stencil_is_sampled_as_unsigned_integers() -> None:
    resource = texture("Z24_UNORM_S8_UINT")
    resource.view(0, np.uint32)[...] = np.uint32(0xAB000000)
    unit = texture_unit(view_of(resource, sample_stencil=True), NEAREST)
    found = unit.sample("tex", [lanes(0.5, 0.1), lanes(0.5, 0.1)], 2)
    assert found[0].dtype == np.uint32
    assert found[0].tolist() == [0xAB, 0xAB]


def test_integer_formats_keep_their_bits() -> None:
    resource = texture("R32G32B32A32_SINT")
    unit = texture_unit(view_of(resource), NEAREST)
    found = unit.sample("txf", [lanes(3, dtype=np.int32), lanes(5, dtype=np.int32)], 1)
    expected = resource.view(0, np.int32)[0, 5, 12:16]
    assert [int(c[0]) for c in found] == expected.tolist()
    assert found[0].dtype == np.int32


def test_multisampled_textures_are_fetched_by_sample() -> None:
    resource = texture("R32_UINT", 4, 4, samples=4)
    unit = texture_unit(view_of(resource))
    x, sample = lanes(1, 1, 1, dtype=np.int32), lanes(0, 3, 4, dtype=np.int32)
    y = lanes(2, 2, 2, dtype=np.int32)
    found = unit.sample("txf_ms", [x, y], 3, sample_index=sample)[0]
    words = resource.view(0, np.uint32)
    assert found.tolist() == [int(words[0, 2, 1]), int(words[3, 2, 1]), 0]


def test_a_level_of_weight_zero_does_not_count() -> None:
    """Its infinities would, multiplied by zero; and only in the company of other lanes."""
    levels = texture("R32_FLOAT", 4, 4, last_level=1)
    levels.view(0, F32)[...], levels.view(1, F32)[...] = 2.0, np.inf
    unit = texture_unit(view_of(levels), replace(LINEAR, min_mip_filter=MipFilter.LINEAR))
    at = [np.full(2, 0.5, F32)] * 2
    red = unit.sample("txl", at, 2, lod=np.array([0.0, 0.5], F32))[0]
    assert red[0] == 2.0 and not np.isfinite(red[1])


@pytest.mark.parametrize("format", ["R32G32_FLOAT", "R8G8B8A8_UNORM"])
def test_lanes_of_cube_maps_are_independent(format: str) -> None:
    """Corners, where three faces meet, and directions that are no numbers change no other lane."""
    cube = texture(format, 4, 4, target=Target.TEXTURE_CUBE, array_size=6)
    sampler = replace(LINEAR, seamless_cube_map=True)
    unit = texture_unit(view_of(cube), sampler)
    directions = [(1, 1, 1), (1, 0.9, 0), (np.nan, 1, 0), (0, 0, 0), (0.1, 0.2, -1), (-1, -1, 1)]
    together = [np.array(part, F32) for part in zip(*directions, strict=True)]
    found = unit.sample("tex", together, len(directions))
    for lane in range(len(directions)):
        alone = unit.sample("tex", [part[lane : lane + 1] for part in together], 1)
        for plane, other in zip(found, alone, strict=True):
            one = np.broadcast_to(plane, (len(directions),))[lane]
            assert one.tobytes() == np.broadcast_to(other, (1,))[0].tobytes(), directions[lane]


def test_cube_arrays_select_a_cube() -> None:
    resource = texture("R8_UNORM", 4, 4, Target.TEXTURE_CUBE_ARRAY, array_size=12)
    for layer in range(12):
        resource.storage[0][layer] = layer
    unit = texture_unit(view_of(resource), NEAREST)
    direction = [lanes(1, -1, 0, 0), lanes(0, 0, 1, 0), lanes(0, 0, 0, -1), lanes(0, 1, 1, 7)]
    found = unit.sample("tex", direction, 4)[0] * 255
    assert np.rint(found).tolist() == [0, 7, 8, 11]


def test_a_view_of_one_layer_and_level() -> None:
    resource = texture("R8_UNORM", 8, 8, Target.TEXTURE_2D_ARRAY, array_size=3, last_level=2)
    for level in range(3):
        for layer in range(3):
            resource.storage[level][layer] = 10 * level + layer
    view = view_of(
        resource,
        target=Target.TEXTURE_2D,
        first_level=1,
        last_level=2,
        first_layer=2,
        last_layer=2,
    )
    unit = texture_unit(view, NEAREST)
    found = unit.sample("tex", [lanes(0.2, 0.7), lanes(0.2, 0.7)], 2)[0] * 255
    assert np.rint(found).tolist() == [12, 12]
    fetched = unit.sample("txf", [lanes(0, dtype=np.int32)] * 2, 1, lod=np.int32(1))[0] * 255
    assert np.rint(fetched).tolist() == [22]


def test_needs_lod_says_whether_derivatives_matter() -> None:
    resource = texture(last_level=3)
    mipmapped = SamplerState(min_mip_filter=MipFilter.LINEAR)
    assert Unit(view_of(resource), mipmapped).needs_lod
    assert not Unit(view_of(resource), LINEAR).needs_lod
    assert not Unit(view_of(resource, last_level=0), LINEAR).needs_lod
    different = SamplerState(
        min_img_filter=Filter.NEAREST, mag_img_filter=Filter.LINEAR, min_mip_filter=MipFilter.NONE
    )
    assert Unit(view_of(resource), different).needs_lod


@pytest.mark.parametrize(
    ("array", "plain", "size"),
    [
        (Target.TEXTURE_1D_ARRAY, Target.TEXTURE_1D, (16, 1)),
        (Target.TEXTURE_2D_ARRAY, Target.TEXTURE_2D, (16, 8)),
        (Target.TEXTURE_CUBE_ARRAY, Target.TEXTURE_CUBE, (16, 16)),
    ],
)
@pytest.mark.parametrize("mipmap", MipFilter)
def test_queried_levels_have_no_layer(
    mipmap: MipFilter, array: Target, plain: Target, size: tuple[int, int]
) -> None:
    faces = 6 if plain.is_cube else 1
    units = [
        texture_unit(
            view_of(texture("R8_UNORM", *size, target, array_size=layers, last_level=3)),
            replace(LINEAR, min_mip_filter=mipmap),
        )
        for target, layers in ((array, 2 * faces), (plain, faces))
    ]
    rng = np.random.default_rng(4)
    axes = 3 if faces == 6 else 2 if plain is Target.TEXTURE_2D else 1
    coords = [rng.uniform(-1, 1, 64).astype(F32) for _ in range(axes)]
    of_array, wanted = (unit.sample("lod", coords, 64, quads=True) for unit in units)
    assert len(np.unique(wanted[1])) > 9
    np.testing.assert_array_equal(of_array, wanted)


def test_depth_comparison_comes_before_the_swizzle() -> None:
    resource = texture("Z32_FLOAT")
    resource.view(0, F32)[...] = 0.5
    for filter in Filter:
        state = SamplerState(
            min_img_filter=filter,
            mag_img_filter=filter,
            min_mip_filter=MipFilter.NONE,
            compare_enabled=True,
            compare_func=CompareFunc.GREATER,
        )
        alpha = view_of(resource, swizzle=(Swizzle.ZERO,) * 3 + (Swizzle.X,))
        at, reference = [lanes(0.1, 0.2)] * 2, lanes(0.4, 0.6)
        found = Unit(alpha, state).sample("tex", at, 2, compare=reference)
        assert [float(np.max(c)) for c in found[:3]] == [0, 0, 0]
        assert found[3].tolist() == [0, 1]
        depth = Unit(alpha, state).sample("tex", at, 2)
        assert depth[3].tolist() == [0.5, 0.5]


# -- components that somebody looks at ---------------------------------------------------------


SAMPLED_SOMEHOW = {
    "bytes": ("R8G8B8A8_UNORM", {}, LINEAR),
    "bytes in another order": ("B8G8R8A8_UNORM", {}, NEAREST),
    "clamped": ("R8G8B8A8_UNORM", {}, replace(LINEAR, wrap_s=Wrap.CLAMP_TO_BORDER)),
    "on a curve": ("R8G8B8A8_SRGB", {}, LINEAR),
    "halves": ("R16G16B16A16_FLOAT", {}, LINEAR),
    "floats": ("R32G32B32A32_FLOAT", {}, NEAREST),
    "numbers": ("R16G16B16A16_UINT", {}, NEAREST),
    "packed": ("R10G10B10A2_UNORM", {}, LINEAR),
    "two channels": ("R8G8_UNORM", {}, LINEAR),
    "swizzled": (
        "R8G8B8A8_UNORM",
        {"swizzle": (Swizzle.W, Swizzle.ONE, Swizzle.X, Swizzle.X)},
        LINEAR,
    ),
    "many probes": ("R8G8B8A8_UNORM", {}, replace(LINEAR, max_anisotropy=4.0)),
    "smallest": ("R8G8B8A8_UNORM", {}, replace(LINEAR, reduction=Reduction.MIN)),
}


@pytest.mark.parametrize("how", SAMPLED_SOMEHOW)
@pytest.mark.parametrize("op", ["tex", "txf"])
def test_units_for_some_components_return_equal_values(how: str, op: str) -> None:
    format, more, sampler = SAMPLED_SOMEHOW[how]
    unit = texture_unit(view_of(texture(format), **more), sampler)
    random = np.random.default_rng(2)
    coords = [random.uniform(-0.5, 1.5, 64).astype(F32) for _ in range(2)]
    if op == "txf":
        coords = [(c * 8).astype(np.int32) for c in coords]
    for _ in range(2):  # what is asked for often may be kept decoded
        whole = unit.sample(op, coords, 64, quads=op == "tex")
        for wanted in range(1, 15):
            found = unit.reading(wanted).sample(op, coords, 64, quads=op == "tex")
            assert unit.reading(wanted) is unit.reading(wanted)
            for number, (one, other) in enumerate(zip(whole, found, strict=True)):
                assert one.dtype == other.dtype
                if wanted >> number & 1:
                    assert (
                        np.broadcast_to(one, 64).tobytes() == np.broadcast_to(other, 64).tobytes()
                    )
                else:
                    assert not np.any(other)


def test_components_that_are_not_read_are_not_decoded() -> None:
    for format in ("R32G32B32A32_FLOAT", "R8G8B8A8_UNORM"):
        unit = texture_unit(view_of(texture(format)), LINEAR)
        at = [np.linspace(0, 1, 64, dtype=F32)] * 2
        found = unit.reading(2).sample("tex", at, 64)
        assert [np.ndim(plane) for plane in found] == [0, 1, 0, 0]


# -- what views have in common -----------------------------------------------------------------


def test_views_that_end_at_the_same_layer_have_copies_of_their_own() -> None:
    resource = texture(target=Target.TEXTURE_2D_ARRAY, array_size=3)
    at = [np.linspace(0, 1, 512, dtype=F32)] * 2
    whole, last = (texture_unit(view_of(resource, first_layer=first), LINEAR) for first in (0, 2))
    for _ in range(2):  # copies are made once they pay
        for unit, layers in ((whole, (0, 1, 2)), (last, (2,))):
            for layer, of_texture in enumerate(layers):
                found = unit.sample("tex", [*at, np.full(512, layer, F32)], 512)
                alone = texture(target=Target.TEXTURE_2D_ARRAY, array_size=1)
                alone.storage[0][0] = resource.storage[0][of_texture]
                alone.touch()
                wanted = Unit(view_of(alone), LINEAR).sample("tex", [*at, np.zeros(512, F32)], 512)
                np.testing.assert_array_equal(found, wanted)


def test_the_border_of_depths_is_red_alone() -> None:
    sampler = replace(
        LINEAR, wrap_s=Wrap.CLAMP_TO_BORDER, wrap_t=Wrap.CLAMP_TO_BORDER, border_color=(0.25,) * 4
    )
    unit = texture_unit(view_of(texture("Z32_FLOAT")), sampler)
    found = unit.sample("tex", [lanes(-3.0, 4.0)] * 2, 2)
    assert [np.broadcast_to(plane, 2).tolist() for plane in found] == [
        [0.25, 0.25],
        [0.0, 0.0],
        [0.0, 0.0],
        [1.0, 1.0],
    ]

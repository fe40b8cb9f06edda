"""The tables of pipe: formats, caps, state, and the pages derived from them."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import pytest

from gallette.pipe import state as pipe_state
from gallette.pipe.caps import Caps, describe_caps
from gallette.pipe.enums import (
    BlendFactor,
    BlendFunc,
    CompareFunc,
    CullFace,
    Filter,
    LogicOp,
    MipFilter,
    PolygonMode,
    Primitive,
    Reduction,
    StencilOp,
    Swizzle,
    Target,
    Wrap,
)
from gallette.pipe.formats import FORMATS, format_named
from gallette.pipe.reference import pages, write_pages
from gallette.pipe.resource import Resource, ResourceDesc, ResourceLedger, level_extent
from gallette.pipe.state import (
    BlendState,
    DrawInfo,
    FramebufferState,
    RenderTargetBlend,
    StencilState,
    Surface,
)
from tests.checklists import step

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", pages())
def test_reference_pages_are_up_to_date(name: str) -> None:
    text = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert text == pages()[name], step("pipe", "format", "page")


def test_pages_are_written_into_a_new_folder(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "pages"
    for _ in range(2):
        write_pages(folder)
        written = {p.name: p.read_text(encoding="utf-8") for p in folder.iterdir()}
        assert written == pages()


def test_channels_fill_their_block_exactly() -> None:
    for format in FORMATS.values():
        if not format.is_compressed:
            assert sum(c.bits for c in format.channels) == format.block_bytes * 8, format
            assert (format.block_width, format.block_height) == (1, 1), format
            shift = 0
            for channel in format.channels:
                assert channel.shift == shift
                shift += channel.bits


def test_formats_are_interned_and_survive_pickling() -> None:
    format = format_named("R8G8B8A8_UNORM")
    assert pickle.loads(pickle.dumps(format)) is format
    with pytest.raises(KeyError):
        format_named("R7_UNORM")


def test_format_properties() -> None:
    depth = FORMATS["Z24_UNORM_S8_UINT"]
    assert (depth.has_depth, depth.has_stencil, depth.is_color) == (True, True, False)
    assert FORMATS["R9G9B9E5_FLOAT"].is_pure_integer is False
    assert FORMATS["R8_SINT"].is_signed_integer
    assert FORMATS["R16G16_SNORM"].is_normalized
    assert FORMATS["DXT1_RGB"].is_compressed
    assert FORMATS["DXT1_RGB"].row_bytes(5) == 16
    assert FORMATS["DXT1_RGB"].rows(5) == 2
    assert repr(depth) == "Z24_UNORM_S8_UINT"


STATES: dict[str, Any] = {
    name: kind
    for name, kind in vars(pipe_state).items()
    if dataclasses.is_dataclass(kind) and kind.__module__ == pipe_state.__name__
}


def test_every_state_is_hashable_and_equal_by_value() -> None:
    count = 0
    for kind in STATES.values():
        if kind.__setattr__ is object.__setattr__:  # not frozen
            continue
        needed = [
            f
            for f in dataclasses.fields(kind)
            if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        ]
        values = {f.name: 0 for f in needed}
        first, second = kind(**values), kind(**values)
        assert first == second
        assert hash(first) == hash(second)
        assert {first: 1}[second] == 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(first, dataclasses.fields(kind)[0].name, 1)
        count += 1
    assert count >= 18


UNSAID: dict[str, dict[str, Any]] = {
    # As GL has it at first, unless the field says otherwise.
    "Box": {"width": 1, "height": 1, "depth": 1},
    "BlitInfo": {"mask": "rgba", "filter": Filter.NEAREST},
    "RenderTargetBlend": {
        "rgb_func": BlendFunc.ADD, "alpha_func": BlendFunc.ADD,
        "rgb_src_factor": BlendFactor.ONE, "alpha_src_factor": BlendFactor.ONE,
        "rgb_dst_factor": BlendFactor.ZERO, "alpha_dst_factor": BlendFactor.ZERO,
        "colormask": 0b1111,
    },
    "BlendState": {"rt": (RenderTargetBlend(),), "logicop": LogicOp.COPY},
    "RasterizerState": {
        "front_ccw": True, "cull_face": CullFace.NONE,
        "fill_front": PolygonMode.FILL, "fill_back": PolygonMode.FILL,
        "sprite_coord_upper_left": True, "point_clip_sides": True, "point_size": 1.0,
        "line_stipple_factor": 1, "line_stipple_pattern": 0xFFFF, "line_width": 1.0,
        "half_pixel_center": True, "bottom_edge_rule": True,
        "depth_clip_near": True, "depth_clip_far": True,
    },
    "StencilState": {
        "func": CompareFunc.ALWAYS, "fail_op": StencilOp.KEEP, "zfail_op": StencilOp.KEEP,
        "zpass_op": StencilOp.KEEP, "valuemask": 255, "writemask": 255,
    },
    "DepthStencilAlphaState": {
        "depth_writemask": True, "depth_func": CompareFunc.LESS, "depth_bounds_max": 1.0,
        "stencil": (StencilState(), StencilState()), "alpha_func": CompareFunc.ALWAYS,
    },
    "SamplerState": {
        "wrap_s": Wrap.REPEAT, "wrap_t": Wrap.REPEAT, "wrap_r": Wrap.REPEAT,
        "min_img_filter": Filter.NEAREST, "mag_img_filter": Filter.LINEAR,
        "min_mip_filter": MipFilter.LINEAR, "compare_func": CompareFunc.LEQUAL,
        "max_anisotropy": 1.0, "min_lod": -1000.0, "max_lod": 1000.0,
        "border_color": (0.0,) * 4, "reduction": Reduction.MEAN,
    },
    "SamplerView": {"swizzle": (Swizzle.X, Swizzle.Y, Swizzle.Z, Swizzle.W)},
    "ImageView": {"readable": True, "writable": True},
    "FramebufferState": {"layers": 1, "cbufs": ()},
    "ViewportState": {"scale": (1.0, 1.0, 1.0), "translate": (0.0, 0.0, 0.0)},
    "StreamOutputInfo": {"outputs": (), "strides": ()},
    "IndirectInfo": {"draw_count": 1},
    "DrawInfo": {"instance_count": 1, "vertices_per_patch": 3, "patch_levels": (1.0,) * 6},
}  # fmt: skip
"""What is not 0, False or None where nobody says anything."""


def test_default_state_is_plain() -> None:
    seen = set()
    for name, kind in STATES.items():
        for f in dataclasses.fields(kind):
            if f.default is dataclasses.MISSING:
                continue
            wanted = UNSAID.get(name, {}).get(f.name)
            if wanted is None:
                assert f.default in (None, 0) and f.default != "", (name, f.name)
            else:
                assert f.default == wanted and type(f.default) is type(wanted), (name, f.name)
                seen.add((name, f.name))
    assert seen == {(name, field) for name, fields in UNSAID.items() for field in fields}
    assert BlendState().target(5) == RenderTargetBlend()
    assert FramebufferState().alpha_test_bits == 0
    assert DrawInfo(Primitive.POINTS).begun_at(0) == DrawInfo(Primitive.POINTS)


def test_the_alpha_test_has_the_bits_of_the_first_colour_buffer() -> None:
    def bits(*names: str) -> int:
        buffers = (None if n == "" else Surface(None, FORMATS[n]) for n in names)  # type: ignore[arg-type]
        return FramebufferState(cbufs=tuple(buffers)).alpha_test_bits

    assert bits() == bits("") == bits("", "R8G8B8A8_UNORM") == 0
    assert bits("R8G8B8A8_UNORM", "R32G32B32A32_FLOAT") == bits("B8G8R8A8_UNORM") == 8
    assert bits("R16G16B16A16_UNORM") == bits("R10G10B10A2_UNORM") == 16
    assert bits("R32G32B32A32_FLOAT") == bits("R16G16B16A16_FLOAT") == 0


def test_a_call_that_begins_elsewhere_is_the_same_but_for_that() -> None:
    fields = dataclasses.fields(DrawInfo)
    values = {f.name: (Primitive.LINES if f.name == "mode" else i) for i, f in enumerate(fields)}
    call = DrawInfo(**values)  # type: ignore[arg-type]
    moved = call.begun_at(100)
    assert moved == dataclasses.replace(call, start=100)
    assert (call.start, moved.start, type(moved)) == (values["start"], 100, DrawInfo)


def test_different_state_is_different() -> None:
    masked = BlendState(rt=(RenderTargetBlend(colormask=7),))
    assert masked != BlendState()
    assert masked.target(3).colormask == 7
    both = BlendState(rt=(RenderTargetBlend(), RenderTargetBlend(colormask=1)), independent=True)
    assert both.target(1).colormask == 1


def test_caps_are_documented_and_describable() -> None:
    rows = describe_caps(Caps(max_samples=4))
    assert [name for name, _, _ in rows] == [f.name for f in dataclasses.fields(Caps)]
    assert all(meaning for _, _, meaning in rows)
    assert ("max_samples", "4") in [(name, value) for name, value, _ in rows]
    assert ("stages", "fragment, vertex") in [(name, value) for name, value, _ in rows]


def test_level_extents_halve_and_stop_at_one() -> None:
    rgba = FORMATS["R8G8B8A8_UNORM"]
    plain = ResourceDesc(Target.TEXTURE_2D, rgba, 13, 4, last_level=3)
    assert [level_extent(plain, i) for i in range(4)] == [
        (13, 4, 1),
        (6, 2, 1),
        (3, 1, 1),
        (1, 1, 1),
    ]
    volume = ResourceDesc(Target.TEXTURE_3D, rgba, 8, 8, 4)
    assert level_extent(volume, 2) == (2, 2, 1)
    layers = ResourceDesc(Target.TEXTURE_1D_ARRAY, rgba, 8, 1, array_size=5)
    assert level_extent(layers, 1) == (4, 1, 5)


@pytest.mark.parametrize(
    ("desc", "shown"),
    [
        (
            ResourceDesc(Target.TEXTURE_2D_ARRAY, FORMATS["R8G8_UNORM"], 8, 4, 1, 3, 2),
            "<Resource 2d_array R8G8_UNORM 8x4x1 layers=3 levels=3 refs=1>",
        ),
        (
            ResourceDesc(Target.TEXTURE_3D, FORMATS["R8_UNORM"], 2, 3, 4, label="fog"),
            "<Resource 'fog' 3d R8_UNORM 2x3x4 layers=1 levels=1 refs=1>",
        ),
    ],
)
def test_a_resource_says_what_it_is(desc: ResourceDesc, shown: str) -> None:
    resource = Resource(desc, lambda gone: None)
    assert repr(resource) == shown
    resource.unref()


def test_the_ledger_counts_references() -> None:
    ledger = ResourceLedger()
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UNORM"], 16, label="vertices")
    resource = Resource(desc, ledger.remove)
    ledger.add(resource)
    assert repr(resource) == "<Resource 'vertices' buffer R8_UNORM 16 bytes refs=1>"
    resource.ref().unref()
    assert ledger.live == [resource]
    resource.unref()
    assert ledger.live == []
    assert ledger.created == 1
    with pytest.raises(AssertionError, match="one unref too many"):
        resource.unref()
    with pytest.raises(AssertionError, match="dead resource"):
        resource.ref()

"""Deliberate mistakes of a driver: each is found on some scene, and its draw is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.faults import SCENE_OF, named
from gallette.capture import Capture, open_capture
from gallette.capture.snapshot import Snapshots, take_snapshots
from gallette.capture.targets import record_target
from gallette.cli import main
from gallette.drivers.faulty import FAULTS
from gallette.pipe.enums import (
    BlendFactor,
    BlendFunc,
    ClearFlags,
    CompareFunc,
    CullFace,
    Filter,
    Primitive,
    StencilOp,
    Swizzle,
    Target,
    Wrap,
)
from gallette.pipe.formats import FORMATS
from gallette.pipe.state import (
    BlendState,
    BlitInfo,
    Box,
    DepthStencilAlphaState,
    DrawInfo,
    RasterizerState,
    RenderTargetBlend,
    SamplerState,
    SamplerView,
    ScissorState,
    StencilState,
    VertexBuffer,
    VertexElement,
    ViewportState,
)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Capture, Snapshots]]:
    folder: Path = tmp_path_factory.mktemp("captures")
    found = {}
    for name in sorted(set(SCENE_OF.values())):
        path = folder / f"{name}.gcap"
        record_target(name, path, "numpipe")
        found[name] = open_capture(path), take_snapshots(path, "numpipe")
    return found


@pytest.mark.parametrize("fault", SCENE_OF)
def test_the_draw_that_went_wrong_is_named(
    fault: str, scenes: dict[str, tuple[Capture, Snapshots]]
) -> None:
    naming = named(fault, *scenes[SCENE_OF[fault]])
    assert naming.everywhere is not None
    assert naming.everywhere.number in naming.spoiled
    assert naming.once is not None  # the same mistake in one draw only
    assert naming.once.number == naming.only


def test_captured_vertices_are_compared_when_capturing_ends(tmp_path: Path) -> None:
    """It belongs to the last draw before."""
    path = tmp_path / "a.gcap"
    record_target("particles", path, "numpipe")
    capture, seen = open_capture(path), take_snapshots(path, "numpipe")
    last, captured = 0, []
    for call in capture.calls:
        if call.name == "EndTransformFeedback":
            captured.append(last)
        if call.draws:
            last = call.number
    assert captured
    for number in captured:
        (name,) = [n for n in seen.names[number] if n.startswith("buffer")]
        assert seen.pictures[seen.names[number][name]].any()


def test_at_least_twenty_faults_are_proven() -> None:
    assert len(SCENE_OF) >= 20
    assert set(SCENE_OF) == set(FAULTS)


@pytest.mark.native
def test_the_command_names_the_draw_against_the_machines_gl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "a.gcap")
    assert main(["trace", "transparency", "-o", path]) == 0
    assert main(["diff", path, "--against", "native:llvmpipe"]) == 0
    assert "agree after each of 3 draws" in capsys.readouterr().out
    faulty = ["diff", path, "--driver", "faulty:blend_factor@3", "--against", "native:llvmpipe"]
    assert main(faulty) == 1
    last = open_capture(path).draws()[-1].number
    assert f"the first call that differs is {last}" in capsys.readouterr().out


def test_unknown_faults_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "gradient", "--driver", "faulty:nonsense"]) == 2
    assert "no mistake is called 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "about"),
    [
        ("clear_colour", ClearFlags.COLOR),
        ("clear_depth", ClearFlags.DEPTH),
        ("clear_forgotten", ClearFlags.DEPTH),
    ],
)
def test_a_clear_of_other_buffers_is_no_place_for_the_mistake(
    fault: str, about: ClearFlags
) -> None:
    for flags in map(ClearFlags, range(1, 8)):
        spoiled = FAULTS[fault].spoil((flags, (0.5, 0.5, 0.5, 1.0), 1.0, 0))
        assert (spoiled is None) == (not flags & about), flags


VIEW = ViewportState((4.0, 5.0, 6.0), (1.0, 2.0, 3.0))
PLAIN = RasterizerState()
BACK, FRONT = replace(PLAIN, cull_face=CullFace.BACK), replace(PLAIN, cull_face=CullFace.FRONT)
BIASED = replace(PLAIN, offset_tri=True, offset_units=5.0)
DEEP = DepthStencilAlphaState(depth_enabled=True)
MARKING = StencilState(True, CompareFunc.EQUAL, zpass_op=StencilOp.INCR)
MARKED = DepthStencilAlphaState(stencil=(MARKING, replace(MARKING, fail_op=StencilOp.ZERO)))
MIXED = BlendState((RenderTargetBlend(True), RenderTargetBlend(True, alpha_func=BlendFunc.MIN)))
TEXTURE = SamplerState(Wrap.REPEAT, Wrap.MIRROR_REPEAT, min_img_filter=Filter.NEAREST)
SHADOW = SamplerState(compare_enabled=True)
THING: Any = None  # a resource, which no mistake looks at
RGBA8 = FORMATS["R8G8B8A8_UNORM"]
PICTURE = SamplerView(THING, RGBA8, Target.TEXTURE_2D)
ALPHA = replace(PICTURE, swizzle=(Swizzle.ZERO, Swizzle.ZERO, Swizzle.ZERO, Swizzle.X))
SWAPPED = replace(PICTURE, swizzle=(Swizzle.Z, Swizzle.Y, Swizzle.X, Swizzle.W))
ELEMENTS = (VertexElement(0, 0, RGBA8), VertexElement(8, 1, RGBA8))
COPIED = BlitInfo(THING, 0, Box(), RGBA8, THING, 0, Box(1, 2, 3, 4, 5, 6), RGBA8)


def depths(func: CompareFunc) -> DepthStencilAlphaState:
    return replace(DEEP, depth_func=func)


def blends(**changed: Any) -> BlendState:
    return replace(MIXED, rt=tuple(replace(rt, **changed) for rt in MIXED.rt))


def stencils(**changed: Any) -> DepthStencilAlphaState:
    front, back = MARKED.stencil
    return replace(MARKED, stencil=(replace(front, **changed), replace(back, **changed)))


def drawn(mode: Primitive, count: int, **others: Any) -> DrawInfo:
    return DrawInfo(mode, count=count, **others)


MISTAKES: list[tuple[str, Any, Any]] = [
    ("half_pixel", VIEW, replace(VIEW, translate=(1.5, 2.5, 3.0))),
    ("depth_range", VIEW, replace(VIEW, scale=(4.0, 5.0, 6.0 * 0.99))),
    ("upside_down", VIEW, replace(VIEW, scale=(4.0, -5.0, 6.0))),
    ("culls_wrong_side", PLAIN, None),
    ("culls_wrong_side", BACK, FRONT),
    ("culls_wrong_side", FRONT, BACK),
    ("culls_unasked", PLAIN, BACK),
    ("culls_unasked", BACK, None),
    ("no_clip_planes", PLAIN, None),
    ("no_clip_planes", replace(PLAIN, clip_plane_enable=5), PLAIN),
    ("depth_bias", PLAIN, replace(BIASED, offset_units=200.0)),
    ("depth_bias", BIASED, replace(BIASED, offset_units=205.0)),
    ("thick_lines", PLAIN, replace(PLAIN, line_width=3.0)),
    ("large_points", PLAIN, None),
    ("large_points", replace(PLAIN, point_size_per_vertex=True), PLAIN),
    ("depth_func", DepthStencilAlphaState(), None),
    ("depth_func", depths(CompareFunc.LESS), depths(CompareFunc.GREATER)),
    ("depth_func", depths(CompareFunc.LEQUAL), depths(CompareFunc.LESS)),
    ("depth_func", depths(CompareFunc.EQUAL), depths(CompareFunc.LESS)),
    ("depth_func", depths(CompareFunc.ALWAYS), None),
    ("no_depth_write", DepthStencilAlphaState(), None),
    ("no_depth_write", DEEP, replace(DEEP, depth_writemask=False)),
    ("no_depth_write", replace(DEEP, depth_writemask=False), None),
    ("no_depth_test", DepthStencilAlphaState(), None),
    ("no_depth_test", DEEP, depths(CompareFunc.ALWAYS)),
    ("no_depth_test", depths(CompareFunc.ALWAYS), None),
    ("no_stencil_test", DEEP, None),
    ("no_stencil_test", MARKED, stencils(func=CompareFunc.ALWAYS)),
    ("no_stencil_test", stencils(func=CompareFunc.ALWAYS), None),
    ("stencil_keeps", DEEP, None),
    ("stencil_keeps", MARKED, stencils(zpass_op=StencilOp.KEEP)),
    ("stencil_keeps", stencils(zpass_op=StencilOp.KEEP), None),
    ("blend_factor", BlendState(), None),
    ("blend_factor", MIXED, blends(rgb_dst_factor=BlendFactor.ONE)),
    (
        "blend_factor",
        blends(rgb_src_factor=BlendFactor.SRC_ALPHA),
        blends(rgb_dst_factor=BlendFactor.ONE),
    ),
    ("no_blending", BlendState(), None),
    ("no_blending", MIXED, blends(blend_enable=False)),
    ("blend_subtracts", BlendState(), None),
    ("blend_subtracts", MIXED, blends(rgb_func=BlendFunc.SUBTRACT)),
    ("loses_blue", MIXED, blends(colormask=0b1011)),
    ("loses_blue", blends(colormask=0b0011), None),
    (
        "filters_wrong",
        (TEXTURE, None),
        (replace(TEXTURE, min_img_filter=Filter.LINEAR, mag_img_filter=Filter.NEAREST), None),
    ),
    ("filters_wrong", (None, None), None),
    (
        "wraps_wrong",
        (None, TEXTURE),
        (None, replace(TEXTURE, wrap_s=Wrap.CLAMP_TO_EDGE, wrap_t=Wrap.REPEAT)),
    ),
    ("level_bias", (TEXTURE,), (replace(TEXTURE, lod_bias=1.0),)),
    (
        "shadow_compare",
        (TEXTURE, SHADOW),
        (TEXTURE, replace(SHADOW, compare_func=CompareFunc.GREATER)),
    ),
    ("shadow_compare", (TEXTURE,), None),
    ("swaps_red_and_blue", (PICTURE, ALPHA, None), (SWAPPED, ALPHA, None)),
    ("swaps_red_and_blue", (ALPHA,), None),
    ("attribute_offset", (), None),
    ("attribute_offset", ELEMENTS, (ELEMENTS[0], replace(ELEMENTS[1], src_offset=12))),
    ("buffer_offset", (), None),
    ("buffer_offset", (None,), None),
    ("buffer_offset", (VertexBuffer(THING, 4, 0),), None),
    (
        "buffer_offset",
        (VertexBuffer(THING, 4, 12), VertexBuffer(THING, 0, 8)),
        (VertexBuffer(THING, 16, 12), VertexBuffer(THING, 0, 8)),
    ),
    ("loses_last_primitive", drawn(Primitive.TRIANGLES, 3), None),
    ("loses_last_primitive", drawn(Primitive.TRIANGLES, 6), drawn(Primitive.TRIANGLES, 3)),
    ("loses_last_primitive", drawn(Primitive.LINES, 4), drawn(Primitive.LINES, 2)),
    ("loses_last_primitive", drawn(Primitive.POINTS, 2), drawn(Primitive.POINTS, 1)),
    ("loses_last_primitive", drawn(Primitive.POINTS, 1), None),
    ("loses_last_primitive", drawn(Primitive.LINE_STRIP, 4), drawn(Primitive.LINE_STRIP, 3)),
    ("loses_instance", drawn(Primitive.POINTS, 1), None),
    (
        "loses_instance",
        drawn(Primitive.POINTS, 1, instance_count=2),
        drawn(Primitive.POINTS, 1, instance_count=1),
    ),
    ("index_bias", drawn(Primitive.POINTS, 1), None),
    (
        "index_bias",
        drawn(Primitive.POINTS, 1, index_size=2, index_bias=3),
        drawn(Primitive.POINTS, 1, index_size=2, index_bias=4),
    ),
    (
        "clear_colour",
        (ClearFlags.COLOR, (0.25, 0.5, 0.75, 1.0), 1.0, 7),
        (ClearFlags.COLOR, (0.25, 0.5 + 1.5 / 255, 0.75, 1.0), 1.0, 7),
    ),
    (
        "clear_depth",
        (ClearFlags.DEPTH, (0.0,) * 4, 0.5, 7),
        (ClearFlags.DEPTH, (0.0,) * 4, 0.25, 7),
    ),
    (
        "clear_forgotten",
        (ClearFlags.DEPTH | ClearFlags.COLOR, (0.0,) * 4, 0.5, 7),
        (ClearFlags.COLOR, (0.0,) * 4, 0.5, 7),
    ),
    ("blit_flips", COPIED, replace(COPIED, src_box=Box(1, 7, 3, 4, -5, 6))),
    ("scissor_off_by_one", ScissorState(1, 2, 9, 8), ScissorState(1, 2, 8, 8)),
    ("scissor_off_by_one", ScissorState(9, 2, 9, 8), None),
]


def test_a_mistake_changes_what_it_says_and_nothing_else() -> None:
    for name, given, wrong in MISTAKES:
        assert FAULTS[name].spoil(given) == wrong, name
    assert {name for name, _, _ in MISTAKES} == set(FAULTS)

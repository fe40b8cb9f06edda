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
from gallette.pipe import enums, state
from gallette.pipe.enums import (
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
    StencilState,
    VertexElement,
    ViewportState,
)
from tests.cases import sections


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
        (picture,) = [
            picture
            for taken in seen.taken
            for attachment, (_, picture) in taken.pictures.items()
            if taken.call == number and attachment.startswith("buffer")
        ]
        assert picture.any()


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


MISTAKES = sections(Path(__file__).with_name("faults.txt"))["mistakes"].cases


def test_a_mistake_changes_what_it_says_and_nothing_else() -> None:
    known = {**vars(enums), **vars(state), **globals()}
    for case in MISTAKES:
        given, wrong = eval(case.text, known), eval(case.answer, known)
        assert FAULTS[case.name].spoil(given) == wrong, case.line
    assert {case.name for case in MISTAKES} == set(FAULTS)

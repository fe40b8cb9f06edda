"""Variant keys, field by field: what state asks for a field, and what else makes it not matter.

For each field of a key there is a case in which it is set, and one for every single condition that
keeps it at its default. A field that is ignored, or a condition that is, changes some answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.types import Dim, sampler
from gallette.drivers.common.variants.reads import ShaderReads
from gallette.drivers.common.variants.standard import FragmentKey, VertexKey
from gallette.pipe.caps import Caps
from gallette.pipe.enums import CompareFunc, Primitive, Target, Wrap
from gallette.pipe.formats import FORMATS
from gallette.pipe.keys import LOWERINGS
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.pipe.state import (
    DepthStencilAlphaState,
    FramebufferState,
    RasterizerState,
    SamplerState,
    Surface,
)
from gallette.state_tracker import GL
from gallette.state_tracker.drawing import lowering
from gallette.state_tracker.drawing.lowering import NULL_KEY, LoweringKey, key_of

BYTES = FORMATS["R8G8B8A8_UNORM"]
TARGET = Resource(ResourceDesc(Target.TEXTURE_2D, BYTES, 4, 4), lambda _: None)


def surface(format: str) -> Surface:
    return Surface(TARGET, FORMATS[format])


COLOR = FramebufferState(4, 4, cbufs=(surface("R8G8B8A8_UNORM"),))
NOTHING = ShaderReads(False, False, False, False, False, 0, ())
DRAWN: dict[str, Any] = {
    "reads": dataclasses.replace(NOTHING, writes_color=True, writes_color0=True),
    "rasterizer": RasterizerState(),
    "dsa": DepthStencilAlphaState(),
    "framebuffer": COLOR,
    "primitive": Primitive.TRIANGLES,
    "samplers": (),
}
"""a fragment shader that writes one colour"""


def changed(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """`reads.samplers` is a field of the state of that name; `primitive` an argument itself."""
    made = dict(base)
    for name, value in changes.items():
        owner, dot, field = name.partition(".")
        made[owner] = dataclasses.replace(made[owner], **{field: value}) if dot else value
    return made


CLAMPS = (SamplerState(wrap_s=Wrap.CLAMP), SamplerState(wrap_t=Wrap.CLAMP, wrap_r=Wrap.CLAMP))
ALPHA = {"dsa.alpha_enabled": True, "dsa.alpha_func": CompareFunc.GREATER}
FRAGMENT: dict[str, tuple[dict[str, Any], Any, tuple[dict[str, Any], ...]]] = {
    "two_sided_color": (
        {"rasterizer.light_twoside": True, "reads.reads_color": True},
        True,
        (
            {"rasterizer.light_twoside": False},
            {"reads.reads_color": False},
            {"primitive": Primitive.POINTS},
        ),
    ),
    "sprite_coords": (
        {
            "rasterizer.sprite_coord_enable": 0b0110,
            "reads.sprite_mask": 0b0011,
            "primitive": Primitive.POINTS,
        },
        0b0010,
        (
            {"rasterizer.sprite_coord_enable": 0b1100},
            {"reads.sprite_mask": 0b0001},
            {"primitive": Primitive.LINES},
        ),
    ),
    "saturate_s": (
        {"samplers": CLAMPS, "reads.samplers": (0, 1, 5)},
        0b01,
        ({"samplers": (None, *CLAMPS[1:])}, {"reads.samplers": (1,)}, {"samplers": ()}),
    ),
    "saturate_t": (
        {"samplers": (*CLAMPS, SamplerState(wrap_t=Wrap.CLAMP)), "reads.samplers": (1, 2)},
        0b110,
        ({"samplers": CLAMPS[:1]}, {"reads.samplers": (0,)}),
    ),
    "saturate_r": (
        {"samplers": CLAMPS, "reads.samplers": (0, 1)},
        0b10,
        ({"samplers": CLAMPS[:1]}, {"reads.samplers": (0,)}),
    ),
    "clamp_color": (
        {"rasterizer.clamp_fragment_color": True},
        True,
        (
            {"rasterizer.clamp_fragment_color": False},
            {"reads.writes_color": False},
            {"framebuffer.cbufs": (None,)},
            {"colormask": 0},
        ),
    ),
    "alpha_func": (
        ALPHA,
        CompareFunc.GREATER,
        ({"dsa.alpha_enabled": False}, {"reads.writes_color0": False}),
    ),
    "alpha_bits": (
        ALPHA,
        8,
        (
            {"dsa.alpha_enabled": False},
            {"reads.writes_color0": False},
            {"dsa.alpha_func": CompareFunc.ALWAYS},
            {"framebuffer.cbufs": (None, surface("R8G8B8A8_UNORM"))},
            {"framebuffer.cbufs": (surface("R16G16B16A16_FLOAT"),)},
            {"framebuffer.cbufs": ()},
        ),
    ),
    "depth_only": (
        {"framebuffer.cbufs": (None,)},
        True,
        (
            {"framebuffer.cbufs": (None, surface("R8G8B8A8_UNORM"))},
            {"reads.writes_color": False},
        ),
    ),
    "flat_colors": (
        {"rasterizer.flatshade": True, "reads.reads_color": True},
        True,
        ({"rasterizer.flatshade": False}, {"reads.reads_color": False}),
    ),
    "sample_shading": ({"sample_shading": True}, True, ({"sample_shading": False},)),
}


def test_every_field_of_the_fragment_key_is_tested() -> None:
    assert list(FRAGMENT) == [f.name for f in dataclasses.fields(FragmentKey)]
    assert FragmentKey.of(**DRAWN) == FragmentKey()


@pytest.mark.parametrize("field", FRAGMENT)
def test_a_field_of_the_fragment_key_follows_the_state(field: str) -> None:
    asks, value, without = FRAGMENT[field]
    state = changed(DRAWN, asks)
    default = getattr(FragmentKey(), field)
    assert value != default
    assert getattr(FragmentKey.of(**state), field) == value
    for condition in without:
        made = FragmentKey.of(**changed(state, condition))
        assert getattr(made, field) == default, condition


def test_no_field_of_the_fragment_key_follows_anothers_state() -> None:
    together = ({"alpha_func", "alpha_bits"}, {"saturate_s", "saturate_t", "saturate_r"})
    for field, (asks, _, _) in FRAGMENT.items():
        made = FragmentKey.of(**changed(DRAWN, asks))
        allowed = next((group for group in together if field in group), {field})
        moved = {f.name for f in dataclasses.fields(made) if getattr(made, f.name) != f.default}
        assert moved <= allowed


@pytest.mark.parametrize(
    ("formats", "bits"),
    [
        (("R8G8B8A8_UNORM",), 8),
        (("R16G16B16A16_UNORM", "R8G8B8A8_UNORM"), 16),
        (("B5G6R5_UNORM",), 16),
        (("R32G32B32A32_FLOAT",), 0),
    ],
)
def test_the_first_colour_buffer_says_what_alpha_is_compared_as(
    formats: tuple[str, ...], bits: int
) -> None:
    cbufs = tuple(surface(name) for name in formats)
    state = changed(DRAWN, {**ALPHA, "framebuffer.cbufs": cbufs})
    assert FragmentKey.of(**state).alpha_bits == bits


VERTEX: dict[str, tuple[dict[str, Any], Any, tuple[dict[str, Any], ...]]] = {
    "clip_planes": (
        {"rasterizer.clip_plane_enable": 0b101},
        0b101,
        ({"reads.writes_clip_distance": True}, {"rasterizer.clip_plane_enable": 0}),
    ),
    "clamp_color": (
        {"rasterizer.clamp_vertex_color": True, "reads.writes_color": True},
        True,
        ({"rasterizer.clamp_vertex_color": False}, {"reads.writes_color": False}),
    ),
    "depth_only": (
        {"depth_only": True, "reads.has_varyings": True},
        True,
        ({"depth_only": False}, {"reads.has_varyings": False}),
    ),
}


def test_every_field_of_the_vertex_key_is_tested() -> None:
    assert list(VERTEX) == [f.name for f in dataclasses.fields(VertexKey)]


@pytest.mark.parametrize("field", VERTEX)
def test_a_field_of_the_vertex_key_follows_the_state(field: str) -> None:
    asks, value, without = VERTEX[field]
    base = {"reads": NOTHING, "rasterizer": RasterizerState(clamp_vertex_color=False)}
    state = changed(base, asks)
    assert VertexKey.of(**state) == dataclasses.replace(VertexKey(), **{field: value})
    for condition in without:
        assert VertexKey.of(**changed(state, condition)) == VertexKey(), condition


# -- what the state tracker lowers -----------------------------------------------------------------


def context(**changes: Any) -> Any:
    """As much of a context as the key looks at; every lowering is the tracker's."""
    lower_all = {e.cap: True for e in LOWERINGS.values() if e.cap}
    unit = SimpleNamespace(
        sampler=None,
        bound={
            GL.TEXTURE_2D: SimpleNamespace(
                params=SimpleNamespace(wrap_s=GL.REPEAT, wrap_t=GL.CLAMP, wrap_r=GL.CLAMP)
            )
        },
    )
    made = SimpleNamespace(
        caps=Caps(**lower_all),
        full_rasterizer=RasterizerState(clamp_vertex_color=False, clamp_fragment_color=False),
        full_depth_stencil=DepthStencilAlphaState(),
        drawing_points=False,
        is_compat=True,
        pipe_framebuffer=COLOR,
        textures=SimpleNamespace(units=[unit, unit]),
        programs=SimpleNamespace(stages=[Stage.VERTEX, Stage.FRAGMENT]),
    )
    vars(made).update(changed(vars(made), changes))
    return made


def executable(units: tuple[int, ...] = ()) -> Any:
    textures = {Stage.FRAGMENT: [(2, 0, sampler(Dim.D2))]} if units else {}
    return SimpleNamespace(textures=textures, uniforms=SimpleNamespace(units=[list(units)]))


LOWERED: dict[str, tuple[Stage, dict[str, Any], Any, tuple[dict[str, Any], ...]]] = {
    "two_sided_color": (
        Stage.FRAGMENT,
        {"full_rasterizer.light_twoside": True},
        True,
        ({"drawing_points": True}, {"caps.lower_two_sided_color": False}),
    ),
    "flatshade": (
        Stage.FRAGMENT,
        {"full_rasterizer.flatshade": True},
        True,
        ({"caps.lower_flatshade": False},),
    ),
    "sprite_coords": (
        Stage.FRAGMENT,
        {"full_rasterizer.sprite_coord_enable": 5, "drawing_points": True},
        5,
        ({"drawing_points": False}, {"caps.lower_point_sprite": False}),
    ),
    "clamp_color": (
        Stage.FRAGMENT,
        {"full_rasterizer.clamp_fragment_color": True},
        True,
        ({"caps.lower_clamp_color": False},),
    ),
    "alpha_func": (
        Stage.FRAGMENT,
        {
            "full_depth_stencil.alpha_enabled": True,
            "full_depth_stencil.alpha_func": CompareFunc.LESS,
        },
        CompareFunc.LESS,
        ({"full_depth_stencil.alpha_enabled": False}, {"caps.lower_alpha_test": False}),
    ),
    "clip_planes": (
        Stage.VERTEX,
        {"full_rasterizer.clip_plane_enable": 6},
        6,
        (
            {"caps.lower_clip_planes": False},
            {"programs": SimpleNamespace(stages=[Stage.VERTEX, Stage.GEOMETRY])},
            {"programs": SimpleNamespace(stages=[Stage.VERTEX, Stage.TESS_EVAL])},
        ),
    ),
}


@pytest.mark.parametrize("field", LOWERED)
def test_what_the_tracker_lowers_follows_the_state(field: str) -> None:
    stage, asks, value, without = LOWERED[field]
    made = key_of(context(**asks), stage, executable())
    wanted = {field: value} | ({"alpha_bits": 8} if field == "alpha_func" else {})
    assert made == dataclasses.replace(NULL_KEY, **wanted)
    for name in wanted:
        assert {f"caps.{LOWERINGS[name].cap}": False} in without, name
    for condition in without:
        assert key_of(context(**asks | condition), stage, executable()) == NULL_KEY, condition


def test_colours_of_vertices_are_clamped_by_their_own_state() -> None:
    state = {"full_rasterizer.clamp_vertex_color": True}
    assert key_of(context(**state), Stage.VERTEX, executable()) == LoweringKey(clamp_color=True)
    assert key_of(context(**state), Stage.FRAGMENT, executable()) == NULL_KEY
    none = state | {"caps.lower_clamp_color": False}
    assert key_of(context(**none), Stage.VERTEX, executable()) == NULL_KEY


def test_the_tracker_lowers_gl_clamp_of_the_units_a_program_reads() -> None:
    clamped = key_of(context(), Stage.FRAGMENT, executable(units=(0, 1)))
    # Samplers 2 and 3 of the shader, by units 0 and 1.
    assert clamped == LoweringKey(saturate_t=0b1100, saturate_r=0b1100)
    assert key_of(context(is_compat=False), Stage.FRAGMENT, executable(units=(0,))) == NULL_KEY
    (cap,) = {LOWERINGS[f"saturate_{axis}"].cap for axis in "str"}
    none = context(**{f"caps.{cap}": False})
    assert key_of(none, Stage.FRAGMENT, executable(units=(0,))) == NULL_KEY
    own = context()
    own.textures.units[0].sampler = SimpleNamespace(
        params=SimpleNamespace(wrap_s=GL.CLAMP, wrap_t=GL.REPEAT, wrap_r=GL.REPEAT)
    )
    assert key_of(own, Stage.FRAGMENT, executable(units=(0,))) == LoweringKey(saturate_s=0b100)


def test_every_cap_that_leaves_lowering_to_the_tracker_counts() -> None:
    names = [f.name for f in dataclasses.fields(Caps) if f.name.startswith("lower_")]
    assert names and not lowering.lowers_anything(Caps())
    for name in names:
        assert lowering.lowers_anything(Caps(**{name: True})), name


HEARD_NO_MORE = {
    "lower_two_sided_color": {"light_twoside"},
    "lower_flatshade": {"flatshade"},
    "lower_point_sprite": {"sprite_coord_enable"},
    "lower_clamp_color": {"clamp_vertex_color", "clamp_fragment_color"},
    "lower_alpha_test": {"alpha_enabled", "alpha_func"},
    "lower_clip_planes": set(),  # planes are enabled, whoever computes the distances
    "lower_tex_saturate": set(),  # samplers are told apart by what they are for
}


def odd_state(kind: type[Any]) -> Any:
    """A state that has no field at its default, of those that are plain."""
    odd: dict[type, Callable[[Any], Any]] = {
        bool: lambda value: not value,
        int: lambda value: value + 3,
        float: lambda value: value + 0.5,
        CompareFunc: lambda _: CompareFunc.GREATER,
    }
    plain = {f.name: getattr(kind(), f.name) for f in dataclasses.fields(kind)}
    return kind(**{k: odd[type(v)](v) for k, v in plain.items() if type(v) in odd})


def test_a_driver_gets_no_state_that_was_lowered() -> None:
    told: tuple[tuple[type[Any], Callable[[Caps, Any], Any]], ...] = (
        (RasterizerState, lowering.driver_rasterizer),
        (DepthStencilAlphaState, lowering.driver_depth_stencil),
    )
    caps = {f.name for f in dataclasses.fields(Caps) if f.name.startswith("lower_")}
    assert HEARD_NO_MORE.keys() == caps == {e.cap for e in LOWERINGS.values()} - {""}
    for name in caps:
        hidden: set[str] = set()
        for kind, tell in told:
            odd, plain = odd_state(kind), kind()
            assert tell(Caps(), odd) == odd
            heard = tell(Caps(**{name: True}), odd)
            changed = {f.name for f in dataclasses.fields(kind)}
            changed = {f for f in changed if getattr(heard, f) != getattr(odd, f)}
            assert all(getattr(heard, f) == getattr(plain, f) for f in changed)
            hidden |= changed
        assert hidden == HEARD_NO_MORE[name], name

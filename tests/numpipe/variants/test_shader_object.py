"""Shader objects: which variants exist, why, and who owns the NIR behind them."""

from __future__ import annotations

import gc
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.ir.ownership import COUNTERS, live_shaders
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib
from gallette.compiler.nir.run.pass_runner import get_pass
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.variants import shader as shader_objects
from gallette.drivers.common.variants.compiler import LoweringOptions, VariantCompiler
from gallette.drivers.common.variants.keys import FragmentKey, VertexKey
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.drivers.numpipe.screen import ScreenOptions
from gallette.drivers.numpipe.variants.compiler import NumpipeShader, ShaderCompiler
from gallette.pipe.enums import CompareFunc, Primitive, Wrap
from gallette.pipe.keys import LOWERINGS, describe_key, differing_fields, key_passes, needs_nir
from gallette.pipe.loader import DriverError
from gallette.pipe.state import (
    DepthStencilAlphaState,
    FramebufferState,
    RasterizerState,
    SamplerState,
)
from gallette.pipe.variant_log import VariantEvent, VariantLog


class Lanes:
    """Every input is a ramp; the first half of the lanes faces front."""

    quads = False
    helper = None

    def __init__(self, count: int = 8):
        self.count = count

    def attribute(self, index: int, component: int) -> np.ndarray:
        return np.linspace(-1, 1, self.count, dtype=np.float32) * (index + component + 1)

    def smooth(self, slot: int, component: int, **_: object) -> np.ndarray:
        return self.attribute(slot, component)

    def smooth_at(self, slot: int, component: int, *_: object, **__: object) -> np.ndarray:
        return self.attribute(slot, component)

    def flat(self, slot: int, component: int) -> np.ndarray:
        return np.full(self.count, slot, np.float32)

    def system(self, name: str, component: int = 0) -> np.ndarray:
        if name == "front_face":
            return np.arange(self.count) < self.count // 2
        return np.arange(self.count, dtype=np.float32)


def color_fragment(slot: int = VaryingSlot.COL0, interp: str = "none") -> Shader:
    """gl_FragColor = colour input."""
    b = Builder.shader_main(Stage.FRAGMENT, "color")
    zero = b.imm_int(0)
    bary = b.intrinsic("load_barycentric_pixel", [], interp=interp)
    value = b.intrinsic("load_interpolated_input", [bary, zero], num_components=4, location=slot)
    store(b, value, FragResult.COLOR)
    return b.shader


def position_vertex() -> Shader:
    """Position and a varying that reads an intermediate of the position."""
    b = Builder.shader_main(Stage.VERTEX, "position")
    zero = b.imm_int(0)
    value = b.intrinsic(
        "load_input", [zero], num_components=4, base=0, location=VertAttrib.GENERIC0
    )
    product = b.fmul(value, b.imm_float(0.3))
    store(b, b.fadd(product, b.imm_float(0.1)), VaryingSlot.POS)
    store(b, product, VaryingSlot.VAR0)
    return b.shader


def store(b: Builder, value: Def, location: int) -> None:
    b.intrinsic("store_output", [value, b.imm_int(0)], location=location, write_mask=15)


def make(shader: Shader, **options: object) -> tuple[NumpipeShader, VariantLog]:
    log = VariantLog()
    compiler = ShaderCompiler(LoweringOptions(**options))  # type: ignore[arg-type]
    return ShaderObject(shader, compiler, log), log


def test_default_options_are_those_of_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variants for values of uniforms, no looking at how often a position's values are used."""
    monkeypatch.delenv("GALLETTE_DEBUG", raising=False)
    plain = ShaderCompiler().options
    assert plain == LoweringOptions() == ScreenOptions().compiler().options
    assert (plain.inline_uniforms, plain.inexact_used_once) == (0, "not_position")
    assert not plain.optimize_options().fuse_ffma


def test_null_key_variant_shares_the_shader() -> None:
    before = COUNTERS.cloned
    made, log = make(color_fragment())
    assert made.null.shader is made.shader
    assert COUNTERS.cloned == before
    assert [event.reason for event in log] == ["first variant"]
    made.destroy()


def test_second_request_for_a_key_is_a_hit() -> None:
    made, _ = make(color_fragment())
    key = FragmentKey(two_sided_color=True)
    first = made.variant_for(key)
    assert made.variant_for(key) is first
    assert (made.hits, made.misses) == (1, 1)
    made.destroy()


def test_a_key_that_is_lowered_in_nir_gets_a_clone_and_a_reason() -> None:
    made, log = make(color_fragment())
    variant = made.variant_for(FragmentKey(alpha_func=CompareFunc.GREATER))
    assert variant.lowered and variant.shader is not made.shader
    assert log[-1].reason == "differs in alpha_func"
    assert log[-1].key == "alpha_func=greater"
    made.destroy()


def test_backend_only_key_shares_the_shader() -> None:
    made, _ = make(color_fragment())
    variant = made.variant_for(FragmentKey(flat_colors=True))
    assert not variant.lowered and variant.shader is made.shader
    assert {use.mode for use in variant.program.facts.inputs} == {"flat"}
    made.destroy()


def test_an_explicit_qualifier_overrides_flat_shading() -> None:
    made, _ = make(color_fragment(interp="smooth"))
    variant = made.variant_for(FragmentKey(flat_colors=True))
    assert {use.mode for use in variant.program.facts.inputs} == {"smooth"}
    made.destroy()


def test_nearest_variant_explains_the_new_one() -> None:
    made, log = make(color_fragment())
    made.variant_for(FragmentKey(clamp_color=True))
    made.variant_for(FragmentKey(clamp_color=True, two_sided_color=True))
    assert log[-1].reason == "differs in two_sided_color"
    made.destroy()


def test_destroying_gives_every_reference_back() -> None:
    gc.collect()
    alive = len(live_shaders())
    made, _ = make(color_fragment())
    made.variant_for(FragmentKey(two_sided_color=True))
    made.variant_for(FragmentKey(flat_colors=True))
    made.destroy()
    assert len(live_shaders()) == alive


def test_a_reference_kept_by_the_tracker_keeps_an_untouched_shader() -> None:
    shader = color_fragment()
    count = shader.count_instrs()
    shader.ref()
    made, _ = make(shader)
    made.variant_for(FragmentKey(depth_only=True))
    assert shader.count_instrs() == count
    made.destroy()
    assert shader.refcount == 1
    shader.unref()


def test_a_shader_without_code_path_is_given_back() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "levels")
    store(b, b.intrinsic("load_tess_level_outer"), FragResult.COLOR)
    shader = b.shader
    with pytest.raises(Exception, match="load_tess_level_outer"):
        make(shader)
    assert shader.refcount == 0


def test_two_sided_color_chooses_by_facing() -> None:
    made, _ = make(color_fragment())
    variant = made.variant_for(FragmentKey(two_sided_color=True))
    out = variant.program.bind(ShaderResources()).fragment(Lanes()).outputs
    red = out[FragResult.COLOR][0]
    front, back = Lanes().attribute(VaryingSlot.COL0, 0), Lanes().attribute(VaryingSlot.BFC0, 0)
    assert red is not None
    assert np.array_equal(red, np.where(np.arange(8) < 4, front, back))
    made.destroy()


def test_alpha_test_kills_lanes() -> None:
    made, _ = make(color_fragment())
    variant = made.variant_for(FragmentKey(alpha_func=CompareFunc.GEQUAL))
    result = variant.program.bind(ShaderResources(alpha_ref=0.5)).fragment(Lanes())
    alpha = Lanes().attribute(VaryingSlot.COL0, 3)
    assert variant.program.facts.uses_discard
    assert result.alive is not None
    assert np.array_equal(result.alive, alpha >= 0.5)
    made.destroy()


def test_user_clip_planes_become_distances() -> None:
    made, _ = make(position_vertex())
    variant = made.variant_for(VertexKey(clip_planes=0b101))
    planes = ((1.0, 0.0, 0.0, 0.5), (0.0,) * 4, (0.0, 2.0, 0.0, 0.0))
    out = variant.program.bind(ShaderResources(clip_planes=planes)).vertex(Lanes())
    x, y, _, w = out[VaryingSlot.POS]
    distances = out[VaryingSlot.CLIP_DIST0]
    assert x is not None and y is not None and w is not None
    np.testing.assert_allclose(distances[0], x + 0.5 * w, rtol=1e-6)
    np.testing.assert_allclose(distances[2], 2 * y, rtol=1e-6)
    made.destroy()


def test_depth_only_vertex_variant_writes_position_alone() -> None:
    made, _ = make(position_vertex())
    variant = made.variant_for(VertexKey(depth_only=True))
    assert set(variant.program.facts.outputs) == {VaryingSlot.POS}
    made.destroy()


def positions(made: NumpipeShader, key: VertexKey) -> list[bytes]:
    program = made.variant_for(key).program
    out = program.bind(ShaderResources()).vertex(Lanes(4096))[VaryingSlot.POS]
    return [np.asarray(v).tobytes() for v in out]


@pytest.mark.parametrize(
    ("options", "equal"),
    [
        ({}, True),
        ({"inexact_used_once": "always"}, False),
        ({"inexact_used_once": "never", "fuse_ffma": True}, True),
        ({"inexact_used_once": "not_position", "fuse_ffma": True}, True),
        ({"inexact_used_once": "always", "position_invariant": True}, True),
    ],
)
def test_depth_only_variant_and_full_one_agree_unless_use_counts_decide(
    options: dict[str, object], equal: bool
) -> None:
    made, _ = make(position_vertex(), **options)
    full, depth = (positions(made, VertexKey(depth_only=d)) for d in (False, True))
    assert (full == depth) is equal
    made.destroy()


def test_keys_follow_only_the_state_the_shader_can_see() -> None:
    made, _ = make(color_fragment(VaryingSlot.VAR0))
    state = RasterizerState(light_twoside=True, flatshade=True, sprite_coord_enable=0xFF)
    key = FragmentKey.of(
        made.reads,
        state,
        DepthStencilAlphaState(),
        FramebufferState(),
        Primitive.POINTS,
        [SamplerState(wrap_s=Wrap.CLAMP)],
        colormask=15,
    )
    assert key == FragmentKey(depth_only=True)  # there is no colour buffer
    made.destroy()
    vertex, _ = make(position_vertex())
    key_of_vertex = VertexKey.of(vertex.reads, RasterizerState(clip_plane_enable=3))
    assert key_of_vertex == VertexKey(clip_planes=3)
    vertex.destroy()


def test_key_descriptions() -> None:
    assert describe_key(FragmentKey()) == "null key"
    assert not needs_nir(FragmentKey(flat_colors=True))
    assert needs_nir(FragmentKey(saturate_s=1))
    assert differing_fields(VertexKey(), VertexKey(clip_planes=1)) == ["clip_planes"]


@pytest.mark.parametrize("record", [True, False])
def test_explain_shows_passes_nir_and_code(record: bool) -> None:
    made, _ = make(color_fragment(), record_passes=record)
    made.variant_for(FragmentKey(two_sided_color=True))
    story = made.explain()
    assert story["name"] == "color" and len(story["variants"]) == 2
    second = story["variants"][1]
    assert any(record.name == "lower_two_sided_color" for record in second["passes"])
    assert "load_front_face" in second["nir"]
    assert "select(" in second["code"]
    made.destroy()


@pytest.mark.parametrize(
    ("ownership", "clones"), [("counted", 1), ("driver_owns", 1), ("always_clone", 4)]
)
def test_ownership_models_differ_in_clones(ownership: str, clones: int) -> None:
    """Null, one backend-only and one lowered variant of a shader nobody else keeps."""
    before = COUNTERS.cloned
    made, _ = make(color_fragment(), ownership=ownership)
    made.variant_for(FragmentKey(flat_colors=True))
    made.variant_for(FragmentKey(two_sided_color=True))
    assert COUNTERS.cloned - before == clones
    made.destroy()


def test_every_switch_of_the_table_names_a_pass_and_an_option_it_takes() -> None:
    for name, entry in LOWERINGS.items():
        info = get_pass(entry.nir_pass)
        assert not entry.option or entry.option in info.options, name


def test_passes_of_a_key_run_in_the_order_of_its_fields() -> None:
    key = FragmentKey(merged=16, alpha_func=CompareFunc.LESS, two_sided_color=True, saturate_t=2)
    assert key_passes(key) == [
        "lower_two_sided_color",
        ("lower_tex_saturate", {"t": 2}),
        ("lower_alpha_test", {"func": "less"}),
        ("constants_per_draw", {"stride": 16}),
    ]
    assert key_passes(FragmentKey()) == []


def test_neighbouring_fields_of_one_pass_are_its_options() -> None:
    key = FragmentKey(alpha_func=CompareFunc.EQUAL, alpha_bits=8, saturate_s=1, saturate_r=4)
    assert key_passes(key) == [
        ("lower_tex_saturate", {"s": 1, "r": 4}),
        ("lower_alpha_test", {"func": "equal", "bits": 8}),
    ]


def test_a_shader_keeps_the_variants_used_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shader_objects, "MOST_VARIANTS", 3)
    gc.collect()
    alive = len(live_shaders())
    made, log = make(color_fragment())
    for mask in range(1, 20):
        made.variant_for(FragmentKey(sprite_coords=mask))
        made.variant_for(FragmentKey())
    assert [describe_key(key) for key in made.variants] == [
        "sprite_coords=18",
        "sprite_coords=19",
        "null key",
    ]
    assert len(live_shaders()) == alive + 3
    assert log.total == 20
    made.destroy()
    assert len(live_shaders()) == alive


def test_the_variant_log_remembers_the_last_events() -> None:
    log = VariantLog(kept=4)
    for number in range(10):
        log.append(VariantEvent(f"shader{number}", "vertex", "null key", "", False, 0.0))
    assert [event.shader for event in log] == ["shader6", "shader7", "shader8", "shader9"]
    assert (log.total, len(log), log[-1].shader) == (10, 4, "shader9")
    assert [event.shader for event in log.since(8)] == ["shader8", "shader9"]
    assert len(log.since(0)) == 4 and log.since(10) == []


@pytest.mark.parametrize("flag", ["", "driver:variants", "driver:code"])
def test_variants_and_their_code_are_printed_on_request(
    flag: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GALLETTE_DEBUG", flag)
    made, _ = make(color_fragment())
    variant = made.variant_for(FragmentKey(alpha_func=CompareFunc.GREATER))
    told = capsys.readouterr()
    assert told.out == ""
    if flag == "driver:code":
        assert variant.program.code and made.null.program.code
        assert told.err == f"{made.null.program.code}\n{variant.program.code}\n"
    elif flag:
        assert told.err == (
            "numpipe: fragment color: null key (first variant)\n"
            "numpipe: fragment color: alpha_func=greater (differs in alpha_func)\n"
        )
    else:
        assert told.err == ""
    made.destroy()


def test_options_are_chosen_by_the_screen_or_else_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(
        "GALLETTE_DEBUG", "driver:inexact_used_once=always,driver:position_invariant"
    )
    chosen = LoweringOptions.chosen()
    assert (chosen.inexact_used_once, chosen.position_invariant) == ("always", True)
    assert chosen.optimize_options().fuse_ffma and chosen.optimize_options().position_invariant
    chosen = LoweringOptions.chosen("never", False, False, "always_clone", True, 7)
    assert chosen == LoweringOptions("never", False, False, "always_clone", True, True, 7)
    assert not chosen.optimize_options().fuse_ffma
    fused = LoweringOptions(fuse_ffma=True).optimize_options()
    assert fused.fuse_ffma and fused.inexact_used_once == "not_position"
    monkeypatch.delenv("GALLETTE_DEBUG")
    assert LoweringOptions.chosen() == LoweringOptions()
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        (
            {"inexact_used_once": "often"},
            "inexact_used_once is always, never or not_position, not 'often'",
        ),
        ({"ownership": "mine"}, "ownership is counted, driver_owns or always_clone, not 'mine'"),
    )
    for options, reason in refused:
        with pytest.raises(DriverError) as caught:
            LoweringOptions.chosen(**options)
        assert str(caught.value) == reason


def test_values_are_inlined_for_as_many_sets_as_there_may_be() -> None:
    made, _ = make(color_fragment(), inline_uniforms=2)
    block = np.arange(16, dtype=np.uint8)
    assert made.values_to_inline(block) == ()  # no uniform decides anything
    made.reads = replace(made.reads, deciding=(4, 12))
    assert made.values_to_inline(None) == ()
    assert made.values_to_inline(block[:15]) == ()
    first = ((4, 0x07060504), (12, 0x0F0E0D0C))
    assert made.values_to_inline(block) == first
    block[4] = 9
    assert made.values_to_inline(block) == ((4, 0x07060509), first[1])
    block[4] = 10
    assert made.values_to_inline(block) == () and len(made.inlined) == 2
    block[4] = 4
    assert made.values_to_inline(block) == first
    made.destroy()


class Bare(ShaderCompiler):
    """A compiler that says no more of itself than it must."""

    name = "bare"
    text = VariantCompiler.text
    measure = VariantCompiler.measure
    pack = VariantCompiler.pack
    unpack = VariantCompiler.unpack
    pictures = VariantCompiler.pictures


def test_what_a_driver_need_not_say() -> None:
    bare, shader = Bare(), color_fragment()
    assert bare.text(object()) == ""  # type: ignore[arg-type]
    assert bare.text(SimpleNamespace(code=17)) == "17"  # type: ignore[arg-type]
    assert (bare.measure(shader), bare.pictures(shader, FragmentKey())) == ({}, [])
    assert bare.pack(object()) == b""  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match=r"^bare$"):
        bare.unpack(b"", shader)
    framebuffer, key = FramebufferState(), FragmentKey()
    assert bare.target_kind(framebuffer) is None and bare.adapted(key, framebuffer) is key
    plain = VariantCompiler.subgroups, VariantCompiler.tells_time, VariantCompiler.home
    assert plain == (False, False, "")
    shader.unref()

"""What is recorded of passes, what they say on request, and that what they claim still holds."""

from __future__ import annotations

import random

import pytest
from random_shaders import make_shader

from gallette.compiler.errors import ValidationError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.metadata import check_metadata
from gallette.compiler.nir.ir import Metadata, Stage, clone_shader
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.run import pass_runner
from gallette.compiler.nir.run.pass_runner import (
    PassLog,
    all_passes,
    nir_pass,
    recording,
    run_passes,
)
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

FACTS = (Metadata.CFG, Metadata.DOMINANCE, Metadata.LIVENESS, Metadata.DIVERGENCE)


def test_what_passes_preserve_still_holds() -> None:
    """Every pass on random shaders for which every fact has been computed."""
    kept = dict.fromkeys(FACTS, 0)
    for seed in range(8):
        made = make_shader(random.Random(seed), derefs=seed % 2 == 1)
        for name, info in all_passes().items():
            shader = clone_shader(made)
            for impl in shader.impls():
                impl.require(Metadata.ALL)
            if info.function(shader):
                for impl in shader.impls():
                    check_metadata(impl, name)
                    for fact in FACTS:
                        kept[fact] += bool(impl.valid & fact)
            shader.unref()
        made.unref()
    assert min(kept[Metadata.CFG], kept[Metadata.DOMINANCE]) > 30, kept


TEXT = """shader fragment "one"
function main () entry
impl main {
    32 %zero = load_const (0)
    32 %x = @load_input (%zero) (location=VARYING.VAR0)
    32 %y = mov %x
    32 %z = fadd %y, %x
    32 %unused = fmul %z, %z
    @store_output (%z, %zero) (location=FRAG.DATA0, write_mask=x)
}
"""


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> str:
    """A pass that says dominance and liveness still hold, whatever it did."""
    monkeypatch.setattr(pass_runner, "PASSES", dict(pass_runner.PASSES))

    @nir_pass("lying", preserves=Metadata.CFG | Metadata.LIVENESS)
    def lying(shader: Shader, *, really: bool = True) -> bool:
        """Removes what is live at the end of a block."""
        if really:
            for store in shader.entry.first.instrs():
                if store.kind == "intrinsic" and store.dest is None:
                    store.remove()
        return really

    return "lying"


LOOP = """shader fragment
function main () entry
impl main {
    32 %zero = load_const (0)
    32 %x = @load_input (%zero) (location=VARYING.VAR0)
    1 %c = flt %zero, %x
    if %c {
        @store_output (%x, %zero) (location=FRAG.DATA0, write_mask=x)
    } else {
    }
}
"""


@pytest.mark.parametrize("fact", FACTS)
def test_what_does_not_hold_any_more_is_named(fact: Metadata) -> None:
    """Each fact made stale: a block, a dominator, a live value, a divergent one."""
    shader = parse(LOOP)
    impl = shader.entry
    impl.require(Metadata.ALL)
    check_metadata(impl, "nothing")
    blocks = list(impl.blocks())
    if fact is Metadata.CFG:
        blocks[1].successors = [*blocks[1].successors, blocks[0]]
    elif fact is Metadata.DOMINANCE:
        blocks[3].idom = blocks[1]
    elif fact is Metadata.LIVENESS:
        blocks[1].live_in = set()
    else:
        load = blocks[0].last.srcs[1].value  # type: ignore[union-attr]
        load.divergent_components = 0
    with pytest.raises(ValidationError) as caught:
        check_metadata(impl, "somebody")
    assert str(caught.value) == f"somebody: {fact.name.lower()} claims to be valid but is stale"  # type: ignore[union-attr]
    impl.valid &= ~fact
    check_metadata(impl, "nothing is claimed")


def test_a_debug_mode_looks_after_every_pass(monkeypatch: pytest.MonkeyPatch, lying: str) -> None:
    shader = parse(LOOP)
    monkeypatch.setenv("GALLETTE_DEBUG", "nir:metadata")
    shader.entry.require(Metadata.ALL)
    run_passes(shader, [(lying, {"really": False}), "copy_prop", "dce"])
    shader.entry.require(Metadata.ALL)
    shader.entry.first.live_out.clear()
    with pytest.raises(ValidationError, match="dce: liveness claims to be valid but is stale"):
        run_passes(shader, ["dce"])
    monkeypatch.setenv("GALLETTE_DEBUG", "nir:validate")
    run_passes(shader, ["dce"])


def test_progress_is_printed_on_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GALLETTE_DEBUG", "nir:print")
    shader = parse(TEXT)
    run_passes(shader, ["opt_if", "copy_prop", "dce"])
    told = capsys.readouterr()
    assert told.out == ""
    heads = [line for line in told.err.splitlines() if line.startswith("// after")]
    assert heads == ["// after copy_prop", "// after dce"]
    assert told.err.endswith(print_shader(shader, annotate=True) + "\n")
    assert "// div" in told.err


def test_notes_say_where_control_comes_from_and_what_differs() -> None:
    shader = parse(LOOP)
    assert "//" not in print_shader(shader).replace("// 0", "")
    shader.entry.require(Metadata.ALL)
    lines = [line.strip() for line in print_shader(shader, annotate=True).splitlines()]
    assert "block b1: // preds: b0" in lines, lines
    assert "block b3: // preds: b1 b2" in lines, lines
    assert [line for line in lines if line.endswith("// div")] == [
        "32 %1 = @load_input (%0) (location=VARYING.VAR0) // div",
        "1 %2 = flt %0, %1 // div",
    ]


@pytest.mark.parametrize("texts", [False, True])
def test_what_is_recorded(texts: bool) -> None:
    shader = parse(TEXT)
    before = print_shader(shader)
    log = PassLog(texts=texts)
    run_passes(shader, ["opt_if", "copy_prop", ("dce", {})], log)
    after = print_shader(shader)
    names = [(r.name, r.options, r.progress, r.stage) for r in log.records]
    assert names == [
        ("opt_if", {}, False, "fragment"),
        ("copy_prop", {}, True, "fragment"),
        ("dce", {}, True, "fragment"),
    ]
    counts = [(r.instrs_before, r.instrs_after, r.delta) for r in log.records]
    assert counts[0] == (6, 6, 0)
    assert counts[-1] == (counts[-2][1], 4, 4 - counts[-2][1])
    assert log.made_progress() == log.records[1:]
    assert all(r.seconds > 0.0 for r in log.records)
    if texts:
        assert (log.records[0].before, log.records[0].after) == (before, before)
        assert log.records[1].before == before
        assert log.records[2].before == log.records[1].after
        assert log.records[2].after == after
    else:
        assert {r.before + r.after for r in log.records} == {""}


def test_the_innermost_recorder_gets_the_records() -> None:
    assert not pass_runner._recorders
    with recording() as outer:
        run_passes(parse(TEXT), ["dce"])
        with recording(texts=False) as inner:
            assert pass_runner._recorders
            run_passes(parse(TEXT), ["copy_prop"])
            own = PassLog()
            run_passes(parse(TEXT), ["opt_if"], own)
        run_passes(parse(TEXT), ["dce"])
    assert [r.name for r in outer.records] == ["dce", "dce"]
    assert [r.name for r in inner.records] == ["copy_prop"]
    assert [r.name for r in own.records] == ["opt_if"]
    assert outer.records[0].before and not inner.records[0].before
    assert not pass_runner._recorders


BUSY = {
    "pass_edge_flag": "vertex",  # there is a flag where a shader says none
    "lower_pixel_rectangle": "fragment",  # it says that fragments are discarded
}
"""Passes that have something to do to a shader that does nothing, and in which stage."""
BUSY_WITH_OUTPUTS = {
    "lower_depth_only": "",  # they go, in any stage
    "lower_clamp_color_outputs": "fragment",
}


def nothing(stage: Stage) -> Shader:
    return Builder.shader_main(stage, "empty").shader


def through(stage: Stage) -> Shader:
    """A number goes through it, as drivers see that."""
    b = Builder.shader_main(stage, "through")
    zero = b.imm_int(0)
    given = b.intrinsic("load_input", [zero], num_components=1, location=VaryingSlot.VAR0)
    out = FragResult.DATA1 if stage is Stage.FRAGMENT else VaryingSlot.VAR1
    b.intrinsic("store_output", [given, zero], location=out, write_mask=1)
    return b.shader


@pytest.mark.parametrize("stage", Stage)
def test_a_pass_without_progress_is_recorded_as_such(stage: Stage) -> None:
    for make, more in ((nothing, {}), (through, BUSY_WITH_OUTPUTS)):
        busy = {name for name, only in {**BUSY, **more}.items() if only in ("", stage.value)}
        for name, info in all_passes().items():
            if name.startswith("vulkan_"):
                continue  # the driver's own: registered once another test has loaded it
            shader = make(stage)
            before = print_shader(shader)
            assert info.function(shader) == (name in busy), name
            if name not in busy and name != "gather_info":
                assert print_shader(shader) == before, name
            shader.unref()


def test_rules_that_were_applied_are_recorded() -> None:
    shader, log = parse(TEXT), PassLog()
    run_passes(shader, ["simplify"], log)
    applied = {name: count for (name, _), count in log.records[0].rules.items()}
    assert applied == {"unused": 1, "copy-to-users": 1}
    assert shader.applied is None

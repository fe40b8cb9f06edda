"""Texture operations: what each must and may read, of which type, and where it may run."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.errors import ValidationError
from gallette.compiler.nir.analysis.divergence import analyse_divergence
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.environment import Array
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.texops import TEX_OPS, TEX_SRCS
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import run_passes

NAMES = ["texture_deref", "sampler_deref", "texture_offset", "sampler_offset"]
"""which texture and which sampler: sources of every operation"""

READS = {  # what it must read; what it may read as well
    "tex": ("coord", "comparator offset min_lod"),
    "txb": ("coord bias", "comparator offset min_lod"),
    "txl": ("coord lod", "comparator offset"),
    "txd": ("coord ddx ddy", "comparator offset min_lod"),
    "txf": ("coord", "lod offset"),
    "txf_ms": ("coord ms_index", "offset"),
    "txs": ("", "lod"),
    "lod": ("coord", ""),
    "tg4": ("coord", "comparator offset"),
    "query_levels": ("", ""),
    "texture_samples": ("", ""),
}
COMPONENTS = {"lod": 2, "query_levels": 1, "texture_samples": 1}
TOGETHER = {"tex", "txb", "lod"}
"""The level comes from how coordinates differ between neighbours."""
TEXELS = {"txf", "txf_ms"}
"""Coordinates and levels count."""
COUNTED = {"offset", "ms_index"}
WIDE = {"coord", "offset", "ddx", "ddy"}


def value_of(b: Builder, source: str) -> Def:
    if source.endswith("_deref"):
        return b.deref_var(b.shader.variables[0]).result
    return b.imm_ivec(1, 2) if source in WIDE else b.imm_int(0)


def begun() -> Builder:
    b = Builder.shader_main(Stage.FRAGMENT, "texture")
    b.shader.add_variable("map", t.sampler(t.Dim.D2), Mode.UNIFORM)
    return b


def put(b: Builder, op: str, sources: list[str]) -> Tex:
    read = [(source, value_of(b, source)) for source in sources]
    result = b.tex(op, read, t.Dim.D2, num_components=COMPONENTS.get(op, 4))
    assert isinstance(result.instr, Tex)
    return result.instr


def complaint(op: str, sources: list[str]) -> str:
    b = begun()
    put(b, op, sources)
    try:
        validate(b.shader)
    except ValidationError as error:
        return str(error)
    return ""


def test_every_operation_and_every_source_is_tested() -> None:
    assert list(TEX_OPS) == list(READS)
    used = {source for needs, takes in READS.values() for source in f"{needs} {takes}".split()}
    assert used | set(NAMES) == set(TEX_SRCS)


@pytest.mark.parametrize("op", READS)
def test_an_operation_reads_what_it_needs_and_takes_and_nothing_else(op: str) -> None:
    needs, takes = (text.split() for text in READS[op])
    assert complaint(op, needs) == ""
    for source in needs:
        rest = [each for each in needs if each != source]
        assert f"{op} needs a {source}" in complaint(op, rest)
    for source in set(TEX_SRCS) - set(needs):
        found = complaint(op, [*needs, source])
        if source in (*takes, *NAMES):
            assert found == "", source
        else:
            assert f"{op} takes no {source}" in found


class Reading(Environment):
    """Keeps the types of what a texture operation reads."""

    def texture(self, tex: Tex, unit: Array, srcs: dict[str, Array]) -> Array:
        self.types = {kind: array.dtype for kind, array in srcs.items()}
        return super().texture(tex, unit, srcs)


@pytest.mark.parametrize("op", READS)
def test_sources_are_read_as_what_they_are(op: str) -> None:
    sources = " ".join(READS[op]).split()
    b = begun()
    put(b, op, sources)
    environment = Reading(4)
    interpret(b.shader, environment)
    counted = COUNTED | ({"coord", "lod"} if op in TEXELS else {"lod"} if op == "txs" else set())
    wanted = {s: np.dtype(np.int32 if s in counted else np.float32) for s in sources}
    assert environment.types == wanted


def test_whatever_is_read_shows_in_the_result() -> None:
    """Else nobody would notice a pass that loses a source, or exchanges two."""
    environment, b = Environment(1), begun()
    widths = {kind: 3 if kind in WIDE else 1 for kind in set(TEX_SRCS) - set(NAMES)}
    zeros = {kind: np.zeros((width, 1)) for kind, width in widths.items()}

    def answer(op: str, unit: int, **sources: Array) -> Array:
        return environment.texture(put(b, op, []), np.full(1, unit), {**zeros, **sources})[:, 0]

    places = [(kind, c) for kind, width in widths.items() for c in range(width)]
    sources = [answer("tex", 0, **{k: np.eye(widths[k])[:, c : c + 1]})[0] for k, c in places]
    units = [answer("tex", unit)[0] for unit in range(4)]
    operations = [answer(op, 0)[0] for op in READS]
    for answers in (sources + units[:1], units, operations, list(answer("tex", 0))):
        assert len(set(answers)) == len(answers), answers


def in_an_if(op: str) -> tuple[Shader, Tex]:
    b = begun()
    zero = b.imm_int(0)
    b.push_if(b.ilt(b.intrinsic("load_input", [zero], num_components=1), zero))
    tex = put(b, op, READS[op][0].split())
    first = b.channel(tex.result, 0)
    b.push_else()
    b.pop_if()
    chosen = b.if_phi(first, zero)
    b.intrinsic("store_output", [chosen, zero], write_mask=1)
    return b.shader, tex


def in_a_loop(op: str) -> tuple[Shader, Tex]:
    b = begun()
    zero = b.imm_int(0)
    read = [(source, value_of(b, source)) for source in READS[op][0].split()]
    b.push_loop()
    result = b.tex(op, read, t.Dim.D2, num_components=COMPONENTS.get(op, 4))
    b.break_if(b.ilt(b.channel(result, 0), zero))
    b.pop_loop()
    assert isinstance(result.instr, Tex)
    return b.shader, result.instr


@pytest.mark.parametrize("op", READS)
def test_operations_with_implicit_derivatives_are_convergent(op: str) -> None:
    together = op in TOGETHER
    shader, tex = in_a_loop(op)
    run_passes(shader, ["opt_licm"])
    assert (tex.block is shader.entry.body[0]) is not together

    shader, tex = in_an_if(op)
    run_passes(shader, ["peephole_select"])
    assert tex.block is not shader.entry.body[0]  # not wanted
    run_passes(shader, [("peephole_select", {"tex_ok": True})])
    assert (tex.block is shader.entry.body[0]) is not together
    run_passes(shader, ["gather_info"])
    assert shader.info.uses_derivatives is together


@pytest.mark.parametrize("op", READS)
def test_lanes_that_read_the_same_get_the_same_unless_neighbours_count(op: str) -> None:
    b = begun()
    tex = put(b, op, READS[op][0].split())
    b.shader.entry.require(Metadata.CFG)
    analyse_divergence(b.shader.entry)
    assert bool(tex.result.divergent) is (op in TOGETHER)

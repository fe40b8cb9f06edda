"""What two stages learn from each other, rule by rule: what is still stored and loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Shader
from gallette.compiler.nir.ir.instrs import Intrinsic, LoadConst
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import const_int, intrinsics_of
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.link.linking import link_varyings
from gallette.compiler.nir.text.parser import parse
from tests.cases import Case, each

VALUES = """
    32 %0 = load_const (0)
    32 %1 = load_const (1)
    32 %2 = load_const (2)
    32x4 %k = load_const (0x11, 0x22, 0x33, 0x44)
    32x4 %l = load_const (0x11, 0x22, 0x55, 0x44)
    32x2 %s = vec2 %k.z, %l.z
    64x2 %w = load_const (7, 8)
    64x3 %w3 = load_const (7, 8, 9)
    32x4 %p = @load_input (%0) (location=VERT.POS)
    32x2 %q = mov %p.xy
    32 %i = iand %p.x, %1
    32x4 %h = vec4 %k.x, %k.y, %p.x, %k.w
    32x4 %sum = iadd %k, %l
    1 %odd = ieq %i, %1
"""
WIDTHS = {"q": 2, "s": 2, "w": 2}


def producer(stores: str, stage: str = "vertex", more_code: str = "") -> Shader:
    """`VALUE SLOT[OFFSET] ...indices` a line; `if` opens a condition, `end` closes it."""
    lines = []
    for line in stores.splitlines():
        words = line.split()
        if words in ([], ["if"], ["end"]):
            lines += {"if": ["if %odd {"], "end": ["}"]}.get("".join(words), [])
            continue
        value, place, *indices = words
        slot, _, offset = place.rstrip("]").partition("[")
        if "write_mask" not in line:
            indices.append(f"write_mask={'xyzw'[: WIDTHS.get(value, 4)]}")
        more = ", ".join([f"location=VARYING.{slot}", *indices])
        lines.append(f"@store_output (%{value}, %{offset or 0}) ({more})")
    return parse(f'shader {stage} "p"\nimpl main {{{VALUES}' + "\n".join([*lines, more_code, "}"]))


def consumer(loads: str) -> Shader:
    """`TYPE SLOT[OFFSET] ...indices` a line."""
    lines = []
    for number, line in enumerate(filter(str.strip, loads.splitlines())):
        type, place, *indices = line.split()
        slot, _, offset = place.rstrip("]").partition("[")
        more = ", ".join([f"location=VARYING.{slot}", *indices])
        name, _, vertex = "load_input", "", ""
        if type.startswith("vertex:"):
            name, vertex, type = "load_per_vertex_input", "%1, ", type.removeprefix("vertex:")
        lines.append(f"{type} %v{number} = @{name} ({vertex}%{offset or 0}) ({more})")
        lines.append(f"@store_output (%v{number}, %0) (location=VARYING.VAR{number})")
    return parse('shader geometry "c"\nimpl main {' + VALUES + "\n".join(lines) + "\n}")


def kept(shader: Shader) -> list[str]:
    found = []
    for store in intrinsics_of(shader.entry, "store_output"):
        offset = const_int(store.srcs[-1].value)
        mask, first = store["write_mask"], store["component"]
        slot = VaryingSlot(int(store["location"]) + (offset or 0)).name
        parts = "".join("xyzw89ab"[first + c] for c in range(4) if mask >> c & 1)
        found.append(f"{slot}[]" if offset is None else f"{slot}.{parts}")
    return found


def known(shader: Shader) -> list[str]:
    found = []
    for store in intrinsics_of(shader.entry, "store_output"):
        instr = store.srcs[0].value.instr
        assert isinstance(instr, LoadConst | Intrinsic)
        constant = isinstance(instr, LoadConst)
        found.append(" ".join(f"{v:x}" for v in instr.values) if constant else "read")
    return found


@each(Path(__file__).with_name("linked.txt"))
def test_what_is_left(case: Case) -> None:
    stores, loads = case.text.split("\nreads\n")
    left, values = case.answers[0], case.answers[1].split("; ")
    first, second = producer(stores), consumer(loads)
    before = kept(first), known(second)
    for shader in (first, second):
        shader.entry.require(Metadata.ALL)
    changed = link_varyings(first, second)
    assert (kept(first), known(second)) == (left.split(), values)
    differ = kept(first) != before[0], known(second) != before[1]
    assert changed == any(differ)
    for shader, differs in zip((first, second), differ, strict=True):
        validate(shader)
        still = Metadata(shader.entry.valid) & Metadata.VALUES
        assert still == (Metadata.CONTROL_FLOW if differs else Metadata.VALUES)


FIXED = "POS PSIZ EDGE CLIP_VERTEX CLIP_DIST0 CLIP_DIST1 CULL_DIST0 CULL_DIST1 PRIMITIVE_ID LAYER"
FIXED += " VIEWPORT TESS_LEVEL_OUTER TESS_LEVEL_INNER VIEWPORT_MASK"


@pytest.mark.parametrize("slot", FIXED.split())
def test_what_the_fixed_function_reads_is_stored(slot: str) -> None:
    first = producer(f"p {slot}\np VAR1")
    assert link_varyings(first, consumer("32 VAR3"))
    assert kept(first) == [f"{slot}.xyzw"]


def test_what_is_captured_is_stored() -> None:
    first = producer("p VAR1\np VAR2\np VAR3[i] num_slots=2\np VAR5[i] num_slots=2\np VAR6")
    assert link_varyings(first, consumer(""), keep=frozenset({33, 36}))
    assert kept(first) == ["VAR1.xyzw", "VAR3[]"]


def test_what_one_invocation_stores_is_no_constant_of_the_patch() -> None:
    """Another one may have stored something else."""
    first, second = producer("k VAR1", "tess_ctrl"), consumer("32 VAR1")
    assert link_varyings(first, second)
    assert (kept(first), known(second)) == (["VAR1.x"], ["read"])


def test_what_a_shader_reads_back_is_stored() -> None:
    stores = "\n".join(f"p VAR{n}" for n in range(1, 9))
    back = """
        32 %a = @load_output (%1) (location=VARYING.VAR1)
        32 %b = @load_output (%i) (location=VARYING.VAR3, num_slots=2)
        32 %c = @load_per_vertex_output (%1, %0) (location=VARYING.VAR6)
        32 %ab = iadd %a, %b
        32 %abc = iadd %ab, %c
        @store_output (%abc, %0) (location=VARYING.VAR8, write_mask=x)
    """
    first = producer(stores, "tess_ctrl", back)
    assert link_varyings(first, consumer("32 VAR8"))
    assert kept(first) == [*(f"VAR{n}.xyzw" for n in (2, 3, 4, 6)), "VAR8.x", "VAR8.x"]

"""What two stages learn from each other, rule by rule: what is still stored, what is still loaded.

Each row is a producer's stores, a consumer's loads, and what linking makes of them: the slot and
components of every store that is left (a dynamic one as `SLOT[]`), and for every load the constant
it has become or `read`.
"""

from __future__ import annotations

import pytest

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Shader
from gallette.compiler.nir.ir.instrs import Intrinsic, LoadConst
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import const_int, intrinsics_of
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.link.linking import link_varyings
from gallette.compiler.nir.text.parser import parse

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


# title: (stores, loads, stores that are left, what loads have become)
ROWS: dict[str, tuple[str, str, str, list[str]]] = {
    "what nobody reads": ("p VAR1\np VAR2\np VAR3", "32x4 VAR2", "VAR2.xyzw", ["read"]),
    "components": ("p VAR1\np VAR2", "32 VAR1 component=1", "VAR1.y", ["read"]),
    "components of a store further on": (
        "q VAR1 component=2\np VAR2\np VAR1 write_mask=y",
        "32 VAR1 component=3\n32 VAR2 component=2",
        "VAR1.w VAR2.z",
        ["read", "read"],
    ),
    "several readers": ("p VAR1", "32 VAR1\n32x2 VAR1 component=2", "VAR1.xzw", ["read", "read"]),
    "offsets": ("p VAR1[1]\np VAR1\np VAR1[2]", "32x4 VAR0[2]", "VAR2.xyzw", ["read"]),
    "an offset that is not known": (
        "p VAR0\np VAR1\np VAR2\np VAR3",
        "32 VAR1[i] num_slots=2",
        "VAR1.xyzw VAR2.xyzw",
        ["read"],
    ),
    "behind one that is not known": (
        "p VAR0\np VAR2\np VAR3",
        "32 VAR1[i] num_slots=2\n32x2 VAR3",
        "VAR2.xyzw VAR3.xy",
        ["read", "read"],
    ),
    "four components of 64 bits are two slots": (
        "p VAR1\np VAR2\np VAR3",
        "64x3 VAR1",
        "VAR1.xyzw VAR2.xy",
        ["read"],
    ),
    "64 bits at an offset": (
        "p VAR1\np VAR2\np VAR3",
        "64x3 VAR0[1]",
        "VAR1.xyzw VAR2.xy",
        ["read"],
    ),
    "64 bits in the middle": ("p VAR1\np VAR2", "64 VAR1 component=2", "VAR1.zw", ["read"]),
    "a store of 64 bits stays": ("w VAR1\np VAR2", "32 VAR7", "VAR1.xy", ["0"]),
    "a back colour for a front one": (
        "p BFC0\np BFC1\np COL0",
        "32 COL0 component=1",
        "BFC0.y COL0.y",
        ["read"],
    ),
    "the other back colour": ("p BFC0\np BFC1", "32 COL1 component=3", "BFC1.w", ["read"]),
    "a back colour that is read": (
        "p BFC0",
        "32 COL0 component=1\n32 BFC0 component=3",
        "BFC0.yw",
        ["read", "read"],
    ),
    "a store somewhere in slots of which one is read": (
        "p VAR1[i] num_slots=3\np VAR5\np VAR3",
        "32 VAR3",
        "VAR1[] VAR3.x",
        ["read"],
    ),
    "a store somewhere in slots nobody reads": (
        "p VAR1[i] num_slots=2\np VAR4[i]\np VAR3",
        "32 VAR3\n32 VAR5",
        "VAR3.x",
        ["read", "read"],
    ),
    "nothing but a store somewhere": ("p VAR1[i] num_slots=2", "32 COL0", "", ["read"]),
    "constants": ("k VAR1", "32x2 VAR1 component=1", "", ["22 33"]),
    "constants by offset": ("k VAR0[2]\np VAR1", "32x2 VAR1[1]", "", ["11 22"]),
    "constants component by component": (
        "h VAR1",
        "32 VAR1 component=3\n32 VAR1 component=2",
        "VAR1.z",
        ["44", "read"],
    ),
    "constants that are chosen from others": ("s VAR1", "32x2 VAR1", "", ["33 55"]),
    "constants further on": ("s VAR1 component=2", "32x2 VAR1 component=2", "", ["33 55"]),
    "constants under a mask": ("k VAR1 write_mask=yw", "32x4 VAR1", "", ["0 22 0 44"]),
    "the same constants twice": (
        "k VAR1\nl VAR1",
        "32x2 VAR1\n32 VAR1 component=2\n32 VAR1 component=3",
        "VAR1.z VAR1.z",
        ["11 22", "read", "44"],
    ),
    "sums are not looked into": ("sum VAR1", "32 VAR1", "VAR1.x", ["read"]),
    "constants on one way only": (
        "if\nk VAR1\nend\nk VAR2",
        "32 VAR1\n32 VAR2",
        "VAR1.x",
        ["read", "11"],
    ),
    "constants on one way and on all": (
        "if\nk VAR1\nend\nk VAR1",
        "32 VAR1",
        "VAR1.x VAR1.x",
        ["read"],
    ),
    "constants somewhere": (
        "k VAR1[i]\nk VAR3",
        "32 VAR1\n32 VAR2\n32 VAR3",
        "VAR1[]",
        ["read", "read", "11"],
    ),
    "constants of 64 bits": (
        "w VAR1",
        "32 VAR1\n32 VAR2 component=3\n32 VAR3",
        "VAR1.xy",
        ["read", "read", "0"],
    ),
    "what nobody wrote": ("p VAR1", "32x3 VAR2\n32 VAR1", "VAR1.x", ["0 0 0", "read"]),
    "colours nobody wrote": ("p VAR1", "32 COL0\n32 VAR2", "", ["read", "0"]),
    "layers nobody wrote": ("p VAR1", "32 LAYER", "", ["read"]),
    "in other sizes": ("k VAR1", "64 VAR1\n16 VAR1\n32 VAR1", "VAR1.xy", ["read", "read", "11"]),
    "at an offset that is not known": (
        "k VAR1\nk VAR2",
        "32 VAR1[i] num_slots=2\n32 VAR2",
        "VAR1.xyzw VAR2.xyzw",
        ["read", "11"],
    ),
    "of a vertex": ("k VAR1\nk VAR2", "vertex:32 VAR1\n32 VAR2", "VAR1.x", ["read", "11"]),
}


@pytest.mark.parametrize("title", ROWS)
def test_what_is_left(title: str) -> None:
    stores, loads, left, values = ROWS[title]
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

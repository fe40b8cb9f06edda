"""Which outputs a stage keeps when the next one reads others: each slot, component by component."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.link.linking import link_varyings
from gallette.compiler.nir.text.parser import parse

S = VaryingSlot
KEPT = {
    S.POS, S.PSIZ, S.EDGE, S.CLIP_VERTEX, S.CLIP_DIST0, S.CLIP_DIST1, S.CULL_DIST0, S.CULL_DIST1,
    S.PRIMITIVE_ID, S.LAYER, S.VIEWPORT, S.VIEWPORT_MASK, S.TESS_LEVEL_OUTER, S.TESS_LEVEL_INNER,
}  # fmt: skip
"""what the pipeline reads whatever the next shader does"""
HEAD = """
    32 %z = load_const (0)
    32 %one = load_const (1)
"""
GIVEN = "32x4 %p = @load_input (%z) (location=VERT.POS)\n"


def linked(stores: str, loads: str, keep: frozenset[int] = frozenset()) -> tuple[list[str], str]:
    """The stores that are left, as SLOT.MASK, and whether linking changed anything."""
    vertex = parse(f'shader vertex "v"\nimpl main {{{HEAD}{GIVEN}{stores}\n}}\n')
    fragment = parse(f'shader fragment "f"\nimpl main {{{HEAD}{loads}\n}}\n')
    progress = link_varyings(vertex, fragment, keep=keep)
    left = [
        f"{VaryingSlot(store['location']).name}+{store['component']}.{store['write_mask']}"
        for store in intrinsics_of(vertex.entry, "store_output")
    ]
    vertex.unref()
    fragment.unref()
    return left, "changed" if progress else ""


def store(slot: VaryingSlot, more: str = "write_mask=xyzw", at: str = "%z") -> str:
    return f"@store_output (%p, {at}) (location=VARYING.{slot.name}, {more})"


@pytest.mark.parametrize("slot", VaryingSlot)
def test_unread_outputs_are_removed_except_for_those_of_the_pipeline(slot: VaryingSlot) -> None:
    left, changed = linked(store(slot), "")
    assert bool(left) == (slot in KEPT)
    assert bool(changed) == (slot not in KEPT)
    assert linked(store(slot), "", frozenset({int(slot)})) == ([f"{slot.name}+0.15"], "")


def load(
    slot: VaryingSlot, component: int = 0, width: int = 4, at: str = "%z", more: str = ""
) -> str:
    size = "32" if width == 1 else f"32x{width}"
    indices = f"location=VARYING.{slot.name}, component={component}{more}"
    return f"{size} %r = @load_input ({at}) ({indices})"


@pytest.mark.parametrize(
    ("stored", "loaded", "left"),
    [
        (store(S.VAR1), load(S.VAR1), ["VAR1+0.15"]),
        (store(S.VAR1), load(S.VAR2), []),
        (store(S.VAR1), load(S.VAR1, 1, 2), ["VAR1+0.6"]),
        (store(S.VAR1), load(S.VAR1, 3, 1), ["VAR1+0.8"]),
        (store(S.VAR1), load(S.VAR0, at="%one"), ["VAR1+0.15"]),
        (store(S.VAR0, at="%one"), load(S.VAR1, 0, 2), ["VAR0+0.3"]),
        (store(S.VAR0, at="%one"), load(S.VAR0), []),
        (store(S.VAR0), load(S.VAR0, at="%x", more=", num_slots=3"), ["VAR0+0.15"]),
        (store(S.VAR2), load(S.VAR0, at="%x", more=", num_slots=3"), ["VAR2+0.15"]),
        (store(S.VAR3), load(S.VAR0, at="%x", more=", num_slots=3"), []),
        (store(S.VAR1, "num_slots=2, write_mask=xyzw", "%x"), load(S.VAR2), ["VAR1+0.15"]),
        (store(S.VAR1, "num_slots=2, write_mask=xyzw", "%x"), load(S.VAR3), []),
        (store(S.VAR1, "num_slots=2, write_mask=xyzw", "%x"), load(S.VAR0), []),
        (store(S.BFC0), load(S.COL0, 0, 3), ["BFC0+0.7"]),
        (store(S.BFC1), load(S.COL1, 0, 3), ["BFC1+0.7"]),
        (store(S.BFC1), load(S.COL0, 0, 3), []),
        (store(S.COL0), load(S.COL0, 0, 3), ["COL0+0.7"]),
    ],
)  # fmt: skip
def test_components_that_are_read_are_kept(stored: str, loaded: str, left: list[str]) -> None:
    unknown = "32 %x = @load_vertex_id ()\n"
    loads = "32 %x = @load_primitive_id ()\n" + loaded
    assert linked(unknown + stored, loads)[0] == left


def test_two_values_of_64_bits_reach_into_the_next_slot() -> None:
    vertex = "64x4 %d = undef\n@store_output (%d, %z) (location=VARYING.VAR1, write_mask=xyzw)"
    both = f"{store(S.VAR1)}\n{store(S.VAR2)}\n{store(S.VAR3)}"
    wide = "64x{} %r = @load_input (%z) (location=VARYING.VAR1)"
    assert linked(both, wide.format(2))[0] == ["VAR1+0.15"]
    assert linked(both, wide.format(3))[0] == ["VAR1+0.15", "VAR2+0.3"]
    assert linked(both, wide.format(4))[0] == ["VAR1+0.15", "VAR2+0.15"]
    assert linked(vertex, "")[0] == ["VAR1+0.15"]  # not taken apart

"""Packing of varyings: who shares a slot with whom, and what stays where it is.

A case is what is stored and what is read, as `VAR3.yz` (slot and components); `~` in front says
flat, `'` behind at the centroid, `[n]` behind an array of so many slots at a dynamic index, `*`
behind 64 bits.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.ir.questions import intrinsics_of
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.link.varying_packing import pack_varyings

_PLACE = re.compile(r"(~?)VAR(\d+)\.(\w+)('?)(\*?)(?:\[(\d)\])?")


def _parts(text: str) -> tuple[bool, VaryingSlot, int, int, bool, int, int]:
    """Flat, slot, first component, how many, at the centroid, bits, slots."""
    found = _PLACE.fullmatch(text)
    assert found, text
    flat, number, letters, centroid, wide, slots = found.groups()
    first = "xyzw".index(letters[0])
    assert letters == "xyzw"[first : first + len(letters)]
    bits = 64 if wide else 32
    slot = VaryingSlot[f"VAR{number}"]
    return bool(flat), slot, first, len(letters), bool(centroid), bits, int(slots or 1)


def writer(stores: str, stage: Stage = Stage.VERTEX, reads: str = "") -> Shader:
    b = Builder.shader_main(stage, "writer")
    zero = b.imm_int(0)
    index = b.intrinsic("load_ubo", [zero, zero], num_components=1)
    for number, text in enumerate(stores.split()):
        _, slot, first, count, _, bits, slots = _parts(text)
        given = b.intrinsic(
            "load_input", [zero], num_components=4, bit_size=bits, location=VaryingSlot(32 + number)
        )
        value = b.swizzle(given, range(count))
        where = index if slots > 1 else zero
        b.intrinsic(
            "store_output",
            [value, where],
            location=slot,
            component=first,
            write_mask=(1 << count) - 1,
            num_slots=slots,
        )
    for text in reads.split():
        _, slot, first, count, _, bits, slots = _parts(text)
        b.intrinsic(
            "load_output",
            [zero],
            num_components=count,
            bit_size=bits,
            location=slot,
            component=first,
        )
    return b.shader


def reader(loads: str) -> Shader:
    b = Builder.shader_main(Stage.FRAGMENT, "reader")
    zero = b.imm_int(0)
    index = b.intrinsic("load_ubo", [zero, zero], num_components=1)
    for number, text in enumerate(loads.split()):
        flat, slot, first, count, centroid, bits, slots = _parts(text)
        where = index if slots > 1 else zero
        indices = {"location": slot, "component": first, "num_slots": slots}
        value: Def
        if flat or bits == 64:
            value = b.intrinsic(
                "load_input", [where], num_components=count, bit_size=bits, **indices
            )
        else:
            kind = "centroid" if centroid else "pixel"
            interp = "centroid" if centroid else "smooth"
            place = b.intrinsic(f"load_barycentric_{kind}", interp=interp)
            value = b.intrinsic(
                "load_interpolated_input", [place, where], num_components=count, **indices
            )
        b.intrinsic(
            "store_output",
            [value, zero],
            location=FragResult(FragResult.DATA0 + number % 8),
            write_mask=(1 << count) - 1,
        )
    return b.shader


def places(shader: Shader, *names: str) -> list[str]:
    """`VAR3.yz` of each access, in order."""
    found = []
    for instr in intrinsics_of(shader.entry, *names):
        slot = instr["location"]
        if not isinstance(slot, VaryingSlot) or slot < VaryingSlot.VAR0:
            continue
        if instr.dest is not None:
            letters = range(instr.dest.num_components)
        else:
            letters = [i for i in range(4) if instr["write_mask"] >> i & 1]  # type: ignore[assignment]
        shown = "".join("xyzw"[instr["component"] + i] for i in letters)
        found.append(f"VAR{slot - VaryingSlot.VAR0}.{shown}")
    return found


CASES = {
    # name: (what is stored, what is read, stored afterwards, read afterwards)
    "two pairs": ("VAR3.xy VAR5.xy", "VAR3.xy VAR5.xy", "VAR0.xy VAR0.zw", "VAR0.xy VAR0.zw"),
    "the largest first": (
        "VAR1.x VAR2.xyz VAR4.xyzw VAR6.xy",
        "VAR1.x VAR2.xyz VAR4.xyzw VAR6.xy",
        "VAR1.w VAR1.xyz VAR0.xyzw VAR2.xy",
        "VAR1.w VAR1.xyz VAR0.xyzw VAR2.xy",
    ),
    "what is read moves to the front": ("VAR0.xyzw", "VAR0.zw", "VAR0.xy", "VAR0.xy"),
    "what is read in parts stays together": (
        "VAR2.xyzw VAR3.x",
        "VAR2.y VAR2.zw VAR3.x",
        "VAR0.xyz VAR0.w",
        "VAR0.x VAR0.yz VAR0.w",
    ),
    "what is written in parts": (
        "VAR2.x VAR2.y VAR2.zw",
        "VAR2.yz",
        "VAR0.x VAR0.y",
        "VAR0.xy",
    ),
    "what is written and never read goes": ("VAR2.x VAR2.zw", "VAR2.zw", "VAR0.xy", "VAR0.xy"),
    "flat and smooth ones": (
        "VAR1.x VAR2.x VAR3.x VAR4.x",
        "VAR1.x ~VAR2.x VAR3.x ~VAR4.x",
        "VAR0.x VAR1.x VAR0.y VAR1.y",
        "VAR0.x VAR1.x VAR0.y VAR1.y",
    ),
    "at the centroid and not": (
        "VAR1.x VAR2.x VAR3.x",
        "VAR1.x VAR2.x' VAR3.x'",
        "VAR0.x VAR1.x VAR1.y",
        "VAR0.x VAR1.x VAR1.y",
    ),
}
STAY = {
    # stored, read: the first slot stays, and the second goes around it
    "in two ways": ("VAR0.x VAR1.x VAR3.y", "VAR0.x ~VAR0.x VAR1.x VAR3.y", "VAR0.x VAR1.x VAR1.y"),
    "an array the fragment indexes": (
        "VAR1.x VAR2.x VAR3.x VAR4.x",
        "VAR1.x[2] VAR3.x VAR4.x",
        "VAR1.x VAR2.x VAR0.x VAR0.y",
    ),
    "an array that is indexed where it is stored": (
        "VAR0.x[2] VAR3.x VAR4.x",
        "VAR0.x VAR1.x VAR3.x VAR4.x",
        "VAR0.x VAR2.x VAR2.y",
    ),
    "64 bits": ("VAR0.xy* VAR3.x VAR4.x", "VAR0.xy* VAR3.x VAR4.x", "VAR0.xy VAR1.x VAR1.y"),
}


@pytest.mark.parametrize("name", CASES)
def test_small_varyings_share_slots(name: str) -> None:
    stores, loads, stored, read = CASES[name]
    vs, fs = writer(stores), reader(loads)

    def picture() -> list[list[float]]:
        values = {(32 + i, c): np.array([10.0 * i + c + 1]) for i in range(8) for c in range(4)}
        outputs = interpret(vs, Environment(1, inputs=values)).outputs
        inputs = {k: v.astype(np.uint32).view(np.float32) for k, v in outputs.items()}
        result = interpret(fs, Environment(1, inputs=inputs))
        return [v.tolist() for _, v in sorted(result.outputs.items())]

    before = picture()
    assert pack_varyings(vs, fs) == ((stores, loads) != (stored, read))
    for shader in (vs, fs):
        validate(shader)
    assert places(vs, "store_output") == stored.split()
    assert places(fs, "load_input", "load_interpolated_input") == read.split()
    assert picture() == before


@pytest.mark.parametrize("name", STAY)
def test_some_stay_and_others_go_around_them(name: str) -> None:
    stores, loads, stored = STAY[name]
    vs, fs = writer(stores), reader(loads)
    assert pack_varyings(vs, fs)
    validate(vs)
    validate(fs)
    assert places(vs, "store_output") == stored.split()


def test_what_is_captured_stays() -> None:
    vs, fs = writer("VAR1.x VAR3.x VAR4.x"), reader("VAR1.x VAR3.x VAR4.x")
    assert pack_varyings(vs, fs, keep=frozenset((VaryingSlot.VAR1,)))
    assert places(vs, "store_output") == ["VAR1.x", "VAR0.x", "VAR0.y"]


def test_what_the_writer_reads_back_stays() -> None:
    vs, fs = writer("VAR1.x VAR3.x VAR4.x", reads="VAR1.x"), reader("VAR1.x VAR3.x VAR4.x")
    assert pack_varyings(vs, fs)
    assert places(vs, "store_output") == ["VAR1.x", "VAR0.x", "VAR0.y"]


def test_only_what_comes_before_fragments_is_packed() -> None:
    assert not pack_varyings(writer("VAR3.x", Stage.TESS_CTRL), reader("VAR3.x"))
    assert not pack_varyings(writer("VAR3.x"), writer("VAR3.x", Stage.GEOMETRY))
    assert pack_varyings(writer("VAR3.x", Stage.TESS_EVAL), reader("VAR3.x"))


@pytest.mark.parametrize("first", [0, 15, 30, 31])
def test_small_ones_share_slots_up_to_the_last(first: int) -> None:
    """Whole vectors stay in front of them, each in a slot of its own."""
    names = [f"VAR{n}.{'xyzw' if n < first else 'xy'}" for n in range(32)]
    vertex, fragment = writer(" ".join(names)), reader(" ".join(names))
    pack_varyings(vertex, fragment)
    stores = intrinsics_of(vertex.entry, "store_output")
    used = {VaryingSlot(int(store["location"])).name for store in stores}
    assert used == {f"VAR{n}" for n in range(first + (32 - first + 1) // 2)}

"""Where and how the inputs of fragments are interpolated."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.io.slots import barycentric, is_flat
from gallette.compiler.nir.ir import Mode, Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import run_passes

COLORS = ("COL0", "COL1", "BFC0", "BFC1")
# declared -> (of a colour, of another input): flat shading decides about colours without a word
WAYS = {
    "none": ("none", "smooth"),
    "smooth": ("smooth", "smooth"),
    "noperspective": ("noperspective", "noperspective"),
}
PLACES = {
    # what is declared -> the intrinsic
    "": "load_barycentric_pixel",
    "centroid": "load_barycentric_centroid",
    "sample": "load_barycentric_sample",
}


def declared(slot: str, way: str, place: str = "") -> Variable:
    words = {place: True} if place else {}
    return Variable(
        "v",
        t.VEC4,
        Mode.SHADER_IN,
        VaryingSlot[slot],
        interpolation=way,
        **words,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("slot", [*COLORS, "VAR0", "VAR31", "TEX0", "FOGC"])
def test_an_input_is_interpolated_as_it_is_declared(slot: str, way: str, place: str) -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "inputs")
    interp = WAYS[way][0 if slot in COLORS else 1]
    var = declared(slot, way, place)
    found = barycentric(b, var).instr
    assert isinstance(found, Intrinsic)
    assert (found.name, found["interp"]) == (PLACES[place], interp)
    # What the shader says goes before.
    where = b.imm_vec(0.25, -0.25)
    for kind, wanted in (
        ("centroid", "load_barycentric_centroid"),
        ("sample", "load_barycentric_sample"),
    ):
        said = barycentric(b, var, kind).instr
        assert isinstance(said, Intrinsic)
        assert (said.name, said["interp"], len(said.srcs)) == (wanted, interp, 0)
    for kind, at, wanted in (
        ("offset", where, "load_barycentric_at_offset"),
        ("sample_index", b.imm_int(2), "load_barycentric_at_sample"),
    ):
        said = barycentric(b, var, kind, at).instr
        assert isinstance(said, Intrinsic)
        assert (said.name, said["interp"], said.srcs[0].value) == (wanted, interp, at)
    b.shader.unref()


@pytest.mark.parametrize(
    ("type_", "way", "flat"),
    [
        (t.VEC4, "none", False),
        (t.VEC4, "smooth", False),
        (t.VEC4, "noperspective", False),
        (t.VEC4, "flat", True),
        (t.IVEC2, "none", True),
        (t.UINT, "none", True),
        (t.DOUBLE, "none", True),
        (t.array(t.INT, 2), "none", True),
        (t.array(t.VEC2, 2), "none", False),
    ],
)
def test_only_floats_of_32_bits_are_interpolated(type_: t.Type, way: str, flat: bool) -> None:
    var = Variable("v", type_, Mode.SHADER_IN, VaryingSlot.VAR0, interpolation=way)
    assert is_flat(var) == flat


OPERATIONS = {
    "interp_deref_at_centroid": ("load_barycentric_centroid", ()),
    "interp_deref_at_sample_index": ("load_barycentric_at_sample", (3,)),
    "interp_deref_at_offset": ("load_barycentric_at_offset", (0.25, -0.5)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("way", WAYS)
def test_an_input_at_another_place(way: str, operation: str) -> None:
    wanted, numbers = OPERATIONS[operation]
    b = Builder.shader_main(Stage.FRAGMENT, "inputs")
    var = declared("VAR1", way, "sample")
    b.shader.variables.append(var)
    where = []
    if len(numbers) == 1:
        where = [b.imm_int(int(numbers[0]))]
    elif numbers:
        where = [b.imm_vec(*numbers)]
    value = b.intrinsic(operation, [b.deref_var(var).result, *where], num_components=4)
    other = b.load_deref(b.deref_var(var))
    b.intrinsic(
        "store_output",
        [b.fadd(value, other), b.imm_int(0)],
        location=VaryingSlot.VAR0,
        write_mask=15,
    )
    assert run_passes(b.shader, ["lower_io"])
    first, second = intrinsics_of(b.impl, "load_interpolated_input")
    places = [load.srcs[0].value.instr for load in (first, second)]
    assert all(isinstance(p, Intrinsic) for p in places)
    names = [(p.name, p["interp"]) for p in places if isinstance(p, Intrinsic)]
    interp = WAYS[way][1]
    assert names == [(wanted, interp), ("load_barycentric_sample", interp)]
    assert [s.value for s in places[0].srcs] == where
    assert {load["location"] for load in (first, second)} == {VaryingSlot.VAR1}
    b.shader.unref()

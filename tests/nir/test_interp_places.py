"""The reference interpreter: memory that is given by name, pointers that meet, ways to end."""

from __future__ import annotations

import numpy as np
import pytest
from test_interp import LANE, LANES, ints, out, run

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.text.parser import parse

STRUCT = 'type $S = struct "S" { int a; int[3] b; ivec2 c }\n'


def test_uniforms_are_given_by_name() -> None:
    """As their components, in order; the others are made up."""
    result = run(
        "32 %two = load_const (2)\n"
        "32 %d = deref_var &u (uniform $S)\n"
        "32 %a = deref_struct &%d.0 (uniform int)\n"
        "32 %b = deref_struct &%d.1 (uniform int[3])\n"
        "32 %b2 = deref_array &%b[%two] (uniform int)\n"
        "32 %c = deref_struct &%d.2 (uniform ivec2)\n"
        "32 %e = deref_var &w (uniform int)\n"
        "32 %x = @load_deref (%a)\n32 %y = @load_deref (%b2)\n32x2 %z = @load_deref (%c)\n"
        "32 %v = @load_deref (%e)\n"
        "32 %w = mov %z.y\n"
        f"{out('%x')}\n{out('%y', 1)}\n{out('%w', 2)}\n{out('%v', 3)}",
        header=STRUCT + "var uniform $S u\nvar uniform int w",
        uniforms={"u": [1, 2, 3, -4, 5, 6], "w": np.array([77])},
    )
    assert [ints(result, slot) for slot in range(4)] == [
        [1] * LANES, [-4] * LANES, [6] * LANES, [77] * LANES,
    ]  # fmt: skip


def test_booleans_take_four_bytes_in_memory() -> None:
    data = np.array([0, 1, 2, 7], np.uint32).tobytes()
    result = run(
        "32 %two = load_const (2)\n32 %three = load_const (3)\n"
        "32 %d = deref_var &u (ssbo $B)\n"
        "32 %a = deref_struct &%d.0 (ssbo bool[3:4])\n"
        "32 %e = deref_array &%a[%zero] (ssbo bool)\n"
        "32 %f = deref_array &%a[%two] (ssbo bool)\n"
        "32 %i = deref_struct &%d.1 (ssbo int)\n"
        "1 %x = @load_deref (%e)\n1 %y = @load_deref (%f)\n32 %z = @load_deref (%i)\n"
        "32 %p = b2i32 %x\n32 %q = b2i32 %y\n"
        f"{out('%p')}\n{out('%q', 1)}\n{out('%z', 2)}",
        header='type $B = interface "B" std430 { bool[3:4] a (offset=0); int b (offset=12) }\n'
        "var ssbo $B u (binding=1, interface=$B)",
        ssbos={1: data},
    )
    assert [ints(result, slot)[0] for slot in range(3)] == [0, 1, 7]


def test_pointers_are_merged_lane_by_lane() -> None:
    """Even lanes write to the first element, odd ones to the second."""
    result = run(
        "32 %d = deref_var &v (shader_temp int[2])\n"
        "32 %d0 = deref_array &%d[%zero] (shader_temp int)\n"
        "32 %d1 = deref_array &%d[%one] (shader_temp int)\n"
        "@store_deref (%d0, %zero) (write_mask=x)\n@store_deref (%d1, %zero) (write_mask=x)\n"
        "32 %odd = iand %lane, %one\n1 %c = ine %odd, %zero\n"
        "if %c {\nblock a:\n} else {\nblock b:\n}\nblock behind:\n"
        "32 %p = phi a: %d1, b: %d0\n32 %e = deref_cast %p (shader_temp int)\n"
        "@store_deref (%e, %lane) (write_mask=x)\n"
        "32 %x = @load_deref (%d0)\n32 %y = @load_deref (%d1)\n"
        f"{out('%x')}\n{out('%y', 1)}",
        header="var shader_temp int[2] v",
    )
    assert ints(result) == np.where(LANE % 2 == 0, LANE, 0).tolist()
    assert ints(result, 1) == np.where(LANE % 2 == 1, LANE, 0).tolist()


def test_halting_ends_a_lane_in_functions_as_well() -> None:
    text = """shader compute
function f (32x1 int x)
function main () entry
impl f {
    32 %zero = load_const (0)
    32 %x = @load_param ()
    32 %three = load_const (3)
    1 %c = ilt %x, %three
    if %c {
        halt
    } else {
    }
    @store_output (%x, %zero) (location=FRAG.DATA0, write_mask=x)
}
impl main {
    32 %zero = load_const (0)
    32 %lane = @load_subgroup_invocation ()
    call f (%lane)
    @store_output (%lane, %zero) (location=FRAG.DATA1, write_mask=x)
}
"""
    result = interpret(parse(text), Environment(LANES))
    for slot in (0, 1):
        wrote = result.written[FragResult.DATA0 + slot, 0]
        assert wrote.tolist() == (LANE >= 3).tolist()


def test_returning_ends_the_function_only() -> None:
    text = """shader compute
function f (32x1 int x)
function main () entry
impl f {
    32 %zero = load_const (0)
    32 %x = @load_param ()
    32 %three = load_const (3)
    1 %c = ilt %x, %three
    if %c {
        return
    } else {
    }
    @store_output (%x, %zero) (location=FRAG.DATA0, write_mask=x)
}
impl main {
    32 %zero = load_const (0)
    32 %lane = @load_subgroup_invocation ()
    call f (%lane)
    @store_output (%lane, %zero) (location=FRAG.DATA1, write_mask=x)
}
"""
    result = interpret(parse(text), Environment(LANES))
    assert result.written[FragResult.DATA0, 0].tolist() == (LANE >= 3).tolist()
    assert result.written[FragResult.DATA1, 0].all()


def test_a_call_of_what_has_no_code_is_said() -> None:
    text = "shader compute\nfunction f ()\nfunction main () entry\nimpl main {\n    call f ()\n}\n"
    with pytest.raises(GalletteError, match="call of 'f', which has no body"):
        interpret(parse(text))


def test_outputs_of_a_patch_are_read_back_vertex_by_vertex() -> None:
    text = """shader tess_ctrl
impl main {
    32 %zero = load_const (0)
    32 %one = load_const (1)
    32 %two = load_const (2)
    32 %lane = @load_subgroup_invocation ()
    32 %odd = iand %lane, %one
    32 %big = iadd %lane, %two
    @store_per_vertex_output (%lane, %zero, %zero) (location=VARYING.VAR0, write_mask=x)
    @store_per_vertex_output (%big, %one, %zero) (location=VARYING.VAR0, write_mask=x)
    32 %x = @load_per_vertex_output (%odd, %zero) (location=VARYING.VAR0)
    32 %y = @load_per_vertex_output (%two, %zero) (location=VARYING.VAR0)
    @store_output (%x, %zero) (location=VARYING.VAR8, write_mask=x)
    @store_output (%y, %zero) (location=VARYING.VAR9, write_mask=x)
}
"""
    result = interpret(parse(text), Environment(LANES))
    found = [result.outputs[int(slot), 0].tolist() for slot in (VaryingSlot.VAR8, VaryingSlot.VAR9)]
    assert found == [np.where(LANE % 2 == 1, LANE + 2, LANE).tolist(), [0] * LANES]

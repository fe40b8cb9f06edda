"""The reference interpreter, against results worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.interp.interpreter import (
    Environment,
    ExecutionBudgetError,
    Result,
    interpret,
)
from gallette.compiler.nir.ir.slots import FragResult
from gallette.compiler.nir.text.parser import parse

LANES = 8
LANE = np.arange(LANES)


def run(body: str, *, header: str = "", **environment: object) -> Result:
    """Run code of main; `%zero` is 0 and `%lane` the number of the lane."""
    text = (
        f"shader compute\n{header}\nimpl main {{\nblock start:\n32 %zero = load_const (0)\n"
        f"32 %one = load_const (1)\n32 %lane = @load_subgroup_invocation ()\n{body}\n}}"
    )
    return interpret(parse(text), Environment(LANES, **environment))  # type: ignore[arg-type]


def out(value: str, slot: int = 0) -> str:
    name = f"FRAG.DATA{slot}"
    return f"@store_output ({value}, %zero) (location={name}, write_mask=x)"


def ints(result: Result, slot: int = 0) -> list[int]:
    return [int(v) for v in result.outputs[FragResult.DATA0 + slot, 0].astype(np.int32)]


def test_a_phi_selects_by_the_predecessor_of_each_lane() -> None:
    result = run(
        f"""32 %four = load_const (4)
        1 %c = ilt %lane, %four
        if %c {{
        block a:
        32 %x = iadd %lane, %four
        }} else {{
        block b:
        }}
        block e:
        32 %r = phi a: %x, b: %zero
        {out("%r")}"""
    )
    assert ints(result) == [4, 5, 6, 7, 0, 0, 0, 0]


def test_lanes_leave_a_loop_one_after_the_other_and_keep_their_values() -> None:
    result = run(
        f"""loop {{
        block h:
        32 %i = phi start: %zero, n: %k
        32 %sum = phi start: %zero, n: %s
        1 %c = ige %i, %lane
        if %c {{
        break
        }}
        block n:
        32 %s = iadd %sum, %i
        32 %k = iadd %i, %one
        }}
        {out("%sum")}"""
    )
    assert ints(result) == [n * (n - 1) // 2 for n in range(LANES)]


def test_continue_skips_the_rest_of_the_body() -> None:
    result = run(
        f"""32 %d = deref_var &odd (shader_temp int)
        loop {{
        block h:
        32 %i = phi start: %zero, skip: %k, n: %k
        1 %c = ige %i, %lane
        if %c {{
        break
        }}
        block m:
        32 %k = iadd %i, %one
        32 %bit = iand %i, %one
        1 %even = ieq %bit, %zero
        if %even {{
        block skip:
        continue
        }}
        block n:
        32 %v = @load_deref (%d)
        32 %w = iadd %v, %one
        @store_deref (%d, %w) (write_mask=x)
        }}
        32 %r = @load_deref (%d)
        {out("%r")}""",
        header="var shader_temp int odd",
    )
    assert ints(result) == [n // 2 for n in range(LANES)]


def test_phis_of_one_block_read_before_any_of_them_writes() -> None:
    result = run(
        f"""32 %three = load_const (3)
        loop {{
        block h:
        32 %i = phi start: %zero, n: %k
        32 %a = phi start: %one, n: %b
        32 %b = phi start: %lane, n: %a
        1 %c = ige %i, %three
        if %c {{
        break
        }}
        block n:
        32 %k = iadd %i, %one
        }}
        {out("%a")}
        {out("%b", 1)}"""
    )
    assert ints(result) == list(range(LANES))
    assert ints(result, 1) == [1] * LANES


def test_a_discarded_lane_writes_nothing_more() -> None:
    result = run(
        f"""32 %four = load_const (4)
        1 %c = ilt %lane, %four
        @discard_if (%c)
        @store_ssbo (%lane, %zero, %zero) (write_mask=x)
        {out("%lane")}""",
        ssbos={0: bytes(4)},
    )
    assert result.alive.tolist() == [False] * 4 + [True] * 4
    assert not result.written[FragResult.DATA0, 0][:4].any()
    assert result.buffers["ssbo", 0].view(np.uint32)[0] == LANES - 1


def test_a_demoted_lane_continues_as_a_helper() -> None:
    result = run(
        f"""32 %four = load_const (4)
        1 %c = ilt %lane, %four
        @demote_if (%c)
        1 %h = @is_helper_invocation ()
        32 %r = b2i32 %h
        {out("%r")}"""
    )
    assert ints(result) == [1] * 4 + [0] * 4
    assert result.alive.tolist() == [False] * 4 + [True] * 4


def test_memory_out_of_range_reads_zero_and_is_not_written() -> None:
    result = run(
        f"""32 %four = load_const (4)
        32 %o = imul %lane, %four
        32 %v = @load_ssbo (%zero, %o)
        {out("%v")}
        @store_ssbo (%lane, %zero, %o) (write_mask=x)""",
        ssbos={0: np.array([7, 7, 7], np.uint32).tobytes()},
    )
    assert ints(result) == [7, 7, 7, 0, 0, 0, 0, 0]
    assert result.buffers["ssbo", 0].view(np.uint32).tolist() == [0, 1, 2]


def test_atomics_happen_lane_after_lane() -> None:
    result = run(
        f"""32 %old = @ssbo_atomic (%zero, %zero, %lane) (atomic_op=iadd)
        {out("%old")}""",
        ssbos={0: bytes(4)},
    )
    assert ints(result) == [n * (n - 1) // 2 for n in range(LANES)]
    assert result.buffers["ssbo", 0].view(np.uint32)[0] == sum(range(LANES))


def test_compare_and_exchange_stores_only_on_a_match() -> None:
    result = run(
        f"""32 %old = @ssbo_atomic_swap (%zero, %zero, %lane, %one) (atomic_op=xchg)
        {out("%old")}""",
        ssbos={0: np.array([3], np.uint32).tobytes()},
    )
    assert ints(result) == [3, 3, 3, 3, 1, 1, 1, 1]


def test_an_array_index_out_of_range_reads_zero_and_writes_nothing() -> None:
    result = run(
        f"""32 %d = deref_var &a (shader_temp int[4])
        32 %e = deref_array &%d[%lane] (shader_temp int)
        32 %v = iadd %lane, %one
        @store_deref (%e, %v) (write_mask=x)
        32 %r = @load_deref (%e)
        {out("%r")}""",
        header="var shader_temp int[4] a",
    )
    assert ints(result) == [1, 2, 3, 4, 0, 0, 0, 0]


def test_block_variables_are_their_buffers() -> None:
    result = run(
        f"""32 %d = deref_var &b (ssbo $B)
        32 %t = deref_struct &%d.1 (ssbo uint[:4])
        32 %e = deref_array &%t[%lane] (ssbo uint)
        32 %v = @load_deref (%e)
        {out("%v")}
        32 %h = deref_struct &%d.0 (ssbo uint)
        @store_deref (%h, %lane) (write_mask=x)""",
        header='type $B = interface "B" std430 { uint n (offset=0); uint[:4] v (offset=4) }\n'
        "var ssbo $B b (binding=2, interface=$B)",
        ssbos={2: np.array([9, 5, 6, 7], np.uint32).tobytes()},
    )
    assert ints(result) == [5, 6, 7, 0, 0, 0, 0, 0]
    assert result.buffers["ssbo", 2].view(np.uint32)[0] == LANES - 1


def test_subgroup_operations_see_the_active_lanes() -> None:
    result = run(
        f"""32 %four = load_const (4)
        1 %c = ige %lane, %four
        if %c {{
        32 %first = @read_first_invocation (%lane)
        {out("%first")}
        1 %any = @vote_any (%c)
        32 %x = b2i32 %any
        {out("%x", 1)}
        32x4 %ballot = @ballot (%c)
        @store_output (%ballot, %zero) (location=FRAG.DATA2, write_mask=x)
        }}"""
    )
    assert ints(result)[4:] == [4] * 4
    assert ints(result, 1)[4:] == [1] * 4
    assert ints(result, 2)[4:] == [0xF0] * 4


@pytest.mark.parametrize("other", [0, 1])
def test_votes_are_of_the_active_lanes(other: int) -> None:
    """Those from the fourth on, which agree but for the last, that may say something else."""
    result = run(
        f"""32 %four = load_const (4)
        32 %seven = load_const (7)
        32 %other = load_const ({other})
        1 %last = ieq %lane, %seven
        32 %theirs = bcsel %last, %other, %zero
        1 %c = ige %lane, %four
        32 %x = bcsel %c, %theirs, %lane
        32 %f = i2f32 %x
        1 %b = ine %x, %zero
        1 %n = ieq %x, %zero
        if %c {{
        1 %ieq = @vote_ieq (%x)
        1 %feq = @vote_feq (%f)
        1 %any = @vote_any (%b)
        1 %all = @vote_all (%n)
        32 %sign = load_const (0x80000000)
        32 %g = bcsel %last, %sign, %zero
        1 %signs = @vote_ieq (%g)
        1 %zeros = @vote_feq (%g)
        1 %elected = @elect ()
        32 %0 = b2i32 %ieq
        32 %1 = b2i32 %feq
        32 %2 = b2i32 %any
        32 %3 = b2i32 %all
        32 %4 = b2i32 %elected
        32 %5 = @read_first_invocation (%lane)
        32 %6 = @read_invocation (%lane, %seven)
        32 %zeros32 = b2i32 %zeros
        32 %7 = bcsel %signs, %zero, %zeros32
        {" ".join(out(f"%{k}", k) + chr(10) for k in range(8))}
        }}"""
    )
    agreed = 1 - other
    assert [ints(result, k)[4:] for k in range(4)] == [[agreed] * 4] * 2 + [[other] * 4] + [
        [agreed] * 4
    ]
    assert ints(result, 4)[4:] == [1, 0, 0, 0]
    assert ints(result, 5)[4:] == [4] * 4
    assert ints(result, 6)[4:] == [7] * 4
    assert ints(result, 7)[4:] == [1] * 4  # zeros of two signs: equal as floats only


def test_a_function_returns_lane_by_lane() -> None:
    text = """shader compute
function f (deref int r, 32x1 int x)
function main () entry
impl f {
    32 %o = @load_param ()
    32 %d = deref_cast %o (function_temp int)
    32 %x = @load_param () (param=1)
    32 %four = load_const (4)
    @store_deref (%d, %x) (write_mask=x)
    1 %c = ilt %x, %four
    if %c {
        return
    }
    32 %n = ineg %x
    @store_deref (%d, %n) (write_mask=x)
}
impl main {
    var function_temp int r
    32 %zero = load_const (0)
    32 %lane = @load_subgroup_invocation ()
    32 %d = deref_var &r (function_temp int)
    call f (%d, %lane)
    32 %v = @load_deref (%d)
    @store_output (%v, %zero) (location=FRAG.DATA0, write_mask=x)
}"""
    result = interpret(parse(text), Environment(LANES))
    assert ints(result) == [0, 1, 2, 3, -4, -5, -6, -7]


def test_an_endless_loop_runs_out_of_budget() -> None:
    with pytest.raises(ExecutionBudgetError, match="did not end within its execution budget"):
        run("loop {\n32 %x = iadd %lane, %one\n}")


def test_endless_recursion_is_refused() -> None:
    text = "shader compute\nfunction f ()\nfunction main () entry\nimpl f {\ncall f ()\n}\n"
    with pytest.raises(ExecutionBudgetError, match="calls nested too deeply"):
        interpret(parse(text + "impl main {\ncall f ()\n}"), Environment(4))


@pytest.mark.parametrize("sharing", ["%lane", "%zero", "%one"])
def test_pointers_are_copied_and_selected_lane_by_lane(sharing: str) -> None:
    """Of two variables, in a copy of the pointer that was chosen."""
    result = run(
        f"""32 %a = deref_var &a (shader_temp int)
        32 %b = deref_var &b (shader_temp int)
        32 %forty = load_const (40)
        32 %four = load_const (4)
        @store_deref (%a, %lane) (write_mask=x)
        @store_deref (%b, %forty) (write_mask=x)
        1 %c = ilt {sharing}, %four
        1 %even = ieq {sharing}, %zero
        1 %d = iand %c, %even
        32 %p = bcsel %c, %a, %b
        32 %q = mov %p
        32 %n = bcsel %d, %q, %b
        32 %v = deref_cast %q (shader_temp int)
        32 %w = deref_cast %n (shader_temp int)
        32 %r = @load_deref (%v)
        32 %s = @load_deref (%w)
        @store_deref (%v, %one) (write_mask=x)
        32 %t = @load_deref (%b)
        {out("%r")}
        {out("%s", 1)}
        {out("%t", 2)}""",
        header="var shader_temp int a\nvar shader_temp int b",
    )
    numbers = {"%lane": LANE, "%zero": 0 * LANE, "%one": 0 * LANE + 1}[sharing]
    first = numbers < 4
    assert ints(result) == [*np.where(first, LANE, 40)]
    assert ints(result, 1) == [*np.where(numbers == 0, LANE, 40)]
    assert ints(result, 2) == [*np.where(first, 40, 1)]


def test_arithmetic_on_pointers_is_refused() -> None:
    with pytest.raises(GalletteError, match="cannot compute iadd of pointers"):
        run(
            "32 %d = deref_var &a (shader_temp int)\n32 %e = iadd %d, %one",
            header="var shader_temp int a",
        )


def test_the_same_question_gets_the_same_answer() -> None:
    one, two = Environment(LANES, seed=5), Environment(LANES, seed=5)
    two.input(33, 1, 32)  # another question in between
    assert one.input(32, 0, 32).tolist() == two.input(32, 0, 32).tolist()
    assert one.input(32, 0, 32).tolist() != Environment(LANES, seed=6).input(32, 0, 32).tolist()


def test_differences_between_runs_are_described() -> None:
    one = run(out("%lane"))
    assert one.same_as(run(out("%lane"))) == ""
    assert "output" in one.same_as(run(out("%one")))
    assert "not written any more" in one.same_as(run(""))
    assert one.same_as(run(out("%lane") + "\n" + out("%one", 3))) == ""


def _result(**changes: object) -> Result:
    """A result with one of everything."""
    found = Result(2)
    found.outputs = {(4, 0): np.array([1.0, 2.0], np.float32).view(np.uint32)}
    found.outputs[5, 1] = np.array([7, 8], np.uint8)
    found.written = dict.fromkeys(found.outputs, np.array([True, True]))
    found.buffers = {("ssbo", 0): np.array([1, 2, 3, 4], np.uint8)}
    found.images = {(0, 1, 2, 0): [1, 2, 3, 4]}
    found.vertices = [(0, np.array([True, False]), {(0, 0): np.array([5, 6], np.uint32)})]
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def _vertices(stream: int, lanes: list[bool], values: list[int]) -> list[object]:
    return [(stream, np.array(lanes), {(0, 0): np.array(values, np.uint32)})]


FLOATS_OFF = np.array([1.0, 2.0001], np.float32).view(np.uint32)
DIFFERENT: list[tuple[dict[str, object], str]] = [
    ({"alive": np.array([True, False])}, "lanes alive: [ True  True] and [ True False]"),
    (
        {"outputs": {(4, 0): FLOATS_OFF, (5, 1): np.array([7, 8], np.uint8)}},
        "output (4, 0) lane 1: np.float32(2.0) (0x40000000) and np.float32(2.0001) (0x400001a3)",
    ),
    (
        {"outputs": {**_result().outputs, (5, 1): np.array([6, 8], np.uint8)}},
        "output (5, 1) lane 0: 0x7 and 0x6",
    ),
    ({"buffers": {("ssbo", 0): np.array([1, 2, 3, 5], np.uint8)}}, "buffer ('ssbo', 0) differs"),
    ({"images": {(0, 1, 2, 0): [1, 2, 3, 5]}}, "image texel (0, 1, 2, 0) differs"),
    ({"vertices": []}, "numbers of emitted vertices differ"),
    ({"vertices": _vertices(1, [True, False], [5, 6])}, "vertex 0 is emitted elsewhere"),
    ({"vertices": _vertices(0, [True, True], [5, 6])}, "vertex 0 is emitted elsewhere"),
    ({"vertices": _vertices(0, [True, False], [4, 6])}, "vertex 0 output (0, 0) differs"),
    ({"vertices": [(0, np.array([True, False]), {})]}, "vertex 0 output (0, 0) differs"),
]


@pytest.mark.parametrize(("changes", "told"), DIFFERENT)
def test_every_kind_of_difference_is_described(changes: dict[str, object], told: str) -> None:
    assert _result().same_as(_result(**changes)) == told


def test_what_does_not_count_is_no_difference() -> None:
    """Lanes that emit nothing; buffers and texels that one run alone touched; what is near."""
    one = _result()
    assert one.same_as(_result()) == ""
    assert one.same_as(_result(vertices=_vertices(0, [True, False], [5, 9]))) == ""
    assert one.same_as(_result(images={(9, 9, 9, 9): [0]}, buffers={})) == ""
    near = _result(outputs={**one.outputs, (4, 0): FLOATS_OFF})
    assert one.same_as(near, tolerance=1e-3) == ""
    assert one.same_as(near, tolerance=1e-5) != ""
    nan = np.array([np.nan, 2.0], np.float32).view(np.uint32)
    other = nan | np.array([1, 0], np.uint32)
    assert _result(outputs={(4, 0): nan}).same_as(_result(outputs={(4, 0): other})) == ""


def test_given_values_are_cut_to_their_size() -> None:
    environment = Environment(2)
    assert environment.raw([1.5, -2.0], 8).tolist() == [1, 254]
    assert environment.raw([1.5, -2.0], 16).tolist() == [0x3E00, 0xC000]
    assert environment.raw([1.5, 0.0], 1).tolist() == [True, False]
    assert environment.raw([300, -1], 8).tolist() == [44, 255]


def test_what_is_made_up_is_the_same_again() -> None:
    """Floats for system values that are floats; texels by place."""
    one, other = Environment(4, seed=3), Environment(4, seed=3)
    for environment in (one, other):
        environment.texel((1, 2, 3))
    assert one.images == other.images and list(one.images) == [(1, 2, 3)]
    one.texel((1, 2, 3))[0] = 77
    assert one.texel((1, 2, 3))[0] == 77 and len(one.texel((1, 2, 3))) == 4
    place = one.system_value("point_coord", 2, 32).view(np.float32)
    assert np.abs(place).max() <= 4 and place.tolist() != [[0.0] * 4] * 2
    assert place.tolist() == other.system_value("point_coord", 2, 32).view(np.float32).tolist()


def test_outputs_are_read_back_by_an_offset_of_each_lane() -> None:
    """What was not written yet is zero."""
    result = run(
        """32 %two = load_const (2)
        32 %three = load_const (3)
        32 %which = umin %lane, %three
        32x2 %pair = vec2 %lane, %three
        @store_output (%pair, %zero) (location=FRAG.DATA0, write_mask=xy)
        @store_output (%pair, %two) (location=FRAG.DATA0, write_mask=xy)
        32x2 %back = @load_output (%which) (location=FRAG.DATA0)
        32 %x = mov %back.x
        32 %y = mov %back.y
        @store_output (%x, %zero) (location=FRAG.DATA4, write_mask=x)
        @store_output (%y, %zero) (location=FRAG.DATA5, write_mask=x)"""
    )
    which = np.minimum(LANE, 3)
    there = (which == 0) | (which == 2)
    assert ints(result, 4) == [*np.where(there, LANE, 0)]
    assert ints(result, 5) == [*np.where(there, 3, 0)]


def test_unsupported_instructions_are_named() -> None:
    with pytest.raises(GalletteError, match="does not know the intrinsic shader_clock"):
        run("32x2 %t = @shader_clock ()")

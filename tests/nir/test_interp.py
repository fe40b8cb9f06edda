"""The reference interpreter, against results worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
from tests.cases import Case, each

LANES = 8


def run(body: str, *, header: str = "", **environment: object) -> Result:
    """Run code of main; `%zero` is 0 and `%lane` the number of the lane."""
    text = (
        f"shader compute\n{header}\nimpl main {{\nblock start:\n32 %zero = load_const (0)\n"
        f"32 %one = load_const (1)\n32 %lane = @load_subgroup_invocation ()\n{body}\n}}"
    )
    return interpret(parse(text), Environment(LANES, **environment))  # type: ignore[arg-type]


def out(value: str, slot: int | str = 0) -> str:
    name = f"FRAG.DATA{slot}"
    return f"@store_output ({value}, %zero) (location={name}, write_mask=x)"


def given(lines: list[str]) -> tuple[str, dict[int, bytes], list[str]]:
    """Declarations, what buffers hold, code."""
    header, buffers, code = "", {}, []
    for line in lines:
        word, _, rest = line.partition(" ")
        if word in ("var", "type"):
            header += f"{line}\n"
        elif word == "ssbo":
            number, _, words = rest.partition(" = ")
            buffers[int(number)] = np.array(words.split(), np.uint32).tobytes()
        elif word == "out":
            code.append(out(*rest.split()))
        else:
            code.append(line)
    return header, buffers, code


def answers(result: Result, buffers: dict[int, bytes]) -> Iterator[str]:
    """As they stand in the file."""
    for slot, component in sorted(result.outputs):
        if component == 0 and slot <= FragResult.DATA7:
            row = result.outputs[slot, 0].astype(np.int32)
            wrote = np.broadcast_to(result.written.get((slot, 0), True), LANES)
            words = (str(v) if w else "-" for v, w in zip(row, wrote, strict=True))
            yield f"{slot - FragResult.DATA0}: {' '.join(words)}"
    if not result.alive.all():
        yield "left: " + " ".join(str(int(v)) for v in result.alive)
    for number in buffers:
        words = map(str, result.buffers["ssbo", number].view(np.uint32))
        yield f"ssbo {number}: {' '.join(words)}"


@each(Path(__file__).with_name("interpreted.txt"))
def test_results(case: Case) -> None:
    header, buffers, code = given(case.text.splitlines())
    if case.text.startswith("shader"):
        result = interpret(parse(case.text), Environment(LANES))
    else:
        result = run("\n".join(code), header=header, ssbos=buffers)
    assert tuple(answers(result, buffers)) == case.answers


def test_an_endless_loop_runs_out_of_budget() -> None:
    with pytest.raises(ExecutionBudgetError, match="did not end within its execution budget"):
        run("loop {\n32 %x = iadd %lane, %one\n}")


def test_endless_recursion_is_refused() -> None:
    text = "shader compute\nfunction f ()\nfunction main () entry\nimpl f {\ncall f ()\n}\n"
    with pytest.raises(ExecutionBudgetError, match="calls nested too deeply"):
        interpret(parse(text + "impl main {\ncall f ()\n}"), Environment(4))


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


def test_unsupported_instructions_are_named() -> None:
    with pytest.raises(GalletteError, match="does not know the intrinsic shader_clock"):
        run("32x2 %t = @shader_clock ()")


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
        header='type $S = struct "S" { int a; int[3] b; ivec2 c }\n'
        "var uniform $S u\nvar uniform int w",
        uniforms={"u": [1, 2, 3, -4, 5, 6], "w": np.array([77])},
    )
    found = [result.outputs[FragResult.DATA0 + k, 0].astype(np.int32) for k in range(4)]
    assert [set(row.tolist()) for row in found] == [{1}, {-4}, {6}, {77}]


def test_a_call_of_what_has_no_code_is_said() -> None:
    text = "shader compute\nfunction f ()\nfunction main () entry\nimpl main {\n    call f ()\n}\n"
    with pytest.raises(GalletteError, match="call of 'f', which has no body"):
        interpret(parse(text))

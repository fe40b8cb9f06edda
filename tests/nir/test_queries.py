"""Small questions about IR, each with what lies on both sides of its answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Mode, Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.cf import Loop
from gallette.compiler.nir.ir.instrs import Alu, Deref, Intrinsic, LoadConst, Phi
from gallette.compiler.nir.ir.queries import (
    accesses_of,
    always_jumps,
    by_kind,
    can_speculate,
    const_int,
    contains_jump,
    contains_own_break,
    derefs_of,
    has_side_effects,
    in_bounds,
    instrs_of,
    intrinsics_of,
    is_multiple,
    is_phi_of_same,
    may_share_a_variable,
)
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.text.parser import parse
from tests.cases import Case, each

HEAD = """
    32 %zero = load_const (0)
    32 %x = undef
    32x2 %xy = undef
    1 %c = undef
"""


def code(text: str, head: str = HEAD) -> FunctionImpl:
    return parse(f'shader fragment "s"\nfunction main () entry\nimpl main {{{head}{text}\n}}').entry


@pytest.mark.parametrize(
    ("bits", "raw", "value"),
    [
        (1, 0, 0), (1, 1, 1), (8, 127, 127), (8, 128, -128), (8, 255, -1), (16, 0x7FFF, 32767),
        (16, 0x8000, -32768), (32, 5, 5), (32, 0x7FFFFFFF, 0x7FFFFFFF),
        (32, 0x80000000, -(1 << 31)), (32, 0xFFFFFFFF, -1), (64, 1 << 63, -(1 << 63)),
        (64, (1 << 63) - 1, (1 << 63) - 1),
    ],
)  # fmt: skip
def test_constants_are_signed_but_for_booleans(bits: int, raw: int, value: int) -> None:
    assert const_int(LoadConst((raw,), bits).result) == value


def test_only_one_constant_is_a_constant() -> None:
    impl = code("32 %y = fadd %x, %x\n32x2 %k = load_const (1, 1)\n32x2 %l = load_const (2, 2)")
    values = [i.dest for i in instrs_of(impl) if i.dest is not None]
    assert [const_int(v) for v in values] == [0, None, None, None, None, None, None]


FILE = Path(__file__).with_name("queries.txt")


@each(FILE, "multiples_of_eight")
def test_what_is_a_multiple_of_eight(case: Case) -> None:
    impl = parse(case.source).entry
    use = list(instrs_of(impl))[-1]
    assert is_multiple(use.srcs[0], 8) == (case.answer == "yes")
    assert not is_multiple(use.srcs[0], 8, steps=0) or "load_const" in case.text


def test_a_chain_that_is_too_long_is_not_followed() -> None:
    for steps, found in ((7, True), (8, True), (9, False)):
        adds = "".join(f"32 %a{i + 1} = iadd %a{i}, %a{i}\n" for i in range(steps))
        impl = code(f"32 %a0 = load_const (8)\n{adds}32 %use = ineg %a{steps}")
        assert is_multiple(list(instrs_of(impl))[-1].srcs[0], 8) == found


@each(FILE, "kinds")
def test_what_must_stay_and_what_may_run_early(case: Case) -> None:
    instr = list(instrs_of(parse(case.source).entry))[-1]
    assert has_side_effects(instr) == ("stays" in case.answer)
    assert can_speculate(instr) == ("early" in case.answer)


def test_constant_paths_end_where_types_do() -> None:
    struct = t.struct("S", [t.Field("a", t.FLOAT), t.Field("b", t.array(t.VEC3, 2))])
    many = t.array(struct, 3)
    for path in ((), (0,), (2,), (2, 1), (2, 1, 1), (0, 1, 0, 2)):
        assert in_bounds(many, path)
    for path in ((3,), (-1,), (0, 1, 2), (0, 1, -1), (0, 1, 1, 3), (3, 0)):
        assert not in_bounds(many, path)
    assert in_bounds(t.MAT3, (2, 2))
    assert not in_bounds(t.MAT3, (3, 0))


def test_instructions_are_listed_in_order_and_may_be_removed_meanwhile() -> None:
    text = "@discard ()\n@demote ()\nif %c {\n@discard_if (%c)\n} else {\n}\n@demote_if (%c)"
    impl = code(text)
    names = [i.name for i in instrs_of(impl) if isinstance(i, Intrinsic)]
    assert names == ["discard", "demote", "discard_if", "demote_if"]

    def found(*wanted: str) -> list[str]:
        return [i.name for i in intrinsics_of(impl, *wanted)]

    assert found("demote") == ["demote"]
    assert found("demote_if", "discard") == ["discard", "demote_if"]
    assert found("demote_if", "discard_if", "discard") == ["discard", "discard_if", "demote_if"]
    assert found("load_input") == []
    for instr in instrs_of(impl):
        if isinstance(instr, Intrinsic):
            instr.remove()
    assert [i.kind for i in instrs_of(impl)] == ["load_const", "undef", "undef", "undef"]


def test_derefs_of_all_functions_are_found() -> None:
    shader = parse(
        """shader vertex "two"
        var uniform float[2] u
        function f ()
        function main () entry
        impl f {
            32 %d = deref_var &u (uniform float[2])
        }
        impl main {
            32 %zero = load_const (0)
            32 %d = deref_var &u (uniform float[2])
            32 %e = deref_array &%d[%zero] (uniform float)
        }
        """
    )
    assert [d.form for d in derefs_of(shader)] == ["var", "var", "array"]
    assert all(isinstance(d, Deref) for d in derefs_of(shader))


def test_an_empty_body_runs_off_its_end() -> None:
    assert not always_jumps(code("").body)


@each(FILE, "bodies")
def test_what_never_runs_off_its_end(case: Case) -> None:
    text, impl = case.text, parse(case.source).entry
    assert always_jumps(impl.body) == (case.answer == "always")
    for word in ("return", "break", "continue"):
        assert contains_jump(impl.body, lambda jump: jump.type == word) == (word in text)  # noqa: B023
    loops = [node for node in impl.body if isinstance(node, Loop)]
    if loops:
        own = "break" in text and "loop {\nloop" not in text
        assert contains_own_break(loops[0]) == own


def test_instructions_are_listed_by_kind_as_the_code_is_now() -> None:
    b = Builder.shader_main(Stage.VERTEX, "s")
    var = b.shader.add_variable("u", t.FLOAT, Mode.UNIFORM)
    value = b.load_var(var)
    (load,) = intrinsics_of(b.impl, "load_deref")
    assert load.result is value
    assert accesses_of(b.impl, Mode.UNIFORM, "load_deref") == [(load, load.deref)]
    assert accesses_of(b.impl, Mode.SSBO, "load_deref") == []
    again = b.load_var(var)
    assert intrinsics_of(b.impl, "load_deref") == [load, again.instr]
    assert len(by_kind(b.impl).derefs) == 2
    load.remove()
    assert intrinsics_of(b.impl, "load_deref") == [again.instr]
    assert may_share_a_variable(accesses_of(b.impl, Mode.ALL, "load_deref")) is False
    b.load_var(var)
    assert may_share_a_variable(accesses_of(b.impl, Mode.ALL, "load_deref")) is True
    assert by_kind(b.impl).textures == by_kind(b.impl).calls == []


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [("%x", "%x", "%x"), ("%x", "%zero", ""), ("%zero", "%zero", "%zero"), ("%x", "%p", "%x")],
)
def test_a_phi_of_one_value_is_that_value(first: str, second: str, same: str) -> None:
    impl = code(
        f"{HEAD}loop {{\nblock head:\n32 %p = phi start: {first}, back: {second}\n"
        "if %c {\nbreak\n} else {\n}\nblock back:\n}",
        "\nblock start:",
    )
    values = {"%zero": 0, "%x": 1}
    instrs = list(instrs_of(impl))
    phi = next(i for i in instrs if isinstance(i, Phi))
    wanted = instrs[values[same]].dest if same else None
    assert is_phi_of_same(phi) is wanted
    assert not any(isinstance(i, Alu) for i in instrs)

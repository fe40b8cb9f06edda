"""`is_multiple` says what holds for all values, and says it of what addresses are made of."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def, Stage
from gallette.compiler.nir.ir.queries import is_multiple

WORD = (1 << 32) - 1
OPERATORS: dict[str, Callable[[int, int], int]] = {
    "iadd": lambda a, b: a + b,
    "isub": lambda a, b: a - b,
    "imul": lambda a, b: a * b,
    "iand": lambda a, b: a & b,
    "ior": lambda a, b: a | b,
    "ishl": lambda a, b: a << (b & 31),
    "ushr": lambda a, b: (a & WORD) >> (b & 31),
}


def factors(b: Builder, value: Def) -> set[int]:
    """What it is said to be a multiple of."""
    user = b.iadd(value, b.imm_int(0)).instr
    return {f for f in (1, 2, 4, 8, 16) if is_multiple(user.srcs[0], f)}


@pytest.mark.parametrize("seed", range(200))
def test_what_is_said_holds(seed: int) -> None:
    rng = random.Random(seed)
    b = Builder.shader_main(Stage.COMPUTE, "multiples")
    made: list[tuple[Def, list[int]]] = []
    for _ in range(3):
        made.append((b.intrinsic("load_local_invocation_index"), rng.choices(range(WORD), k=20)))
    for number in (0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 36, WORD - 3):
        made.append((b.imm_int(number), [number] * 20))
    for _ in range(12):
        name = rng.choice(list(OPERATORS))
        (x, xs), (y, ys) = rng.choice(made), rng.choice(made)
        found = [OPERATORS[name](u, v) & WORD for u, v in zip(xs, ys, strict=True)]
        made.append((b.alu(name, x, y), found))
    for value, numbers in made:
        for factor in factors(b, value):
            assert not any(number % factor for number in numbers), factor


def test_it_is_said_of_addresses() -> None:
    b = Builder.shader_main(Stage.COMPUTE, "addresses")
    me = b.intrinsic("load_local_invocation_index")
    four = b.imm_int(4)
    row = b.iadd(b.imul(me, b.imm_int(48)), b.ishl(me, four))
    assert factors(b, row) == {1, 2, 4, 8, 16}
    assert factors(b, b.iadd(row, b.imm_int(8))) == {1, 2, 4, 8}
    assert factors(b, b.isub(row, b.imm_int(12))) == {1, 2, 4}
    assert factors(b, b.ishl(b.imul(me, b.imm_int(2)), b.imm_int(2))) == {1, 2, 4, 8}
    assert factors(b, b.iand(me, b.imm_int(-4))) == {1, 2, 4}
    assert factors(b, b.ishl(me, b.imm_int(34))) == {1, 2, 4}
    assert factors(b, me) <= {1}
    assert factors(b, b.ishl(me, me)) <= {1}
    pair = b.imm_ivec(8, 3)
    both = b.alu("iadd", pair, pair).instr.srcs[0]
    assert is_multiple(both, 4) and not is_multiple(both, 4, 1)

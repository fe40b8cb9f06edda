"""The names of types say what they are."""

from __future__ import annotations

import re

import pytest

from gallette.compiler.nir.ir import types
from gallette.compiler.nir.ir.layout import SCALAR, STD140, STD430, bare_type, explicit_type
from gallette.compiler.nir.ir.types import Base, Type

_PREFIX = {
    "": Base.FLOAT,
    "F16": Base.FLOAT16,
    "D": Base.DOUBLE,
    "I": Base.INT,
    "U": Base.UINT,
    "I64": Base.INT64,
    "U64": Base.UINT64,
    "B": Base.BOOL,
}
_NAMED = {n: t for n, t in vars(types).items() if re.fullmatch(r"[A-Z]\w*\d", n)}
SHAPED = {n: t for n, t in _NAMED.items() if isinstance(t, Type) and ("VEC" in n or "MAT" in n)}


@pytest.mark.parametrize("name", SHAPED)
def test_a_name_says_base_and_shape(name: str) -> None:
    found = SHAPED[name]
    parts = re.fullmatch(r"(.*?)(VEC|MAT)(\d)(?:X(\d))?", name)
    assert parts is not None
    prefix, kind, first, second = parts.groups()
    rows = int(second or first)
    assert found.base is _PREFIX[prefix]
    assert (found.columns, found.rows) == (int(first) if kind == "MAT" else 1, rows)
    assert str(found) == (name.lower() if second != first else name.lower()[:-2])


def test_all_are_there() -> None:
    assert len(SHAPED) == 8 * 3 + 2 * 9


VEC3, FLOAT = types.vec(Base.FLOAT, 3), types.vec(Base.FLOAT, 1)
INNER = types.struct("Inner", [types.Field("a", FLOAT), types.Field("b", VEC3)])
PLAIN = [
    FLOAT,
    VEC3,
    types.mat(Base.FLOAT, 3, 2),
    types.array(types.mat(Base.FLOAT, 2, 4), 3),
    types.array(types.array(VEC3, 2), 0),
    INNER,
    types.array(INNER, 4),
    types.struct("Outer", [types.Field("i", INNER), types.Field("n", types.array(INNER, 2))]),
    types.interface("Block", [types.Field("a", FLOAT), types.Field("i", INNER)]),
]


@pytest.mark.parametrize("type", PLAIN, ids=str)
@pytest.mark.parametrize("rule", [STD140, STD430, SCALAR])
@pytest.mark.parametrize("row_major", [False, True])
def test_a_layout_can_be_taken_away(type: Type, rule: str, row_major: bool) -> None:
    assert bare_type(type) is type
    assert bare_type(explicit_type(type, rule, row_major)) is type

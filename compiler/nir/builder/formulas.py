"""Formulas: functions that are a few opcodes, written as text and built where they are needed.

A table of formulas is a text of rows such as

    smoothstep(low, high, x): t = fsat(fdiv(fsub(x, low), fsub(high, low)));
        fmul(t, fmul(t, fsub(3.0, fmul(2.0, t))))

A row continues in indented lines; its value is its last expression. A called name is a routine of
the table, a formula of it, or an opcode. `b2f(x)` is `b2f32(x)` if the first argument has 32 bits;
`_min` is `fmin`, `imin` or `umin`, depending on the requested kind. `x.yzx` selects components, and
`poly(x, a, b, ...)` is a polynomial, its lowest coefficient first (`fused_poly` is one with
`ffma`). A number has the size of the other operands, or else of the first argument; `bits` is that
size, `int32(n)` is a 32-bit number, and `pi`, `inf`, `log2e`, `ln2` and `smallest_normal` are
numbers. `exact` before the colon makes the formula exact.

Front ends build formulas with a `Builder`, the SPIR-V writer with its own instructions: it provides
the few methods of `Maker`.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Protocol

from gallette.compiler.nir.builder.core import Builder
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.values import Def


class Maker(Protocol):
    """The methods of a code builder that formulas need, with values of any type."""

    def alu(self, name: str, srcs: Sequence[Any]) -> Any: ...
    def number(self, value: float, base: str, bits: int) -> Any: ...
    def swizzle(self, value: Any, components: str) -> Any: ...
    def size(self, value: Any) -> int: ...
    def routine(self, name: str, srcs: Sequence[Any]) -> Any: ...


class BuilderMaker:
    """Builds a formula with a NIR builder; equal numbers in it share one constant."""

    __slots__ = ("b", "numbers", "routines")

    def __init__(self, b: Builder, routines: Mapping[str, Callable[..., Def]]) -> None:
        self.b, self.routines = b, routines
        self.numbers: dict[tuple[str, str, int], Def] = {}

    def alu(self, name: str, srcs: Sequence[Def]) -> Def:
        return self.b.alu(name, *srcs)

    def number(self, value: float, base: str, bits: int) -> Def:
        b, key = self.b, (repr(value), base, bits)
        found = self.numbers.get(key)
        if found is None:
            found = b.imm_float(value, bits) if base == "float" else b.imm_int(int(value), bits)
            self.numbers[key] = found
        return found

    def swizzle(self, value: Def, components: str) -> Def:
        return self.b.swizzle(value, components)

    def size(self, value: Def) -> int:
        return value.bit_size

    def routine(self, name: str, srcs: Sequence[Def]) -> Def:
        return self.routines[name](self.b, *srcs)


_ROUTINES: Mapping[str, Callable[..., Def]] = {"dot": Builder.dot}

_NUMBERS = {"pi": math.pi, "inf": math.inf, "log2e": math.log2(math.e), "ln2": math.log(2)}
_SMALLEST_NORMAL = {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.LShift: operator.lshift,
}
_ROW = re.compile(r"(\w+)\(([\w, ]*)\)( exact)?: ")

_Scope = dict[str, Any]
"""values by name; "" is the size of the first argument, "_" the kind, "make" the maker"""
_Code = Callable[[_Scope], Any]


class _Formula:
    """A row: its parameters, and the code of its statements."""

    __slots__ = ("exact", "params", "result", "steps")

    def __init__(self, params: list[str], exact: bool, body: str, table: Formulas) -> None:
        self.params, self.exact = params, exact
        *steps, last = ast.parse(body).body
        self.steps: list[tuple[str, _Code]] = []
        for step in steps:
            assert isinstance(step, ast.Assign) and isinstance(step.targets[0], ast.Name)
            self.steps.append((step.targets[0].id, _code(step.value, table)))
        assert isinstance(last, ast.Expr)
        self.result = _code(last.value, table)

    def build(self, make: Maker, kind: str, args: Sequence[Any]) -> Any:
        scope: _Scope = dict(zip(self.params, args, strict=True))
        scope |= {"": make.size(args[0]), "_": kind, "make": make}
        for name, code in self.steps:
            scope[name] = code(scope)
        return self.result(scope)


class Formulas:
    """A table of formulas, each compiled when it is first built.

    `routines` are further functions they call, with the builder and the arguments. Other makers
    have their own implementation by name.
    """

    def __init__(
        self, text: str, routines: Mapping[str, Callable[..., Def]] | Iterable[str] = _ROUTINES
    ) -> None:
        self.routines = routines if isinstance(routines, Mapping) else {}
        self.routine_names = frozenset(routines)
        self._rows: dict[str, re.Match[str]] = {}
        self._bodies: dict[str, str] = {}
        self._compiled: dict[str, _Formula] = {}
        for row in re.split(r"\n(?=\w)", re.sub(r"(?m)^(#.*)?\n", "", text)):
            head = _ROW.match(row)
            assert head is not None, row
            self._rows[head[1]], self._bodies[head[1]] = head, row[head.end() :]

    @classmethod
    def beside(
        cls,
        module: str,
        name: str,
        routines: Mapping[str, Callable[..., Def]] | Iterable[str] = _ROUTINES,
    ) -> Formulas:
        """The table in a file of a module's folder."""
        return cls(Path(module).with_name(name).read_text("ascii"), routines)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Any:
        return iter(self._rows)

    def build(self, b: Builder, name: str, args: Sequence[Def], kind: str = "f") -> Def:
        """Build a formula with a builder."""
        with b.exactly() if self._formula(name).exact else nullcontext():
            return self.make(BuilderMaker(b, self.routines), name, args, kind)  # type: ignore[no-any-return]

    def builder(self, name: str) -> Callable[[Builder, Sequence[Def]], Def]:
        """The formula as code for `lower.operations`."""
        return lambda b, srcs: self.build(b, name, srcs)

    def make(self, maker: Maker, name: str, args: Sequence[Any], kind: str = "f") -> Any:
        """Build a formula with any maker; `kind` is f, i or u."""
        return self._formula(name).build(maker, kind, args)

    def result(self, name: str) -> ast.expr:
        """The expression of a formula's value."""
        last = ast.parse(" ".join(self._bodies[name].split())).body[-1]
        assert isinstance(last, ast.Expr)
        return last.value

    def _formula(self, name: str) -> _Formula:
        found = self._compiled.get(name)
        if found is None:
            head = self._rows[name]
            params = head[2].replace(" ", "").split(",")
            body = " ".join(self._bodies[name].split())
            found = self._compiled[name] = _Formula(params, bool(head[3]), body, self)
        return found


def _code(node: ast.expr, table: Formulas) -> _Code:
    """The code of an expression that is a value."""
    if isinstance(node, ast.Name):
        return operator.itemgetter(node.id)
    if isinstance(node, ast.Attribute):
        inner, components = _code(node.value, table), node.attr
        return lambda scope: scope["make"].swizzle(inner(scope), components)
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name), ast.dump(node)
    name, args = node.func.id, node.args
    if name in ("poly", "fused_poly"):
        return _code(_horner(args[0], args[1:], name == "fused_poly"), table)
    if name not in table.routine_names and name not in table:
        return _operation(name, args, table)
    codes = [_number(a, "int", None) or _code(a, table) for a in args]
    if name in table.routine_names:
        return lambda scope: scope["make"].routine(name, [code(scope) for code in codes])
    return lambda scope: table.make(
        scope["make"], name, [code(scope) for code in codes], scope["_"]
    )


def _operation(name: str, args: list[ast.expr], table: Formulas) -> _Code:
    """The code of an opcode, whose name may depend on a size or a kind."""
    by_kind = name[0] == "_"
    spelled = [name, f"{name}32", f"f{name[1:]}", f"i{name[1:]}"]
    known = next(one for one in spelled if one in OPCODES)
    opcode, sized = OPCODES[known], known == f"{name}32"
    beside = next(
        (arg for arg, type in zip(args, opcode.input_types, strict=True)
         if not type.bits and _number(arg, "", None) is None), None,
    )  # fmt: skip
    codes = []
    for arg, type in zip(args, opcode.input_types, strict=True):
        size = type.bits or (None if beside is None else _size(beside, table))
        codes.append(_number(arg, type.base, size) or _code(arg, table))

    def code(scope: _Scope) -> Any:
        make, srcs = scope["make"], [one(scope) for one in codes]
        if sized:
            if name in ("i2i", "u2u", "f2f") and make.size(srcs[0]) == scope[""]:
                return srcs[0]
            return make.alu(f"{name}{scope['']}", srcs)
        return make.alu(scope["_"] + name[1:] if by_kind else name, srcs)

    return code


def _size(node: ast.expr, table: Formulas) -> int | str | None:
    """The source of an expression's size: bits, a variable, or the first argument."""
    if isinstance(node, ast.Attribute):
        return _size(node.value, table)
    if isinstance(node, ast.Name):
        return node.id
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if node.func.id in table.routine_names:
        return None
    if node.func.id in table:
        inner = _size(table.result(node.func.id), table)
        return inner if isinstance(inner, int) else _size(node.args[0], table)
    opcode = OPCODES.get(node.func.id)
    if opcode is None:
        return None
    if opcode.output_type.bits:
        return opcode.output_type.bits
    for arg, type in zip(node.args, opcode.input_types, strict=True):
        if not type.bits and _number(arg, "", None) is None:
            return _size(arg, table)
    return None


def _number(node: ast.expr, base: str, size: int | str | None) -> _Code | None:
    """The code that builds a number's constant; None if the expression is not a number."""
    value = _value(node)
    if value is None:
        return None

    if isinstance(node, ast.Call):
        size = 32

    def code(scope: _Scope) -> Any:
        make, bits = scope["make"], scope[""]
        found = value(bits)
        kind = "float" if isinstance(found, float) else base
        here = size if isinstance(size, int) else make.size(scope[size]) if size else bits
        return make.number(found, kind, here)

    return code


def _value(node: ast.expr) -> Callable[[int], Any] | None:
    """The value of a number if the first argument has this many bits."""
    if isinstance(node, ast.Constant):
        return lambda bits: node.value
    if isinstance(node, ast.Name) and node.id in _NUMBERS:
        return lambda bits: _NUMBERS[node.id]
    if isinstance(node, ast.Name) and node.id == "bits":
        return lambda bits: bits
    if isinstance(node, ast.Name) and node.id == "smallest_normal":
        return _SMALLEST_NORMAL.__getitem__
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int32":
        return _value(node.args[0])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _value(node.operand)
        return None if inner is None else lambda bits: -inner(bits)
    if isinstance(node, ast.BinOp):
        left, right, does = _value(node.left), _value(node.right), _OPERATORS[type(node.op)]
        if left is not None and right is not None:
            return lambda bits: does(left(bits), right(bits))
    return None


def _horner(x: ast.expr, coefficients: list[ast.expr], fused: bool) -> ast.expr:
    """A polynomial as nested products and sums, lowest coefficient first."""
    assert isinstance(x, ast.Name), "a polynomial reads its argument again and again"
    first, *rest = coefficients
    if not rest:
        return first
    inner = _horner(x, rest, fused)
    if fused:
        return ast.Call(ast.Name("ffma"), [inner, x, first], [])
    return ast.Call(ast.Name("fadd"), [ast.Call(ast.Name("fmul"), [inner, x], []), first], [])

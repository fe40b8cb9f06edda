"""A plain evaluator of GLSL's syntax tree: what a program computes, lane by lane.

It shares the parser with the compiler, and nothing else. A scalar or vector is an array of NumPy
whose type of elements is GLSL's (floats are doubles, see below), an array of GLSL a list, a
structure a dictionary.

What GLSL leaves open is `Undefined`: an index outside, a division by zero, a value that was never
written, and a float that a single precision cannot hold, since compilers may round or reorder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.glsl_programs.lanes import LANES, UNIFORMS, Color, Inputs, Outcome, Rejected, Undefined
from gallette.compiler.glsl import CompileOptions
from gallette.compiler.glsl.diagnostics import Abort, Log
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.parse.parser import parse
from gallette.compiler.glsl.parse.preprocessor import preprocess
from gallette.compiler.glsl.parse.source import SourceMap

BUDGET = 40_000
"""expressions and statements that a lane may evaluate"""
_DTYPES = {"i": np.int32, "u": np.uint32, "b": np.bool_, "f": np.float64, "v": np.float64}
"""by the first letter of a type: int and ivec, uint and uvec, ..., float and vec"""
_LETTERS = {c: i for word in ("xyzw", "rgba", "stpq") for i, c in enumerate(word)}

Value = Any
Place = tuple[Any, list[Any]]
"""a scope, then keys; components are a tuple of numbers"""


class _Jump(Exception):
    """break, continue, return or discard."""

    def __init__(self, kind: str, value: Value = None) -> None:
        super().__init__(kind)
        self.kind, self.value = kind, value


def _copied(x: Value) -> Value:
    if x is None:
        raise Undefined("a variable without a value")
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, dict):
        return {name: _copied(each) for name, each in x.items()}
    return [_copied(each) for each in x]


class _Lane:
    """One invocation."""

    def __init__(self, unit: s.Unit, given: Inputs, lane: int, outp: Value) -> None:
        self.budget = BUDGET
        self.functions = {f.name: f for f in unit.body if isinstance(f, s.FunctionDecl)}
        self.structs: dict[str, list[str]] = {}
        un = np.array(given.un, np.int32)
        self.globals: dict[str, Value] = {
            "inp": np.array(given.inp, np.int32),
            "un": [un[i : i + 4] for i in range(0, UNIFORMS, 4)],
            "outp": outp,
            "result": None,
            "gl_FragCoord": np.array([lane + 0.5, 0.5, 0.0, 1.0]),
        }
        self.scopes = [self.globals]
        for declared in unit.body:
            if isinstance(declared, s.Declaration):
                self.statement(declared)

    def run(self) -> Color | None:
        try:
            self.call_function(self.functions["main"], [])
        except _Jump:
            return None
        a, b, c, d = _copied(self.globals["result"]).tolist()
        return a, b, c, d

    def spend(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise Undefined("it runs for too long")

    # -- places ------------------------------------------------------------------------------

    def place(self, e: s.Expr) -> Place:
        """What an l-value names.

        Indices are evaluated now; what the keys lead to is looked up when it is read or written,
        because the whole variable may get another value in between.
        """
        if isinstance(e, s.Name):
            return next(x for x in (*reversed(self.scopes), self.globals) if e.name in x), [e.name]
        assert isinstance(e, s.Index | s.Member), e
        scope, keys = self.place(e.base)
        whole = self.load((scope, keys))
        chosen = self.chosen(e, whole)
        if isinstance(keys[-1], tuple):
            inner = keys.pop()
            chosen = tuple(inner[c] for c in chosen)
        return scope, [*keys, chosen]

    def chosen(self, e: s.Index | s.Member, whole: Value) -> Any:
        """The key of a part: components are a tuple."""
        if isinstance(e, s.Member):
            of_struct = isinstance(whole, dict)
            return e.name if of_struct else tuple(_LETTERS[c] for c in e.name)
        index = int(self.value(e.index)[0])
        if not 0 <= index < len(whole):
            raise Undefined(f"index {index} of {len(whole)}")
        return index if isinstance(whole, list) else (index,)

    @staticmethod
    def load(place: Place) -> Value:
        found, keys = place
        for key in keys:
            found = _part(found, key)
        return _copied(found)

    @staticmethod
    def store(place: Place, value: Value) -> None:
        holder, keys = place
        for key in keys[:-1]:
            holder = holder[key]
        key = keys[-1]
        holder[[*key] if isinstance(key, tuple) else key] = _copied(value)

    # -- expressions -------------------------------------------------------------------------

    def value(self, e: s.Expr) -> Value:
        self.spend()
        match e:
            case s.Literal():
                return np.array([e.value], _DTYPES[e.kind[0]])
            case s.Name():
                return self.load(self.place(e))
            case s.Index() | s.Member():
                whole = self.value(e.base)
                return _part(whole, self.chosen(e, whole))
            case s.Unary(op="++" | "--" | "p++" | "p--"):
                place = self.place(e.operand)
                old = self.load(place)
                new = operate(e.op[-1], old, np.ones(1, old.dtype))
                self.store(place, new)
                return old if e.op[0] == "p" else new
            case s.Unary():
                return _UNARY[e.op](self.value(e.operand))
            case s.Binary(op="&&" | "||"):
                left = self.value(e.left)
                return self.value(e.right) if left[0] == (e.op == "&&") else left
            case s.Binary():
                return operate(e.op, self.value(e.left), self.value(e.right))
            case s.Conditional():
                return self.value(e.then if self.value(e.condition)[0] else e.otherwise)
            case s.Assign():
                place = self.place(e.target)
                value = self.value(e.value)
                if e.op != "=":
                    value = operate(e.op[:-1], self.load(place), value)
                self.store(place, value)
                return value
            case s.Call():
                return self.call(e)
        raise AssertionError(e)

    def call(self, e: s.Call) -> Value:
        callee = e.callee
        assert isinstance(callee, s.Name | s.TypeRef)
        if callee.name in self.functions:
            return self.call_own(self.functions[callee.name], e.args)
        values = [self.value(each) for each in e.args]
        if isinstance(callee, s.TypeRef) and callee.dims:
            return values
        if callee.name in self.structs:
            return dict(zip(self.structs[callee.name], values, strict=True))
        if isinstance(callee, s.TypeRef):
            return _converted(callee.name, np.concatenate(values))
        return _exact(_BUILTINS[callee.name](*values))

    def call_own(self, function: s.FunctionDecl, args: list[s.Expr]) -> Value:
        values: list[Value] = []
        places: list[Place | None] = []
        for param, arg in zip(function.params, args, strict=True):
            written = param.quals.has("out") or param.quals.has("inout")
            place = self.place(arg) if written else None
            places.append(place)
            if param.quals.has("out"):
                values.append(None)
            else:
                values.append(self.load(place) if place else self.value(arg))
        result, after = self.call_function(function, values)
        for place, value in zip(places, after, strict=True):
            if place is not None:
                self.store(place, value)
        return result

    def call_function(self, function: s.FunctionDecl, values: list[Value]) -> tuple[Value, Value]:
        outer, result = self.scopes, None
        frame = dict(zip((p.name for p in function.params), values, strict=True))
        self.scopes = [frame]
        try:
            assert function.body is not None
            self.statement(function.body)
        except _Jump as jump:
            if jump.kind != "return":
                raise
            result = jump.value
        finally:
            self.scopes = outer
        if result is None and function.type.name != "void":
            raise Undefined(f"{function.name} ends without a value")
        return result, [frame[p.name] for p in function.params]

    # -- statements --------------------------------------------------------------------------

    def block(self, body: list[s.Stmt]) -> None:
        depth = len(self.scopes)
        self.scopes.append({})
        try:
            for each in body:
                self.statement(each)
        finally:
            del self.scopes[depth:]

    def statement(self, x: s.Stmt | None) -> None:
        self.spend()
        match x:
            case s.Declaration(type=s.TypeRef(struct=s.StructDef() as made)):
                self.structs[made.name] = [m.declarators[0].name for m in made.members]
            case s.Declaration():
                for each in x.declarators:
                    if each.init is not None:
                        self.scopes[-1][each.name] = self.value(each.init)
            case s.ExprStmt():
                if x.expr is not None:
                    self.value(x.expr)
            case s.Compound():
                self.block(x.body)
            case s.If():
                chosen = x.then if self.value(x.condition)[0] else x.otherwise
                self.block([chosen] if chosen is not None else [])
            case s.For():
                depth = len(self.scopes)
                self.scopes.append({})
                try:
                    self.statement(x.init)
                    self.loop(x.condition, x.body, x.step)
                finally:
                    del self.scopes[depth:]
            case s.While():
                self.loop(x.condition, x.body)
            case s.DoWhile():
                self.loop(x.condition, x.body, asked=False)
            case s.Switch():
                self.switch(x)
            case s.Jump():
                raise _Jump(x.kind, None if x.value is None else self.value(x.value))

    def loop(self, condition: Any, body: s.Stmt, step: Any = None, asked: bool = True) -> None:
        while not asked or self.value(condition)[0]:
            asked = True
            try:
                self.block([body])
            except _Jump as jump:
                if jump.kind == "break":
                    return
                if jump.kind != "continue":
                    raise
            if step is not None:
                self.value(step)

    def switch(self, x: s.Switch) -> None:
        selector = self.value(x.selector)[0]
        labels = [(i, each.value) for i, each in enumerate(x.body) if isinstance(each, s.Case)]
        starts = [i for i, v in labels if v is not None and self.value(v)[0] == selector]
        starts += [i for i, v in labels if v is None]
        try:
            self.block(x.body[starts[0] :] if starts else [])
        except _Jump as jump:
            if jump.kind != "break":
                raise


# -- operators and functions -----------------------------------------------------------------------


def _part(whole: Value, key: Any) -> Value:
    return whole[[*key] if isinstance(key, tuple) else key]


def _converted(type_: str, parts: Value) -> Value:
    """The components of a constructor: one stands for all, and what is left over is dropped."""
    dtype = _DTYPES[type_[0]]
    if dtype is np.bool_:
        parts = parts != 0
    elif parts.dtype == np.float64 and dtype is not np.float64:
        parts = np.trunc(parts).astype(np.int64)
    size = int(type_[-1]) if type_[-1].isdigit() else 1
    return (parts.repeat(size) if len(parts) == 1 else parts[:size]).astype(dtype)


def _exact(x: Value) -> Value:
    if x.dtype == np.float64 and (x != x.astype(np.float32)).any():
        raise Undefined("a float is rounded")
    return x


def _same(a: Value, b: Value) -> bool:
    if isinstance(a, np.ndarray):
        return bool((a == b).all())
    if isinstance(a, dict):
        return all(_same(a[name], b[name]) for name in a)
    return all(map(_same, a, b))


def operate(op: str, a: Value, b: Value) -> Value:
    """A binary operator whose operands are both evaluated."""
    if op in ("==", "!="):
        return np.array([_same(a, b) == (op == "==")])
    return _exact(_BINARY[op](a, b))


def _divide(a: Value, b: Value) -> Value:
    if a.dtype == np.float64:
        return a / b
    wide, by = a.astype(np.int64), b.astype(np.int64)
    if not by.all():
        raise Undefined("a division by zero")
    return (np.sign(wide) * np.sign(by) * (abs(wide) // abs(by))).astype(a.dtype)


def _remainder(a: Value, b: Value) -> Value:
    if (a < 0).any() or (b <= 0).any():
        raise Undefined("a remainder of negative numbers")
    return a % b


def _shift(shift: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    def call(a: Value, b: Value) -> Value:
        if (b < 0).any() or (b > 31).any():
            raise Undefined("a shift by more than there are bits")
        return shift(a, b.astype(a.dtype))

    return call


_UNARY: dict[str, Callable[[Value], Value]] = {
    "-": np.negative, "+": np.positive, "~": np.invert, "!": np.logical_not,
}  # fmt: skip
_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": _divide, "%": _remainder,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "^^": np.logical_xor,
    "<<": _shift(np.left_shift), ">>": _shift(np.right_shift),
    "<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal,
}  # fmt: skip


def _bits(f: Callable[[int], int]) -> Callable[[Value], Value]:
    """A function of the bits of each component; its results are ints."""
    return lambda x: np.array([f(each) for each in x.tolist()], np.int32)


def _reverse(x: Value) -> Value:
    found = [int(f"{each & 0xFFFFFFFF:032b}"[::-1], 2) for each in x.tolist()]
    return np.array(found, np.uint32).astype(x.dtype)


def _mask(offset: Value, bits: Value) -> int:
    if offset[0] < 0 or bits[0] < 0 or offset[0] + bits[0] > 32:
        raise Undefined("bits outside a number")
    return (1 << int(bits[0])) - 1


def _extract(x: Value, offset: Value, bits: Value) -> Value:
    mask = _mask(offset, bits)
    found = x.astype(np.int64) >> int(offset[0]) & mask
    if x.dtype == np.int32 and bits[0]:
        found -= (found >> int(bits[0] - 1)) << int(bits[0])
    return found.astype(x.dtype)


def _insert(x: Value, y: Value, offset: Value, bits: Value) -> Value:
    mask = _mask(offset, bits) << int(offset[0])
    wide, other = x.astype(np.int64), y.astype(np.int64) << int(offset[0])
    return (wide & ~mask | other & mask).astype(x.dtype)


_BUILTINS: dict[str, Callable[..., Value]] = {
    "abs": np.abs, "sign": np.sign, "min": np.minimum, "max": np.maximum,
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "fract": lambda x: x - np.floor(x),
    "step": lambda edge, x: np.where(x < edge, 0.0, 1.0),
    "mix": lambda x, y, chosen: np.where(chosen, y, x),
    "dot": lambda x, y: (x * y).sum(keepdims=True),
    "bitCount": _bits(lambda x: (x & 0xFFFFFFFF).bit_count()),
    "findLSB": _bits(lambda x: (x & -x).bit_length() - 1),
    "findMSB": _bits(lambda x: (~x if x < 0 else x).bit_length() - 1),
    "bitfieldReverse": _reverse, "bitfieldExtract": _extract, "bitfieldInsert": _insert,
    "lessThan": np.less, "lessThanEqual": np.less_equal, "greaterThan": np.greater,
    "greaterThanEqual": np.greater_equal, "equal": np.equal, "notEqual": np.not_equal,
    "not": np.logical_not, "any": lambda x: x.any(keepdims=True),
    "all": lambda x: x.all(keepdims=True),
}  # fmt: skip


def evaluate(text: str, given: Inputs) -> Outcome:
    """Run every lane."""
    log = Log(SourceMap(()))
    try:
        pre = preprocess(text, "", CompileOptions(), log, "fragment")
        unit = parse(pre.tokens, pre.language, log, pre.classified)
    except Abort:
        raise Rejected("the parser gives up") from None
    if log.error_count:
        raise Rejected("a syntax error")
    outp = np.array(given.outp, np.int32)
    colors = [_Lane(unit, given, lane, outp).run() for lane in range(LANES)]
    return Outcome(colors, outp.tolist())

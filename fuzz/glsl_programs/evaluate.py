"""What a program must compute: the GLSL specification in plain Python, one lane at a time.

Written from the specification, not from the compiler: values are Python numbers, lists and dicts,
copied wherever GLSL copies; operands are evaluated from the left, each read before the next one.
"""

from __future__ import annotations

import contextlib
import copy
from typing import Any

from fuzz.glsl_programs import syntax as s

BUDGET = 20_000
"""steps of one lane; what takes longer is no use as a test"""


class TooLong(Exception):
    """The program runs for too long."""


class Undefined(Exception):
    """The program does something the specification leaves open."""


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Discard(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


def wrap(type_: s.Type, x: Any) -> Any:
    """A number as its type holds it."""
    if type_.base == "int":
        return ((x + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
    if type_.base == "uint":
        return x & 0xFFFFFFFF
    return x


def convert(source: s.Type, target: s.Type, x: Any) -> Any:
    """One component converted."""
    if target.base == "bool":
        return x != 0
    if target.base == "float":
        return float(x)
    return wrap(target, int(x))


_LETTERS = {c: i for word in ("xyzw", "rgba", "stpq") for i, c in enumerate(word)}


Place = tuple[Any, list[Any]]


class Lane:
    """One invocation."""

    def __init__(self, program: s.Program, inputs: s.Inputs, lane: int, outp: list[int]) -> None:
        self.functions = {f.name: f for f in program.functions}
        self.budget = BUDGET
        self.inp = inputs.inp
        self.outp = outp
        self.globals: dict[str, Any] = {
            "lane": lane,
            "un": [list(inputs.un[i : i + 4]) for i in range(0, s.UNIFORMS, 4)],
            "result": [None] * 4,
        }
        self.scopes: list[dict[str, Any]] = []
        for g in program.globals:
            self.globals[g.name] = self.value(g.init)

    def run(self) -> tuple[int, int, int, int] | None:
        try:
            self.call_function(self.functions["main"], [])
        except _Discard:
            return None
        a, b, c, d = self.globals["result"]
        if None in (a, b, c, d):
            raise Undefined("a colour without a value")
        return a, b, c, d

    # -- variables ---------------------------------------------------------------------------

    def scope_of(self, name: str) -> dict[str, Any]:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope
        return self.globals

    def place(self, e: s.Expr) -> Place:
        """What an l-value names: a scope, then keys; a swizzle is a tuple of components.

        Indices are evaluated now; what the keys lead to is looked up when it is read or written,
        because the whole variable may get another value in between.
        """
        match e:
            case s.Var():
                return self.scope_of(e.name), [e.name]
            case s.Index(a=s.Var(name="outp")):
                return self.outp, [self.value(e.i)]
            case s.Index():
                scope, keys = self.place(e.a)
                index = self.value(e.i)
                if isinstance(keys[-1], tuple):
                    return scope, [*keys[:-1], keys[-1][index]]
                return scope, [*keys, index]
            case s.Member():
                scope, keys = self.place(e.a)
                return scope, [*keys, e.name]
            case s.Swizzle():
                scope, keys = self.place(e.a)
                chosen = tuple(_LETTERS[c] for c in e.letters)
                if isinstance(keys[-1], tuple):
                    inner = keys.pop()
                    chosen = tuple(inner[c] for c in chosen)
                return scope, [*keys, chosen[0] if len(chosen) == 1 else chosen]
        raise AssertionError(e)

    def load(self, place: Place) -> Any:
        scope, keys = place
        for key in keys[:-1]:
            scope = scope[key]
        if isinstance(keys[-1], tuple):
            return [scope[k] for k in keys[-1]]
        return copy.deepcopy(scope[keys[-1]])

    def store(self, place: Place, value: Any) -> None:
        scope, keys = place
        for key in keys[:-1]:
            scope = scope[key]
        if isinstance(keys[-1], tuple):
            for k, x in zip(keys[-1], value, strict=True):
                scope[k] = x
        else:
            scope[keys[-1]] = copy.deepcopy(value)

    # -- expressions -------------------------------------------------------------------------

    def value(self, e: s.Expr) -> Any:
        self.budget -= 1
        if self.budget < 0:
            raise TooLong
        match e:
            case s.Lit():
                return e.value
            case s.Var():
                return copy.deepcopy(self.scope_of(e.name)[e.name])
            case s.Index(a=s.Var(name="inp")):
                return self.inp[self.value(e.i)]
            case s.Index(a=s.Var(name="outp")):
                return self.outp[self.value(e.i)]
            case s.Index():
                whole = self.value(e.a)
                return whole[self.value(e.i)]
            case s.Member():
                return self.value(e.a)[e.name]
            case s.Swizzle():
                whole = self.value(e.a)
                parts = [whole[_LETTERS[c]] for c in e.letters]
                return parts[0] if len(parts) == 1 else parts
            case s.Un():
                return self.unary(e)
            case s.Bin():
                return self.binary(e)
            case s.Cond():
                return self.value(e.a if self.value(e.c) else e.b)
            case s.Cons():
                return self.construct(e)
            case s.Built():
                return _builtin(e, [self.value(a) for a in e.args])
            case s.Call():
                return self.call(e)
            case s.Assign():
                return self.assign(e)
            case s.Step():
                place = self.place(e.target)
                old = self.load(place)
                delta = 1 if e.op == "+" else -1
                new = _each(lambda x: wrap(e.type, x + delta), old)
                self.store(place, new)
                return old if e.post else new
        raise AssertionError(e)

    def unary(self, e: s.Un) -> Any:
        x = self.value(e.a)
        if e.op == "!":
            return not x
        if e.op == "~":
            return _each(lambda v: wrap(e.type, ~v), x)
        return _each(lambda v: wrap(e.type, -v), x)

    def binary(self, e: s.Bin) -> Any:
        left = self.value(e.a)
        if e.op == "&&":
            return bool(left) and bool(self.value(e.b))
        if e.op == "||":
            return bool(left) or bool(self.value(e.b))
        return operate(e.op, e.type, left, self.value(e.b))

    def construct(self, e: s.Cons) -> Any:
        values = [self.value(a) for a in e.args]
        if e.type.element is not None:
            return values
        if e.type.members:
            return {name: v for (name, _), v in zip(e.type.members, values, strict=True)}
        parts: list[Any] = []
        for arg, v in zip(e.args, values, strict=True):
            for x in v if isinstance(v, list) else [v]:
                parts.append(convert(arg.type, e.type, x))
        if e.type.size == 1:
            return parts[0]
        return parts * e.type.size if len(parts) == 1 else parts[: e.type.size]

    def assign(self, e: s.Assign) -> Any:
        place = self.place(e.target)
        value = self.value(e.value)
        if e.op:
            value = operate(e.op, e.type, self.load(place), value)
        self.store(place, value)
        return copy.deepcopy(value)

    def call(self, e: s.Call) -> Any:
        function = self.functions[e.name]
        values: list[Any] = []
        places: list[Any] = []
        for param, arg in zip(function.params, e.args, strict=True):
            if param.direction == "in":
                values.append(self.value(arg))
                places.append(None)
            else:
                place = self.place(arg)
                values.append(self.load(place) if param.direction == "inout" else None)
                places.append(place)
        result, after = self.call_function(function, values)
        for place, value in zip(places, after, strict=True):
            if place is not None:
                self.store(place, value)
        return result

    def call_function(self, function: s.Function, values: list[Any]) -> tuple[Any, list[Any]]:
        outer, self.scopes = self.scopes, [{}]
        frame = self.scopes[0]
        for param, value in zip(function.params, values, strict=True):
            frame[param.name] = value
        result = None
        try:
            self.block(function.body)
        except _Return as done:
            result = done.value
        finally:
            self.scopes = outer
        if result is None and function.result != s.VOID:
            raise Undefined(f"{function.name} ends without a value")
        return result, [frame[p.name] for p in function.params]

    # -- statements --------------------------------------------------------------------------

    def block(self, body: list[s.Stmt]) -> None:
        self.scopes.append({})
        depth = len(self.scopes)
        try:
            for statement in body:
                self.statement(statement)
        finally:
            del self.scopes[depth - 1 :]

    def statement(self, x: s.Stmt) -> None:
        match x:
            case s.Declare():
                self.scopes[-1][x.name] = self.value(x.init)
            case s.Run():
                self.value(x.expr)
            case s.If():
                self.block(x.then if self.value(x.condition) else x.otherwise)
            case s.For():
                self.for_loop(x)
            case s.While():
                self.while_loop(x)
            case s.Switch():
                self.switch(x)
            case s.Scope():
                self.block(x.body)
            case s.Return():
                raise _Return(self.value(x.value) if x.value is not None else None)
            case s.Jump(kind="break"):
                raise _Break
            case s.Jump(kind="continue"):
                raise _Continue
            case s.Jump():
                raise _Discard

    def for_loop(self, x: s.For) -> None:
        self.scopes.append({x.name: 0})
        depth = len(self.scopes)
        scope = self.scopes[-1]
        try:
            while scope[x.name] < self.value(x.count):
                with contextlib.suppress(_Continue):
                    self.block(x.body)
                scope[x.name] += 1
        except _Break:
            pass
        finally:
            del self.scopes[depth - 1 :]

    def while_loop(self, x: s.While) -> None:
        scope = self.scopes[-1]
        scope[x.name] = x.fuel

        def goes_on() -> bool:
            scope[x.name] -= 1
            return scope[x.name] >= 0 and bool(self.value(x.condition))

        try:
            if x.first and not goes_on():
                return
            while True:
                with contextlib.suppress(_Continue):
                    self.block(x.body)
                if not goes_on():
                    return
        except _Break:
            pass

    def switch(self, x: s.Switch) -> None:
        selector = self.value(x.selector)
        start = next((i for i, g in enumerate(x.groups) if selector in g[0]), None)
        if start is None:
            start = next((i for i, g in enumerate(x.groups) if g[1]), len(x.groups))
        self.scopes.append({})
        depth = len(self.scopes)
        try:
            for _, _, body in x.groups[start:]:
                for statement in body:
                    self.statement(statement)
        except _Break:
            pass
        finally:
            del self.scopes[depth - 1 :]


def _each(f: Any, x: Any) -> Any:
    return [f(v) for v in x] if isinstance(x, list) else f(x)


def operate(op: str, type_: s.Type, a: Any, b: Any) -> Any:
    """A binary operator on whole values."""
    if op in ("==", "!="):
        return (a == b) == (op == "==")
    if op == "^^":
        return bool(a) != bool(b)
    if isinstance(a, list) or isinstance(b, list):
        n = len(a) if isinstance(a, list) else len(b)
        left = a if isinstance(a, list) else [a] * n
        right = b if isinstance(b, list) else [b] * n
        return [_scalar(op, type_, x, y) for x, y in zip(left, right, strict=True)]
    return _scalar(op, type_, a, b)


def _scalar(op: str, type_: s.Type, a: Any, b: Any) -> Any:
    match op:
        case "+":
            return wrap(type_, a + b)
        case "-":
            return wrap(type_, a - b)
        case "*":
            return wrap(type_, a * b)
        case "/":
            if type_.base == "float":
                return a / b
            quotient = abs(a) // abs(b)
            return wrap(type_, quotient if (a < 0) == (b < 0) else -quotient)
        case "%":
            return a % b
        case "&":
            return wrap(type_, a & b)
        case "|":
            return wrap(type_, a | b)
        case "^":
            return wrap(type_, a ^ b)
        case "<<":
            return wrap(type_, a << b)
        case ">>":
            return a >> b
        case "<":
            return a < b
        case ">":
            return a > b
        case "<=":
            return a <= b
        case ">=":
            return a >= b
    raise AssertionError(op)


def _floor(x: float) -> float:
    return float(x // 1)


_FUNCTIONS: dict[str, Any] = {
    "abs": abs,
    "sign": lambda x: type(x)((x > 0) - (x < 0)),
    "min": lambda x, y: min(y, x),
    "max": lambda x, y: max(y, x),
    "clamp": lambda x, low, high: min(max(x, low), high),
    "floor": _floor,
    "ceil": lambda x: -_floor(-x),
    "trunc": lambda x: float(int(x)),
    "fract": lambda x: x - _floor(x),
    "step": lambda edge, x: 0.0 if x < edge else 1.0,
    "mix": lambda x, y, chosen: y if chosen else x,
    "bitCount": lambda x: (x & 0xFFFFFFFF).bit_count(),
    "findLSB": lambda x: (x & -x).bit_length() - 1,
    "findMSB": lambda x: (~x if x < 0 else x).bit_length() - 1,
    "bitfieldReverse": lambda x: int(f"{x & 0xFFFFFFFF:032b}"[::-1], 2),
    "lessThan": lambda x, y: x < y,
    "lessThanEqual": lambda x, y: x <= y,
    "greaterThan": lambda x, y: x > y,
    "greaterThanEqual": lambda x, y: x >= y,
    "equal": lambda x, y: x == y,
    "notEqual": lambda x, y: x != y,
    "not": lambda x: not x,
}


def _builtin(e: s.Built, args: list[Any]) -> Any:
    if e.name == "any":
        return any(args[0])
    if e.name == "all":
        return all(args[0])
    if e.name == "dot":
        return sum(x * y for x, y in zip(args[0], args[1], strict=True))
    if e.name in ("bitfieldExtract", "bitfieldInsert"):
        return _bitfield(e, args)
    f = _FUNCTIONS[e.name]
    n = max((len(a) for a in args if isinstance(a, list)), default=0)
    if not n:
        return wrap(e.type, f(*args))
    wide = [a if isinstance(a, list) else [a] * n for a in args]
    return [wrap(e.type, f(*parts)) for parts in zip(*wide, strict=True)]


def _bitfield(e: s.Built, args: list[Any]) -> Any:
    offset, bits = args[-2:]
    mask = (1 << bits) - 1
    if e.name == "bitfieldInsert":
        return wrap(e.type, (args[0] & ~(mask << offset)) | ((args[1] & mask) << offset))
    part = (args[0] >> offset) & mask
    if e.type.base == "int" and bits and part >> (bits - 1):
        part -= 1 << bits
    return part


def evaluate(program: s.Program, inputs: s.Inputs) -> s.Outcome:
    """Run every lane; `TooLong` if one of them does not come to an end soon."""
    outp = list(inputs.outp)
    colors = [Lane(program, inputs, lane, outp).run() for lane in range(s.LANES)]
    return s.Outcome(colors, outp)

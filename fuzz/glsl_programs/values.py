"""Random expressions. Whatever they compute is defined by the specification and exact.

Integers wrap; divisors and shift counts are masked; indices stay inside. Floats are multiples of a
quarter below 64 wherever they are stored, and an expression in between never needs more than 22
bits, so that no rounding happens however it is evaluated: each float expression comes with its
`Bound`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fuzz.glsl_programs import syntax as s
from fuzz.glsl_programs.scope import Frame, Signature, Style, Variable
from fuzz.glsl_programs.syntax import BOOL, FLOAT, INT, UINT, Expr, Type

MAXIMUM_BITS = 22


@dataclass(frozen=True)
class Bound:
    """|value| < 2**magnitude, and value is a multiple of 2**-fraction."""

    magnitude: int
    fraction: int

    @property
    def fits(self) -> bool:
        return self.magnitude + self.fraction <= MAXIMUM_BITS


STORED = Bound(6, 2)


@dataclass(frozen=True)
class Path:
    """A way into a variable: members by name, "[]" for an element, "xyzw" for components."""

    variable: Variable
    steps: tuple[tuple[str, Type], ...]


class Values:
    """The part of the generator that writes expressions."""

    def __init__(self, seed: int, style: Style) -> None:
        self.random = random.Random(seed)
        self.style = style
        self.functions: list[Signature] = []
        self.globals: list[Variable] = []
        self.frame = Frame(s.VOID)
        self.calls_left = 6

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    # -- variables ---------------------------------------------------------------------------

    def variables(self) -> list[Variable]:
        return [*self.globals, *self.frame.visible()]

    def readable(self, type_: Type) -> list[Path]:
        """Every way to read a value of a type from a variable, up to two steps into it."""
        return [p for v in self.variables() for p in self.paths(v, v.type, type_, ())]

    def writable(self, type_: Type) -> list[Path]:
        """Places of a type that may be written."""
        return [p for p in self.readable(type_) if p.variable.writable]

    def paths(
        self, v: Variable, kind: Type, wanted: Type, steps: tuple[tuple[str, Type], ...]
    ) -> list[Path]:
        if kind == wanted:
            return [Path(v, steps)]
        if len(steps) == 2:
            return []
        found: list[Path] = []
        if kind.members:
            for name, member in kind.members:
                found += self.paths(v, member, wanted, (*steps, (name, member)))
        elif kind.element is not None:
            found = self.paths(v, kind.element, wanted, (*steps, ("[]", kind.element)))
        elif kind.size > 1 and kind.base == wanted.base and wanted.size <= kind.size:
            found = [Path(v, (*steps, ("xyzw", wanted)))]
        return found

    def spelt(self, path: Path) -> Expr:
        """A path as an expression, with random indices and components."""
        e: Expr = s.Var(path.variable.type, path.variable.name)
        for name, kind in path.steps:
            whole = e.type
            if name == "[]":
                e = s.Index(kind, e, self.index(whole.length))
            elif name != "xyzw":
                e = s.Member(kind, e, name)
            elif kind.size == 1 and self.chance(0.4):
                e = s.Index(kind, e, self.index(whole.size))
            else:
                letters = "".join(self.random.sample("xyzw"[: whole.size], kind.size))
                if kind.size == 1 and self.chance(0.15):
                    other = "y" if letters == "x" else "x"
                    pair = s.Swizzle(Type(kind.base, 2), e, letters + other)
                    e = s.Index(kind, pair, self.index(2))
                else:
                    e = s.Swizzle(kind, e, letters)
        return e

    def index(self, length: int) -> Expr:
        """An int from 0 to length - 1."""
        r = self.random
        if self.chance(0.6):
            return s.Lit(INT, r.randrange(length))
        value: Expr = s.Var(INT, "lane")
        own = [v for v in self.variables() if v.type == INT]
        if own and self.chance(0.7):
            value = s.Var(INT, r.choice(own).name)
        elif self.chance(0.3):
            value = self.uniform()
        if self.chance(0.3):
            value = s.Bin(INT, "+", value, s.Lit(INT, r.randrange(4)))
        if length & (length - 1) == 0:
            return s.Bin(INT, "&", value, s.Lit(INT, length - 1))
        return s.Bin(INT, "%", s.Bin(INT, "&", value, s.Lit(INT, 255)), s.Lit(INT, length))

    def buffer(self, name: str) -> Expr:
        """An element of `inp` or of the lane's part of `outp`."""
        count = s.INPUTS if name == "inp" else s.SLOTS
        first = s.Bin(INT, "*", s.Var(INT, "lane"), s.Lit(INT, count))
        where = s.Bin(INT, "+", first, self.index(count))
        return s.Index(INT, s.Var(s.array(INT, 0), name), where)

    def uniform(self) -> Expr:
        i = self.random.randrange(s.UNIFORMS)
        row = s.Index(s.IVEC4, s.Var(s.array(s.IVEC4, 2), "un"), s.Lit(INT, i // 4))
        return s.Swizzle(INT, row, "xyzw"[i % 4])

    # -- any type ----------------------------------------------------------------------------

    def value(self, type_: Type, depth: int | None = None, pure: bool = False) -> Expr:
        """An expression of any type that can be stored."""
        depth = self.style.depth if depth is None else depth
        pure = pure or not self.style.effects
        if type_.is_aggregate:
            return self.aggregate(type_, depth, pure)
        if type_.base == "float":
            return self.stored(*self.float(type_, depth, pure))
        if type_.base == "bool":
            return self.boolean(type_, depth, pure)
        return self.integer(type_, depth, pure)

    def aggregate(self, type_: Type, depth: int, pure: bool) -> Expr:
        sources = self.readable(type_)
        if sources and self.chance(0.5):
            if len(sources) > 1 and self.chance(0.3):
                a, b = (self.spelt(p) for p in self.random.sample(sources, 2))
                return s.Cond(type_, self.boolean(BOOL, 1, pure), a, b)
            return self.spelt(self.random.choice(sources))
        call = self.call(type_, depth, pure)
        if call is not None:
            return call
        if type_.element is not None:
            parts = [self.value(type_.element, depth - 1, pure) for _ in range(type_.length)]
        else:
            parts = [self.value(kind, depth - 1, pure) for _, kind in type_.members]
        return s.Cons(type_, parts)

    def leaf(self, type_: Type) -> Expr | None:
        sources = self.readable(type_)
        return self.spelt(self.random.choice(sources)) if sources else None

    def call(self, type_: Type, depth: int, pure: bool) -> Expr | None:
        """A call of a function with that result, now and then."""
        fitting = [f for f in self.functions if f.function.result == type_ and (f.pure or not pure)]
        if not fitting or depth < 1 or self.calls_left <= 0 or not self.chance(0.25):
            return None
        chosen = self.random.choice(fitting)
        return self.call_of(chosen, depth, pure)

    def call_of(self, chosen: Signature, depth: int, pure: bool) -> Expr | None:
        """A call with random arguments; no variable is written through two of them."""
        self.calls_left -= 1
        args: list[Expr] = []
        used: set[str] = set()
        for p in chosen.function.params:
            if p.direction == "in":
                args.append(self.value(p.type, depth - 1, pure or not self.style.effects))
                continue
            places = [
                path
                for path in self.writable(p.type)
                if path.variable.name not in used
                and (self.style.effects or not path.variable.is_global)
            ]
            if not places:
                return None
            place = self.random.choice(places)
            used.add(place.variable.name)
            args.append(self.spelt(place))
        if not chosen.pure:
            self.frame.pure = False
        return s.Call(chosen.function.result, chosen.function.name, args)

    def effect(self, type_: Type, depth: int) -> Expr | None:
        """An assignment or step in the middle of an expression."""
        places = [p for p in self.writable(type_) if not p.steps]
        if not places or type_.base not in ("int", "uint"):
            return None
        target = self.spelt(self.random.choice(places))
        self.note_write(target)
        if self.chance(0.5):
            return s.Step(type_, self.random.choice("+-"), self.chance(0.5), target)
        op = self.random.choice(["", "+", "^"])
        return s.Assign(type_, op, target, self.value(type_, depth - 1, pure=True))

    def note_write(self, place: Expr) -> None:
        """Remember that the function writes something outside."""
        if root(place) in {v.name for v in self.globals} | {"outp"}:
            self.frame.pure = False

    # -- integers ----------------------------------------------------------------------------

    def integer(self, type_: Type, depth: int, pure: bool = False) -> Expr:
        r = self.random
        if depth <= 0 or self.chance(0.2):
            return self.integer_leaf(type_)
        if not pure and self.chance(0.08):
            effect = self.effect(type_, depth)
            if effect is not None:
                return effect
        call = self.call(type_, depth, pure)
        if call is not None:
            return call

        def sub(kind: Type = type_) -> Expr:
            return self.value(kind, depth - 1, pure)

        unsigned = type_.base == "uint"
        small = s.Lit(UINT if unsigned else INT, r.choice([1, 3, 7, 15, 31]))
        match r.randrange(11):
            case 0 | 1 | 2:
                return s.Bin(
                    type_, r.choice("+-*"), sub(), sub(type_ if self.chance(0.8) else type_.scalar)
                )
            case 3 | 4:
                return s.Bin(type_, r.choice("&|^"), sub(), sub())
            case 5:
                return s.Bin(type_, r.choice(["<<", ">>"]), sub(), s.Bin(type_, "&", sub(), small))
            case 6:
                one = s.Lit(type_.scalar, 1)
                if unsigned or self.chance(0.5):
                    divisor = s.Bin(type_, "+", s.Bin(type_, "&", sub(), small), one)
                    return s.Bin(type_, "/", sub(), divisor)
                positive = s.Bin(type_, "&", sub(), s.Lit(type_.scalar, 0x7FFFFFFF))
                return s.Bin(type_, "%", positive, s.Lit(type_.scalar, r.choice([2, 3, 5, 8, 17])))
            case 7:
                return s.Cond(type_, self.boolean(BOOL, depth - 1, pure), sub(), sub())
            case 8:
                return s.Un(type_, r.choice("-~"), sub())
            case 9:
                name = r.choice(["min", "max", "abs", "clamp", "bitCount", "findMSB", "findLSB"])
                return self.integer_builtin(name, type_, depth, pure)
            case _:
                return self.conversion(type_, depth, pure)

    def integer_builtin(self, name: str, type_: Type, depth: int, pure: bool) -> Expr:
        def sub() -> Expr:
            return self.value(type_, depth - 1, pure)

        if name == "abs" and type_.base == "uint":
            name = "min"
        if name in ("bitCount", "findMSB", "findLSB"):
            call = s.Built(Type("int", type_.size), name, [sub()])
            return call if type_.base == "int" else s.Cons(type_, [call])
        if name == "clamp":
            low = self.random.randrange(-4 if type_.base == "int" else 0, 10)
            ends: list[Expr] = [s.Lit(type_.scalar, low), s.Lit(type_.scalar, low + 20)]
            return s.Built(type_, name, [sub(), *ends])
        return s.Built(type_, name, [sub()] if name == "abs" else [sub(), sub()])

    def conversion(self, type_: Type, depth: int, pure: bool) -> Expr:
        """From another base type, or a vector from parts."""
        if type_.size > 1 and self.chance(0.6):
            if type_.size > 2 and self.chance(0.5):
                head = self.value(Type(type_.base, 2), depth - 1, pure)
                rest = [self.value(type_.scalar, depth - 1, pure) for _ in range(type_.size - 2)]
                return s.Cons(type_, [head, *rest])
            return s.Cons(
                type_, [self.value(type_.scalar, depth - 1, pure) for _ in range(type_.size)]
            )
        others = [b for b in ("int", "uint", "bool") if b != type_.base]
        if type_.base == "int":
            others.append("float")
        source = Type(self.random.choice(others), type_.size)
        return s.Cons(type_, [self.value(source, depth - 1, pure)])

    def integer_leaf(self, type_: Type) -> Expr:
        r = self.random
        if type_.size > 1:
            found = self.leaf(type_)
            if found is not None and self.chance(0.7):
                return found
            return s.Cons(type_, [self.integer_leaf(type_.scalar)])
        choice = r.random()
        if choice < 0.5:
            found = self.leaf(type_)
            if found is not None:
                return found
        if choice < 0.65:
            value: Expr = self.buffer(r.choice(["inp", "inp", "outp"]))
        elif choice < 0.75:
            value = self.uniform()
        else:
            number = r.choice([r.randrange(16), r.randrange(16), r.getrandbits(32)])
            if type_.base == "uint":
                return s.Lit(UINT, number)
            return s.Lit(INT, number if number < 1 << 31 else number - (1 << 32))
        return value if type_ == INT else s.Cons(UINT, [value])

    # -- booleans ----------------------------------------------------------------------------

    def boolean(self, type_: Type, depth: int, pure: bool = False) -> Expr:
        r = self.random
        if type_.size > 1:
            return self.boolean_vector(type_, depth, pure)
        if depth <= 0 or self.chance(0.1):
            found = self.leaf(BOOL)
            if found is not None and self.chance(0.6):
                return found
            small = s.Bin(INT, "&", self.integer_leaf(INT), s.Lit(INT, r.choice([1, 3, 7])))
            return s.Bin(BOOL, r.choice(["==", "!=", "<"]), small, s.Lit(INT, r.choice([0, 1, 2])))
        choice = r.random()
        if choice < 0.35:
            kind = Type(r.choice(["int", "int", "uint"]))
            op = r.choice(["<", ">", "<=", ">=", "==", "!="])
            return s.Bin(
                BOOL, op, self.value(kind, depth - 1, pure), self.value(kind, depth - 1, pure)
            )
        if choice < 0.5:
            a, b = self.float(FLOAT, depth - 1, pure)[0], self.float(FLOAT, depth - 1, pure)[0]
            return s.Bin(BOOL, r.choice(["<", ">=", "=="]), a, b)
        if choice < 0.7:
            op = r.choice(["&&", "||", "^^"])
            return s.Bin(
                BOOL, op, self.boolean(BOOL, depth - 1, pure), self.boolean(BOOL, depth - 1, pure)
            )
        if choice < 0.8:
            return s.Un(BOOL, "!", self.boolean(BOOL, depth - 1, pure))
        if choice < 0.9:
            vector = Type("bool", r.choice([2, 3, 4]))
            return s.Built(BOOL, r.choice(["any", "all"]), [self.boolean(vector, depth - 1, pure)])
        kinds = [v.type for v in self.variables() if v.type.base != "float"]
        whole = [k for k in kinds if k.is_aggregate or k.size > 1]
        if whole:
            kind = r.choice(whole)
            op = r.choice(["==", "!="])
            return s.Bin(
                BOOL, op, self.value(kind, depth - 2, pure), self.value(kind, depth - 2, pure)
            )
        return s.Cons(BOOL, [self.value(INT, depth - 1, pure)])

    def boolean_vector(self, type_: Type, depth: int, pure: bool) -> Expr:
        found = self.leaf(type_)
        if found is not None and self.chance(0.3):
            return found
        if depth > 0 and self.chance(0.6):
            kind = Type(self.random.choice(["int", "uint", "float"]), type_.size)
            name = self.random.choice(
                [
                    "lessThan",
                    "lessThanEqual",
                    "greaterThan",
                    "greaterThanEqual",
                    "equal",
                    "notEqual",
                ]
            )
            args = [self.value(kind, depth - 1, pure), self.value(kind, depth - 1, pure)]
            return s.Built(type_, name, args)
        if depth > 0 and self.chance(0.3):
            return s.Built(type_, "not", [self.boolean(type_, depth - 1, pure)])
        return s.Cons(type_, [self.boolean(BOOL, depth - 1, pure) for _ in range(type_.size)])

    # -- floats ------------------------------------------------------------------------------

    def stored(self, e: Expr, bound: Bound) -> Expr:
        """Brought into the range of variables."""
        if bound.magnitude <= STORED.magnitude and bound.fraction <= STORED.fraction:
            return e
        four, quarter = s.Lit(FLOAT, 4.0), s.Lit(FLOAT, 0.25)
        if bound.fraction > STORED.fraction:
            floor = s.Built(e.type, "floor", [s.Bin(e.type, "*", e, four)])
            e = s.Bin(e.type, "*", floor, quarter)
        return s.Built(e.type, "clamp", [e, s.Lit(FLOAT, -32.0), s.Lit(FLOAT, 32.0)])

    def float(self, type_: Type, depth: int, pure: bool) -> tuple[Expr, Bound]:
        r = self.random
        if depth <= 0 or self.chance(0.2):
            return self.float_leaf(type_)
        call = self.call(type_, depth, pure)
        if call is not None:
            return call, STORED

        a, x = self.float(type_, depth - 1, pure)
        match r.randrange(8):
            case 0 | 1 | 2:
                b, y = self.float(type_ if self.chance(0.8) else type_.scalar, depth - 1, pure)
                if self.chance(0.5):
                    total = Bound(max(x.magnitude, y.magnitude) + 1, max(x.fraction, y.fraction))
                    if total.fits:
                        return s.Bin(type_, r.choice("+-"), a, b), total
                product = Bound(x.magnitude + y.magnitude, x.fraction + y.fraction)
                if product.fits:
                    return s.Bin(type_, "*", a, b), product
                return a, x
            case 3:
                b, y = self.float(type_, depth - 1, pure)
                both = Bound(max(x.magnitude, y.magnitude), max(x.fraction, y.fraction))
                return s.Built(type_, r.choice(["min", "max"]), [a, b]), both
            case 4:
                b, y = self.float(type_, depth - 1, pure)
                both = Bound(max(x.magnitude, y.magnitude), max(x.fraction, y.fraction))
                return s.Cond(type_, self.boolean(BOOL, depth - 1, pure), a, b), both
            case 5:
                name = r.choice(["floor", "ceil", "trunc", "abs", "sign", "fract"])
                if name == "fract":
                    return s.Built(type_, name, [a]), Bound(1, x.fraction)
                whole = Bound(x.magnitude + 1, x.fraction if name == "abs" else 0)
                return (s.Built(type_, name, [a]), whole) if whole.fits else (a, x)
            case 6:
                return s.Un(type_, "-", a), x
            case _:
                divided = Bound(x.magnitude, x.fraction + 1)
                if divided.fits:
                    return s.Bin(type_, "/", a, s.Lit(FLOAT, 2.0)), divided
                return a, x

    def float_leaf(self, type_: Type) -> tuple[Expr, Bound]:
        found = self.leaf(type_)
        if found is not None and self.chance(0.6):
            return found, STORED
        if type_.size > 1:
            return s.Cons(
                type_, [self.float_leaf(type_.scalar)[0] for _ in range(type_.size)]
            ), STORED
        if self.chance(0.4):
            small = s.Bin(INT, "&", self.integer_leaf(INT), s.Lit(INT, 31))
            return s.Cons(FLOAT, [small]), Bound(5, 0)
        return s.Lit(FLOAT, self.random.randrange(-40, 40) / 4), STORED


def root(e: Expr) -> str:
    """The variable a place is in."""
    while not isinstance(e, s.Var):
        assert isinstance(e, (s.Index, s.Member, s.Swizzle)), e
        e = e.a
    return e.name

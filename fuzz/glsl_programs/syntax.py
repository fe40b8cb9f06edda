"""The syntax of the programs: small typed trees that print as GLSL.

Every program is a fragment shader that runs on a row of pixels, one *lane* each. It reads `inp`, a
buffer with four ints per lane, and `un`, a uniform block of eight ints; it writes the sixteen ints
of `outp` that belong to its lane, and the colour `result`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

LANES = 8
INPUTS = 4
SLOTS = 16
UNIFORMS = 8

HEADER = f"""#version 430
layout(std430, binding = 0) readonly buffer In {{ int inp[]; }};
layout(std430, binding = 1) buffer Out {{ int outp[]; }};
layout(std140, binding = 0) uniform Un {{ ivec4 un[{UNIFORMS // 4}]; }};
layout(location = 0) out ivec4 result;
int lane = int(gl_FragCoord.x);
"""


@dataclass(frozen=True)
class Type:
    """int, uint, float or bool, or a vector of 2 to 4 of them; an array; a structure."""

    base: str
    size: int = 1
    element: Type | None = None
    length: int = 0
    members: tuple[tuple[str, Type], ...] = ()

    def __str__(self) -> str:
        if self.element is not None:
            return f"{self.element}[{self.length}]"
        if self.size == 1:
            return self.base
        return {"int": "i", "uint": "u", "bool": "b", "float": ""}[self.base] + f"vec{self.size}"

    @property
    def scalar(self) -> Type:
        return Type(self.base)

    @property
    def is_aggregate(self) -> bool:
        return self.element is not None or bool(self.members)


INT, UINT, FLOAT, BOOL = Type("int"), Type("uint"), Type("float"), Type("bool")
VOID = Type("void")
IVEC4 = Type("int", 4)


def array(element: Type, length: int) -> Type:
    return Type("array", 1, element, length)


# -- expressions -----------------------------------------------------------------------------------


@dataclass(eq=False)
class Expr:
    type: Type


@dataclass(eq=False)
class Lit(Expr):
    value: Any


@dataclass(eq=False)
class Var(Expr):
    name: str


@dataclass(eq=False)
class Un(Expr):
    op: str
    a: Expr


@dataclass(eq=False)
class Bin(Expr):
    op: str
    a: Expr
    b: Expr


@dataclass(eq=False)
class Cond(Expr):
    c: Expr
    a: Expr
    b: Expr


@dataclass(eq=False)
class Cons(Expr):
    """Constructor or conversion."""

    args: list[Expr]


@dataclass(eq=False)
class Built(Expr):
    name: str
    args: list[Expr]


@dataclass(eq=False)
class Call(Expr):
    name: str
    args: list[Expr]


@dataclass(eq=False)
class Index(Expr):
    a: Expr
    i: Expr


@dataclass(eq=False)
class Member(Expr):
    a: Expr
    name: str


@dataclass(eq=False)
class Swizzle(Expr):
    a: Expr
    letters: str


@dataclass(eq=False)
class Assign(Expr):
    op: str
    """"" or the operator"""
    target: Expr
    value: Expr


@dataclass(eq=False)
class Step(Expr):
    op: str
    post: bool
    target: Expr


# -- statements ------------------------------------------------------------------------------------


@dataclass(eq=False)
class Stmt:
    pass


@dataclass(eq=False)
class Declare(Stmt):
    type: Type
    name: str
    init: Expr


@dataclass(eq=False)
class Run(Stmt):
    expr: Expr


@dataclass(eq=False)
class If(Stmt):
    condition: Expr
    then: list[Stmt]
    otherwise: list[Stmt]


@dataclass(eq=False)
class For(Stmt):
    """`for (int name = 0; name < count; name++)`; nothing inside writes the counter."""

    name: str
    count: Expr
    body: list[Stmt]


@dataclass(eq=False)
class While(Stmt):
    """`int name = fuel; while (name-- > 0 && condition)`, or do-while."""

    name: str
    fuel: int
    condition: Expr
    body: list[Stmt]
    first: bool


@dataclass(eq=False)
class Switch(Stmt):
    selector: Expr
    groups: list[tuple[list[int], bool, list[Stmt]]]
    """(labels, with default, statements)"""


@dataclass(eq=False)
class Jump(Stmt):
    """break, continue or discard"""

    kind: str


@dataclass(eq=False)
class Return(Stmt):
    value: Expr | None


@dataclass(eq=False)
class Scope(Stmt):
    body: list[Stmt]


@dataclass(eq=False)
class Param:
    direction: str
    type: Type
    name: str


@dataclass(eq=False)
class Function:
    name: str
    result: Type
    params: list[Param]
    body: list[Stmt]


@dataclass(eq=False)
class Program:
    structs: list[Type]
    globals: list[Declare]
    functions: list[Function]
    """`main` is the last"""

    def clone(self) -> Program:
        return copy.deepcopy(self)

    @property
    def text(self) -> str:
        return program_text(self)


# -- walking ---------------------------------------------------------------------------------------

Node = Expr | Stmt | Function | Program


def bodies(node: object) -> Iterator[list[Stmt]]:
    """Every list of statements in a tree, outermost first."""
    for value in _values(node):
        if isinstance(value, list) and (not value or isinstance(value[0], Stmt)):
            if _holds_statements(node, value):
                yield value
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, (Stmt, Function)):
                yield from bodies(item)
            elif isinstance(item, tuple):
                yield item[2]
                for inner in item[2]:
                    yield from bodies(inner)


def _holds_statements(node: object, value: object) -> bool:
    names = ("body", "then", "otherwise")
    return any(getattr(node, name, None) is value for name in names)


def _values(node: object) -> list[Any]:
    return [getattr(node, f.name) for f in fields(node)]  # type: ignore[arg-type]


def expressions(node: object) -> Iterator[Expr]:
    """Every expression in a tree."""
    stack: list[Any] = [node]
    while stack:
        x = stack.pop()
        if isinstance(x, (list, tuple)):
            stack += x
        elif isinstance(x, (Expr, Stmt, Function, Program)):
            if isinstance(x, Expr):
                yield x
            stack += _values(x)


def rewrite(node: Any, change: Callable[[Expr], Expr]) -> None:
    """Replace expressions in place, innermost first."""
    if isinstance(node, list):
        for i, x in enumerate(node):
            node[i] = _changed(x, change)
    elif isinstance(node, (Expr, Stmt, Function, Program)):
        for f in fields(node):
            setattr(node, f.name, _changed(getattr(node, f.name), change))


def _changed(x: Any, change: Callable[[Expr], Expr]) -> Any:
    if isinstance(x, tuple):
        return tuple(_changed(y, change) for y in x)
    rewrite(x, change)
    return change(x) if isinstance(x, Expr) else x


# -- text ------------------------------------------------------------------------------------------


def text(e: Expr) -> str:
    """An expression as GLSL, every operator in parentheses."""
    match e:
        case Lit():
            return _literal(e)
        case Var():
            return e.name
        case Un():
            return f"({e.op}{text(e.a)})"
        case Bin():
            return f"({text(e.a)} {e.op} {text(e.b)})"
        case Cond():
            return f"({text(e.c)} ? {text(e.a)} : {text(e.b)})"
        case Cons():
            return f"{e.type if not e.type.members else e.type.base}({_list(e.args)})"
        case Built() | Call():
            return f"{e.name}({_list(e.args)})"
        case Index():
            return f"{text(e.a)}[{text(e.i)}]"
        case Member():
            return f"{text(e.a)}.{e.name}"
        case Swizzle():
            return f"{text(e.a)}.{e.letters}"
        case Assign():
            return f"({text(e.target)} {e.op}= {text(e.value)})"
        case Step():
            return f"({text(e.target)}{e.op * 2})" if e.post else f"({e.op * 2}{text(e.target)})"
    raise AssertionError(e)


def _list(items: list[Expr]) -> str:
    return ", ".join(text(x) for x in items)


def _literal(e: Lit) -> str:
    if e.type == BOOL:
        return "true" if e.value else "false"
    if e.type == FLOAT:
        return repr(float(e.value)) if e.value >= 0 else f"({float(e.value)!r})"
    if e.type == UINT:
        return f"{e.value}u"
    if e.value == -(1 << 31):
        return "int(0x80000000u)"
    return str(e.value) if e.value >= 0 else f"({e.value})"


def declared(type_: Type, name: str) -> str:
    """`type name` with array dimensions in front."""
    return f"{type_.base if type_.members else type_} {name}"


def lines(body: list[Stmt], indent: str) -> Iterator[str]:
    """Statements as GLSL lines."""
    for s in body:
        yield from _statement(s, indent)


def _statement(s: Stmt, at: str) -> Iterator[str]:
    deeper = at + "    "
    match s:
        case Declare():
            yield f"{at}{declared(s.type, s.name)} = {text(s.init)};"
        case Run():
            shown = text(s.expr)
            yield f"{at}{shown[1:-1] if isinstance(s.expr, (Assign, Step)) else shown};"
        case If():
            yield f"{at}if ({text(s.condition)}) {{"
            yield from lines(s.then, deeper)
            if s.otherwise:
                yield f"{at}}} else {{"
                yield from lines(s.otherwise, deeper)
            yield f"{at}}}"
        case For():
            yield f"{at}for (int {s.name} = 0; {s.name} < {text(s.count)}; {s.name}++) {{"
            yield from lines(s.body, deeper)
            yield f"{at}}}"
        case While():
            test = f"{s.name}-- > 0 && {text(s.condition)}"
            yield f"{at}int {s.name} = {s.fuel};"
            yield f"{at}while ({test}) {{" if s.first else f"{at}do {{"
            yield from lines(s.body, deeper)
            yield f"{at}}}" if s.first else f"{at}}} while ({test});"
        case Switch():
            yield f"{at}switch ({text(s.selector)}) {{"
            for labels, default, body in s.groups:
                for label in labels:
                    yield f"{at}case {label}:"
                if default:
                    yield f"{at}default:"
                yield from lines(body, deeper)
                if not body:
                    yield f"{deeper};"
            yield f"{at}}}"
        case Jump():
            yield f"{at}{s.kind};"
        case Return():
            yield f"{at}return;" if s.value is None else f"{at}return {text(s.value)};"
        case Scope():
            yield f"{at}{{"
            yield from lines(s.body, deeper)
            yield f"{at}}}"


def program_text(program: Program) -> str:
    """The whole shader."""
    out = [HEADER.rstrip("\n")]
    for struct in program.structs:
        members = " ".join(f"{declared(kind, name)};" for name, kind in struct.members)
        out.append(f"struct {struct.base} {{ {members} }};")
    out += [f"{declared(g.type, g.name)} = {text(g.init)};" for g in program.globals]
    for f in program.functions:
        params = ", ".join(f"{p.direction} {declared(p.type, p.name)}" for p in f.params)
        result = f.result.base if f.result.members else str(f.result)
        out.append(f"{result} {f.name}({params}) {{")
        out += lines(f.body, "    ")
        out.append("}")
    return "\n".join(out) + "\n"


@dataclass
class Inputs:
    """What one run of a program is given."""

    inp: list[int] = field(default_factory=list)
    """LANES x INPUTS"""
    un: list[int] = field(default_factory=list)
    """UNIFORMS"""
    outp: list[int] = field(default_factory=list)
    """LANES x SLOTS, before"""


@dataclass
class Outcome:
    """What it left behind: colours (None where discarded) and the output buffer."""

    colors: list[tuple[int, int, int, int] | None]
    outp: list[int]

    def difference(self, other: Outcome) -> str:
        """ "" if equal, else the first place where they differ."""
        for lane, (a, b) in enumerate(zip(self.colors, other.colors, strict=True)):
            if a != b:
                return f"lane {lane}: result {a} and {b}"
        for i, (x, y) in enumerate(zip(self.outp, other.outp, strict=True)):
            if x != y:
                return f"outp[{i}] (lane {i // SLOTS}): {x} and {y}"
        return ""

"""A GLSL program being written: its types, variables and functions, and what a call may change.

The rules of `programs.txt` write the text; the words in their places are methods here. What is
wanted of an expression is the writer's state: `type`, `depth` (how deep it may nest) and `pure`
(whether it must change nothing).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.glsl_programs.lanes import UNIFORMS, Inputs
from fuzz.grammar import Grammar


@cache
def _grammar() -> Grammar:
    return Grammar(Path(__file__).with_name("programs.txt").read_text(), dollars=True)


@dataclass(frozen=True, slots=True)
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
        return f"{self.base[0].replace('f', '')}vec{self.size}"

    @property
    def scalar(self) -> Type:
        return Type(self.base)

    @property
    def is_aggregate(self) -> bool:
        return self.element is not None or bool(self.members)


INT, UINT, FLOAT, BOOL = map(Type, ("int", "uint", "float", "bool"))


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    type: Type
    writable: bool = True


@dataclass(frozen=True, slots=True)
class Way:
    """A way into a variable: members by name, "[]" for an element, "xyzw" for components."""

    variable: Variable
    steps: tuple[tuple[str, Type], ...] = ()


@dataclass(slots=True)
class Function:
    """A function that may be called; a pure one writes nothing but its result."""

    name: str
    result: Type | None
    params: list[tuple[str, str, Type]]
    """(direction, name, type)"""
    pure: bool = True

    @property
    def head(self) -> str:
        params = ", ".join(f"{how} {kind} {name}" for how, name, kind in self.params)
        return f"{self.result or 'void'} {self.name}({params})"


@dataclass(slots=True)
class Frame:
    """The function being written."""

    result: Type | None = None
    scopes: list[list[Variable]] = field(default_factory=lambda: [[]])
    loops: int = 0
    """enclosing loops"""
    breakable: int = 0
    """enclosing loops and switches"""
    conditions: list[str] = field(default_factory=list)
    """conditions written so far, to be written again"""
    pure: bool = True


class Writer:
    """Writes one program."""

    INT, integers, nesting = INT, (INT, UINT), 4

    def __init__(self, seed: int, given: Inputs, statements: int, effects: bool) -> None:
        self.r, self.given = random.Random(seed), given
        self.left, self.effects = statements, effects
        self.made, self.calls_left, self.kept_left = 0, 6, 0
        self.structs: list[Type] = []
        self.globals: list[Variable] = []
        self.functions: list[Function] = []
        self.frame = Frame(scopes=[])
        self.type, self.depth, self.pure = INT, self.nesting, False

    def write(self, rule: str, **known: Any) -> str:
        return _grammar().write(rule, self, **known)

    def number(self, stop: int) -> int:
        return self.r.randrange(stop)

    def often(self, chance: float) -> bool:
        return self.r.random() < chance

    def fresh(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    # -- types and variables -----------------------------------------------------------------

    def any_type(self, aggregates: bool = True) -> Type:
        choice = self.r.random()
        if aggregates and choice < 0.12 and self.structs:
            return self.r.choice(self.structs)
        if aggregates and choice < 0.3:
            element = self.any_type(aggregates=choice < 0.2)
            if element.element is None:
                return Type("array", 1, element, self.r.choice((2, 3, 4)))
            return element
        base = self.r.choice(("int", "int", "int", "uint", "float", "bool"))
        return Type(base, self.r.choice((1, 1, 1, 2, 3, 4)))

    def scalar(self) -> Type:
        return self.r.choice((INT, UINT, FLOAT))

    def made_struct(self, name: str, members: Iterable[tuple[str, Type]]) -> None:
        self.structs.append(Type(name, 1, None, 0, tuple(members)))

    def result(self) -> str:
        """From here on the colour is a variable like others."""
        self.globals.append(Variable("result", Type("int", 4)))
        return ""

    def declare(self, name: str, type: Type) -> None:
        scopes = self.frame.scopes
        (scopes[-1] if scopes else self.globals).append(Variable(name, type))

    def variables(self) -> list[Variable]:
        return [*self.globals, *(v for scope in self.frame.scopes for v in scope)]

    def int_variable(self) -> str:
        return self.r.choice([v.name for v in self.variables() if v.type == INT] or ["lane"])

    def compared(self) -> Type:
        """A type that == takes as a whole."""
        kinds = [v.type for v in self.variables()]
        return self.r.choice([k for k in kinds if k.is_aggregate or k.size > 1] or [INT])

    def paths(self, wanted: Type) -> list[Way]:
        """Every way to a value of a type in a variable, up to two steps into it."""

        def into(v: Variable, kind: Type, steps: tuple[tuple[str, Type], ...]) -> Iterable[Way]:
            if kind == wanted:
                yield Way(v, steps)
            elif len(steps) < 2:
                for name, member in kind.members:
                    yield from into(v, member, (*steps, (name, member)))
                if kind.element is not None:
                    yield from into(v, kind.element, (*steps, ("[]", kind.element)))
                elif kind.base == wanted.base and wanted.size < kind.size:
                    yield Way(v, (*steps, ("xyzw", wanted)))

        return [path for v in self.variables() for path in into(v, v.type, ())]

    @property
    def readable(self) -> list[Way]:
        return self.paths(self.type)

    @property
    def places(self) -> list[Way]:
        """Whole variables of the wanted type that may be written."""
        return [p for p in self.writable(self.type) if not p.steps]

    def spelt(self, path: Way) -> str:
        """A path as text, with random indices and components."""
        text, whole = path.variable.name, path.variable.type
        for name, kind in path.steps:
            if name == "[]":
                text += f"[{self.write('x', n=whole.length)}]"
            elif name != "xyzw":
                text += f".{name}"
            elif kind.size == 1 and self.often(0.4):
                text += f"[{self.write('x', n=whole.size)}]"
            else:
                letters = "".join(self.r.sample("xyzw"[: whole.size], kind.size))
                if kind.size == 1 and self.often(0.15):
                    letters += f"{'y' if letters == 'x' else 'x'}[{self.write('x', n=2)}]"
                text += f".{letters}"
            whole = kind
        return text

    def read(self) -> str:
        return self.spelt(self.r.choice(self.readable))

    def writable(self, type: Type) -> list[Way]:
        return [p for p in self.paths(type) if p.variable.writable]

    def place_of(self, places: list[Way]) -> str:
        chosen = self.r.choice(places)
        if chosen.variable in self.globals:
            self.frame.pure = False
        return self.spelt(chosen)

    # -- words of expressions ----------------------------------------------------------------

    def value(
        self, type: Type, depth: int | None = None, pure: bool = False, rule: str = ""
    ) -> str:
        """An expression of a type, by default one level deeper than the one it is in."""
        kept = self.type, self.depth, self.pure
        self.type, self.pure = type, pure or self.pure or not self.effects
        self.depth = self.depth - 1 if depth is None else depth
        if not rule:
            rule = {"int": "integer", "uint": "integer"}.get(type.base, type.base)
            if type.is_aggregate:
                rule = "whole"
            elif self.depth <= 0 or self.often(0.2):
                rule += "_leaf"
            elif rule == "bool" and type.size > 1:
                rule = "bools"
        try:
            return self.write(rule)
        finally:
            self.type, self.depth, self.pure = kept

    def stored(self, type: Type, depth: int | None = None, pure: bool = False) -> str:
        """As `value`, of a type whose values variables hold."""
        return self.value(type, depth, pure, "kept" if type.base == "float" else "")

    def s(self) -> str:
        return self.value(self.type)

    def o(self) -> str:
        return self.value(self.type.scalar if self.often(0.2) else self.type)

    def i(self, size: int = 1) -> str:
        return self.value(Type("int", size))

    def u(self, size: int = 1) -> str:
        return self.value(Type("uint", size))

    def f(self, size: int = 1) -> str:
        return self.value(Type("float", size))

    def b(self, size: int = 1) -> str:
        return self.value(Type("bool", size))

    def t(self) -> str:
        return str(self.type)

    def like(self, base: str) -> Type:
        """The wanted type with another base."""
        return Type(base, self.type.size)

    @property
    def signed(self) -> Type:
        return self.like("int")

    @property
    def truths(self) -> Type:
        return self.like("bool")

    @property
    def other(self) -> Type:
        """A type that converts to the wanted integers, floats to signed ones only."""
        bases = {"int": ("uint", "bool", "float"), "uint": ("int", "bool")}[self.type.base]
        return self.like(self.r.choice(bases))

    def literal(self, value: int) -> str:
        text = f"{value}{'u' if self.type.base == 'uint' else ''}"
        return text if value >= 0 else f"({text})"

    l = literal  # noqa: E741  (a word is one letter)

    def k(self) -> str:
        return self.literal(self.r.choice((1, 3, 7, 15, 31)))

    def any_literal(self) -> str:
        value = self.r.choice((self.number(16), self.number(16), self.r.getrandbits(32)))
        if self.type.base == "int" and value >= 1 << 31:
            return f"int(0x{value:x}u)"
        return self.literal(value)

    def joined(self) -> str:
        """A vector from its parts."""
        scalars, size = self.type.scalar, self.type.size
        head = 2 if size > 2 and self.often(0.5) else 1
        parts = [self.value(Type(self.type.base, head))]
        return f"{self.type}({', '.join(parts + [self.value(scalars) for _ in range(head, size)])})"

    def parts(self) -> str:
        """An aggregate from its parts."""
        kinds = [kind for _, kind in self.type.members]
        if self.type.element is not None:
            kinds = [self.type.element] * self.type.length
        return f"{self.type}({', '.join(map(self.stored, kinds))})"

    @staticmethod
    def quarters(text: str) -> str:
        """A float brought into the range of variables."""
        return f"clamp((floor(({text} * 4.0)) * 0.25), -32.0, 32.0)"

    def outcome(self, truth: bool) -> str:
        i = self.number(UNIFORMS)
        value = self.given.un[i] + (0 if truth else 1 + self.number(4))
        return f"(un[{i // 4}].{'xyzw'[i % 4]} == {value})"

    # -- functions ---------------------------------------------------------------------------

    def opened(self) -> Function:
        result = None if self.often(0.2) else self.any_type()
        hows = [self.r.choice(("in", "in", "in", "out", "inout")) for _ in range(self.number(4))]
        params = [(how, self.fresh("p"), self.any_type()) for how in hows]
        self.frame = Frame(result, pure=all(how == "in" for how in hows))
        self.frame.scopes[0] = [Variable(name, kind) for how, name, kind in params if how != "out"]
        own = min(self.left, 2 + self.number(6))
        self.kept_left, self.left = self.left - own, own
        return Function(self.fresh("f"), result, params)

    def begun(self, function: Function) -> str:
        """Its outputs get their first values."""
        lines: list[str] = []
        for how, name, kind in function.params:
            if how == "out":
                lines.append(f"{name} = {self.stored(kind, 1, pure=True)};")
                self.declare(name, kind)
        return "\n".join(lines)

    def close(self, function: Function) -> None:
        function.pure = self.frame.pure
        self.left += self.kept_left
        self.functions.append(function)

    def made_echo(self, name: str, type: Type) -> None:
        self.functions.append(Function(name, type, [("in", "x", type)]))

    def start(self) -> None:
        """The beginning of main."""
        self.frame, self.calls_left = Frame(), 8

    @property
    def fitting(self) -> list[Function]:
        """Functions that may be called for a value of the wanted type."""
        if self.depth < 1 or self.calls_left <= 0:
            return []
        pure = self.pure
        return [f for f in self.functions if f.result == self.type and (f.pure or not pure)]

    def call(self, function: Function | None = None) -> str:
        """A call; no variable is written through two arguments."""
        chosen = function or self.r.choice(self.fitting)
        self.calls_left -= 1
        arguments: list[str] = []
        used: list[Variable] = []
        for how, _, kind in chosen.params:
            if how == "in":
                arguments.append(self.stored(kind))
                continue
            places = [
                p
                for p in self.writable(kind)
                if p.variable not in used
                if self.effects or p.variable not in self.globals
            ]
            if not places:
                return self.stored(chosen.result or INT)
            place = self.r.choice(places)
            used.append(place.variable)
            arguments.append(self.spelt(place))
        self.frame.pure &= chosen.pure
        return f"{chosen.name}({', '.join(arguments)})"

    def called(self) -> str:
        """A statement that calls a function, and may store its result."""
        kept, self.pure = self.pure, not self.effects
        chosen = self.r.choice(self.functions)
        call = self.call(chosen)
        self.pure = kept
        words = set(re.findall(r"\w+", call))
        places = [
            p
            for p in self.writable(chosen.result or Type("void"))
            if not p.steps and p.variable.name not in words
            if self.effects or p.variable not in self.globals
        ]
        return f"{self.place_of(places)} = {call}" if places else call

    # -- statements --------------------------------------------------------------------------

    @property
    def shallow(self) -> bool:
        return len(self.frame.scopes) < 4

    def statements(self, count: int) -> str:
        """At least one, at most so many, as long as the program may have more."""
        written: list[str] = []
        while len(written) < count and (self.left > 0 or not written):
            self.left -= 1
            written.append(self.write("statement"))
        return "\n".join(written)

    def block(self, most: int, loop: bool = False, switch: bool = False, counter: str = "") -> str:
        """A body in a scope of its own."""
        frame = self.frame
        frame.scopes.append([Variable(counter, INT, writable=False)] if counter else [])
        frame.loops += loop
        frame.breakable += loop or switch
        text = self.statements(1 + self.number(most))
        if frame.breakable and self.often(0.25):
            text += f"\n{self.write('jump')}"
        frame.breakable -= loop or switch
        frame.loops -= loop
        frame.scopes.pop()
        return f"{{\n{text}\n}}"

    def labels(self) -> list[str]:
        """Cases in any order, often with a default."""
        found = [f"case {i}" for i in self.r.sample(range(5), 1 + self.number(4))]
        at = self.number(len(found) + 2)
        return [*found[:at], "default", *found[at:]] if at <= len(found) else found

    def condition(self) -> str:
        """A condition, often one that has been asked before."""
        seen = {v.name for v in self.variables()}
        asked = [c for c in self.frame.conditions if set(re.findall(r"\b[gipv]\d+\b", c)) <= seen]
        if asked and self.often(0.35):
            return self.r.choice(asked)
        made = self.value(BOOL, 2)
        if not re.search(r"\+\+|--|[^<>=!]=[^=]|\b[fe]\d", made):
            self.frame.conditions.append(made)
        return made

    def written_type(self) -> Type:
        """The type of something that may be written."""
        kind = self.r.choice([v.type for v in self.variables() if v.writable])
        if kind.is_aggregate and self.often(0.6):
            inner = Type(
                self.r.choice(("int", "uint", "float", "bool")), self.r.choice((1, 1, 2, 3))
            )
            return inner if self.writable(inner) else kind
        if kind.size > 1 and self.often(0.4):
            return Type(kind.base, self.r.randint(1, kind.size))
        return kind

    def p(self) -> str:
        return self.place_of(self.writable(self.type))

    def checksum(self) -> str:
        """Everything still visible, folded into the colour."""
        leaves = [
            x for v in self.variables() if v.name != "result" for x in _leaves(v.name, v.type)
        ]
        self.r.shuffle(leaves)
        lines = []
        for i, (text, kind) in enumerate(leaves[:20]):
            c = f"result.{'xyzw'[i % 4]}"
            scale = " * 4.0" if kind == FLOAT else ""
            lines.append(f"{c} = (({c} * 31) + int(({text}{scale})));")
        return "\n".join(lines)


def _leaves(text: str, kind: Type) -> Iterable[tuple[str, Type]]:
    """The scalars of a variable."""
    for name, member in kind.members:
        yield from _leaves(f"{text}.{name}", member)
    if kind.element is not None:
        for i in range(kind.length):
            yield from _leaves(f"{text}[{i}]", kind.element)
    elif kind.size > 1:
        yield from ((f"{text}.{c}", kind.scalar) for c in "xyzw"[: kind.size])
    elif not kind.members:
        yield text, kind


def generate(seed: int, given: Inputs, statements: int = 24, effects: bool = True) -> str:
    """A program without its header, for these inputs, of about so many statements.

    Operands have side effects where `effects`; only then is the order of reading them seen.
    """
    text = Writer(seed, given, statements, effects).write("program")
    return "\n".join(line for line in text.splitlines() if line) + "\n"

"""The source of one stage being written: declarations, expressions of all types, statements."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from .numbers import BITS, FLOATS, integer
from .operations import EXPRESSIONS, STATEMENTS

__all__ = ["TYPES", "Need", "Source"]

TYPES = {"f": "float", "i": "int", "u": "uint", "b": "bool", "d": "double", "l": "int64_t"}
_VECTORS = {"f": "vec", "i": "ivec", "u": "uvec", "b": "bvec", "d": "dvec"}
_PLACE = re.compile(r"\$([a-z])(\d?)")

_FUNCTIONS = """
struct Part { vec3 a; int b; float c[2]; };
float frexp_of(float x) { int e; float m = frexp(x, e); return m + float(e); }
float modf_of(float x) { float whole; return modf(x, whole) + whole; }
int high_product(int a, int b) { int high, low; imulExtended(a, b, high, low); return high ^ low; }
uint carry_of(uint a, uint b) { uint carry; uint sum = uaddCarry(a, b, carry); return sum ^ carry; }
uint borrow_of(uint a, uint b) { uint borrow; return usubBorrow(a, b, borrow) + borrow; }
float chosen(float a[4], int i) { return a[i]; }
void change(inout vec4 f, inout ivec4 n) { f = f.yzwx * 1.5; n = n.wxyz + 1; }
void shift(inout float a[4], int i, float x) { a[i] = x; }
uniform vec4 u_floats[3]; uniform ivec4 u_ints[4]; uniform mat3x4 u_matrices[2];
uniform dvec2 u_doubles[2]; uniform int64_t u_long;
"""
_SHARED = """
shared int s_ints[24]; shared vec4 s_floats[5]; shared Part s_parts[3]; shared mat4 s_matrix;
shared double s_doubles[7];
"""


class Need(NamedTuple):
    """What should be bound where a stage looks: `kind` is sampler, image, or a target of buffers.

    `count` units from `first` on, of textures of `target`, whose texels are `texels` (a kind of
    samplers, the format of images).
    """

    kind: str
    first: int
    count: int = 1
    target: str = ""
    texels: str = ""


@dataclass(slots=True)
class Source:
    """A stage: `stage` is a letter (v, c, e, g, f; k of kernels)."""

    r: random.Random
    stage: str
    reals: list[str] = field(default_factory=list)  # expressions of floats that it has
    whole: list[str] = field(default_factory=list)  # and of integers
    declared: list[str] = field(default_factory=list)
    extensions: set[str] = field(default_factory=set)
    needs: list[Need] = field(default_factory=list)
    more: list[tuple[int, Callable[[], str]]] = field(default_factory=list)
    """Statements about resources: how often, and what writes one."""
    loose: bool = True  # statements may leave early
    made: int = 0

    # -- expressions -----------------------------------------------------------------------------

    def fresh(self, what: str) -> str:
        """A name that no other stage has."""
        self.made += 1
        return f"{what}_{self.stage}{self.made}"

    def component(self) -> str:
        return self.r.choice("xyzw")

    def index(self) -> str:
        """An index that is not constant: often a small one."""
        uniform = f"u_ints[{self.r.randrange(4)}].{self.component()}"
        at = self.r.choice([f"n.{self.component()}", uniform, *self.whole])
        kind = self.r.random()
        if kind < 0.4:
            return f"({at}) & {self.r.choice((1, 3, 7, 15))}"
        if kind < 0.5:
            return f"({at}) % {self.r.randrange(2, 9)}"
        if kind < 0.6:
            return f"int(f.{self.component()})"
        return f"({at}) + {self.r.randrange(3)}" if kind < 0.7 else at

    def atom(self, kind: str) -> str:
        """A value without operations."""
        r = self.r
        if kind == "b":
            return r.choice(["true", "false", f"(n.{self.component()} > 0)", "(f.x < f.y)"])
        if kind in "fd":
            choice = r.randrange(6)
            if choice == 0:
                return f"({r.choice(FLOATS)}{'LF' if kind == 'd' else ''})"
            if choice == 1:
                return f"{TYPES[kind]}(uintBitsToFloat({r.choice(BITS):#x}u))"
            if choice == 2:
                return f"{TYPES[kind]}(u_floats[{r.randrange(3)}].{self.component()})"
            if choice == 3 and self.reals:
                return f"{TYPES[kind]}({r.choice(self.reals)})"
            return f"{TYPES[kind]}(f.{self.component()})"
        choice = r.randrange(5)
        if choice == 0:
            return self.literal(kind)
        if choice == 1:
            return f"{TYPES[kind]}(u_ints[{r.randrange(4)}].{self.component()})"
        if choice == 2 and self.whole:
            return f"{TYPES[kind]}({r.choice(self.whole)})"
        return f"{TYPES[kind]}(n.{self.component()})"

    def literal(self, kind: str) -> str:
        """A number of the type: with edges of its own if that has 64 bits."""
        value = integer(self.r)
        if kind == "u":
            return f"{value & 0xFFFFFFFF}u"
        if kind == "l" and self.r.random() < 0.3:
            return f"int64_t({(value << 32) & 0xFFFFFFFFFFFFFFFF:#x}UL)"
        text = f"({value + 1} - 1)" if value == -(1 << 31) else f"({value})"
        return f"int64_t{text}" if kind == "l" else text

    def expression(self, kind: str, depth: int = 2) -> str:
        """Of a scalar."""
        if depth <= 0 or self.r.random() < 0.3:
            return self.atom(kind)
        return f"({self.filled(self.r.choice(EXPRESSIONS[kind]), depth - 1)})"

    def vector(self, kind: str, size: int, depth: int = 1) -> str:
        """Of a vector."""
        if kind == "l":
            return self.expression(kind, depth)
        parts = [self.expression(kind, depth) for _ in range(size if self.r.random() < 0.7 else 1)]
        return f"{_VECTORS[kind]}{size}({', '.join(parts)})"

    def filled(self, text: str, depth: int = 2) -> str:
        """A text with expressions in its places."""

        def place(found: re.Match[str]) -> str:
            kind, size = found[1], int(found[2] or 1)
            if kind == "w":
                return self.index()
            if kind == "k":
                return str(self.r.randrange(9))
            if kind == "n":
                return str(self.r.choice((1, 2, 3, 4, 7, 16, 33)))
            if kind == "c":
                return self.component()
            if kind == "s":
                return self.statement(1)
            if kind == "m":
                columns = [self.vector("f", size, 0) for _ in range(size)]
                return f"mat{size}({', '.join(columns)})"
            return self.vector(kind, size, depth) if size > 1 else self.expression(kind, depth)

        return _PLACE.sub(place, text)

    # -- statements ------------------------------------------------------------------------------

    def statement(self, depth: int = 0) -> str:
        """One of those the stage may have; inside others (`depth`) simpler ones."""
        known: list[tuple[int, Callable[[], tuple[str, str]]]] = [
            (weight, lambda extension=extension, text=text: (extension, text))  # type: ignore[misc]
            for stages, weight, extension, text in STATEMENTS
            if self.stage in stages
            and not (depth and ("$s" in text or "barrier" in text))
            and (self.loose or "return_early" not in text)
        ]
        known += [(weight, lambda write=write: ("", write())) for weight, write in self.more]  # type: ignore[misc]
        (choice,) = self.r.choices([c for _, c in known], [weight for weight, _ in known])
        extension, text = choice()
        if extension:
            self.extensions.add(extension)
        return self.filled(text, 1 if depth else 2).replace("return_early", "return;")

    def body(self, count: int) -> str:
        return "\n    ".join(self.statement() for _ in range(count))

    def declare(self, text: str) -> None:
        self.declared.append(text)

    def text(self, main: str) -> str:
        """The whole source."""
        head = "".join(f"#extension GL_{name} : require\n" for name in sorted(self.extensions))
        shared = _SHARED if self.stage == "k" else ""
        suffix = f"_{self.stage}"
        functions = re.sub(
            r"\bu_(floats|ints|matrices|doubles|long)\b", rf"u_\1{suffix}", _FUNCTIONS
        )
        main = re.sub(r"\bu_(floats|ints|matrices|doubles|long)\b", rf"u_\1{suffix}", main)
        declared = "\n".join(self.declared)
        return (
            f"#version 460 core\n{head}#extension GL_ARB_gpu_shader_int64 : require\n"
            f"{functions.strip()}\n{shared.strip()}\n{declared}\nvoid main() {{\n"
            f"    {main}\n}}\n"
        )

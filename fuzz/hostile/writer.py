"""A program being written: what it has made so far, and numbers for the next call.

Names of objects are Python variables of the program. A step is a function that takes a `Writer` and
says one or more lines; `step` weighs it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from . import numbers
from .stages import Program
from .tables import FORMATS, TARGETS, kind_of

__all__ = ["STEPS", "Buffer", "Linked", "Texture", "Writer", "step"]

Step = Callable[["Writer"], None]
STEPS: list[tuple[int, Step]] = []
"""How often, and what."""


def step(weight: int) -> Callable[[Step], Step]:
    """One thing a program may do, and how often beside the others."""

    def register(function: Step) -> Step:
        STEPS.append((weight, function))
        return function

    return register


@dataclass(slots=True, eq=False)
class Buffer:
    name: str
    size: int
    fixed: bool = False  # its storage stays
    mapped: bool = False


@dataclass(slots=True, eq=False)
class Texture:
    name: str
    target: str
    format: str
    levels: int = 1
    samples: int = 0
    fixed: bool = True

    @property
    def kind(self) -> str:
        return kind_of(FORMATS[self.format])

    @property
    def bind_target(self) -> str:
        return f"GL.{self.target}"


@dataclass(slots=True, eq=False)
class Linked:
    """A program and what it was made of."""

    name: str
    program: Program
    pipeline: bool = False


@dataclass(slots=True)
class Writer:
    r: random.Random
    compat: bool = False
    lines: list[str] = field(default_factory=list)
    made: int = 0
    buffers: list[Buffer] = field(default_factory=list)
    textures: list[Texture] = field(default_factory=list)
    framebuffers: list[str] = field(default_factory=list)
    spoiled: set[str] = field(default_factory=set)  # framebuffers that may be incomplete now
    drawn: str = ""  # the one that is drawn to
    renderbuffers: list[str] = field(default_factory=list)
    samplers: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    queries: list[tuple[str, str]] = field(default_factory=list)  # name, target
    feedbacks: list[str] = field(default_factory=list)
    syncs: list[str] = field(default_factory=list)
    programs: list[Linked] = field(default_factory=list)
    kernels: list[Linked] = field(default_factory=list)
    used: Linked | None = None
    kernel: Linked | None = None
    capturing: bool = False
    counting: str = ""  # the target of the query under way
    conditional: bool = False

    # -- words -----------------------------------------------------------------------------------

    def say(self, *lines: str) -> None:
        self.lines += lines

    def fresh(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"

    def often(self, chance: float) -> bool:
        return self.r.random() < chance

    def pick(self, values: Sequence[str]) -> str:
        return self.r.choice(values)

    def seed(self) -> int:
        return self.r.randrange(100_000)

    # -- numbers ---------------------------------------------------------------------------------

    def size(self) -> int:
        """Of a buffer."""
        return self.r.choice(numbers.SIZES) if self.often(0.6) else 4096

    def offset(self, size: int, step: int = 4) -> int:
        """A place in so many bytes: mostly inside, on a multiple of `step`."""
        kind = self.r.random()
        if kind < 0.4:
            return 0
        if kind < 0.75:
            return self.r.randrange(max(size, 1)) // step * step
        if kind < 0.9:
            return max(size - self.r.choice((0, 1, 2, 4, 8, 16)), 0)
        return self.wild(62)

    def length(self, size: int, offset: int) -> int:
        """How many bytes from there."""
        rest = max(size - offset, 0)
        kind = self.r.random()
        if kind < 0.4:
            return rest
        if kind < 0.85:
            return self.r.randrange(rest + 1)
        return self.r.choice((0, 1, rest + 1, rest + 16, self.wild(62)))

    def wild(self, bits: int = 31) -> int:
        """An edge of signed numbers of so many bits and a sign."""
        top = 1 << bits
        value = self.r.choice(
            (
                -1,
                -4,
                -16,
                1 << 16,
                1 << 30,
                (1 << 31) - 1,
                1 << 31,
                1 << 32,
                top - 1,
                top - 16,
                -top,
            )
        )
        return value if -top <= value < top else self.r.choice((-1, top - 1, -top))

    def small(self, stop: int) -> int:
        """A number below, or seldom one that is not."""
        kind = self.r.random()
        if kind < 0.9:
            return self.r.randrange(stop)
        return stop if kind < 0.95 else self.wild()

    def unsigned(self) -> int:
        return numbers.integer(self.r) & 0xFFFFFFFF

    def real(self, wild: float = 0.5) -> str:
        return numbers.real(self.r, wild)

    def reals(self, count: int, wild: float = 0.3) -> str:
        return ", ".join(self.real(wild) for _ in range(count))

    def unit(self) -> str:
        """A float that is mostly between 0 and 1."""
        return self.real() if self.often(0.15) else repr(self.r.randrange(17) / 16)

    # -- objects ---------------------------------------------------------------------------------

    def buffer(self) -> Buffer:
        """One of those there are."""
        if not self.buffers or self.often(0.02):
            return Buffer("0", 0)
        return self.r.choice(self.buffers)

    def texture(self, *targets: str) -> Texture | None:
        """One of those there are, of one of the targets."""
        found = [t for t in self.textures if not targets or t.target in targets]
        return self.r.choice(found) if found else None

    def known(self) -> list[tuple[str, str, str]]:
        """What shaders may look at: target, kind and format."""
        return [(t.target, t.kind, t.format) for t in self.textures if t.target in TARGETS]

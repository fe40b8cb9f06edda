"""What the generator knows while it writes a function: variables, loops, purity."""

from __future__ import annotations

from dataclasses import dataclass, field

from fuzz.glsl_programs import syntax as s


@dataclass
class Variable:
    """A variable in scope."""

    name: str
    type: s.Type
    writable: bool = True
    is_global: bool = False


@dataclass
class Signature:
    """A function that may be called, and what calling it may do."""

    function: s.Function
    pure: bool = True
    """writes nothing but what its result says"""


@dataclass
class Frame:
    """The function being written."""

    result: s.Type
    scopes: list[list[Variable]] = field(default_factory=lambda: [[]])
    loops: int = 0
    """enclosing loops"""
    breakable: int = 0
    """enclosing loops and switches"""
    depth: int = 0
    conditions: list[s.Expr] = field(default_factory=list)
    """conditions written so far, to be written again"""
    pure: bool = True

    def visible(self) -> list[Variable]:
        return [v for scope in self.scopes for v in scope]


@dataclass(frozen=True)
class Style:
    """What kind of programs to make."""

    statements: int = 24
    """about how many"""
    effects: bool = True
    """operands may have side effects; only then is the order of reading them seen"""
    depth: int = 3
    """of expressions"""

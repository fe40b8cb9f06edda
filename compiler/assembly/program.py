"""An assembly program as data: what the parser makes and the translator reads."""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import field, lazy_dataclass


class AssemblyError(Exception):
    """A malformed program: the problem, and its byte position."""

    def __init__(self, message: str, position: int, text: str = ""):
        self.position = position
        line = text.count("\n", 0, position) + 1
        column = position - (text.rfind("\n", 0, position) + 1) + 1
        super().__init__(f"line {line}, char {column}: error: {message}")


@lazy_dataclass(frozen=True)
class Operand:
    """A source: a temporary, attribute, parameter or array element, swizzled and negated."""

    kind: str  # temp, attrib, param, array, address
    name: str  # of the variable, or a binding such as "vertex.position"
    swizzle: str = "xyzw"
    negate: tuple[bool, bool, bool, bool] = (False, False, False, False)
    index: int = 0
    relative: str = ""  # address register with component


@lazy_dataclass(frozen=True)
class Target:
    """A destination with its write mask."""

    kind: str  # temp, result, address
    name: str
    mask: str = "xyzw"


@lazy_dataclass(frozen=True)
class Instruction:
    """One instruction; texture instructions have a unit and a target."""

    op: str
    saturate: bool
    target: Target | None
    sources: tuple[Operand, ...]
    unit: int = 0
    texture: str = ""
    position: int = 0


@lazy_dataclass()
class Program:
    """A parsed program."""

    vertex: bool
    options: list[str] = field(default_factory=list)
    temps: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    arrays: dict[str, list[str]] = field(default_factory=dict)  # elements are parameter bindings
    instructions: list[Instruction] = field(default_factory=list)
    parameters: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)

    @property
    def texture_instructions(self) -> int:
        return sum(1 for i in self.instructions if i.texture or i.op == "KIL")

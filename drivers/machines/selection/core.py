"""The interface of a machine's instruction selection that selecting messages relies on.

An *operand* is a machine's form of one component of a value: a region of registers, an immediate.
Machines differ in arithmetic and in how they send a message; the classes derived from this one
define, for all machines, which messages a shader's loads and stores become.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Def, Shader, Src
from gallette.drivers.machines.isa.messages import Place
from gallette.drivers.machines.isa.types import TYPES, RegType

Operand: TypeAlias = Any
UD, D, F = TYPES["UD"], TYPES["D"], TYPES["F"]


class MessageSelector(ABC):
    """A machine's instruction selection, and what it records about a shader."""

    machine = "machine"  # its name, in messages

    def __init__(self, shader: Shader, flat_colors: bool = False) -> None:
        self.shader = shader
        self.stage = shader.stage.value
        self.flat_colors = flat_colors
        self.values: dict[Def, list[Operand]] = {}
        self.note = ""  # the NIR operation being selected, for listings
        self.line = 0  # its source line
        self.depth = 0  # nesting depth of ifs and loops
        self.outputs: dict[Place, Operand] = {}  # of a fragment shader, kept until its end
        self.early: set[Place] = set()  # results that need an initial value
        self.places: dict[Place, int] = {}  # outputs of other stages, with their bit sizes
        self.inputs: set[tuple[int, int, str, str]] = set()
        self.system_values: set[str] = set()
        self.textures: set[int] = set()
        self.implicit: set[int] = set()
        self.derivatives = self.discards = self.effects = False
        self.private = 0  # bytes of memory per channel
        self.has_barriers = False

    @property
    def results(self) -> list[Place]:
        """The outputs of a fragment shader."""
        return list(self.outputs)

    def fail(self, what: str) -> GalletteError:
        return GalletteError(f"{self.machine} has no code for {what}")

    # -- values ------------------------------------------------------------------------------------

    def value(self, src: Src, component: int = 0) -> Operand:
        """A component of the value that a source reads, untyped."""
        swizzled = src.swizzle[component] if src.swizzle else component
        return self.values[src.value][swizzled]

    def read(self, src: Src, type: RegType, component: int = 0) -> Operand:
        """A component of the value that a source reads, as an operand of a type."""
        return self.typed(self.value(src, component), type)

    @abstractmethod
    def typed(self, operand: Operand, type: RegType) -> Operand:
        """An operand read as another type."""

    @abstractmethod
    def known(self, operand: Operand) -> int | None:
        """The bits of a constant operand, or None."""

    def constant(self, src: Src, component: int = 0) -> int | None:
        """The value of a constant source, or None."""
        return self.known(self.value(src, component))

    @abstractmethod
    def number(self, bits: int, type: RegType) -> Operand:
        """A constant of a type."""

    @abstractmethod
    def as_bool(self, operand: Operand) -> Operand:
        """A unit's boolean answer as all ones or zeros."""

    @abstractmethod
    def uniform(self, block: int, offset: int, type: RegType) -> Operand | None:
        """A word (or two) of a uniform block as a constant operand, if constant registers
        are left.
        """

    # -- arithmetic --------------------------------------------------------------------------------

    @abstractmethod
    def apply(self, name: str, *srcs: Operand) -> Operand:
        """The result of an opcode of NIR."""

    @abstractmethod
    def choice(self, condition: Operand, a: Operand, b: Operand) -> Operand:
        """a where the condition holds, else b."""

    def where_equal(
        self, index: Operand, k: int, new: Sequence[Operand], old: Sequence[Operand]
    ) -> list[Operand]:
        """`new` where index == k, else `old`."""
        same = self.apply("ieq", index, self.number(k, D))
        return [self.choice(same, a, b) for a, b in zip(new, old, strict=True)]

    # -- messages ----------------------------------------------------------------------------------

    @abstractmethod
    def send_for_reply(
        self,
        unit: str,
        fields: dict[str, int],
        payload: Sequence[Operand],
        type: RegType,
        count: int,
        note: str = "",
    ) -> list[Operand]:
        """Send a message with a reply of `count` components."""

    @abstractmethod
    def send_message(
        self, unit: str, fields: dict[str, int], payload: Sequence[Operand], note: str = ""
    ) -> None:
        """Send a message without a reply."""

    # -- fragment results --------------------------------------------------------------------------

    @abstractmethod
    def result(self, place: Place) -> Operand:
        """The register that holds a result."""

    @abstractmethod
    def assign(self, target: Operand, value: Operand) -> None:
        """Write the register of a result."""

    @abstractmethod
    def discard_where(self, condition: Operand | None) -> None:
        """Discard the pixels where `condition` holds (None: all active ones): they write nothing
        any more.
        """

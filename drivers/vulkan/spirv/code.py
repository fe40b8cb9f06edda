"""The body of a driver-form shader: `DriverCode` is the shared emitter with slots and numbers."""

from __future__ import annotations

from collections.abc import Callable

from gallette.compiler.nir.ir.instrs import Intrinsic, Tex
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.spirv.emit.code import Code
from gallette.compiler.spirv.emit.values import Value, Values

from .interface import DriverInterface
from .options import EmitOptions

__all__ = ["HANDLERS", "DriverCode", "handles"]

Handler = Callable[["DriverCode", Intrinsic], None]
HANDLERS: dict[str, Handler] = {}
"""What writes an intrinsic of this form; the shared emitter knows the others."""


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler."""

    def register(function: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = function
        return function

    return register


class DriverCode(Code):
    """Writes the body of one function."""

    interface: DriverInterface

    def __init__(
        self, values: Values, interface: DriverInterface, stage: Stage, options: EmitOptions
    ) -> None:
        super().__init__(values, interface, stage)
        self.options = options
        self.outputs: dict[tuple[int, int], tuple[int, str]] = {}  # private copies, by slot
        self.flush: Callable[[DriverCode], None] = lambda code: None

    def intrinsic(self, instr: Intrinsic) -> None:
        handler = HANDLERS.get(instr.name)
        if handler is None:
            super().intrinsic(instr)
        else:
            handler(self, instr)

    def tex(self, instr: Tex) -> None:
        from .textures import emit_tex

        emit_tex(self, instr)

    def leave(self) -> None:
        self.flush(self)
        super().leave()

    # Helpers of the handlers.

    def uint(self, value: int) -> Value:
        return Value(self.b.uint(value), "u", 32, 1)

    def add(self, a: Value, number: int) -> Value:
        """A sum of 32-bit integers."""
        return self.binary("OpIAdd", a, self.uint(number)) if number else a

    def binary(self, name: str, a: Value, c: Value) -> Value:
        return Value(self.b.op(name, self.b.int_type(), a.id, c.id), "u", 32, 1)

    def source(self, instr: Intrinsic, index: int, kind: str = "u") -> Value:
        return self.values.get(instr.srcs[index].value, kind)

    def pushed(self, word: int) -> Value:
        """A push constant."""
        b = self.b
        b.known["pushed", word] = 1
        chain = b.op(
            "OpAccessChain",
            b.pointer("PushConstant", b.int_type()),
            self.interface.push(),
            b.uint(0),
            b.uint(word),
        )
        return Value(b.op("OpLoad", b.int_type(), chain), "u", 32, 1)

    def as_float(self, value: Value) -> Value:
        return self.values.cast(value, "f") if value.kind != "f" else value

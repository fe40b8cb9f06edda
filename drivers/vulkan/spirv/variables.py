"""Slots and numbers become variables, which is what SPIR-V and `compiler/spirv/emit` know.

Before: `%1 = load_ssbo(%block, %offset)`; after, `%1 = load_deref(&ssbo0.words[%offset >> 2])`.
State that Vulkan does not have is lowered in the same step, as the variant's key says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gallette.compiler.function_table import FunctionTable
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cloning import copy_shader
from gallette.compiler.nir.ir.instrs import Deref, Instr, Intrinsic
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.ownership import disown
from gallette.compiler.nir.ir.queries import const_int, instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import UINT, Field, Type, array, interface
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable

from .program import Open

PUSHED = {"base_vertex": 0, "first_vertex": 1, "draw_id": 2, "point_size": 3, "alpha_ref": 4,
          "num_samples": 5, "sub_pixel": 6, "levels": 8}  # fmt: skip
"""Push constants by the word they are at: values for which Vulkan has no state or built-in."""
PUSH_WORDS = 32

Handler = Callable[["Variables", Any], Def | Instr | None]
HANDLERS = FunctionTable[str, Handler]()
"""What rewrites an intrinsic, or each lookup ("tex"): it returns the value that replaces the
result, the instruction if it stays, or None if it goes.
"""
handles = HANDLERS.entry


def constant(instr: Intrinsic, index: int) -> int:
    """A source that the pass `constant_indices` has left constant."""
    known = const_int(instr.srcs[index].value)
    assert known is not None
    return known


class Variables:
    """The variables of one shader, made on first use; `shader` is the copy that reads them."""

    def __init__(self, shader: Shader, key: Any) -> None:
        self.shader, self.key, self.stage = disown(copy_shader(shader)), key, shader.stage
        self.b = Builder(self.shader.entry).sharing_constants(forward=True)
        self.opens: dict[Variable, Open] = {}
        self.kept: dict[tuple[int, int], Variable] = {}  # outputs before the invocation ends
        self.places: dict[int, str] = {}  # where inputs are interpolated, by slot
        self.doubles: set[int] = set()  # vertex inputs of 64 bits
        self.read: set[str] = set()  # push constants
        self.writes_memory = False
        self._known: dict[Any, Variable] = {}
        self._shapes: dict[Open, list[Type]] = {}

    def rewrite(self) -> None:
        """Rewrite the shader, whose variables are then those in `opens`."""
        for instr in list(instrs_of(self.shader.entry)):
            name = instr.name if isinstance(instr, Intrinsic) else instr.kind
            handler = HANDLERS.get(name)
            if handler is None:
                continue
            self.b.at_before(instr)
            made = handler(self, instr)
            if made is None:
                instr.remove()
            elif isinstance(made, Def):
                instr.replace_by(made)

    def finish(self) -> None:
        """Forget the variables that the shader had before it was lowered."""
        self.shader.variables[:] = self._known.values()

    def variable(self, mode: Mode, what: Open, type: Type, **more: Any) -> Variable:
        """The variable of that type that stands for something."""
        key = mode, what, type
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Variable(f"{what[0]}{what[1]}", type, mode, **more)
            self.opens[found] = what
        return found

    def handle(self, mode: Mode, kind: str, number: int, type: Type, **more: Any) -> Deref:
        """A texture or image. One that is used with several types is a descriptor for each."""
        shapes = self._shapes.setdefault((kind, number), [])
        if type not in shapes:
            shapes.append(type)
        what = kind, number + 1000 * shapes.index(type)
        return self.b.deref_var(self.variable(mode, what, type, **more))

    def words(self, var: Variable, block: Def | None = None) -> Deref:
        """The array in a block, or in one of an array of blocks."""
        place = self.b.deref_var(var)
        if block is not None:
            place = self.b.deref_array(place, block)
        return self.b.deref_struct(place, 0)

    def pushed(self, name: str, index: int = 0) -> Def:
        """A push constant."""
        self.read.add(name)
        var = self.variable(Mode.PUSH_CONST, ("push", 0), block_of(UINT, PUSH_WORDS))
        return self.b.load_deref(self.b.deref_array_imm(self.words(var), PUSHED[name] + index))

    def part(self, instr: Intrinsic, value: Def) -> Def:
        """The components of a slot that an instruction loads."""
        first = instr["component"]
        return self.b.swizzle(value, range(first, first + instr.result.num_components))


def block_of(element: Type, length: int) -> Type:
    """The type of a block that is an array."""
    words = Field("words", array(element, length, element.bit_size // 8), offset=0)
    return interface(f"{element}s{length}", [words], "std430")

"""Routines: pure functions in NIR, without memory and control flow.

    half = routine("half", {"x": (4, 32)}, lambda b, x: [b.fmul(x, b.imm_float(0.5))])

`steps` is the code component by component, without what no result needs: that is what a driver
compiles. `shader` is the code as it was built, for printers and debuggers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Alu, Def, Intrinsic, LoadConst, Stage
from gallette.compiler.nir.ir.opcodes import Opcode
from gallette.compiler.nir.ir.ownership import disown
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Base, vec
from gallette.compiler.nir.ir.variables import Parameter


@lazy_dataclass(frozen=True)
class Step:
    """One operation on scalars: an opcode, or a load from the constant table of this name.

    Sources are numbers of values: the parameters' components, then the constants, then the results
    of the steps, in order.
    """

    op: Opcode | str
    sources: tuple[int, ...]
    bits: int  # of the result


@lazy_dataclass(frozen=True, eq=False)
class Routine:
    """A pure function."""

    name: str
    shader: Shader
    results: tuple[Def, ...]
    inputs: tuple[int, ...]
    """The size of each component of the parameters."""
    constants: tuple[tuple[int, int], ...]
    """Raw bits, and how many."""
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    """The numbers of the results' components."""
    kinds: tuple[str, ...]
    """The base types of the results' components."""
    any_conversion: bool
    """Whether floats that no integer can represent may become any integer: `f2i32` is the machine's
    conversion then, which is faster than NIR's.
    """
    functions: list[Callable[..., Any]] = field(default_factory=list)
    """The routine as a function of arrays, once it was evaluated."""

    @property
    def read(self) -> tuple[int, ...]:
        """The components of parameters that the code reads, by number."""
        used = {n for step in self.steps for n in step.sources} | set(self.outputs)
        return tuple(sorted(n for n in used if n < len(self.inputs)))

    @property
    def first_step(self) -> int:
        """The number of the first step's result."""
        return len(self.inputs) + len(self.constants)

    def size(self, number: int) -> int:
        """The bits of a value."""
        if number >= self.first_step:
            return self.steps[number - self.first_step].bits
        if number >= len(self.inputs):
            return self.constants[number - len(self.inputs)][1]
        return self.inputs[number]


def routine(
    name: str,
    parameters: Mapping[str, tuple[int, int]],
    build: Callable[..., Sequence[Def]],
    returns: str = "",
    any_conversion: bool = False,
) -> Routine:
    """Build a routine; `parameters` are (components, bits) by name, which `build` gets in order,
    after the builder. `returns` has a letter for each component of the results: f(loat), i(nt) or
    u(int), which the last ones need not have.
    """
    b = Builder.shader_main(Stage.FRAGMENT, name)
    disown(b.shader)
    function = b.impl.function
    for label, (components, bits) in parameters.items():
        function.params.append(
            Parameter(label, vec(_TYPES[bits], components), False, components, bits)
        )
    b.sharing_constants()
    given = [b.load_param(i) for i in range(len(parameters))]
    for value, label in zip(given, parameters, strict=True):
        value.call(label, 0)
    flat = _Flattening(given)
    results = tuple(build(b, *given))
    return flat.routine(name, b.shader, results, returns, any_conversion)


def remove_unused(routine: Routine) -> None:
    """Remove instructions of `shader` that no result needs; `steps` never contain them."""
    kept = set(routine.results)
    for instr in reversed(list(routine.shader.entry.first.instrs())):
        if instr.dest is not None and not instr.dest.uses and instr.dest not in kept:
            instr.remove()


_KINDS = {"f": "float", "i": "int", "u": "uint"}
_TYPES = {1: Base.BOOL, 8: Base.UINT8, 16: Base.UINT16, 32: Base.FLOAT, 64: Base.UINT64}


class _Flattening:
    """Translates vectors into scalars, from the results back."""

    def __init__(self, given: Sequence[Def]) -> None:
        self._numbers: dict[tuple[Def, int], int] = {}
        for value in given:
            for i in range(value.num_components):
                self._numbers[value, i] = len(self._numbers)
        self._sizes = tuple([value.bit_size for value, _ in self._numbers])
        self._inputs = len(self._sizes)
        self._constants: dict[tuple[int, int], int] = {}
        self._steps: dict[Step, int] = {}

    def routine(
        self,
        name: str,
        shader: Shader,
        results: tuple[Def, ...],
        returns: str,
        any_conversion: bool,
    ) -> Routine:
        needed = [(value, i) for value in results for i in range(value.num_components)]
        outputs = [self._number(value, i) for value, i in needed]
        moved = self._inputs + len(self._constants)

        # Constants are numbered from -1 downwards until their count is known.
        def final(number: int) -> int:
            if number < 0:
                return self._inputs - 1 - number
            return number if number < self._inputs else number - self._inputs + moved

        steps = tuple(
            Step(step.op, tuple([final(n) for n in step.sources]), step.bits)
            for step in self._steps
        )
        return Routine(
            name, shader, results, self._sizes, tuple(self._constants), steps,
            tuple([final(n) for n in outputs]),
            tuple([_KINDS[letter] for letter in returns.ljust(len(outputs), "u")]), any_conversion,
        )  # fmt: skip

    def _number(self, value: Def, component: int) -> int:
        """The number of a component. Routines are short enough for recursion."""
        found = self._numbers.get((value, component))
        if found is None:
            found = self._numbers[value, component] = self._made(value, component)
        return found

    def _made(self, value: Def, component: int) -> int:
        instr = value.instr
        if isinstance(instr, LoadConst):
            key = instr.values[component], value.bit_size
            return self._constants.setdefault(key, -1 - len(self._constants))
        if isinstance(instr, Alu):
            if instr.op.is_vec:
                src = instr.srcs[component]
                return self._number(src.value, src.swizzle[0])
            srcs = [self._number(s.value, s.swizzle[component]) for s in instr.srcs]
            if instr.op.is_copy:
                return srcs[0]
            if instr.op.per_component:
                return self._step(Step(instr.op, tuple(srcs), value.bit_size))
        if isinstance(instr, Intrinsic) and instr.name == "load_table":
            source = instr.srcs[0]
            index = self._number(source.value, source.swizzle[0] if source.swizzle else 0)
            return self._step(Step(instr["table"], (index,), value.bit_size))
        raise GalletteError(f"a routine cannot contain {instr!r}")

    def _step(self, step: Step) -> int:
        return self._steps.setdefault(step, self._inputs + len(self._steps))

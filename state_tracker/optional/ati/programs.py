"""ATI_fragment_shader: programs specified call by call, between Begin and End.

A program has one or two passes. A pass first fills registers, by sampling textures or passing
coordinates on, then executes up to eight pairs of a colour and an alpha operation. The calls are
recorded here as data (`Program`) and checked as the extension requires; `source.py` translates
it to GLSL when it is first drawn with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_operation

if TYPE_CHECKING:
    from collections.abc import Sequence

REGISTERS, CONSTANTS, COORDINATES = 6, 8, 8
MOST_PAIRS = 8
ARITY: dict[int, int] = {
    GL.MOV_ATI: 1, GL.ADD_ATI: 2, GL.MUL_ATI: 2, GL.SUB_ATI: 2, GL.DOT3_ATI: 2, GL.DOT4_ATI: 2,
    GL.MAD_ATI: 3, GL.LERP_ATI: 3, GL.CND_ATI: 3, GL.CND0_ATI: 3, GL.DOT2_ADD_ATI: 3,
}  # fmt: skip
DOTS = frozenset((GL.DOT3_ATI, GL.DOT4_ATI, GL.DOT2_ADD_ATI))
SWIZZLES = frozenset(
    (GL.SWIZZLE_STR_ATI, GL.SWIZZLE_STQ_ATI, GL.SWIZZLE_STR_DR_ATI, GL.SWIZZLE_STQ_DQ_ATI)
)
_WITH_Q = frozenset((GL.SWIZZLE_STQ_ATI, GL.SWIZZLE_STQ_DQ_ATI))
_INTERPOLATED = frozenset((GL.PRIMARY_COLOR, GL.SECONDARY_INTERPOLATOR_ATI))
_REPEATS = frozenset((GL.NONE, GL.RED, GL.GREEN, GL.BLUE, GL.ALPHA))
_SCALES = (
    GL._2X_BIT_ATI, GL._4X_BIT_ATI, GL._8X_BIT_ATI, GL.HALF_BIT_ATI, GL.QUARTER_BIT_ATI,
    GL.EIGHTH_BIT_ATI,
)  # fmt: skip


@lazy_dataclass(frozen=True)
class Setup:
    """A register filled with a sample or with coordinates."""

    register: int
    source: int  # GL_TEXTUREn or GL_REG_n_ATI
    swizzle: int
    samples: bool


@lazy_dataclass(frozen=True)
class Argument:
    source: int
    repeat: int
    modifiers: int


@lazy_dataclass(frozen=True)
class Operation:
    op: int
    register: int
    mask: int
    modifiers: int
    arguments: tuple[Argument, ...]


@lazy_dataclass(frozen=True)
class Pair:
    """A colour and an alpha operation that read the operands before either writes."""

    color: Operation | None
    alpha: Operation | None


@lazy_dataclass()
class Pass:
    setup: list[Setup] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)


class Program:
    """The calls of a program's definition so far."""

    def __init__(self) -> None:
        self.passes: list[Pass] = []
        self.constants: dict[int, tuple[float, ...]] = {}
        self._uses_q: dict[int, bool] = {}
        self._interpolates_early = False

    # -- setting up ------------------------------------------------------------------------------

    def set_up(self, destination: int, source: int, swizzle: int, samples: bool) -> None:
        """Record SampleMap or PassTexCoord."""
        late = len(self.passes) == 2 or (bool(self.passes) and bool(self.passes[-1].pairs))
        if len(self.passes) == 2 and self.passes[1].pairs:
            raise invalid_operation("a third pass")
        register = _register(destination)
        coordinate = 0 <= source - GL.TEXTURE0 < COORDINATES
        if not coordinate and not 0 <= source - GL.REG_0_ATI < REGISTERS:
            raise invalid_enum(source, "source of coordinates")
        if not coordinate and not late:
            raise invalid_operation("the first pass has no registers to read yet")
        if swizzle not in SWIZZLES:
            raise invalid_enum(swizzle, "swizzle")
        if not coordinate and swizzle in _WITH_Q:
            raise invalid_operation("registers have no fourth coordinate")
        current = self.passes[-1] if self.passes and not self.passes[-1].pairs else None
        if current is not None and any(s.register == register for s in current.setup):
            raise invalid_operation("the register is set up already")
        if coordinate:
            q = swizzle in _WITH_Q
            if self._uses_q.setdefault(source, q) is not q:
                raise invalid_operation("one set of coordinates is read with r and with q")
        if current is None:
            current = Pass()
            self.passes.append(current)
        current.setup.append(Setup(register, source, swizzle, samples))

    # -- operations ------------------------------------------------------------------------------

    def operate(
        self, alpha: bool, op: int, destination: int, mask: int, modifiers: int,
        given: Sequence[int],
    ) -> None:  # fmt: skip
        """Record ColorFragmentOp or AlphaFragmentOp; `given` has three numbers for each
        argument.
        """
        count = len(given) // 3
        if ARITY.get(op) != count:
            raise invalid_enum(op, f"operation of {count} arguments")
        pairs = self.passes[-1].pairs if self.passes else []
        fresh = not alpha or not pairs or pairs[-1].alpha is not None
        if fresh and len(pairs) >= MOST_PAIRS:
            raise invalid_operation(f"more than {MOST_PAIRS} instructions in a pass")
        register = _register(destination)
        scale = modifiers & ~GL.SATURATE_BIT_ATI
        if scale and scale not in _SCALES:
            raise invalid_enum(modifiers, "modifier of a result")
        color = pairs[-1].color if pairs and not fresh else None
        if alpha:
            before = color.op if color is not None else None
            if (op in DOTS and before != op) or (before == GL.DOT4_ATI and op != before):
                raise invalid_operation("a dot product of alpha belongs to that of colour")
        arguments = tuple(
            self._argument(alpha, op, *given[3 * i : 3 * i + 3]) for i in range(count)
        )
        constants = {a.source for a in arguments if 0 <= a.source - GL.CON_0_ATI < CONSTANTS}
        if len(constants) > 2:
            raise invalid_operation("three different constants in one operation")
        if len(self.passes) < 2 and any(a.source in _INTERPOLATED for a in arguments):
            self._interpolates_early = True
        if not self.passes:
            self.passes.append(Pass())
            pairs = self.passes[0].pairs
        made = Operation(op, register, mask, modifiers, arguments)
        if fresh:
            pairs.append(Pair(None, made) if alpha else Pair(made, None))
        else:
            pairs[-1] = Pair(color, made)

    def _argument(self, alpha: bool, op: int, source: int, repeat: int, modifiers: int) -> Argument:
        if not (
            0 <= source - GL.REG_0_ATI < REGISTERS
            or 0 <= source - GL.CON_0_ATI < CONSTANTS
            or source in _INTERPOLATED
            or source in (GL.ZERO, GL.ONE)
        ):
            raise invalid_enum(source, "argument")
        if repeat not in _REPEATS:
            raise invalid_enum(repeat, "component of an argument")
        known = GL._2X_BIT_ATI | GL.COMP_BIT_ATI | GL.NEGATE_BIT_ATI | GL.BIAS_BIT_ATI
        if modifiers & ~known:
            raise invalid_enum(modifiers, "modifier of an argument")
        if source == GL.SECONDARY_INTERPOLATOR_ATI:
            whole = repeat == GL.NONE and (alpha or op == GL.DOT4_ATI)
            if repeat == GL.ALPHA or whole:
                raise invalid_operation("the second interpolator has no alpha")
        return Argument(source, repeat, modifiers)

    def finish(self) -> None:
        """Raise EndFragmentShader's errors; the program is stored in any case."""
        if self._interpolates_early and len(self.passes) == 2:
            raise invalid_operation("interpolators are for the last pass")
        if not self.passes or not self.passes[-1].pairs:
            raise invalid_operation("the last pass does nothing")


def _register(destination: int) -> int:
    index = destination - GL.REG_0_ATI
    if not 0 <= index < REGISTERS:
        raise invalid_enum(destination, "register")
    return index

"""What a back end can emit of the functions that cost silicon.

Every machine adds, multiplies, compares, shifts and rounds down. Beyond that they differ: one has
sine and cosine of any angle, another only of angles that were brought near zero; one divides,
another has a reciprocal, a third only a table that gives the first eight bits of one. A `Machine`
says which, `table.special` expresses everything else with it, and the pass
`lower_special_functions` does that to a shader.

    Machine()                                              everything, nothing to lower
    Machine.of("frcp frsq fsin_reduced fcos_reduced fexp2 flog2")    a small GPU
    Machine.of("frcp_8bit frsq_8bit", steps=2)             polynomials, and two Newton steps

The opcodes it speaks of are `FUNCTIONS`; what stands in `has` is emitted as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gallette.compiler.errors import GalletteError

__all__ = ["FUNCTIONS", "Machine"]

FIRST: tuple[str, ...] = ("frcp_8bit", "frsq_8bit", "fsin_reduced", "fcos_reduced")
"""what only the lowering itself makes use of"""
LOWERED: tuple[str, ...] = (
    *("fdiv", "frcp", "frsq", "fsqrt", "fmod", "frem"),
    *("fexp2", "flog2", "fpow", "fsin", "fcos"),
)
"""what shaders ask for"""
FUNCTIONS: frozenset[str] = frozenset((*FIRST, *LOWERED))


@dataclass(frozen=True, slots=True)
class Machine:
    """Which of `FUNCTIONS` a back end emits, and how well the others shall be computed."""

    has: frozenset[str] = frozenset(LOWERED)
    steps: int = 2
    """Newton-Raphson steps after an 8-bit approximation: 0 is 8 bits, 1 is 16, 2 is all of them"""
    ffma: bool = True
    """it has `ffma`: what is left over after a step is known exactly"""
    exact_division: bool = False
    """correct a quotient made by a reciprocal once more (with `ffma`: the last bit, too)"""
    full_range: bool = False
    """angles of any size are reduced exactly; otherwise those below some thousands of turns"""

    def __post_init__(self) -> None:
        unknown = sorted(self.has - FUNCTIONS)
        if unknown:
            raise GalletteError(f"a machine has no {', '.join(unknown)}: {sorted(FUNCTIONS)}")
        if not self.has & {"fdiv", "frcp", "frcp_8bit"}:
            raise GalletteError("a machine needs fdiv, frcp or frcp_8bit")
        if not self.has & {"fsqrt", "frsq", "frsq_8bit"}:
            raise GalletteError("a machine needs fsqrt, frsq or frsq_8bit")
        if not 0 <= self.steps <= 4:
            raise GalletteError(f"{self.steps} Newton steps; 0 to 4 make sense")

    @classmethod
    def of(
        cls,
        has: str | Iterable[str],
        *,
        steps: int = 2,
        ffma: bool = True,
        exact_division: bool = False,
        full_range: bool = False,
    ) -> Machine:
        """From names with spaces or `+` between them."""
        names = has.replace("+", " ").split() if isinstance(has, str) else has
        return cls(frozenset(names), steps, ffma, exact_division, full_range)

    @property
    def lacks(self) -> frozenset[str]:
        """What a shader may ask for and the machine has not got."""
        return frozenset(LOWERED) - self.has

    @property
    def options(self) -> dict[str, str | int | bool]:
        """As options of the pass `lower_special_functions`."""
        return {
            "has": "+".join(sorted(self.has)),
            "steps": self.steps,
            "ffma": self.ffma,
            "exact_division": self.exact_division,
            "full_range": self.full_range,
        }

    def __str__(self) -> str:
        if not self.lacks:
            return "everything"
        steps = f", {self.steps} steps" if any("8bit" in name for name in self.has) else ""
        return f"{' '.join(sorted(self.has))}{steps}"

"""The special functions that a back end has instructions for.

Every machine adds, multiplies, compares, shifts and rounds down. Beyond that they differ: one has
sine and cosine of any angle, another only of angles near zero; one divides, another has a
reciprocal, a third only a table with the first eight bits of one. A `Machine` lists them, and the
pass `lower_special_functions` computes the others from these.

    Machine()                                              everything, nothing to lower
    Machine.of("frcp frsq fsin_reduced fcos_reduced fexp2 flog2")    a small GPU
    Machine.of("frcp_8bit frsq_8bit", steps=2)             polynomials, and two Newton steps

`FUNCTIONS` are the opcodes concerned; those in `has` are emitted as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass

FIRST: tuple[str, ...] = ("frcp_8bit", "frsq_8bit", "fsin_reduced", "fcos_reduced")
"""opcodes that only the lowering generates"""
LOWERED: tuple[str, ...] = (
    *("fdiv", "frcp", "frsq", "fsqrt", "fmod", "frem"),
    *("fexp2", "flog2", "fpow", "fsin", "fcos"),
)
"""opcodes that shaders contain"""
FUNCTIONS: frozenset[str] = frozenset((*FIRST, *LOWERED))


@lazy_dataclass(frozen=True)
class Machine:
    """The `FUNCTIONS` that a back end can emit, and the accuracy of the others."""

    has: frozenset[str] = frozenset(LOWERED)
    steps: int = 2
    """Newton-Raphson steps after an 8-bit approximation: 0 for 8 bits, 1 for 16, 2 for all"""
    ffma: bool = True
    """it has `ffma`, so that the residue of a step is exact"""
    exact_division: bool = False
    """correct a quotient computed by a reciprocal once more (with `ffma`, including the
    last bit)
    """
    full_range: bool = False
    """reduce angles of any size exactly; otherwise those below some thousands of turns"""

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
        """Parse names separated by spaces or `+`."""
        names = has.replace("+", " ").split() if isinstance(has, str) else has
        return cls(frozenset(names), steps, ffma, exact_division, full_range)

    @property
    def lacks(self) -> frozenset[str]:
        """The functions that a shader may use and the machine lacks."""
        return frozenset(LOWERED) - self.has

    @property
    def options(self) -> dict[str, str | int | bool]:
        """The options of the pass `lower_special_functions` for this machine."""
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

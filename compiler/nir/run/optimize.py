"""The optimisation loop: small passes run repeatedly until none makes progress.

`optimize` is what linkers and drivers call. Its options determine what may change in the last bit:
fusing multiply-adds, and when inexact rules may depend on use counts (see `OptimizeOptions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from gallette.compiler.nir.algebraic.options import AlgebraicOptions, UsedOnce
from gallette.compiler.nir.ir.queries import impls_with_branches
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassLog, Step, run_pass, run_until_idle

_MAX_ROUNDS = 32
_NO_LOWERING = AlgebraicOptions()


@dataclass(frozen=True)
class OptimizeOptions:
    """Options of the optimiser.

    `inexact_used_once` says when an inexact rule may depend on use counts: "always", "never", or
    "not_position" (not for values the vertex position depends on). `position_invariant` treats the
    position output as `invariant`. `algebraic` has further options of the algebraic rules.
    """

    fuse_ffma: bool = False
    inexact_used_once: UsedOnce = "not_position"
    position_invariant: bool = False
    select_limit: int = 8
    select_expensive: bool = False
    scalar: bool = False
    unroll: bool = True
    algebraic: AlgebraicOptions = _NO_LOWERING

    @cached_property
    def algebraic_options(self) -> dict[str, Any]:
        """The options of the algebraic passes."""
        made = replace(
            self.algebraic,
            inexact_used_once=self.inexact_used_once,
            fuse_ffma=self.fuse_ffma,
        )
        return {"options": made}

    @cached_property
    def steps(self) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
        """The passes of one round, in order: those for straight-line code, and those for any code.

        Equal options share them.
        """
        return _steps(self)


DEFAULT = OptimizeOptions()


@lru_cache(maxsize=256)
def _steps(options: OptimizeOptions) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    steps: list[Step] = []
    if options.position_invariant:
        # In every round, because flattening and unrolling create new instructions.
        steps.append(Step("propagate_invariant", {"position": True}))
    steps.append(Step("lower_vars_to_ssa"))
    if options.scalar:
        steps.append(Step("lower_alu_to_scalar"))
    select = {"limit": options.select_limit, "expensive_ok": options.select_expensive}
    steps.append(Step("simplify", options.algebraic_options))
    branches = [Step("dead_cf"), Step("opt_if"), Step("peephole_select", select)]
    if options.unroll:
        branches.append(Step("loop_unroll"))
    branches.append(Step("opt_licm"))
    return tuple(steps), (*steps, *branches)


def optimize(
    shader: Shader, options: OptimizeOptions = DEFAULT, log: PassLog | None = None
) -> bool:
    """Run the loop to its fixed point, then the late rules. True if anything changed."""
    progress = canonicalize(shader, options, log)
    return run_pass(shader, "algebraic_late", options.algebraic_options, log) or progress


def canonicalize(
    shader: Shader, options: OptimizeOptions = DEFAULT, log: PassLog | None = None
) -> bool:
    """`optimize` without the late rules, for shaders that will be optimised again."""
    straight, steps = options.steps
    if not impls_with_branches(shader):
        steps = straight
    progress = run_until_idle(shader, steps, _MAX_ROUNDS, log)
    if options.position_invariant:  # selects that were phis contribute, too
        progress |= run_pass(shader, "propagate_invariant", {"position": True}, log)
    return progress

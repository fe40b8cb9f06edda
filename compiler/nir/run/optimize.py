"""The optimisation loop: small passes again and again until none of them finds anything.

`optimize` is what linkers and drivers call. Its options say what may change in the last bit: fusing
multiply-adds, and when inexact rules may look at use counts (see `OptimizeOptions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gallette.compiler.nir.algebraic.options import AlgebraicOptions, UsedOnce
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassLog, PassSpec, run_pass

_MAX_ROUNDS = 32
_NO_LOWERING = AlgebraicOptions()


@dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """What the optimiser may do.

    `inexact_used_once` says when an inexact rule may depend on how often a value is used: "always",
    "never", or "not_position" (not for what feeds the vertex position). `position_invariant` treats
    the position output as `invariant`. `algebraic` holds further options of the algebraic rules.
    """

    fuse_ffma: bool = False
    inexact_used_once: UsedOnce = "not_position"
    position_invariant: bool = False
    select_limit: int = 8
    select_expensive: bool = False
    scalar: bool = False
    unroll: bool = True
    algebraic: AlgebraicOptions = _NO_LOWERING

    def algebraic_options(self) -> dict[str, Any]:
        """What the algebraic passes are called with."""
        options = replace(
            self.algebraic, inexact_used_once=self.inexact_used_once, fuse_ffma=self.fuse_ffma
        )
        return {"options": options}


DEFAULT = OptimizeOptions()


def loop_passes(options: OptimizeOptions) -> list[PassSpec]:
    """The passes of one round, in order."""
    passes: list[PassSpec] = []
    if options.position_invariant:
        # In every round, because flattening and unrolling make new instructions.
        passes.append(("propagate_invariant", {"position": True}))
    passes.append("lower_vars_to_ssa")
    if options.scalar:
        passes.append("lower_alu_to_scalar")
    passes += [
        "copy_prop",
        "remove_phis",
        "dce",
        "dead_cf",
        "opt_if",
        "cse",
        (
            "peephole_select",
            {"limit": options.select_limit, "expensive_ok": options.select_expensive},
        ),
        ("algebraic", options.algebraic_options()),
        "constant_folding",
        "opt_undef",
    ]
    if options.unroll:
        passes.append("loop_unroll")
    passes.append("opt_licm")
    return passes


def optimize(
    shader: Shader, options: OptimizeOptions = DEFAULT, log: PassLog | None = None
) -> bool:
    """Run the loop to its fixed point, then the late rules. True if anything changed."""
    progress = _to_fixed_point(shader, loop_passes(options), log)
    if options.position_invariant:  # selects that were phis contribute too
        progress |= run_pass(shader, "propagate_invariant", {"position": True}, log)
    if run_pass(shader, "algebraic_late", options.algebraic_options(), log):
        progress = True
        _to_fixed_point(shader, ["constant_folding", "copy_prop", "cse", "dce"], log)
    return progress


def _to_fixed_point(shader: Shader, passes: list[PassSpec], log: PassLog | None) -> bool:
    """Repeat the list; stop as soon as every pass has been idle since the last progress."""
    changed = False
    idle = 0
    for _ in range(_MAX_ROUNDS):
        for spec in passes:
            name, options = (spec, None) if isinstance(spec, str) else spec
            if run_pass(shader, name, options, log):
                changed = True
                idle = 0
            else:
                idle += 1
                if idle >= len(passes):
                    return changed
    return changed

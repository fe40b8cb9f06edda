"""The optimisation loop: small passes again and again until none of them finds anything.

`optimize` is what linkers and drivers call. Its options say what may change in the last bit: fusing
multiply-adds, and when inexact rules may look at use counts (see `OptimizeOptions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from gallette.compiler.nir.algebraic.options import AlgebraicOptions, UsedOnce
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassLog, PassSpec, get_pass, run_pass, unwatched

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
        return _algebraic_options(self)


@lru_cache(maxsize=64)
def _algebraic_options(options: OptimizeOptions) -> dict[str, Any]:
    made = replace(
        options.algebraic,
        inexact_used_once=options.inexact_used_once,
        fuse_ffma=options.fuse_ffma,
    )
    return {"options": made}


DEFAULT = OptimizeOptions()


@lru_cache(maxsize=64)
def loop_passes(options: OptimizeOptions) -> tuple[PassSpec, ...]:
    """The passes of one round, in order."""
    passes: list[PassSpec] = []
    if options.position_invariant:
        # In every round, because flattening and unrolling make new instructions.
        passes.append(("propagate_invariant", {"position": True}))
    passes.append("lower_vars_to_ssa")
    if options.scalar:
        passes.append("lower_alu_to_scalar")
    passes += [
        ("simplify", options.algebraic_options()),
        "dead_cf",
        "opt_if",
        (
            "peephole_select",
            {"limit": options.select_limit, "expensive_ok": options.select_expensive},
        ),
    ]
    if options.unroll:
        passes.append("loop_unroll")
    passes.append("opt_licm")
    return tuple(passes)


def optimize(
    shader: Shader, options: OptimizeOptions = DEFAULT, log: PassLog | None = None
) -> bool:
    """Run the loop to its fixed point, then the late rules. True if anything changed."""
    progress = canonicalize(shader, options, log)
    if run_pass(shader, "algebraic_late", options.algebraic_options(), log):
        progress = True
        run_pass(shader, "simplify", {"arithmetic": False}, log)
    for impl in shader.impls():  # what the late rules made, the others have not seen
        impl.settled_for = None
    return progress


def canonicalize(
    shader: Shader, options: OptimizeOptions = DEFAULT, log: PassLog | None = None
) -> bool:
    """`optimize` without the late rules, for shaders that will be optimised again."""
    progress = _to_fixed_point(shader, loop_passes(options), log)
    if options.position_invariant:  # selects that were phis contribute too
        progress |= run_pass(shader, "propagate_invariant", {"position": True}, log)
    return progress


def _to_fixed_point(shader: Shader, passes: Sequence[PassSpec], log: PassLog | None) -> bool:
    """Run what may find something until nothing may.

    A pass is due at the start, and again when another one made progress of a kind that can give it
    work (`_GIVES_WORK_TO`). Passes about branches sleep while the code is one straight block.
    """
    specs = [(spec, None) if isinstance(spec, str) else spec for spec in passes]
    changed, plain = False, unwatched(log)
    known = frozenset([name for name, _ in specs])
    due = known
    for _ in range(_MAX_ROUNDS):
        if all(len(impl.body) == 1 for impl in shader.impls()):
            known, due = known & _VALUES, due & _VALUES
        for name, options in specs:
            if name not in due:
                continue
            due = due - {name}
            if not plain:
                made = run_pass(shader, name, options, log)
            elif options is None:
                made = get_pass(name).function(shader)
            else:
                made = get_pass(name).function(shader, **options)
            if made:
                changed = True
                due = due | (_GIVES_WORK_TO[name] & known)
        if not due:
            break
    return changed


_ABOUT_BRANCHES = frozenset(("dead_cf", "opt_if", "peephole_select", "loop_unroll", "opt_licm"))
_VALUES = frozenset(("propagate_invariant", "lower_vars_to_ssa", "lower_alu_to_scalar", "simplify"))
_ALL = _VALUES | _ABOUT_BRANCHES
_GIVES_WORK_TO: dict[str, frozenset[str]] = {
    "propagate_invariant": frozenset(),
    "lower_vars_to_ssa": _ALL,
    "lower_alu_to_scalar": _ALL - {"lower_alu_to_scalar"},
    # Goes on by itself until it finds nothing.
    "simplify": _ALL - {"simplify"},
    "dead_cf": _ALL - {"dead_cf"},
    "opt_if": _ALL,
    "peephole_select": _ALL,
    "loop_unroll": _ALL,
    "opt_licm": _ABOUT_BRANCHES | {"simplify"},
}
"""What may find something new after a pass has made progress."""

"""The optimisation loop: small passes again and again until none of them finds anything.

`optimize` is what linkers and drivers call. Its options say what may change in the last bit: fusing
multiply-adds, and when inexact rules may look at use counts (see `OptimizeOptions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gallette.compiler.nir.algebraic.options import AlgebraicOptions, UsedOnce
from gallette.compiler.nir.ir.questions import is_unsettled
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import (
    PassLog,
    PassSpec,
    get_pass,
    run_pass,
    unwatched,
)

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
        made = replace(
            self.algebraic,
            inexact_used_once=self.inexact_used_once,
            fuse_ffma=self.fuse_ffma,
        )
        return {"options": made}


DEFAULT = OptimizeOptions()


class _Plan:
    """What some options mean: the passes of one round in order, the options of the late rules."""

    def __init__(self, options: OptimizeOptions):
        self.options = options  # kept, so that their identity stays theirs
        algebraic = options.algebraic_options()
        passes: list[PassSpec] = []
        if options.position_invariant:
            # In every round, because flattening and unrolling make new instructions.
            passes.append(("propagate_invariant", {"position": True}))
        passes.append("lower_vars_to_ssa")
        if options.scalar:
            passes.append("lower_alu_to_scalar")
        passes += [
            ("simplify", algebraic),
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
        self.passes = [(spec, {}) if isinstance(spec, str) else spec for spec in passes]
        self.late = algebraic
        self.kinds: dict[tuple[bool, bool], tuple[list[tuple[str, Any]], frozenset[str]]] = {}
        """by whether the code has branches, and whether it has variables: the passes that are for
        such code, and their names"""
        for branches in (False, True):
            for variables in (False, True):
                asleep: frozenset[str] = frozenset() if branches else _ABOUT_BRANCHES
                if not variables:
                    asleep |= {"lower_vars_to_ssa"}
                awake = [step for step in self.passes if step[0] not in asleep]
                names = frozenset([name for name, _ in awake])
                self.kinds[branches, variables] = awake, names


_plans: dict[int, _Plan] = {}
"""By the identity of the options that a plan keeps: comparing some forty switches takes longer than
finding that a short shader has nothing to optimise."""

_equal_plans: dict[OptimizeOptions, _Plan] = {}
"""The same plans for options that are equal to theirs, such as those of the next screen."""


def _plan_of(options: OptimizeOptions) -> _Plan:
    found = _plans.get(id(options)) or _equal_plans.get(options)
    if found is None:
        if len(_plans) >= 256:
            _plans.clear()
            _equal_plans.clear()
        found = _plans[id(options)] = _equal_plans[options] = _Plan(options)
    return found


def optimize(
    shader: Shader, options: OptimizeOptions = DEFAULT, log: PassLog | None = None
) -> bool:
    """Run the loop to its fixed point, then the late rules. True if anything changed."""
    progress = canonicalize(shader, options, log)
    if run_pass(shader, "algebraic_late", _plan_of(options).late, log):
        progress = True
        if any(map(is_unsettled, shader.impls())):
            run_pass(shader, "simplify", {"arithmetic": False}, log)
    for impl in shader.impls():  # what the late rules made, the others have not seen
        impl.settled_for = impl.at_rest = None
    return progress


def canonicalize(
    shader: Shader, options: OptimizeOptions = DEFAULT, log: PassLog | None = None
) -> bool:
    """`optimize` without the late rules, for shaders that will be optimised again."""
    progress = _to_fixed_point(shader, _plan_of(options), log)
    if options.position_invariant:  # selects that were phis contribute too
        progress |= run_pass(shader, "propagate_invariant", {"position": True}, log)
    return progress


def _to_fixed_point(shader: Shader, plan: _Plan, log: PassLog | None) -> bool:
    """Run what may find something until nothing may.

    A pass is due at the start, and again when another one made progress of a kind that can give it
    work (`_GIVES_WORK_TO`). Passes about branches sleep while the code is one straight block, and
    the one about variables while there are none. Code that came to rest is left alone until
    somebody changes it.
    """
    impls = shader.impls()
    for impl in impls:
        if impl.at_rest is not plan or is_unsettled(impl):
            break
    else:
        return False
    changed, plain = False, unwatched(log)
    due = _ALL
    for _ in range(_MAX_ROUNDS):
        branches = variables = False
        for impl in impls:
            branches = branches or len(impl.body) > 1
            variables = variables or bool(impl.locals)
        steps, known = plan.kinds[branches, variables]
        due = due & known
        for name, options in steps:
            if name not in due:
                continue
            due = due - {name}
            if plain:
                made = get_pass(name).function(shader, **options)
            else:
                made = run_pass(shader, name, options, log)
            if made:
                changed = True
                due = due | (_GIVES_WORK_TO[name] & known)
        if not due:
            for impl in impls:
                impl.at_rest = plan
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

"""The two algebraic passes: simplify while optimising, and fuse once at the end."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gallette.compiler.errors import InputError
from gallette.compiler.nir.algebraic.engine import Protection, rewrite_impl
from gallette.compiler.nir.algebraic.options import AlgebraicOptions, UsedOnce
from gallette.compiler.nir.algebraic.position import position_values
from gallette.compiler.nir.algebraic.rules import rule_set
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import MAKES_POSITIONS
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import nir_pass

__all__ = ["algebraic", "algebraic_late", "is_careful"]

_CHOICES = ("always", "never", "not_position")


def _options(
    base: AlgebraicOptions | None, inexact_used_once: UsedOnce | None, lower: str, fuse: str
) -> AlgebraicOptions:
    """One set of options from a driver's choice and the spelled-out extras."""
    if base is not None and inexact_used_once is None and not lower and not fuse:
        return base
    changes: dict[str, object] = {}
    if inexact_used_once is not None:
        if inexact_used_once not in _CHOICES:
            raise InputError(f"inexact_used_once is one of {', '.join(_CHOICES)}")
        changes["inexact_used_once"] = inexact_used_once
    for kind, names in (("lower", lower), ("fuse", fuse)):
        for name in filter(None, names.split("+")):
            if f"{kind}_{name}" not in AlgebraicOptions.names():
                raise InputError(f"algebraic rules have no option {kind}_{name}")
            changes[f"{kind}_{name}"] = True
    options = base or AlgebraicOptions()
    return replace(options, **changes) if changes else options  # type: ignore[arg-type]


def is_careful(shader: Shader, options: AlgebraicOptions) -> bool:
    """Must rules that count uses stay away from positions?"""
    return options.inexact_used_once == "not_position" and shader.stage in MAKES_POSITIONS


def _run(shader: Shader, options: AlgebraicOptions, phase: str) -> bool:
    rules = rule_set(options, phase)
    careful = is_careful(shader, options)
    count = 0
    for impl in shader.impls():
        protected = Protection(partial(position_values, impl)) if careful else None
        count += rewrite_impl(impl, rules, protected)
    return count > 0


@nir_pass("algebraic", preserves=Metadata.CONTROL_FLOW, exact=False)
def algebraic(
    shader: Shader,
    *,
    options: AlgebraicOptions | None = None,
    inexact_used_once: UsedOnce | None = None,
    lower: str = "",
    fuse: str = "",
) -> bool:
    """Apply the main table of rewrite rules to a fixed point.

    Simplifies arithmetic, brings it into canonical form (a - b becomes a + (-b))
    and lowers what a driver lacks. `options` is a driver's `AlgebraicOptions`; `lower="fdiv+fpow"`
    and `fuse="ffma"` switch single options on by name.

        32 %2 = fneg %1
        32 %3 = fneg %2        ->    (users of %3 read %1)

    Dead code counts as use, so run `dce` first.
    """
    return _run(shader, _options(options, inexact_used_once, lower, fuse), "main")


@nir_pass("algebraic_late", preserves=Metadata.CONTROL_FLOW, exact=False)
def algebraic_late(
    shader: Shader,
    *,
    options: AlgebraicOptions | None = None,
    inexact_used_once: UsedOnce | None = None,
    lower: str = "",
    fuse: str = "",
) -> bool:
    """Apply the late table: fuse multiply-adds, undo canonical forms the target can do better.

        32 %3 = fmul %1, %2
        32 %4 = fadd %3, %0    ->    32 %4 = ffma %1, %2, %0     (fuse="ffma")

    Run it once, after the last round of `algebraic`, which would undo some of it.
    """
    return _run(shader, _options(options, inexact_used_once, lower, fuse), "late")

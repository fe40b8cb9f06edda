"""The passes of the rewriter: each name selects some of its rules.

`simplify` has all of them. The others are for tests, lessons and drivers that need a single one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from gallette.compiler.errors import InputError
from gallette.compiler.nir.algebraic.options import AlgebraicOptions, UsedOnce
from gallette.compiler.nir.algebraic.rules import switched_on
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import MAKES_POSITIONS
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.rewrite.matching import RuleSet
from gallette.compiler.nir.rewrite.rewriter import Rewriter, candidates
from gallette.compiler.nir.rewrite.structural import STRUCTURAL_RULES
from gallette.compiler.nir.run.pass_runner import nir_pass

_CHOICES = ("always", "never", "not_position")
_DEFAULT = AlgebraicOptions()
_KEPT = Metadata.CONTROL_FLOW | Metadata.KINDS
_ALL = tuple(STRUCTURAL_RULES)


@lru_cache(maxsize=64)
def rule_set(options: AlgebraicOptions, phase: str, structural: tuple[str, ...] = ()) -> RuleSet:
    """The rules of a phase that `options` enable, and structural rules, indexed for matching."""
    return RuleSet(switched_on(options, phase), structural)


@lru_cache(maxsize=64)
def _structural(*names: str) -> RuleSet:
    return RuleSet((), names)


def rewrite_impl(impl: FunctionImpl, rules: RuleSet) -> int:
    """Apply `rules` until none matches; returns the number of changes."""
    rewriter = Rewriter(impl, rules)
    rewriter.run()
    return rewriter.count


def _run(
    shader: Shader,
    rules: RuleSet,
    options: AlgebraicOptions,
    *,
    late: bool = False,
    limit: int = -1,
) -> bool:
    """Run the rules; those that count uses do not apply to positions if the options say so."""
    careful = options.inexact_used_once == "not_position" and shader.stage in MAKES_POSITIONS
    count = 0
    for impl in shader.impls():
        if late and not candidates(impl, rules):
            continue
        left = max(limit - count, 0) if limit >= 0 else -1
        rewriter = Rewriter(impl, rules, careful=careful, limit=left)
        rewriter.run(late)
        count += rewriter.count
    return count > 0


@nir_pass("simplify", preserves=_KEPT, exact=False, idempotent=True)
def simplify(
    shader: Shader,
    *,
    options: AlgebraicOptions | None = None,
    arithmetic: bool = True,
    limit: int = -1,
) -> bool:
    """Run `dce`, `copy_prop`, `remove_phis`, `constant_folding`, `opt_undef`, `algebraic` and `cse`
    in one worklist, until none of their rules applies.

        32 %2 = mov %0
        32 %3 = fmul %2, 1.0
        32 %4 = fadd %3, %1
        32 %5 = fadd %1, %0    ->    32 %2 = fadd %0, %1    (for both sums)

    An instruction is visited after its sources have been simplified, so one walk in source order
    does nearly everything (see `rewrite.rewriter`). `arithmetic=False` omits the algebraic rules;
    `limit` stops after so many changes, as in the other passes on arithmetic, by which `nir-opt
    --bisect` finds a wrong rule.
    """
    options = options or _DEFAULT
    rules = rule_set(options, "main", _ALL) if arithmetic else _structural(*_ALL)
    return _run(shader, rules, options, limit=limit)


@nir_pass("algebraic", preserves=_KEPT, exact=False)
def algebraic(
    shader: Shader,
    *,
    options: AlgebraicOptions | None = None,
    inexact_used_once: UsedOnce | None = None,
    lower: str = "",
    fuse: str = "",
    limit: int = -1,
) -> bool:
    """Apply the main table of rewrite rules to a fixed point.

    Simplifies arithmetic, brings it into canonical form (a - b becomes a + (-b)) and lowers what a
    driver lacks. `options` is a driver's `AlgebraicOptions`; `lower="fdiv+fpow"` and `fuse="ffma"`
    enable single options by name.

        32 %2 = fneg %1
        32 %3 = fneg %2        ->    (users of %3 read %1)

    Dead code counts as use, so run `dce` first.
    """
    chosen = _options(options, inexact_used_once, lower, fuse)
    return _run(shader, rule_set(chosen, "main"), chosen, limit=limit)


@nir_pass("algebraic_late", preserves=_KEPT, exact=False)
def algebraic_late(
    shader: Shader,
    *,
    options: AlgebraicOptions | None = None,
    inexact_used_once: UsedOnce | None = None,
    lower: str = "",
    fuse: str = "",
    limit: int = -1,
) -> bool:
    """Apply the late table: fuse multiply-adds, replace canonical forms by better instructions.

        32 %3 = fmul %1, %2
        32 %4 = fadd %3, %0    ->    32 %4 = ffma %1, %2, %0     (fuse="ffma")

    Run it once, after the last round of `simplify`, which would undo some of it. The results are
    simplified here, with everything but the main table.
    """
    chosen = _options(options, inexact_used_once, lower, fuse)
    return _run(shader, rule_set(chosen, "late", _ALL), chosen, late=True, limit=limit)


def _options(
    base: AlgebraicOptions | None, inexact_used_once: UsedOnce | None, lower: str, fuse: str
) -> AlgebraicOptions:
    """One set of options from a driver's options and those given by name."""
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
    options = base or _DEFAULT
    return replace(options, **changes) if changes else options  # type: ignore[arg-type]


@nir_pass("dce", preserves=_KEPT)
def dce(shader: Shader) -> bool:
    """Remove instructions that neither side effects nor control flow need.

    Cycles of phis without other uses are removed, too.
    """
    return _run(shader, _structural("unused"), _DEFAULT)


@nir_pass("copy_prop", preserves=_KEPT)
def copy_prop(shader: Shader) -> bool:
    """Read through `mov` and `vecN`: swizzles of ALU users absorb them.

    Before: `%2 = mov %1.yx; %3 = fadd %2.xx, %2`; after: `%3 = fadd %1.yy, %1.yx`. The copies
    remain for `dce` to remove.
    """
    return _run(shader, _structural("copy-to-users"), _DEFAULT)


@nir_pass("remove_phis", preserves=_KEPT)
def remove_phis(shader: Shader) -> bool:
    """Replace a phi whose sources are all one value (or the phi itself) by that value."""
    return _run(shader, _structural("phi-of-same"), _DEFAULT)


@nir_pass("constant_folding", preserves=_KEPT)
def constant_folding(shader: Shader) -> bool:
    """Evaluate ALU instructions whose sources are all constant, by the opcode's own semantics.

    The result has the bits the driver would compute. Derivatives of constants are zero. Inputs and
    outputs with a constant offset name the slot itself.
    """
    return _run(shader, _structural("fold-constants", "constant-slot"), _DEFAULT)


@nir_pass("opt_undef", preserves=_KEPT)
def opt_undef(shader: Shader) -> bool:
    """Simplify uses of undefined values.

    `bcsel(c, undef, x)` is x; moves and vectors of nothing but undef are undef; stores of undef
    components are removed; any other arithmetic reads zero, so that results are equal in all
    variants.
    """
    return _run(shader, _structural("undefined-source", "undefined-store"), _DEFAULT)


@nir_pass("cse", preserves=_KEPT)
def cse(shader: Shader) -> bool:
    """Reuse the value of an equal instruction in a dominating block.

    Commutative sources are compared in any order. If one of the two is exact, the remaining one is.
    Copies are read through (see `copy_prop`), because merging values can make an instruction a
    copy.
    """
    return _run(shader, _structural("equal-expressions", "copy-to-users"), _DEFAULT)

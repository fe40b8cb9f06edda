"""Passes from files outside of gallette: those that a file registers, and one that applies the
file's rules.
"""

from __future__ import annotations

from pathlib import Path

from gallette.compiler.errors import InputError
from gallette.compiler.nir.algebraic.pattern import RuleError, compile_rule
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.outside import load_file
from gallette.compiler.nir.rewrite.matching import RuleSet
from gallette.compiler.nir.rewrite.passes import rewrite_impl
from gallette.compiler.nir.run.pass_runner import PASSES, nir_pass


def load_passes(path: str) -> list[str]:
    """Load a file; returns the names of its passes.

    A function with `@nir_pass(name)` is an ordinary pass. A list `RULES` of rewrite rules becomes a
    pass with the file's name, which applies them until none matches.
    """
    before = set(PASSES)
    module = load_file(path)
    rules = getattr(module, "RULES", None)
    if rules is not None:
        try:
            _register(Path(path).stem, RuleSet([compile_rule(rule) for rule in rules]))
        except RuleError as error:
            raise InputError(f"{path}: {error}") from None
    return sorted(set(PASSES) - before)


def _register(name: str, rules: RuleSet) -> None:
    if name in PASSES:
        raise InputError(f"there is a pass {name} already: give the file another name")

    @nir_pass(name, preserves=Metadata.CONTROL_FLOW, exact=not any(r.inexact for r in rules.rules))
    def apply(shader: Shader) -> bool:
        """Apply the rules of a file until none matches."""
        return sum(rewrite_impl(impl, rules) for impl in shader.impls()) > 0

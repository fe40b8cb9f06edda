"""The optimisation loop comes to rest: what it leaves, it leaves alone.

Every shader of the textual tests is optimised twice, under each set of options a driver may choose.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from nir_cases import NirCase, read_cases

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir.questions import instrs_of, is_unsettled
from gallette.compiler.nir.ir.values import CHANGED
from gallette.compiler.nir.run.optimize import OptimizeOptions, canonicalize, optimize
from gallette.compiler.nir.run.pass_runner import run_pass
from gallette.compiler.nir.text.printer import print_shader

FILES = sorted((Path(__file__).parent / "passes").glob("*.nir"))
OPTIONS = {
    "default": OptimizeOptions(),
    "fused": OptimizeOptions(fuse_ffma=True, inexact_used_once="always"),
    "careful": OptimizeOptions(fuse_ffma=True, inexact_used_once="never", position_invariant=True),
    "scalar": OptimizeOptions(scalar=True, select_expensive=True, select_limit=32),
}


# Storing what nobody defined is no store.
UNDEFINED = {"reading before the first write gives an undefined value"}


def shaders(file: Path) -> list[NirCase]:
    found = []
    for case in read_cases(file):
        try:
            case.shader()
        except GalletteError:
            continue  # a case about malformed text
        found.append(case)
    return found


@pytest.mark.parametrize("file", FILES, ids=[f.stem for f in FILES])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_optimising_twice_finds_nothing_more(file: Path, options: OptimizeOptions) -> None:
    for case in shaders(file):
        shader = case.shader()
        for name in ("lower_returns", "inline_functions"):
            try:
                run_pass(shader, name)
            except GalletteError:
                break  # recursion, which is what the case is about
        else:
            optimize(shader, options)
            validate(shader, case.title)
            once = print_shader(shader)
            progress = optimize(shader, options)
            assert print_shader(shader) == once, case.title
            # The late rules undo canonical forms, the early ones bring them back: no news.
            assert not progress or "fsub" in once or "isub" in once or "ffma" in once, case.title


@pytest.mark.parametrize("file", FILES, ids=[f.stem for f in FILES])
def test_exact_shaders_keep_their_results_through_optimisation(file: Path) -> None:
    for case in shaders(file):
        if not case.compare or case.title in UNDEFINED:
            continue
        shader = case.shader()
        for impl in shader.impls():
            for block in impl.blocks():
                for instr in block.instrs():
                    if instr.kind == "alu":
                        instr.exact = True  # type: ignore[attr-defined]
        try:
            before = interpret(shader)
        except GalletteError:
            continue
        for name in ("lower_returns", "inline_functions", "lower_variable_initializers"):
            run_pass(shader, name)
        optimize(shader, OPTIONS["fused"])
        assert before.same_as(interpret(shader)) == "", case.title


def test_where_late_rules_have_the_last_word_nothing_is_left_to_simplify() -> None:
    settled = 0
    for case in [case for file in FILES for case in shaders(file)]:
        shader = case.shader()
        canonicalize(shader)
        fused = run_pass(shader, "algebraic_late")
        if not fused or any(map(is_unsettled, shader.impls())):
            continue
        settled += 1
        for impl in shader.impls():
            assert impl.settled_for is None  # the main rules have not seen what was made
            for instr in instrs_of(impl):
                instr.settled = CHANGED
        assert not run_pass(shader, "simplify", {"arithmetic": False}), case.title
    assert settled > 3

"""The optimisation loop comes to rest: what it leaves, it leaves alone.

Every shader of the textual tests is optimised twice, under each set of options a driver may choose.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from nir_cases import NirCase, read_cases
from random_shaders import make_shader

from gallette.compiler.errors import GalletteError, ValidationError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir.instrs import LoadConst
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions, canonicalize, optimize
from gallette.compiler.nir.run.pass_runner import run_pass
from gallette.compiler.nir.text.parser import parse
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


def test_a_pass_that_is_left_out_by_mistake_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    b = Builder.shader_main(Stage.FRAGMENT)
    canonicalize(b.shader)
    b.imm_int(1)  # dead code
    assert canonicalize(b.shader)
    b.impl.last.append(LoadConst((1,), 32))  # the function's version stays what it was
    monkeypatch.setenv("GALLETTE_DEBUG", "")
    assert not canonicalize(b.shader)
    monkeypatch.setenv("GALLETTE_DEBUG", "nir:idle")
    with pytest.raises(ValidationError, match="simplify was left out and finds something to do"):
        canonicalize(b.shader)


@pytest.mark.parametrize("seed", [5258, 6072, 6213, 6215, 6389, 6529, 6782, 8343])
def test_random_shaders_reach_a_fixed_point(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of which some users read the original are shared with equal copies, too."""
    monkeypatch.setenv("GALLETTE_DEBUG", "nir:idle")
    shader = make_shader(random.Random(seed), derefs=seed % 2 == 1)
    run_pass(shader, "simplify")
    optimize(shader, OptimizeOptions(fuse_ffma=bool(seed & 2)))


def test_a_copy_that_is_read_through_and_stored_is_shared() -> None:
    shader = parse("""shader fragment
impl main {
    32 %zero = load_const (0)
    32x4 %x = @load_input (%zero) (location=VARYING.VAR0)
    32 %a = mov %x.w
    32 %sum = fadd %a, %x.x
    @store_output (%a, %zero) (location=FRAG.DATA0, write_mask=x)
    @store_output (%sum, %zero) (location=FRAG.DATA1, write_mask=x)
    32 %b = mov %x.w
    @store_output (%b, %zero) (location=FRAG.DATA2, write_mask=x)
}
""")
    assert run_pass(shader, "simplify")
    assert print_shader(shader).count(" mov ") == 1
    assert not run_pass(shader, "simplify")

"""Random shaders survive every pass: valid after each, and with the same results when run."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_shaders import make_shader

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import run_pass, run_passes
from gallette.compiler.nir.run.pipeline import FRONT_END, LOWER_IO
from gallette.compiler.nir.run.reference import own_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.nir.text.serialize import deserialize, serialize

# Passes whose purpose is to change what a shader computes, as a piece of fixed-function state.
CHANGES_MEANING = {
    "inline_uniforms",
    "lower_alpha_test",
    "lower_clamp_color_outputs",
    "lower_depth_only",
    "lower_flatshade",
    "lower_sprite_coord",
    "lower_tex_saturate",
    "lower_two_sided_color",
    "lower_user_clip_planes",
}
# It updates the summary, which is no part of the code; "no progress" is the right answer.
UPDATES_INFO = {"gather_info"}
PASSES = sorted(set(own_passes()) - CHANGES_MEANING)

randoms = st.integers(0, 2**32).map(random.Random)
few = settings(max_examples=8, suppress_health_check=list(HealthCheck))
many = settings(few, max_examples=30)


@pytest.mark.parametrize("name", PASSES)
@given(rng=randoms, derefs=st.booleans())
@few
def test_a_pass_keeps_the_results_of_exact_shaders(
    name: str, rng: random.Random, derefs: bool
) -> None:
    shader = make_shader(rng, exact=True, derefs=derefs)
    before, text = interpret(shader), print_shader(shader)
    progress = run_pass(shader, name)
    validate(shader, name)
    assert before.same_as(interpret(shader)) == ""
    if not progress and name not in UPDATES_INFO:
        assert print_shader(shader) == text, "it changed something and said it did not"


@given(rng=randoms, derefs=st.booleans())
@many
def test_passes_in_any_order_keep_the_results_of_exact_shaders(
    rng: random.Random, derefs: bool
) -> None:
    shader = make_shader(rng, exact=True, derefs=derefs)
    before = interpret(shader)
    for name in rng.choices(PASSES, k=8):
        run_pass(shader, name)
        validate(shader, name)
        assert before.same_as(interpret(shader)) == "", name


@given(rng=randoms, derefs=st.booleans(), seed=st.integers(1, 100))
@many
def test_optimising_keeps_the_results_of_exact_shaders(
    rng: random.Random, derefs: bool, seed: int
) -> None:
    shader = make_shader(rng, exact=True, derefs=derefs)
    before = interpret(shader, Environment(seed=seed))
    optimize(shader, OptimizeOptions(fuse_ffma=True, inexact_used_once="always"))
    validate(shader)
    assert before.same_as(interpret(shader, Environment(seed=seed))) == ""


@given(rng=randoms, derefs=st.booleans(), exact=st.booleans(), fuse=st.booleans())
@many
def test_optimising_twice_finds_nothing_more(
    rng: random.Random, derefs: bool, exact: bool, fuse: bool
) -> None:
    shader = make_shader(rng, exact=exact, derefs=derefs)
    options = OptimizeOptions(fuse_ffma=fuse, inexact_used_once="always")
    optimize(shader, options)
    validate(shader)
    once = print_shader(shader)
    optimize(shader, options)
    assert print_shader(shader) == once


@given(rng=randoms, exact=st.booleans())
@settings(few, max_examples=12)
def test_functions_that_return_early_are_flattened(rng: random.Random, exact: bool) -> None:
    shader = make_shader(rng, exact=exact, derefs=True, calls=True)
    before = interpret(shader)
    for spec in (*FRONT_END, *LOWER_IO):
        name = spec if isinstance(spec, str) else spec[0]
        run_passes(shader, [spec])
        validate(shader, name)
        assert before.same_as(interpret(shader)) == "", name
    assert len(shader.functions) == 1
    if exact:
        optimize(shader)
        assert before.same_as(interpret(shader)) == ""


@given(rng=randoms, derefs=st.booleans())
@many
def test_random_shaders_survive_text_and_bytes(rng: random.Random, derefs: bool) -> None:
    shader = make_shader(rng, derefs=derefs)
    text = print_shader(shader)
    assert print_shader(parse(text)) == text
    assert print_shader(deserialize(serialize(shader))) == text
    assert interpret(shader).same_as(interpret(parse(text))) == ""


@given(rng=randoms)
@many
def test_a_clone_is_independent_and_equal(rng: random.Random) -> None:
    shader = make_shader(rng)
    text = print_shader(shader)
    clone = clone_shader(shader)
    assert print_shader(clone) == text
    optimize(clone)
    assert print_shader(shader) == text
    validate(shader)

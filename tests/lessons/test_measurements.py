"""What lessons measure is what they say."""

from __future__ import annotations

import numpy as np

from gallette.compiler.nir.check.validate import validate
from gallette.lessons import binning
from gallette.lessons.derefs import KERNELS, accesses, both_ways
from gallette.lessons.dvec_inputs import split
from gallette.lessons.experiments import link
from gallette.lessons.newton_raphson import errors_between_one_and_two, machine
from gallette.lessons.ownership import MODELS, simulate
from gallette.lessons.pointers import GENERIC, PLAIN, PROVEN, TABLES, counts, lowered
from gallette.lessons.spirv import SOURCE, census, front_form, round_trip
from gallette.lessons.variants import collect
from gallette.scenes import depth_prepass


def test_ownership_models_make_the_same_variants_at_different_prices() -> None:
    sources = depth_prepass.GLSL
    tallies, variants = {}, []
    for name, make in MODELS.items():
        tallies[name], results = simulate(make, list(link(sources).values()))
        variants.append(results)
    assert all(v == variants[0] for v in variants)
    clones = [t.clones for t in tallies.values()]
    assert clones == sorted(clones, reverse=True)
    assert clones[0] > clones[-1]


def test_derefs_let_loads_and_stores_go_that_offsets_keep() -> None:
    counts = {name: tuple(map(accesses, both_ways(body))) for name, body in KERNELS.items()}
    assert counts["another member"] == ((1, 1), (2, 1))
    assert counts["overwritten"] == ((1, 1), (1, 2))
    assert counts["another element"] == ((1, 1), (2, 1))
    # What cannot be proven stays, whichever way.
    assert counts["may be the same element"] == ((2, 1), (2, 1))


def test_a_dvec3_input_gets_two_slots() -> None:
    _, after, inputs = split()
    assert ("after", "wide", "dvec2", "15") in inputs
    assert ("after", "wide@high", "double", "16") in inputs
    assert "vec3 %3.x, %3.y, %4" in after


def test_the_log_says_which_key_field_forced_a_variant() -> None:
    events, stages = collect("numpipe")
    reasons = {e.key: (e.reason, e.lowered) for e in events if e.stage == "fragment"}
    assert reasons["flat_colors=True"] == ("differs in flat_colors", False)
    assert reasons["two_sided_color=True"] == ("differs in two_sided_color", True)
    # The alpha test's reference value is no part of a key, and returning to a key is a hit.
    assert stages["fragment"]["misses"] == 3
    assert stages["fragment"]["hits"] >= 3


def test_every_format_reaches_the_same_memory() -> None:
    for formats in TABLES.values():
        shader = lowered(PLAIN, formats)
        validate(shader)
        assert (counts(shader)["loads"], counts(shader)["stores"]) == (2, 2)


def test_a_generic_pointer_branches_until_it_is_proven() -> None:
    generic, proven = counts(lowered(GENERIC, "")), counts(lowered(PROVEN, ""))
    assert generic["branches"] >= 2
    assert generic["loads"] == 3  # global, the workgroup's, the invocation's own
    assert (proven["branches"], proven["loads"], proven["stores"]) == (0, 1, 1)


def test_derefs_know_that_another_member_was_written() -> None:
    early, late = counts(lowered(PLAIN, "", derefs=False)), counts(lowered(PLAIN, ""))
    assert (early["loads"], late["loads"]) == (3, 2)


def test_steps_square_the_error() -> None:
    for name in ("1/x", "inversesqrt"):
        worst = [errors_between_one_and_two(name, machine(n)).max() for n in range(3)]
        assert 2.0**-9 < worst[0] < 2.0**-7
        assert worst[1] < 2 * worst[0] ** 2
        assert worst[2] < 2.0**-23


def test_the_round_trip_keeps_the_code() -> None:
    shader = front_form(SOURCE)
    module, back = round_trip(shader)
    found = census(module)
    assert sum(found.values()) == len(module.instructions)
    assert found["lines"] > 3
    assert abs(back.count_instrs() - shader.count_instrs()) <= 4


def test_samples_resolved_on_the_chip_move_fewer_bytes() -> None:
    found = [binning.resolved(in_tile, gone) for _, in_tile, gone in binning.RESOLVES]
    assert [moved for moved, _ in found] == [2_555_904, 1_769_472, 196_608]
    assert all(np.array_equal(found[0][1], color) for _, color in found)

"""Stepping through what happens to a colour after its shader: blending, conversion, masks."""

from __future__ import annotations

import pytest
from rich.console import Console

from gallette.debugger import debug_fragment
from gallette.debugger.terminal import Stepper


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("transparency", (120, 90)),
        ("transparency", (200, 100)),
        ("dual_source", (120, 90)),
        ("dual_source", (30, 40)),
        ("depth_prepass", (120, 90)),
    ],
)
def test_the_steps_store_what_the_driver_stored(target: str, place: tuple[int, int]) -> None:
    session, _, shaded = debug_fragment(target, *place, keep=True)
    fragment, last = shaded[-1]
    assert last is session
    assert fragment.verdict.startswith("written"), fragment.verdict
    after = fragment.after["colour 0"].value
    assert session.outputs["stored in colour 0"] == pytest.approx(after, abs=0)


def test_a_blend_is_stepped_through_with_its_operands() -> None:
    session, _, _ = debug_fragment("transparency", 120, 90)
    steps = [i for i, s in enumerate(session.steps) if session.code[s.line].section]
    names = session.watch(steps[-1])
    source, destination, blended = (
        [v for v in names[name].values if v is not None]
        for name in ("source", "destination", "blended")
    )
    alpha = source[3]
    for s, d, found in zip(source[:3], destination[:3], blended[:3], strict=True):
        assert abs(255 * s * alpha + d - found) < 1.1  # the scene adds
    multiplied = [i for i in steps if " imul " in session.code[session.steps[i].line].text]
    assert multiplied, "the products are steps of their own"
    assert session.value(multiplied[0]) is not None


def test_a_command_runs_on_to_the_output() -> None:
    session, _, _ = debug_fragment("anisotropic", 40, 40)
    out = Console(width=100, record=True)
    Stepper(session, out).run(["end; o; quad; o; end; out"])
    shader, output = out.export_text().split("colour 0: stored as R8G8B8A8_UNORM", 1)
    assert "@store_output" in shader  # the end of the shader comes first
    assert "nothing is stored after this" in output
    assert "x+1, y: -" in output  # only this fragment is stored here
    assert "stored in colour 0 = " in output

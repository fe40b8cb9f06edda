"""Extensions that depend on what a driver can: there with just enough of it, gone with one less."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from gallette.drivers.numpipe import create_screen
from gallette.pipe.caps import Caps
from gallette.state_tracker.extensions import CONDITIONS

PACK = {
    "max_samples": 2, "blend_advanced": True, "indep_blend": True, "max_shader_images": 4,
    "max_shader_buffers": 4,
}  # fmt: skip
LEAST: dict[str, dict[str, Any]] = {
    "_multisample": {"max_samples": 2},
    "_anisotropy": {"max_anisotropy": 2.0},
    "_android_pack": PACK,
    "_streams": {"max_vertex_streams": 4},
    "_viewports": {"max_viewports": 16},
}


def caps(**changed: Any) -> Caps:
    screen = create_screen()
    try:
        return dataclasses.replace(screen.caps, **changed)
    finally:
        screen.destroy()


@pytest.mark.parametrize("name", LEAST)
def test_just_enough_is_enough(name: str) -> None:
    least = LEAST[name]
    assert CONDITIONS[name](caps(**least))
    for field, value in least.items():
        less = False if value is True else value - 1
        assert not CONDITIONS[name](caps(**least | {field: less})), field


@pytest.mark.parametrize(("name", "stage"), [("_tessellation", "tess_eval"),
                                              ("_geometry", "geometry"),
                                              ("_android_pack", "tess_eval"),
                                              ("_android_pack", "geometry")])  # fmt: skip
def test_stages_are_needed(name: str, stage: str) -> None:
    whole = caps(**PACK)
    assert CONDITIONS[name](whole)
    assert not CONDITIONS[name](dataclasses.replace(whole, stages=whole.stages - {stage}))


def test_every_condition_is_tested() -> None:
    assert set(CONDITIONS) == {*LEAST, "_tessellation", "_geometry"}

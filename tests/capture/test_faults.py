"""Deliberate mistakes of a driver: each is found on some scene, and its draw is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.capture import Capture, Replayer, open_capture
from gallette.capture.differ import compare_snapshots
from gallette.capture.snapshot import Snapshots, take_snapshots
from gallette.capture.targets import record_target
from gallette.cli import main
from gallette.drivers.faulty import FAULTS

# A scene on which the mistake shows.
SCENE_OF = {
    "half_pixel": "gradient",
    "depth_range": "lit_mesh",
    "upside_down": "gradient",
    "culls_wrong_side": "cutaway",
    "culls_unasked": "cutaway",
    "no_clip_planes": "cutaway",
    "depth_bias": "lit_mesh",
    "thick_lines": "lines_points",
    "large_points": "lines_points",
    "depth_func": "lit_mesh",
    "no_depth_write": "lit_mesh",
    "no_depth_test": "lit_mesh",
    "no_stencil_test": "mirrors",
    "stencil_keeps": "mirrors",
    "blend_factor": "transparency",
    "no_blending": "transparency",
    "blend_subtracts": "transparency",
    "loses_blue": "gradient",
    "filters_wrong": "textured_quads",
    "wraps_wrong": "textured_quads",
    "level_bias": "textured_quads",
    "shadow_compare": "shadow_map",
    "swaps_red_and_blue": "textured_quads",
    "attribute_offset": "gradient",
    "buffer_offset": "gradient",
    "loses_last_primitive": "gradient",
    "loses_instance": "instances",
    "index_bias": "cutaway",
    "clear_colour": "textured_quads",
    "clear_depth": "lit_mesh",
    "clear_forgotten": "lit_mesh",
    "blit_flips": "cutaway",
    "scissor_off_by_one": "cutaway",
}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Capture, Snapshots]]:
    folder: Path = tmp_path_factory.mktemp("captures")
    found = {}
    for name in sorted(set(SCENE_OF.values())):
        path = folder / f"{name}.gcap"
        record_target(name, path, "numpipe")
        found[name] = open_capture(path), take_snapshots(path, "numpipe")
    return found


def _spoiled(capture: Capture, fault: str) -> dict[int, int]:
    """GL call -> number of the pipe's draw, where the driver says it made its mistake."""
    contexts: list[Any] = []
    found: dict[int, int] = {}

    def look(call: Any, gl: Any) -> None:
        for number in (n for c in contexts for n in c.pipe.spoiled):
            if number not in found.values():
                found[call.number] = number

    Replayer(capture, f"faulty:{fault}", after_create=contexts.append).run(after=look)
    return found


@pytest.mark.parametrize("fault", SCENE_OF)
def test_the_draw_that_went_wrong_is_named(
    fault: str, scenes: dict[str, tuple[Capture, Snapshots]]
) -> None:
    capture, clean = scenes[SCENE_OF[fault]]
    everywhere = take_snapshots(capture.path, f"faulty:{fault}")
    diff = compare_snapshots(capture, everywhere, clean, 0)
    assert diff.first is not None
    spoiled = _spoiled(capture, fault)
    assert diff.first.call.number in spoiled
    # The same mistake in one draw only, the last of those where it shows.
    last = [d.call.number for d in diff.draws if d.call.number in spoiled][-1]
    once = take_snapshots(capture.path, f"faulty:{fault}@{spoiled[last]}")
    named = compare_snapshots(capture, once, clean, 0).first
    if named is None:  # it only shows what an earlier draw had spoiled
        last = diff.first.call.number
        once = take_snapshots(capture.path, f"faulty:{fault}@{spoiled[last]}")
        named = compare_snapshots(capture, once, clean, 0).first
    assert named is not None
    assert named.call.number == last


def test_at_least_twenty_faults_are_proven() -> None:
    assert len(SCENE_OF) >= 20
    assert set(SCENE_OF) == set(FAULTS)


@pytest.mark.native
def test_the_command_names_the_draw_against_the_machines_gl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "a.gcap")
    assert main(["trace", "transparency", "-o", path]) == 0
    assert main(["diff", path, "--against", "native:llvmpipe"]) == 0
    assert "agree after each of 3 drawing calls" in capsys.readouterr().out
    faulty = ["diff", path, "--driver", "faulty:blend_factor@3", "--against", "native:llvmpipe"]
    assert main(faulty) == 1
    last = open_capture(path).draws()[-1].number
    assert f"the first call that differs is {last}" in capsys.readouterr().out


def test_unknown_faults_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "gradient", "--driver", "faulty:nonsense"]) == 2
    assert "no mistake is called 'nonsense'" in capsys.readouterr().err

"""Deliberate mistakes of a driver: each is found on some scene, and its draw is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.faults import SCENE_OF, named
from gallette.capture import Capture, open_capture
from gallette.capture.snapshot import Snapshots, take_snapshots
from gallette.capture.targets import record_target
from gallette.cli import main
from gallette.drivers.faulty import FAULTS
from gallette.pipe.enums import ClearFlags


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Capture, Snapshots]]:
    folder: Path = tmp_path_factory.mktemp("captures")
    found = {}
    for name in sorted(set(SCENE_OF.values())):
        path = folder / f"{name}.gcap"
        record_target(name, path, "numpipe")
        found[name] = open_capture(path), take_snapshots(path, "numpipe")
    return found


@pytest.mark.parametrize("fault", SCENE_OF)
def test_the_draw_that_went_wrong_is_named(
    fault: str, scenes: dict[str, tuple[Capture, Snapshots]]
) -> None:
    naming = named(fault, *scenes[SCENE_OF[fault]])
    assert naming.everywhere is not None
    assert naming.everywhere.number in naming.spoiled
    assert naming.once is not None  # the same mistake in one draw only
    assert naming.once.number == naming.only


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


@pytest.mark.parametrize(
    ("fault", "about"),
    [
        ("clear_colour", ClearFlags.COLOR),
        ("clear_depth", ClearFlags.DEPTH),
        ("clear_forgotten", ClearFlags.DEPTH),
    ],
)
def test_a_clear_of_other_buffers_is_no_place_for_the_mistake(
    fault: str, about: ClearFlags
) -> None:
    for flags in map(ClearFlags, range(1, 8)):
        spoiled = FAULTS[fault].spoil((flags, (0.5, 0.5, 0.5, 1.0), 1.0, 0))
        assert (spoiled is None) == (not flags & about), flags

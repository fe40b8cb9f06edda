"""What `gallette replay` asks, prints, answers and saves, with names that look like markup."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from gallette.cli import command_parser
from gallette.commands import replay
from gallette.compiler.errors import GalletteError


class Call:
    def __init__(self, number: int, frame: int, target: Any = "t") -> None:
        self.number, self.frame, self.target = number, frame, target

    def __str__(self) -> str:
        return f"Draw[b]({self.number})"


class Capture:
    """Six calls of two frames; 2, 4 and 5 draw."""

    def __init__(self, path: Path) -> None:
        self.calls = [Call(number, 1 + (number > 3)) for number in range(1, 7)]
        self.frames, self.driver = 2, "kept"

    def call(self, number: int) -> Call:
        if not 1 <= number <= 6:
            raise GalletteError("no such call")
        return self.calls[number - 1]

    def draws(self) -> list[Call]:
        return [self.calls[number - 1] for number in (2, 4, 5)]


class Stage:
    """A player that plays nothing but says what it was asked."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.asked: list[Any] = []
        self.text = io.StringIO()
        self.done: dict[str, Any] = {"different": [], "errors": []}
        self.pictures = {"color": np.full((2, 3, 4), 0.5, np.float32)}
        out = Console(file=self.text, width=200, force_terminal=True, color_system="standard",
                      highlight=False)  # fmt: skip
        patch.setattr(replay, "open_capture", Capture)
        patch.setattr(replay, "console", lambda: out)
        patch.setattr(replay, "Replayer", self.player)
        patch.setattr(replay, "read_attachments", lambda gl, target: self.read(target))

    def read(self, target: Any) -> Any:
        self.asked.append(("read", target))
        return self.pictures

    def player(self, capture: Capture, driver: str) -> Any:
        def run(until: int | None, look: Any) -> Any:
            self.asked.append((driver, until, look is not None))
            for call in capture.calls:
                if look is not None:
                    look(call, None)
            return SimpleNamespace(calls=6, images=9, driver=driver or "kept", **self.done)

        return SimpleNamespace(run=run)

    def run(self, *words: str) -> int:
        parser = command_parser("replay")
        self.asked.clear()
        return replay.run(parser.parse_args(["a.gcap", *words]))


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ((), ("", None, False)),
        (("--driver", "jit"), ("jit", None, False)),
        (("--until", "4"), ("", 4, False)),
        (("--frame", "1"), ("", 3, False)),
        (("--frame", "2"), ("", 6, False)),
        (("--frame", "1", "--until", "5"), ("", 3, False)),
    ],
)
def test_how_far_a_capture_is_played(stage: Stage, words: tuple[str, ...], asked: Any) -> None:
    assert stage.run(*words) == 0
    assert stage.asked == [asked]


@pytest.mark.parametrize(
    ("words", "said"), [(("--until", "0"), "no such call"), (("--until", "7"), "no such call"),
                        (("--frame", "3"), "a.gcap: frames are 1 to 2"),
                        (("--frame", "0"), "a.gcap: frames are 1 to 2")],
)  # fmt: skip
def test_calls_and_frames_that_there_are_not(
    stage: Stage, words: tuple[str, ...], said: str
) -> None:
    with pytest.raises(GalletteError, match=said):
        stage.run(*words)
    assert stage.asked == []


HEAD = "6 calls replayed on {}; {} of 9 pictures that were read are identical to the recorded ones"


def test_differences_are_printed(stage: Stage) -> None:
    stage.done = {"different": [1, 2, 3, 4, 5, 6], "errors": []}
    assert stage.run() == 1
    lines = [f"  different: call {n}, Draw[b]({n})" for n in range(1, 6)]
    assert stage.text.getvalue().splitlines() == [HEAD.format("kept", 3), *lines]
    assert stage.run("--driver", "kept") == 1
    assert stage.run("--driver", "other") == 0  # another driver may draw others


def test_errors_are_printed(stage: Stage) -> None:
    stage.done = {"different": [], "errors": [f"[b]{n}" for n in range(6)]}
    assert stage.run("--driver", "[i]other") == 1
    lines = [f"\x1b[31m  [b]{n}\x1b[0m" for n in range(5)]
    assert stage.text.getvalue().splitlines() == [HEAD.format("[i]other", 9), *lines]


@pytest.mark.parametrize(("words", "last"), [((), 5), (("--until", "4"), 4), (("--until", "3"), 2)])
def test_the_picture_of_the_last_draw_is_saved(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Any, last: int
) -> None:
    monkeypatch.chdir(tmp_path)
    played: list[int] = []
    original = stage.read
    stage.read = lambda target: played.append(target) or original(target)  # type: ignore[method-assign, func-returns-value]
    monkeypatch.setattr(Call, "__init__", lambda self, number, frame: self.__dict__.update(
        number=number, frame=frame, target=number))  # fmt: skip
    assert stage.run(*words, "--save", "[b]a.png") == 0
    assert played == [last]
    assert stage.text.getvalue().endswith("\npicture: [b]a.png\n")
    saved = np.asarray(Image.open(tmp_path / "[b]a.png"))
    assert saved.shape == (2, 3, 3) and set(saved.ravel().tolist()) == {128}


@pytest.mark.parametrize("name", ["depth", "stencil"])
def test_depth_is_saved_as_gray(stage: Stage, tmp_path: Path, name: str) -> None:
    stage.pictures = {name: np.array([[[0.0], [1.0]]], np.float32)}
    assert stage.run("--save", str(tmp_path / "d.png")) == 0
    assert np.asarray(Image.open(tmp_path / "d.png")).tolist() == [[[0] * 3, [255] * 3]]


def test_nothing_was_drawn(stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "n.png"
    with pytest.raises(GalletteError, match="nothing was drawn up to that call"):
        stage.run("--until", "1", "--save", str(path))
    assert not path.exists()

"""The last frame of a capture is a benchmark: its calls are made again and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.benchmarks import find
from gallette.benchmarks.captures import capture_frame
from gallette.benchmarks.sides import measure
from gallette.capture import Replayer, open_capture, recording
from gallette.capture.story import Call, Event
from gallette.compiler.errors import InputError
from gallette.state_tracker import GL, create_context


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Two frames: the first makes a texture, the second clears to a colour and reads."""
    path = tmp_path / "two.gcap"
    with recording(path) as recorder:
        gl = create_context("numpipe", size=(4, 4))
        texture = gl.gen_textures(1)[0]
        gl.bind_texture(GL.TEXTURE_2D, texture)
        recorder.frame()
        gl.clear_bufferfv(GL.COLOR, 0, [0.0, 1.0, 0.0, 1.0])
        gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE)
        gl.release()
    return path


def test_only_the_last_frame_is_made_again(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_capture(capture).frames == 2
    played: list[str] = []
    play = Replayer.play

    def noting(self: Replayer, steps: list[Call | Event]) -> None:
        played.extend(step.name for step in steps if isinstance(step, Call))
        play(self, steps)

    monkeypatch.setattr(Replayer, "play", noting)
    frame, contexts = capture_frame(capture, "numpipe")
    (gl,) = contexts.values()
    assert played == ["GenTextures", "BindTexture"]
    for called in (["ClearBufferfv", "ReadPixels"], ["ReadPixels"], ["ReadPixels"]):
        gl.clear_color(1.0, 0.0, 0.0, 1.0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        played.clear()
        frame()
        assert played == called  # the others are made through C pointers
        assert gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE) == b"\0\xff\0\xff"


@pytest.mark.parametrize("driver", ["numpipe", "native:llvmpipe"])
def test_a_capture_is_measured_beside_other_benchmarks(capture: Path, driver: str) -> None:
    names = [str(capture), "gradient@16", str(capture)]
    (side,) = measure(names, [driver], 1)
    assert side.errors == {} and side.times.keys() == {*names}


def test_a_capture_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        find(str(tmp_path / "none.gcap"))

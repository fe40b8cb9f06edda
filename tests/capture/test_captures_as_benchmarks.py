"""The last frame of a capture is a benchmark: its calls are made again and again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gallette.benchmarks import find
from gallette.benchmarks.captures import capture_frame
from gallette.benchmarks.sides import measure
from gallette.capture import open_capture, recording
from gallette.compiler.errors import InputError
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import program

POSITION = "#version 120\nvoid main() { gl_Position = gl_Vertex; }"
COLORED = "#version 120\nuniform vec4 color;\nvoid main() { gl_FragColor = color; }"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Two frames: the first makes a texture, the second clears to a colour and reads. Then the
    program cleans up.
    """
    path = tmp_path / "two.gcap"
    with recording(path) as recorder:
        gl = create_context("numpipe", size=(4, 4))
        texture = gl.gen_textures(1)[0]
        gl.bind_texture(GL.TEXTURE_2D, texture)
        recorder.frame()
        gl.clear_color(0.0, 1.0, 0.0, 1.0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE)
        recorder.frame()
        gl.delete_textures(1, [texture])
        gl.release()
    return path


@pytest.mark.parametrize("driver", ["numpipe", "native:llvmpipe"])
def test_only_the_last_frame_that_draws_is_made_again(capture: Path, driver: str) -> None:
    assert open_capture(capture).frames == 3
    frame, contexts = capture_frame(capture, driver)
    (gl,) = contexts.values()
    for color in ((0.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 1.0)):
        gl.clear_color(*color)
        gl.clear(GL.COLOR_BUFFER_BIT)
        frame()
        texel = gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
        assert texel == b"\0\xff\0\xff" and gl.get_error() == GL.NO_ERROR
    assert gl.is_texture(1) and not gl.is_texture(2)


def test_frames_that_generate_and_link(tmp_path: Path) -> None:
    """Names that a frame generates may be others each time;
    client memory that two draws read from one address is what each of them read.
    """
    path = tmp_path / "own.gcap"
    with recording(path) as recorder:
        gl = create_context("numpipe", profile="compat", size=(2, 1))
        recorder.frame()
        made = program(gl, POSITION, COLORED)  # in use
        gl.uniform4f(gl.get_uniform_location(made, "color"), 0.0, 1.0, 0.0, 1.0)
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        gl.buffer_data(GL.ARRAY_BUFFER, 8, bytes(8), GL.STATIC_DRAW)
        gl.bind_buffer(GL.ARRAY_BUFFER, 0)
        place = np.zeros(2, np.float32)
        gl.vertex_pointer(2, GL.FLOAT, 0, place)
        gl.enable_client_state(GL.VERTEX_ARRAY)
        gl.clear(GL.COLOR_BUFFER_BIT)
        for x in (-0.5, 0.5):
            place[0] = x
            gl.draw_arrays(GL.POINTS, 0, 1)
        gl.delete_buffers(1, [buffer])
        gl.use_program(0)
        gl.delete_program(made)
        gl.release()
    frame, contexts = capture_frame(path, "numpipe")
    (gl,) = contexts.values()
    for _ in range(2):
        gl.create_program()  # which takes the name of the frame's last one
        frame()
        texels = gl.read_pixels(0, 0, 2, 1, GL.RGBA, GL.UNSIGNED_BYTE)
        assert texels == b"\0\xff\0\xff" * 2 and gl.get_error() == GL.NO_ERROR


@pytest.mark.parametrize("driver", ["numpipe", "native:llvmpipe"])
def test_a_capture_is_measured_beside_other_benchmarks(capture: Path, driver: str) -> None:
    names = [str(capture), "gradient@16", str(capture)]
    (side,) = measure(names, [driver], 1)
    assert side.errors == {} and side.times.keys() == {*names}


def test_a_capture_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        find(str(tmp_path / "none.gcap"))

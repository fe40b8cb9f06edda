"""Legal calls at bad moments: nothing crashes, and errors are told where they belong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gallette.compiler.errors import OutOfMemoryError
from gallette.drivers.common.draw import execution
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.context import Context
from gallette.state_tracker.drawing import validate
from tests.interrupts import hear_interrupts
from tests.state_tracker.helpers import errors, linked, pixels, program, quad

OUT_OF_MEMORY = ["GL_OUT_OF_MEMORY"]
DRIVERS = "numpipe", "jit", "simd", "tiler"


def color(gl: GLInterface, name: int, *values: float) -> None:
    gl.uniform4f(gl.get_uniform_location(name, "color"), *values)


# -- arrays without a buffer ---------------------------------------------------------------------


def test_a_client_array_is_forgotten_when_a_buffer_takes_its_place() -> None:
    gl = create_context("numpipe", size=(64, 64), profile="compat", version=(2, 1))
    vertices = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, vertices)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert pixels(gl)[..., 0].all()
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    gl.buffer_data(GL.ARRAY_BUFFER, 8, None, GL.STATIC_DRAW)
    gl.vertex_pointer(2, GL.FLOAT, 0, 0x1000)
    gl.delete_buffers(1, [buffer])
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert not pixels(gl)[..., 0].any()
    gl.push_client_attrib(GL.CLIENT_ALL_ATTRIB_BITS)
    gl.vertex_pointer(2, GL.FLOAT, 0, vertices)
    gl.pop_client_attrib()
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert not pixels(gl)[..., 0].any()
    assert errors(gl) == []
    gl.release()


# -- draws that wait -----------------------------------------------------------------------------


@pytest.mark.parametrize("draws", [3, execution.WORTH_MERGING + 3])
@pytest.mark.parametrize("end", ["delete", "orphan", "shrink"])
def test_pending_draws_own_their_indices(ours: GLInterface, draws: int, end: str) -> None:
    name = program(ours)
    quad(ours, name)
    (indices,) = ours.gen_buffers(1)
    ours.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, indices)
    ours.buffer_data(GL.ELEMENT_ARRAY_BUFFER, 4, bytes([0, 1, 2, 3]), GL.STATIC_DRAW)
    for number in range(draws):
        color(ours, name, number / draws, 1.0, 0.0, 1.0)
        ours.draw_elements(GL.TRIANGLE_STRIP, 4, GL.UNSIGNED_BYTE, None)
    if end == "delete":
        ours.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, 0)
        ours.delete_buffers(1, [indices])
    else:
        size = 4 if end == "orphan" else 1
        ours.buffer_data(GL.ELEMENT_ARRAY_BUFFER, size, None, GL.STREAM_DRAW)
    seen = pixels(ours)
    assert (seen[..., 1] == 255).all()
    assert (seen[..., 0] == round(255 * (draws - 1) / draws)).all()
    assert errors(ours) == []


def _target(gl: GLInterface) -> int:
    """A framebuffer with a texture of 64x64."""
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 64, 64, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    return int(framebuffer)


def test_a_draw_that_fails_late_is_an_error_of_its_own(
    ours: GLInterface, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call that made it run takes effect: later draws land where they should."""
    name = program(ours)
    first, second = _target(ours), _target(ours)
    quad(ours, name)
    color(ours, name, 1.0, 0.0, 0.0, 1.0)
    ours.bind_framebuffer(GL.FRAMEBUFFER, first)
    ours.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    messages: list[str] = []
    ours.enable(GL.DEBUG_OUTPUT)
    ours.debug_message_callback(lambda *m: messages.append(m[5].decode()), None)
    with monkeypatch.context() as patch:

        def no_room(*args: object) -> None:
            raise OutOfMemoryError("no room for a draw")

        patch.setattr(execution, "draw", no_room)
        ours.bind_framebuffer(GL.FRAMEBUFFER, second)
        color(ours, name, 0.0, 1.0, 0.0, 1.0)
        ours.clear(0)
        patch.undo()
    ours.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert (pixels(ours)[..., :2] == (0, 255)).all()
    assert errors(ours) == OUT_OF_MEMORY
    assert messages == ["GL_OUT_OF_MEMORY in an earlier draw: no room for a draw"]
    ours.bind_framebuffer(GL.FRAMEBUFFER, first)
    assert not pixels(ours)[..., 1].any()


# -- caches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", ["numpipe", "noop"])
def test_state_made_up_every_frame_does_not_pile_up(
    monkeypatch: pytest.MonkeyPatch, driver: str
) -> None:
    """noop checks that nothing is deleted while bound, nor used after its deletion."""
    monkeypatch.setattr(validate, "MOST_STATES", 8)
    gl = create_context(driver, size=(16, 16))
    fragment = (
        "#version 330\nuniform sampler2D s;\nout vec4 c;\n"
        "void main() { c = texture(s, vec2(0.5)); }"
    )
    quad(gl, program(gl, fragment=fragment))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    texel = np.array([0, 255, 0, 255], np.uint8)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, texel)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.enable(GL.POLYGON_OFFSET_FILL)
    for frame in range(60):
        gl.polygon_offset(0.0, float(frame))
        gl.tex_parameterf(GL.TEXTURE_2D, GL.TEXTURE_LOD_BIAS, frame / 8)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        for cache in gl.caches.all:
            assert len(cache._handles) <= 10
    if driver == "numpipe":
        assert (pixels(gl, 16, 16) == texel).all()
    assert errors(gl) == []
    gl.release()


def test_vertex_layouts_made_up_every_frame_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "MOST_STATES", 8)
    gl = create_context("numpipe", size=(16, 16), version=(4, 3))
    name = program(gl)
    quad(gl, name)
    for frame in range(60):
        color(gl, name, frame / 60, 1.0, 0.0, 1.0)
        gl.vertex_attrib_format(0, 1 + frame % 2, GL.FLOAT, 0, frame)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        assert len(gl.caches.vertex_elements._handles) <= 10
    gl.vertex_attrib_format(0, 2, GL.FLOAT, 0, 0)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert (pixels(gl, 16, 16)[..., 1] == 255).all()
    assert errors(gl) == []
    gl.release()


# -- Ctrl-C ----------------------------------------------------------------------------------------

ENDLESS = """
import os, signal, sys, threading
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import program, quad
fragment = "#version 430\\nuniform int stop; out vec4 c; void main() {" \\
    "int i = 0; while (i != stop) i = (i + 2) & 1023; c = vec4(float(i)); }"
for driver in sys.argv[1:]:
    gl = Context(driver, size=(256, 128), version=(4, 3), budget=1 << 60, time_limit=1e9)
    name = program(gl, fragment=fragment)
    quad(gl, name)
    stop = gl.get_uniform_location(name, "stop")
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)  # so that all is compiled
    gl.finish()
    gl.uniform1i(stop, 1)
    try:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.finish()
        sys.exit("not interrupted")
    except KeyboardInterrupt:
        gl.uniform1i(stop, 4)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.finish()
        red = gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)[0]
        print(driver, "interrupted, and goes on", gl.get_error(), red)
"""


@pytest.mark.parametrize("threads", ["1", "3"])
def test_ctrl_c_ends_a_draw_and_the_context_continues(threads: str) -> None:
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS, *DRIVERS],
        cwd=root,
        env={**os.environ, "GALLETTE_THREADS": threads},
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=hear_interrupts,
    )
    wanted = [f"{driver} interrupted, and goes on 0 255" for driver in DRIVERS]
    assert done.stdout.splitlines() == wanted, done.stderr


# -- the clock -------------------------------------------------------------------------------------

SPINS = """#version 430
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { uint value; };
uniform int stop;
uniform sampler2D image;
void main() {
    int i = 0;
    vec4 sum = vec4(0.0);
    while (i != stop) {
        i = (i + 2) & 1023;
        BODY
    }
    value = uint(i) + uint(sum.x);
}
"""
BODIES = {"arithmetic": "", "lookups": "sum += texture(image, vec2(i) * 0.1);"}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("body", BODIES)
def test_a_loop_ends_at_the_time_limit(
    driver: str, body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    gl = Context(driver, version=(4, 3), budget=1 << 60, time_limit=0.1)
    name = linked(gl, compute=SPINS.replace("BODY", BODIES[body]))
    gl.uniform1i(gl.get_uniform_location(name, "stop"), 1)
    gl.dispatch_compute(1, 1, 1)
    gl.finish()
    assert errors(gl) == ["GL_CONTEXT_LOST"]
    assert "longer than its time limit of 0.1 s" in capsys.readouterr().err
    gl.release()


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_large_triangles_without_loops_end_at_the_time_limit(driver: str) -> None:
    """A draw whose count is legal may cover any number of pixels."""
    gl = Context(driver, size=(1024, 1024), version=(4, 3), budget=1 << 60, time_limit=0.1)
    quad(gl, program(gl))
    gl.draw_arrays_instanced(GL.TRIANGLE_STRIP, 0, 4, 20_000)
    gl.finish()
    assert errors(gl) == ["GL_CONTEXT_LOST"]
    gl.release()


# -- no room -------------------------------------------------------------------------------------


def test_an_image_there_is_no_room_for_leaves_the_texture_alone(ours: GLInterface) -> None:
    (name,) = ours.gen_textures(1)
    ours.bind_texture(GL.TEXTURE_2D, name)
    texels = np.arange(16, dtype=np.uint8)
    image = (GL.RGBA, GL.UNSIGNED_BYTE)
    ours.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, *image, texels)
    for level in (0, 3):
        ours.tex_image2d(GL.TEXTURE_2D, level, GL.RGBA8, 2, 2, 0, *image, texels)
    before = len(ours.screen.resources.live)
    with pytest.MonkeyPatch.context() as patch:

        def no_room(desc: object) -> None:
            raise OutOfMemoryError("no room")

        patch.setattr(ours.screen, "resource_create", no_room)
        ours.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 64, 64, 0, *image, None)
        assert errors(ours) == OUT_OF_MEMORY
        ours.tex_image2d(GL.TEXTURE_2D, 3, GL.RGBA8, 64, 64, 0, *image, None)
        assert errors(ours) == OUT_OF_MEMORY
        ours.tex_storage2d(GL.TEXTURE_2D, 2, GL.RGBA8, 64, 64)
        assert errors(ours) == OUT_OF_MEMORY
    assert len(ours.screen.resources.live) == before
    assert ours.get_tex_level_parameteriv(GL.TEXTURE_2D, 0, GL.TEXTURE_WIDTH) == [2]
    assert ours.get_tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_IMMUTABLE_FORMAT) == [0]
    for level in (0, 3):
        back = ours.get_tex_image(GL.TEXTURE_2D, level, *image)
        assert np.frombuffer(back, np.uint8).tolist() == texels.tolist()
    assert errors(ours) == []


def test_a_renderbuffer_there_is_no_room_for_stays_what_it_was(ours: GLInterface) -> None:
    (name,) = ours.gen_renderbuffers(1)
    ours.bind_renderbuffer(GL.RENDERBUFFER, name)
    ours.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, 16, 16)
    with pytest.MonkeyPatch.context() as patch:

        def no_room(desc: object) -> None:
            raise OutOfMemoryError("no room")

        patch.setattr(ours.screen, "resource_create", no_room)
        ours.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA32F, 32, 32)
    assert errors(ours) == OUT_OF_MEMORY
    width = ours.get_renderbuffer_parameteriv(GL.RENDERBUFFER, GL.RENDERBUFFER_WIDTH)
    assert width == [16]
    (framebuffer,) = ours.gen_framebuffers(1)
    ours.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    ours.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, name)
    assert ours.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE

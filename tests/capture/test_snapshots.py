"""Pictures of what a replay's framebuffers and buffers hold, and that nobody feels them taken."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallette
from gallette.capture import CaptureError, recording
from gallette.capture.differ import _compare, diff_capture
from gallette.capture.snapshot import (
    RunningReplay,
    _child,
    _named,
    read_attachments,
    start_snapshots,
    take_snapshots,
)
from gallette.capture.story import Target, open_capture
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.watchers import frame_done

WIDTH, HEIGHT = 5, 3
# Formats, what they are called in a capture, what is cleared to, what is read.
COLORS: list[tuple[int, str, Any, Any]] = [
    (GL.RGBA8, "R8G8B8A8_UNORM", (0.2, 0.4, 0.6, 0.8), np.array([51, 102, 153, 204], np.uint8)),
    (GL.RGB8, "R8G8B8X8_UNORM", (0.2, 0.4, 0.6, 0.8), np.array([51, 102, 153, 255], np.uint8)),
    (GL.R8, "R8_UNORM", (0.2, 0.4, 0.6, 0.8), np.array([51, 0, 0, 255], np.uint8)),
    (GL.RGBA16, "R16G16B16A16_UNORM", (0.25, 0.5, 1.0, 0.0), np.array([0.25, 0.5, 1, 0], "f4")),
    (GL.RGB10_A2, "R10G10B10A2_UNORM", (0.25, 0.5, 1.0, 1.0), np.array([0.25, 0.5, 1, 1], "f4")),
    (GL.RGBA32F, "R32G32B32A32_FLOAT", (-2.0, 0.5, 7.0, 9.0), np.array([-2, 0.5, 7, 9], "f4")),
    (GL.RG32F, "R32G32_FLOAT", (-2.0, 0.5, 7.0, 9.0), np.array([-2, 0.5, 0, 1], "f4")),
    (GL.RGBA8UI, "R8G8B8A8_UINT", (3, 4, 5, 200), np.array([3, 4, 5, 200], np.uint32)),
    (GL.RG32UI, "R32G32_UINT", (3, 1 << 31, 5, 6), np.array([3, 1 << 31, 0, 1], np.uint32)),
    (GL.RGBA16I, "R16G16B16A16_SINT", (-3, 4, 5, -6), np.array([-3, 4, 5, -6], np.int32)),
    (GL.SRGB8_ALPHA8, "R8G8B8A8_SRGB", (0.2, 0.4, 0.6, 0.8), np.array([51, 102, 153, 204], "u1")),
]  # fmt: skip


def test_pictures_of_equal_bytes_are_told_apart() -> None:
    black, near = np.zeros((2, 2, 4), np.uint8), np.zeros((2, 2, 1), np.float32)
    names = [_named(picture)[0] for picture in (black, black.copy(), near)]
    assert names[0] == names[1] != names[2]


def test_one_step_between_resolved_bytes_is_one_step() -> None:
    a = np.arange(256, dtype=np.float32).reshape(1, 256, 1) / np.float32(255)
    for steps in (1, 2, 3):
        found = _compare("colour 0", a[:, steps:], a[:, :-steps], steps, 0.0)
        assert found is None
        found = _compare("colour 0", a[:, steps:], a[:, :-steps], steps - 0.5, 0.0)
        assert found is not None
        assert found.beyond == 256 - steps
    tiny = _compare("colour 0", a, a + np.float32(1e-7), 0.0, 0.0)
    assert tiny is not None  # with tolerance 0 every bit counts


@pytest.fixture(scope="module")
def gl() -> Any:
    made: Any = gallette.create_context(version=(4, 3))
    yield made
    made.release()


def attached(gl: Any, *formats: tuple[int, int], samples: int = 0) -> list[int]:
    """A framebuffer of renderbuffers, bound; their names, the framebuffer's first."""
    frame = gl.gen_framebuffers(1)[0]
    gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
    buffers = gl.gen_renderbuffers(len(formats))
    for buffer, (place, internal) in zip(buffers, formats, strict=True):
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, internal, WIDTH, HEIGHT)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, place, GL.RENDERBUFFER, buffer)
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
    return [frame, *buffers]


def cleared(gl: Any, index: int, values: Any) -> None:
    """Clear a colour buffer, and its leftmost column to something else."""
    kind, dtype = gl.clear_bufferfv, "f4"
    if isinstance(values[0], int):
        signed = min(values) < 0
        kind, dtype = (gl.clear_bufferiv, "i4") if signed else (gl.clear_bufferuiv, "u4")
    gl.clear_color(0, 0, 0, 0)
    kind(GL.COLOR, index, np.array([0, 0, 0, 0], dtype))
    gl.enable(GL.SCISSOR_TEST)
    gl.scissor(1, 0, WIDTH, HEIGHT)
    kind(GL.COLOR, index, np.array(values, dtype))
    gl.disable(GL.SCISSOR_TEST)


@pytest.mark.parametrize(("internal", "name", "values", "wanted"), COLORS, ids=lambda v: str(v))
def test_colours_are_read_as_what_they_are(
    gl: Any, internal: int, name: str, values: Any, wanted: Any
) -> None:
    attached(gl, (GL.COLOR_ATTACHMENT0, internal))
    cleared(gl, 0, values)
    found = read_attachments(gl, Target(WIDTH, HEIGHT, 0, (name,), None))
    assert list(found) == ["colour 0"]
    picture = found["colour 0"]
    assert picture.dtype == wanted.dtype
    assert picture.shape == (HEIGHT, WIDTH, 4)
    near = 0.001 if wanted.dtype.kind == "f" else 0
    np.testing.assert_allclose(picture[:, 1:], np.broadcast_to(wanted, (HEIGHT, 4, 4)), atol=near)
    whole = 255 if wanted.dtype == np.uint8 else 1
    alpha = 0 if "A" in name.removesuffix("FLOAT") else whole  # what is not there is 1
    assert picture[:, 0].tolist() == [[0, 0, 0, alpha]] * HEIGHT
    # The framebuffer of a replay may have an alpha that the captured one had not.
    without = name.replace("A8", "X8").replace("A16", "X16").replace("A32", "X32")
    found = read_attachments(gl, Target(WIDTH, HEIGHT, 0, (without,), None))
    assert found["colour 0"][..., :3].tolist() == picture[..., :3].tolist()
    if "_A2" not in name and "A2_" not in name:
        assert (found["colour 0"][..., 3] == whole).all()


def test_every_buffer_that_is_drawn_to_is_read_and_no_other(gl: Any) -> None:
    first, second = GL.COLOR_ATTACHMENT0, GL.COLOR_ATTACHMENT1
    attached(gl, (first, GL.R8), (second, GL.R32F))
    gl.draw_buffers(2, [first, second])
    cleared(gl, 0, (1.0, 0.0, 0.0, 0.0))
    cleared(gl, 1, (5.0, 0.0, 0.0, 0.0))
    both = Target(WIDTH, HEIGHT, 0, ("R8_UNORM", "R32_FLOAT"), None)
    found = read_attachments(gl, both)
    assert {k: v[0, 1, 0].item() for k, v in found.items()} == {"colour 0": 255, "colour 1": 5.0}
    alone = Target(WIDTH, HEIGHT, 1, ("R8_UNORM", None), None)  # one sample is no multisampling
    assert read_attachments(gl, alone)["colour 0"].dtype == np.uint8
    gl.draw_buffers(2, [GL.NONE, second])
    assert list(read_attachments(gl, both)) == ["colour 1"]
    nothing = Target(WIDTH, HEIGHT, 0, (None, "R32_FLOAT"), None)
    assert list(read_attachments(gl, nothing)) == ["colour 1"]


@pytest.mark.parametrize(
    ("internal", "place", "name", "what"),
    [
        (GL.DEPTH24_STENCIL8, GL.DEPTH_STENCIL_ATTACHMENT, "Z24_UNORM_S8_UINT", "depth stencil"),
        (GL.DEPTH_COMPONENT32F, GL.DEPTH_ATTACHMENT, "Z32_FLOAT", "depth"),
        (GL.STENCIL_INDEX8, GL.STENCIL_ATTACHMENT, "S8_UINT", "stencil"),
    ],
)
def test_depth_and_stencil_are_read(
    gl: Any, internal: int, place: int, name: str, what: str
) -> None:
    attached(gl, (GL.COLOR_ATTACHMENT0, GL.R8), (place, internal))
    gl.clear_depth(0.25)
    gl.clear_stencil(77)
    gl.clear(GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    found = read_attachments(gl, Target(WIDTH, HEIGHT, 0, (None,), name))
    assert " ".join(found) == what
    wanted = {"depth": (np.float32, 0.25), "stencil": (np.uint8, 77)}
    for part, picture in found.items():
        assert picture.dtype == wanted[part][0]
        assert picture.shape == (HEIGHT, WIDTH, 1)
        np.testing.assert_allclose(picture, wanted[part][1], atol=1e-6)
    assert not read_attachments(gl, Target(WIDTH, HEIGHT, 4, (None,), name))
    assert not read_attachments(gl, Target(WIDTH, HEIGHT, 0, (None,), None))


def test_many_samples_are_resolved(gl: Any) -> None:
    names = attached(gl, (GL.COLOR_ATTACHMENT0, GL.RGBA8), samples=4)
    other = gl.gen_renderbuffers(1)[0]
    gl.bind_renderbuffer(GL.RENDERBUFFER, other)
    cleared(gl, 0, (0.2, 0.4, 0.6, 0.8))
    gl.scissor(0, 0, 1, 1)
    before, made = gl.gen_framebuffers(1)[0], gl.gen_renderbuffers(1)[0]
    gl.delete_framebuffers(1, [before])
    gl.delete_renderbuffers(1, [made])
    for switch in (gl.enable, gl.disable):
        switch(GL.SCISSOR_TEST)
        found = read_attachments(gl, Target(WIDTH, HEIGHT, 4, ("R8G8B8A8_UNORM",), None))
        picture = found["colour 0"]
        assert picture.dtype == np.float32
        assert picture.shape == (HEIGHT, WIDTH, 4)
        np.testing.assert_allclose(picture[:, 0], 0)
        np.testing.assert_allclose(
            picture[:, 1:], np.broadcast_to([0.2, 0.4, 0.6, 0.8], (HEIGHT, 4, 4)), atol=1e-6
        )
        assert gl.is_enabled(GL.SCISSOR_TEST) == (switch == gl.enable)
        assert gl.get_integerv(GL.RENDERBUFFER_BINDING)[0] == other
        assert gl.get_integerv(GL.DRAW_FRAMEBUFFER_BINDING)[0] == names[0]
        assert gl.get_integerv(GL.READ_FRAMEBUFFER_BINDING)[0] == names[0]
        # What it was resolved with is gone: its names are free again.
        assert (gl.is_framebuffer(before), gl.is_renderbuffer(made)) == (0, 0)
    assert gl.get_error() == GL.NO_ERROR
    whole = Target(WIDTH, HEIGHT, 4, ("R8G8B8A8_UINT",), None)
    assert not read_attachments(gl, whole)  # integers cannot be resolved into floats


@pytest.mark.parametrize(
    ("internal", "format", "dtype", "wanted"),
    [
        (GL.RGBA8, "R8G8B8A8_UNORM", np.uint8, [51, 102, 153, 204]),
        (GL.RGB8, "R8G8B8X8_UNORM", np.uint8, [51, 102, 153, 255]),
        (GL.RGBA16F, "R16G16B16A16_FLOAT", np.float32, [0.2, 0.4, 0.6, 0.8]),
    ],
)
def test_opengl_es_resolves_into_the_same_format(
    internal: int, format: str, dtype: Any, wanted: Any
) -> None:
    gl: Any = gallette.create_context(profile="es", version=(3, 2))
    attached(gl, (GL.COLOR_ATTACHMENT0, internal), samples=4)
    cleared(gl, 0, (0.2, 0.4, 0.6, 0.8))
    picture = read_attachments(gl, Target(WIDTH, HEIGHT, 4, (format,), None))["colour 0"]
    assert picture.dtype == dtype
    np.testing.assert_allclose(picture[0, 1], wanted, atol=1e-3)
    assert gl.get_error() == GL.NO_ERROR
    gl.release()


def test_what_is_set_stays_set(gl: Any) -> None:
    """What a program packs with, where it reads and what it reads from."""
    shown, other = attached(gl, (GL.COLOR_ATTACHMENT0, GL.RGBA8))[0], gl.gen_framebuffers(1)[0]
    cleared(gl, 0, (1.0, 1.0, 1.0, 1.0))
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, other)
    gl.read_buffer(GL.NONE)
    packs = {
        GL.PACK_ALIGNMENT: 8,
        GL.PACK_ROW_LENGTH: 11,
        GL.PACK_SKIP_ROWS: 2,
        GL.PACK_SKIP_PIXELS: 3,
    }
    room = gl.gen_buffers(1)[0]
    gl.bind_buffer(GL.PIXEL_PACK_BUFFER, room)
    gl.buffer_data(GL.PIXEL_PACK_BUFFER, 4096, None, GL.STATIC_READ)
    for name, value in packs.items():
        gl.pixel_storei(name, value)
    try:
        found = read_attachments(gl, Target(WIDTH, HEIGHT, 0, ("R8G8B8A8_UNORM",), None))
        assert found["colour 0"][:, 1:].min() == 255
        assert {name: gl.get_integerv(name)[0] for name in packs} == packs
        assert gl.get_integerv(GL.PIXEL_PACK_BUFFER_BINDING)[0] == room
        assert gl.get_integerv(GL.READ_FRAMEBUFFER_BINDING)[0] == other
        assert gl.get_integerv(GL.DRAW_FRAMEBUFFER_BINDING)[0] == shown
        assert gl.get_integerv(GL.READ_BUFFER)[0] == GL.NONE
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, shown)
        gl.read_buffer(GL.COLOR_ATTACHMENT3)
        assert "colour 0" in read_attachments(gl, Target(1, 1, 0, ("R8G8B8A8_UNORM",), None))
        assert gl.get_integerv(GL.READ_BUFFER)[0] == GL.COLOR_ATTACHMENT3
        assert gl.get_error() == GL.NO_ERROR
    finally:
        for name, value in zip(packs, (4, 0, 0, 0), strict=True):
            gl.pixel_storei(name, value)
        gl.bind_buffer(GL.PIXEL_PACK_BUFFER, 0)


def test_what_cannot_be_read_is_left_out_and_no_error_stays(gl: Any) -> None:
    attached(gl, (GL.COLOR_ATTACHMENT0, GL.R32UI))
    wrong = Target(WIDTH, HEIGHT, 0, ("R32_FLOAT",), "Z24_UNORM_S8_UINT")
    assert read_attachments(gl, wrong) == {}
    assert gl.get_error() == GL.NO_ERROR


@pytest.mark.parametrize("source", ["FRONT_AND_BACK", "BACK_LEFT", "FRONT_LEFT", "BACK", "FRONT"])
def test_a_window_is_read_where_it_is_drawn(source: str) -> None:
    window: Any = gallette.create_context(profile="compat", version=(3, 0), size=(WIDTH, HEIGHT))
    window.draw_buffer(getattr(GL, source))
    window.clear_color(0.2, 0.4, 0.6, 0.8)
    window.clear(GL.COLOR_BUFFER_BIT)
    target = Target(WIDTH, HEIGHT, 0, ("R8G8B8A8_UNORM",), None)
    found = read_attachments(window, target)
    assert found["colour 0"].reshape(-1, 4).tolist() == [[51, 102, 153, 204]] * (WIDTH * HEIGHT)
    assert window.get_error() == GL.NO_ERROR
    window.release()


STORES = """#version 430
layout(local_size_x = 1) in;
layout(std430, binding = 1) buffer first { uint a[2]; };
layout(std430, binding = 7) buffer second { uint b; };
void main() { a[0] = 7u; a[1] = 8u; b = 9u; }
"""
CAPTURED = """#version 330
out float twice;
void main() { twice = float(gl_VertexID) * 2.0; gl_Position = vec4(0, 0, 0, 1); }
"""


def test_buffers_are_read_after_launches_and_captures(tmp_path: Path) -> None:
    path = tmp_path / "a.gcap"
    with recording(path):
        gl: Any = gallette.create_context(version=(4, 3), size=(4, 4))
        made = gl.create_shader_programv(GL.COMPUTE_SHADER, 1, [STORES])
        gl.use_program(made)
        buffers = gl.gen_buffers(3)
        for index, buffer, size in ((1, buffers[0], 8), (7, buffers[1], 4)):
            gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, index, buffer)
            gl.buffer_data(GL.SHADER_STORAGE_BUFFER, size, None, GL.STATIC_READ)
        gl.bind_buffer(GL.COPY_READ_BUFFER, buffers[2])
        gl.dispatch_compute(1, 1, 1)
        frame_done()
        shader = gl.create_shader(GL.VERTEX_SHADER)
        gl.shader_source(shader, CAPTURED)
        gl.compile_shader(shader)
        program = gl.create_program()
        gl.attach_shader(program, shader)
        gl.transform_feedback_varyings(program, 1, ["twice"], GL.INTERLEAVED_ATTRIBS)
        gl.link_program(program)
        gl.use_program(program)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffers[2])
        gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, 12, None, GL.STATIC_READ)
        gl.begin_transform_feedback(GL.POINTS)
        gl.draw_arrays(GL.POINTS, 0, 3)
        gl.end_transform_feedback()
        assert gl.get_error() == GL.NO_ERROR
        gl.release()
    launch, draw = open_capture(path).draws()

    seen = take_snapshots(path, "numpipe")
    stored, drawn, captured = seen.taken
    assert [taken.call for taken in seen.taken] == [launch.number, draw.number, draw.number]
    assert {k: v.ravel().view("u4").tolist() for k, (_, v) in stored.pictures.items()} == {
        "buffer 1": [7, 8],
        "buffer 7": [9],
    }
    assert sorted(drawn.pictures) == ["colour 0", "depth", "stencil"]
    assert list(captured.pictures) == ["buffer 0"]
    assert captured.pictures["buffer 0"][1].ravel().view("f4").tolist() == [0, 2, 4]
    assert captured.read_after == draw.number + 1
    assert seen.driver == "numpipe"
    assert seen.errors == []
    assert take_snapshots(path, "").driver == open_capture(path).driver

    for frame, calls in ((1, [launch]), (2, [draw, draw]), (3, [])):
        taken = take_snapshots(path, "numpipe", frame).taken
        assert [t.call for t in taken] == [call.number for call in calls]


def shades(path: Path, size: int, count: int) -> None:
    """Record clears with so many colours."""
    with recording(path):
        gl: Any = gallette.create_context(size=(size, size))
        for number in range(count):
            gl.clear_color(number / count, 0, 0, 1)
            gl.clear(GL.COLOR_BUFFER_BIT)
            frame_done()
        gl.release()


def test_a_process_that_cannot_replay_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    none = tmp_path / "none.gcap"
    assert _child(BytesIO(), str(none), "numpipe") == 2
    assert capsys.readouterr().err == f"{none}: cannot read: No such file or directory\n"
    with pytest.raises(CaptureError) as refused, start_snapshots(none, "numpipe") as there:
        list(there.taken)
    assert str(refused.value) == (
        f"replay on numpipe: {none}: cannot read: No such file or directory"
    )


def test_a_process_that_ends_early_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.gcap"
    shades(path, 2, 3)
    out = BytesIO()
    assert _child(out, str(path), "numpipe") == 0
    whole = out.getvalue()
    for length in (len(whole) // 2, whole.index(b"\n") + 5, 0):
        text = f"import sys; sys.stdout.buffer.write({whole[:length]!r})"
        process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
        with (
            RunningReplay("numpipe", process, BytesIO()) as there,
            pytest.raises(CaptureError, match="replay on numpipe: it ended without a word"),
        ):
            list(there.taken)


def test_a_process_writes_what_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.gcap"
    shades(path, 2, 5)
    out = BytesIO()
    assert _child(out, str(path), "numpipe", "2") == 0
    head, rest = out.getvalue().split(b"\n", 1)
    assert [c[0] for c in json.loads(head)["changed"]] == ["colour 0", "depth", "stencil"]
    assert rest.endswith(b'{"errors": []}\n')
    numbers = [call.number for call in open_capture(path).draws()]
    with start_snapshots(path, "numpipe") as there:
        taken = list(there.taken)
    assert [t.call for t in taken] == [t.read_after for t in taken] == numbers
    for number, seen in enumerate(taken):
        assert seen.pictures["colour 0"][1].tolist() == [[[51 * number, 0, 0, 255]] * 2] * 2
        assert seen.pictures["depth"][1] is taken[0].pictures["depth"][1]
    assert there.errors == []
    assert there.driver == "numpipe"


def test_long_captures_take_no_more_memory_than_short_ones(tmp_path: Path) -> None:
    def peak(run: Callable[[], object]) -> int:
        tracemalloc.start()
        try:
            run()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    size, found = 256, []
    for count in (2, 2, 30):  # what is loaded and compiled once, the short one, the long one
        path = tmp_path / f"{count}.gcap"
        shades(path, size, count)
        replaying = partial(take_snapshots, path, "numpipe", keep=lambda taken: None)
        comparing = partial(diff_capture, path, "numpipe", "faulty:clear_colour")
        found.append((peak(replaying), peak(comparing)))
    picture = size * size * 4
    for short, long in zip(*found[1:], strict=True):
        assert long < short + 4 * picture  # 28 more colours

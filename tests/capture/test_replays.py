"""How a replay makes calls, windows, contexts and memory again, and what it says of failures."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallette
from gallette.capture import Capture, Replayer, open_capture, recording, replay
from gallette.capture.differ import diff_capture
from gallette.cli import main
from gallette.compiler.errors import GalletteError
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.targets.window import Drawable
from tests.capture.captured import captured, other_names, pixels
from tests.conftest import native_context


def two_windows(path: Path) -> Capture:
    """Clears and reads of two windows, one of which has neither alpha nor depth."""
    with recording(path):
        gl: Any = Context("numpipe")
        one = Drawable(gl.screen, (4, 3), 0, GL.RGB8, GL.NONE)
        two = Drawable(gl.screen, (2, 2))
        for draw, shade in ((one, 0.2), (two, 0.4), (one, 0.6)):
            gl.bind_drawables(draw, draw)
            gl.clear_color(shade, 0, 0, 0)
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
            pixels(gl)
        gl.bind_drawables(two, one)
        pixels(gl)
        two.resize((8, 6))
        gl.bind_drawables(two, two)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.read_pixels(0, 0, 8, 6, GL.RGBA, GL.UNSIGNED_BYTE)
        gl.bind_drawables(None, None)
        one.release()
        two.release()
        gl.release()
    return open_capture(path)


def test_windows_are_made_again_with_their_sizes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = two_windows(tmp_path / "a.gcap")
    (first, *_), last = capture.events("window"), list(capture.events("window"))[-1]
    assert first.parts[0] == first.parts[1]
    assert first.parts[0][1:] == [[4, 3], 0, GL.RGB8, GL.NONE]
    assert last.parts == [None, None]

    sizes: list[Any] = []

    def look(call: Any, gl: Any) -> None:
        if call.name == "Clear":
            state = gl.pipe_framebuffer
            sizes.append((state.width, state.height, state.zsbuf is not None))

    player = Replayer(capture)
    done = player.run(after=look, release=False)
    assert done.images == 5
    assert done.identical, (done.different, done.errors)
    assert sizes == [(4, 3, False), (2, 2, True), (4, 3, False), (8, 6, True)]
    windows = list(player._windows.values())
    assert [w.size for w in windows] == [(4, 3), (8, 6)]
    screen = player.gl.screen
    player.release()
    assert player.contexts == {}
    assert player._windows == {}
    assert all(w.color is None for w in windows)
    assert screen is not None
    assert main(["trace", str(tmp_path / "a.gcap")]) == 0
    assert "4 draws in " in capsys.readouterr().out


@pytest.mark.native
@pytest.mark.parametrize("profile", ["core", "compat"])
def test_contexts_of_later_versions_than_the_machine_has(profile: str, tmp_path: Path) -> None:
    native_context().release()
    with recording(tmp_path / "a.gcap"):
        gl: Any = Context("numpipe", profile=profile, version=(4, 6), size=(2, 2))
        gl.clear_color(1, 0.4, 0.2, 1)
        gl.clear(GL.COLOR_BUFFER_BIT)
        pixels(gl)
        gl.release()
    done = replay(tmp_path / "a.gcap", "native:llvmpipe")
    assert done.images == 1
    assert done.identical, (done.different, done.errors)


@pytest.mark.native
def test_windows_have_alpha_and_depth_natively_if_they_had(tmp_path: Path) -> None:
    native_context().release()
    seen: list[list[int]] = []

    def look(call: Any, gl: Any) -> None:
        if call.name == "Clear":
            seen.append([gl.get_integerv(bits)[0] for bits in (GL.ALPHA_BITS, GL.DEPTH_BITS)])

    done = Replayer(two_windows(tmp_path / "a.gcap"), "native:llvmpipe").run(after=look)
    assert done.images == 5
    assert done.identical, (done.different, done.errors)
    assert [[alpha > 0, depth > 0] for alpha, depth in seen] == [
        [False, False], [True, True], [False, False], [True, True]
    ]  # fmt: skip


@pytest.mark.native
def test_the_machines_own_gl_has_the_windows_too(tmp_path: Path) -> None:
    """Each of its size, empty at first, and looked at although the program made an error."""
    with recording(tmp_path / "a.gcap"):
        gl: Any = Context("numpipe", profile="compat", version=(2, 1))
        windows = [Drawable(gl.screen, size) for size in ((4, 3), (8, 6))]
        for round in range(2):
            for window in windows:
                gl.bind_drawables(window, window)
                gl.viewport(0, 0, *window.size)
                gl.enable(GL.NO_ERROR)
                gl.rectf(-1.0, -1.0, round / 2, 1.0)
            windows[1].resize((6, 7))
        gl.bind_drawables(None, None)
        for window in windows:
            window.release()
        gl.release()
    found = diff_capture(tmp_path / "a.gcap", "numpipe", "native:llvmpipe", tolerance=0.0)
    assert (found.ok, found.compared) == (True, 12)  # colour, depth and stencil after each


@pytest.mark.native
def test_framebuffers_with_more_samples_than_the_machine_has_are_named(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        (texture,), (frame,) = gl.gen_textures(1), gl.gen_framebuffers(1)
        gl.bind_texture(GL.TEXTURE_2D_MULTISAMPLE, texture)
        gl.tex_image2d_multisample(GL.TEXTURE_2D_MULTISAMPLE, 8, GL.RGBA8, 4, 4, True)
        gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
        place = GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D_MULTISAMPLE
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, *place, texture, 0)
        gl.clear_color(1, 0.4, 0.2, 1)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, 0)
        box = 0, 0, 4, 4
        gl.blit_framebuffer(*box, *box, GL.COLOR_BUFFER_BIT, GL.NEAREST)

    captured(tmp_path / "a.gcap", draw, size=(4, 4))
    found = diff_capture(tmp_path / "a.gcap", "numpipe", "native:llvmpipe")
    assert found.notes == [
        "native:llvmpipe: call 8, glClear(mask=0x4000): the framebuffer is incomplete here; "
        "it has 8 samples where it was recorded, GL_MAX_SAMPLES is 4"
    ]
    assert found.first is not None and found.first.call.name == "BlitFramebuffer"


@pytest.mark.native
def test_products_of_uniforms_are_drawn_natively_in_windows_without_alpha(tmp_path: Path) -> None:
    """What weston draws first; llvmpipe mixes up the channels unless it is told otherwise."""
    with recording(tmp_path / "a.gcap"):
        gl: Any = Context("numpipe", profile="es", version=(2, 0))
        window = Drawable(gl.screen, (8, 8), 0, GL.RGB8, GL.NONE)
        gl.bind_drawables(window, window)
        program = gl.create_program()
        for stage, text in (
            (GL.VERTEX_SHADER, "attribute vec2 at; void main() { gl_Position = vec4(at, 0, 1); }"),
            (GL.FRAGMENT_SHADER, "precision mediump float; uniform float alpha; uniform vec4 color;"
                                 "void main() { gl_FragColor = color * alpha; }"),
        ):  # fmt: skip
            shader = gl.create_shader(stage)
            gl.shader_source(shader, 1, [text], None)
            gl.compile_shader(shader)
            gl.attach_shader(program, shader)
        gl.bind_attrib_location(program, 0, "at")
        gl.link_program(program)
        gl.use_program(program)
        gl.uniform1f(gl.get_uniform_location(program, "alpha"), 1)
        gl.uniform4f(gl.get_uniform_location(program, "color"), 0.2, 0.4, 0.6, 1)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, False, 0, np.float32([-1, -1, 1, -1, 1, 1, -1, 1]))
        gl.enable_vertex_attrib_array(0)
        gl.viewport(0, 0, 8, 8)
        gl.draw_arrays(GL.TRIANGLE_FAN, 0, 4)
        gl.bind_drawables(None, None)
        window.release()
        gl.release()
    found = diff_capture(tmp_path / "a.gcap", "numpipe", "native:llvmpipe", tolerance=0.0)
    assert (found.ok, found.compared) == (True, 1), (found.first, found.notes)


@pytest.mark.native
def test_samples_that_the_machine_rounds_up_are_named(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        (buffer,), (frame,) = gl.gen_renderbuffers(1), gl.gen_framebuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, 2, GL.RGBA8, 8, 8)
        gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
        place = GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, *place, buffer)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.begin(GL.TRIANGLES)
        for x, y in ((-0.9, -0.9), (0.9, -0.7), (0.1, 0.9)):
            gl.vertex2f(x, y)
        gl.end()

    captured(tmp_path / "a.gcap", draw, size=(8, 8), profile="compat", version=(3, 0))
    found = diff_capture(tmp_path / "a.gcap", "numpipe", "native:llvmpipe")
    assert [(d.call.name, d.samples) for d in found.draws] == [("End", (2, 4))]


@pytest.mark.parametrize(
    ("frame", "why"),
    [(None, "no call draws"), (1, "no call draws in frame 1"), (0, "no call draws in frame 0")],
)
def test_without_draws_there_is_nothing_to_compare(
    frame: int | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.gcap"
    captured(path, lambda gl: gl.clear_color(1, 0.4, 0.2, 1))
    options = ["--against", "numpipe", *(["--frame", str(frame)] if frame is not None else [])]
    assert main(["diff", str(path), *options]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"{path}: there is nothing to compare: {why}\n")


def test_draws_without_a_framebuffer_leave_nothing_to_compare(tmp_path: Path) -> None:
    with recording(tmp_path / "a.gcap"):
        gl: Any = gallette.create_context()
        gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.release()
    with pytest.raises(GalletteError, match="nothing to compare: no attachment can be read"):
        diff_capture(tmp_path / "a.gcap", "numpipe", "numpipe")


@pytest.mark.native
@pytest.mark.parametrize("version", [(1, 1), (2, 0), (3, 0)])
def test_every_version_of_opengl_es_is_replayed_and_compared(
    version: tuple[int, int], tmp_path: Path
) -> None:
    def draw(gl: Any) -> None:
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.enable(GL.SCISSOR_TEST)
        gl.scissor(1, 0, 2, 3)
        gl.clear_color(1, 0.4, 0.2, 1)
        gl.clear(GL.COLOR_BUFFER_BIT)
        pixels(gl)

    native_context().release()
    path = tmp_path / "a.gcap"
    captured(path, draw, profile="es", version=version, size=(4, 4))
    for driver in ("numpipe", "native:llvmpipe"):
        done = replay(path, driver)
        assert done.images == 1
        assert done.identical, (driver, done.different, done.errors)
    found = diff_capture(path, "numpipe", "native:llvmpipe")
    assert (found.compared, found.first, found.notes) == (2, None, [])


def test_contexts_are_made_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a.gcap"
    with recording(path):
        first = Context("numpipe", version=(4, 3), debug=True, size=(8, 8), samples=4)
        second = Context("numpipe", profile="es", version=(3, 0), share=first)
        first.make_current()
        first.flush()
        second.make_current()
        second.flush()
        second.release()
        first.make_current()
        first.flush()
        first.release()
    seen: list[Any] = []
    groups: list[Any] = []

    def created(gl: Context) -> None:
        seen.append((gl.profile, gl.debug_context, gl.first_size, gl.first_samples))
        groups.append(gl.group)

    Replayer(open_capture(path), after_create=created).run()
    assert seen == [("core", True, (8, 8), 4), ("es", False, None, 0)]
    assert groups[0] is groups[1]


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "native:llvmpipe"])
def test_objects_that_are_shared_are_so_in_a_replay(driver: str, tmp_path: Path) -> None:
    native_context().release()
    path = tmp_path / "a.gcap"
    with recording(path):
        first = Context("numpipe", version=(4, 3), size=(4, 4))
        second = Context("numpipe", version=(4, 3), size=(4, 4), share=first)
        first.make_current()
        (buffer,) = first.gen_buffers(1)
        first.bind_buffer(GL.ARRAY_BUFFER, buffer)
        first.buffer_data(GL.ARRAY_BUFFER, 4, np.frombuffer(b"abcd", np.uint8), GL.STATIC_DRAW)
        first.finish()
        second.make_current()
        second.bind_buffer(GL.COPY_READ_BUFFER, buffer)
        second.finish()
        second.release()
        first.release()
    seen: list[bytes] = []

    def look(call: Any, gl: Any) -> None:
        if gl is player.contexts.get(2) and call.function.name == "Finish":
            seen.append(bytes(gl.get_buffer_sub_data(GL.COPY_READ_BUFFER, 0, 4)))

    player = Replayer(open_capture(path), driver)
    player.run(after=look)
    assert seen == [b"abcd"]


def test_several_contexts_are_of_one_screen(tmp_path: Path) -> None:
    with recording(tmp_path / "a.gcap"):
        contexts = [Context("numpipe", size=(2, 2)) for _ in range(2)]
        for gl in contexts:
            gl.make_current()
            gl.flush()
        for gl in contexts:
            gl.release()
    seen: list[Any] = []
    screens: set[Any] = set()

    def created(gl: Context) -> None:
        seen.append(gl)
        screens.add(gl.screen)

    player = Replayer(open_capture(tmp_path / "a.gcap"), after_create=created)
    player.run()
    assert len(screens) == 1
    assert player._screen is None
    assert [gl.released for gl in seen] == [True, True]


# -- calls ---------------------------------------------------------------------------------------


def test_a_failing_call_is_reported_and_the_others_are_made(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.flush()
        pixels(gl)

    capture = captured(tmp_path / "a.gcap", draw, size=(4, 4))

    def broken(gl: Any) -> None:
        def refuse(*args: Any) -> None:
            raise GalletteError("no memory")

        gl.flush = refuse
        leave = gl.release

        def complain() -> None:
            leave()
            raise GalletteError("not empty")

        gl.release = complain

    done = Replayer(capture, after_create=broken).run()
    assert done.errors == ["call 2, glFlush(): no memory", "not empty"]
    assert not done.identical
    assert done.different == []
    assert (done.images, done.calls) == (1, 3)


def test_queries_are_not_repeated(tmp_path: Path) -> None:
    def ask(gl: Any) -> None:
        gl.get_integerv(GL.VIEWPORT)
        gl.is_enabled(GL.BLEND)
        gl.check_framebuffer_status(GL.FRAMEBUFFER)
        gl.debug_message_callback(0, None)
        gl.flush()
        pixels(gl)

    capture = captured(tmp_path / "a.gcap", ask, version=(4, 3), size=(4, 4))
    made: list[str] = []
    player = Replayer(capture)
    inner = player.arguments
    player.arguments = lambda call: (made.append(call.name), inner(call))[1]  # type: ignore
    assert player.run().calls == 2
    assert made == ["Flush", "ReadPixels"]


def test_different_images_are_reported(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.clear_color(0, 0, 0, 0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        pixels(gl)
        gl.flush()
        pixels(gl)

    capture = captured(tmp_path / "a.gcap", draw, size=(4, 4))

    def spoil(call: Any, gl: Any) -> None:
        if call.name == "Flush":
            gl.clear_color(1, 0, 0, 0)
            gl.clear(GL.COLOR_BUFFER_BIT)

    done = Replayer(capture).run(before=spoil)
    read = [c.number for c in capture.calls if c.name == "ReadPixels"]
    assert done.different == read[1:]
    assert not done.identical
    assert done.errors == []


def test_what_is_read_into_a_buffer_stays_there(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.bind_buffer(GL.PIXEL_PACK_BUFFER, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.PIXEL_PACK_BUFFER, 100, None, GL.STATIC_READ)
        gl.clear_color(0.2, 0.4, 0.6, 0.8)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, 8)
        room = np.zeros(100, np.uint8)
        gl.get_buffer_sub_data(GL.PIXEL_PACK_BUFFER, 0, 100, room)
        assert room.tolist() == [0] * 8 + [51, 102, 153, 204] * 16 + [0] * 28

    capture = captured(tmp_path / "a.gcap", draw, size=(4, 4))
    done = replay(capture)
    assert done.images == 1
    assert done.identical


def test_reports_have_memory_of_their_own(tmp_path: Path) -> None:
    """Where hits and what is fed back went is gone; the replay writes to arrays it keeps."""
    values, words = (ctypes.c_float * 16)(), (ctypes.c_uint * 16)()

    def draw(gl: Any) -> None:
        gl.feedback_buffer(16, GL._2D, ctypes.addressof(values))
        gl.render_mode(GL.FEEDBACK)
        gl.begin(GL.POINTS)
        gl.vertex2f(0, 0)
        gl.end()
        assert gl.render_mode(GL.RENDER) == 3
        gl.select_buffer(16, ctypes.addressof(words))
        gl.render_mode(GL.SELECT)
        gl.init_names()
        gl.push_name(77)
        gl.begin(GL.POINTS)
        gl.vertex2f(0, 0)
        gl.end()
        assert gl.render_mode(GL.RENDER) == 1

    capture = captured(tmp_path / "a.gcap", draw, profile="compat", version=(2, 1), size=(8, 8))
    assert values[:3] == [GL.POINT_TOKEN, 4.0, 4.0]
    assert (words[0], words[3]) == (1, 77)
    ctypes.memset(values, 0, 64)
    ctypes.memset(words, 0, 64)
    player = Replayer(capture)
    done = player.run()
    assert done.identical, done.errors
    assert bytes(values) + bytes(words) == bytes(128)
    rooms = dict(player._reports)
    assert rooms["FeedbackBuffer"].view("f4")[:3].tolist() == [GL.POINT_TOKEN, 4.0, 4.0]
    assert rooms["SelectBuffer"][[0, 3]].tolist() == [1, 77]
    assert len(rooms["FeedbackBuffer"]) == 16


def test_lists_of_arrays_are_replayed(tmp_path: Path) -> None:
    """Addresses of indices, given as numbers or in memory."""
    corners = np.array([-1, -1, 0, -1, -1, 1, 0, 1, 1, 1, 1, -1], np.float32)
    left, right = np.array([0, 1, 2], np.uint8), np.array([3, 4, 5], np.uint8)
    places = [left.ctypes.data, right.ctypes.data]
    table = np.array(places, np.int64)

    def draw(gl: Any) -> None:
        gl.enable_client_state(GL.VERTEX_ARRAY)
        gl.vertex_pointer(2, GL.FLOAT, 0, corners.ctypes.data)
        for shade, given in (
            (1.0, places),
            (0.8, table.ctypes.data),
            (0.6, table.copy()),
            (0.4, table.tobytes()),
        ):
            gl.color4f(shade, 0, 0, 1)
            gl.multi_draw_elements(
                GL.TRIANGLES, np.array([3, 3], np.int32), GL.UNSIGNED_BYTE, given, 2
            )
            pixels(gl, 8, 8)

    capture = captured(tmp_path / "a.gcap", draw, profile="compat", version=(2, 1), size=(8, 8))
    drawn = [c for c in capture.calls if c.name == "MultiDrawElements"]
    assert [c.args[3] for c in drawn] == [places] * 4
    corners[:] = 0
    left[:] = right[:] = 0
    table[:] = 0
    done = replay(capture)
    assert done.images == 4
    assert done.identical, (done.different, done.errors)


def test_arrays_are_separate_from_other_reads_of_a_draw(tmp_path: Path) -> None:
    """Counts and firsts lie in memory as the corners do; corners are kept as the draw's."""
    corners = np.array([-1, -1, 0, -1, -1, 1, 0, 1, 1, 1, 1, -1], np.float32)
    firsts, counts = np.array([0, 3], np.int32), np.array([3, 3], np.int32)

    def draw(gl: Any) -> None:
        gl.enable_client_state(GL.VERTEX_ARRAY)
        gl.vertex_pointer(2, GL.FLOAT, 0, corners.ctypes.data)
        gl.color4f(1, 0, 0, 1)
        gl.multi_draw_arrays(GL.TRIANGLES, firsts.ctypes.data, counts.ctypes.data, 2)
        pixels(gl, 8, 8)

    capture = captured(tmp_path / "a.gcap", draw, profile="compat", version=(2, 1), size=(8, 8))
    (call,) = (c for c in capture.calls if c.name == "MultiDrawArrays")
    assert call.args[1:3] == [[0, 3], [3, 3]]
    at = corners.ctypes.data
    read = [(address - at, capture.blob(name)) for address, name in call.more["m"]]
    assert read == [(0, corners[:6].tobytes()), (24, corners[6:].tobytes())]
    corners[:] = 0
    done = replay(capture)
    assert done.identical, (done.different, done.errors)


def test_texts_of_assembly_programs_are_recorded(tmp_path: Path) -> None:
    """The text lies in memory, with its length and no end."""
    text = b"!!ARBfp1.0 MOV result.color, {1, 0.6, 0.2, 1}; END, and more"
    memory = ctypes.create_string_buffer(text)

    def draw(gl: Any) -> None:
        length, format = text.index(b", and"), GL.PROGRAM_FORMAT_ASCII_ARB
        gl.program_string_arb(GL.FRAGMENT_PROGRAM_ARB, format, length, ctypes.addressof(memory))
        gl.enable(GL.FRAGMENT_PROGRAM_ARB)
        gl.rectf(-1, -1, 1, 1)
        assert bytes(pixels(gl, 8, 8))[:4] == bytes([255, 153, 51, 255])

    capture = captured(tmp_path / "a.gcap", draw, profile="compat", version=(2, 1), size=(8, 8))
    ctypes.memset(memory, 0, len(text))
    done = replay(capture)
    assert done.images == 1
    assert done.identical, (done.different, done.errors)


def test_names_that_the_program_chose_itself_stay(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        gl.bind_texture(GL.TEXTURE_2D, 77)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, b"\1\2\3\4")
        gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, np.zeros(4, np.uint8))
        gl.delete_textures(2, [77, *gl.gen_textures(1)])
        gl.flush()

    capture = captured(tmp_path / "a.gcap", draw, profile="compat", version=(2, 1))
    known: list[Any] = []

    def look(call: Any, gl: Any) -> None:
        if call.name in ("GetTexImage", "Flush"):
            known.append((gl.is_texture(77), gl.is_texture(3)))

    done = Replayer(capture, after_create=other_names).run(after=look)
    assert done.identical, (done.different, done.errors)
    assert [tuple(map(bool, k)) for k in known] == [(True, False), (False, False)]


def test_texts_that_were_no_texts_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.gcap"
    with recording(path):
        gl: Any = gallette.create_context()
        shader = gl.create_shader(GL.VERTEX_SHADER)
        gl.shader_source(shader, -1, ["void main() {}"], None)
        assert gl.get_error() == GL.INVALID_VALUE
        gl.shader_source(shader, "void main() {}")
        gl.release()
    first, second = (c for c in open_capture(path).calls if c.name == "ShaderSource")
    assert first.args == [shader, -1, None, None]
    assert second.args[:3] == [shader, 1, ["void main() {}"]]

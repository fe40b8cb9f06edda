"""Captures: what is recorded, what a replay gives, and what happens to broken files."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import gallette
from gallette.capture import CaptureError, Replayer, open_capture, recording, replay
from gallette.capture.story import draws
from gallette.capture.targets import record_target
from gallette.cli import main
from gallette.commands import trace
from gallette.piglit_subset.suite import find_tests
from gallette.scenes import SCENES
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.watchers import WATCHERS, frame_done
from gallette.terminal import counted

VERTEX = """#version 330
in vec2 position;
void main() { gl_Position = vec4(position, 0.0, 1.0); }
"""
FRAGMENT = """#version 330
uniform vec4 tint[2];
out vec4 color;
void main() { color = tint[0] + tint[1]; }
"""


def window(gl: Any, size: int = 8) -> None:
    frame = gl.gen_framebuffers(1)[0]
    buffer = gl.gen_renderbuffers(1)[0]
    gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, size, size)
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    gl.viewport(0, 0, size, size)


def program(gl: Any) -> int:
    made = gl.create_program()
    for kind, text in ((GL.VERTEX_SHADER, VERTEX), (GL.FRAGMENT_SHADER, FRAGMENT)):
        shader = gl.create_shader(kind)
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        gl.attach_shader(made, shader)
    gl.link_program(made)
    gl.use_program(made)
    return int(made)


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_replays_to_the_bit(name: str, tmp_path: Path) -> None:
    path = tmp_path / "scene.gcap"
    record_target(name, path, "numpipe")
    done = replay(path)
    assert done.images and done.identical, (done.different, done.errors)


TESTS = ("glsl-1.10/", "glsl-3.30/", "gl-3.3/", "arb_shader_storage")


def _sample() -> list[Path]:
    found: list[Path] = []
    for pattern in TESTS:
        every = find_tests([], [f"spec/{pattern}"])
        found += [path for _, path in every[:: max(1, len(every) // 5)][:5]]
    return found


@pytest.mark.parametrize("path", _sample(), ids=lambda p: p.stem)
def test_shader_tests_replay_to_the_bit(path: Path, tmp_path: Path) -> None:
    outcome = record_target(str(path), tmp_path / "test.gcap", "numpipe")
    done = replay(tmp_path / "test.gcap")
    assert done.identical, (outcome, done.different, done.errors)


def test_calls_have_named_arguments_and_locations_have_names(tmp_path: Path) -> None:
    with recording(tmp_path / "a.gcap", program="test"):
        gl: Any = gallette.create_context()
        window(gl)
        made = program(gl)
        gl.uniform4fv(gl.get_uniform_location(made, "tint"), 2, [0.25] * 8)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.release()
    capture = open_capture(tmp_path / "a.gcap")
    uniform = next(c for c in capture.calls if c.name == "Uniform4fv")
    assert uniform.named()["value"] == [0.25] * 8
    assert str(next(c for c in capture.calls if c.name == "Clear")) == "glClear(mask=0x4000)"
    (link,) = capture.events("link")
    assert link.parts[1]["uniforms"] == {"tint[0]": [0, 2]}
    assert capture.draws()[0].target is not None
    assert capture.draws()[0].target.colors == ("R8G8B8A8_UNORM",)
    assert capture.reader.complete
    assert not WATCHERS


def test_locations_of_linked_programs_are_recorded(tmp_path: Path) -> None:
    """After each link of what is a program, and of those made of one text; of no others."""
    with recording(tmp_path / "a.gcap"):
        gl: Any = gallette.create_context()
        first = program(gl)
        gl.link_program(0)
        gl.link_program(99)
        text = "#version 330\nout vec4 c; uniform float f; void main() { c = vec4(f); }"
        alone = gl.create_shader_programv(GL.FRAGMENT_SHADER, 1, [text])
        gl.create_shader_programv(GL.NONE, 1, [text])
        gl.link_program(first)
        gl.release()
    links = open_capture(tmp_path / "a.gcap").events("link")
    places = [(link.parts[0], list(link.parts[1]["uniforms"])) for link in links]
    assert first == 1
    assert places == [(first, ["tint[0]"]), (alone, ["f"]), (first, ["tint[0]"])]


def test_equal_resources_are_kept_once(tmp_path: Path) -> None:
    data = np.random.default_rng(1).integers(0, 256, 4096, np.uint8)
    with recording(tmp_path / "a.gcap"):
        gl: Any = gallette.create_context()
        for name in gl.gen_buffers(8):
            gl.bind_buffer(GL.ARRAY_BUFFER, name)
            gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
        gl.release()
    assert open_capture(tmp_path / "a.gcap").reader.resources == 1
    assert (tmp_path / "a.gcap").stat().st_size < 2 * data.nbytes


@pytest.mark.parametrize("persistent", [False, True])
def test_mapped_memory_is_replayed(persistent: bool, tmp_path: Path) -> None:
    corners = np.array([-1, -1, 3, -1, -1, 3], np.float32)
    with recording(tmp_path / "a.gcap"):
        gl: Any = gallette.create_context(version=(4, 3) if persistent else (3, 3))
        window(gl)
        made = program(gl)
        gl.uniform4f(gl.get_uniform_location(made, "tint"), 0.2, 0.4, 0.6, 1)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
        access = GL.MAP_WRITE_BIT
        if persistent:
            access |= GL.MAP_PERSISTENT_BIT | GL.MAP_COHERENT_BIT
            gl.buffer_storage(GL.ARRAY_BUFFER, 24, None, access)
        else:
            gl.buffer_data(GL.ARRAY_BUFFER, 24, None, GL.STATIC_DRAW)
        address = gl.map_buffer_range(GL.ARRAY_BUFFER, 0, 24, access)
        ctypes.memmove(address, corners.ctypes.data, 24)
        if not persistent:
            gl.unmap_buffer(GL.ARRAY_BUFFER)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 0, None)
        gl.enable_vertex_attrib_array(0)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        assert gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE) == bytes([51, 102, 153, 255])
        gl.release()
    assert replay(tmp_path / "a.gcap").identical


def test_client_arrays_are_replayed_with_their_contents_at_each_draw(tmp_path: Path) -> None:
    with recording(tmp_path / "a.gcap"):
        gl: Any = gallette.create_context(profile="compat", version=(2, 1), size=(8, 8))
        corners = np.array([-1, -1, 3, -1, -1, 3], np.float32)
        gl.enable_client_state(GL.VERTEX_ARRAY)
        gl.vertex_pointer(2, GL.FLOAT, 0, corners.ctypes.data)
        gl.color4f(1, 0, 0, 1)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        whole = gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE)
        corners *= 0.5
        gl.color4f(0, 1, 0, 1)
        gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_BYTE, bytes([0, 1, 2]))
        part = gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE)
        assert whole != part
        gl.release()
        corners[:] = 0
    done = replay(tmp_path / "a.gcap")
    assert done.images == 2
    assert done.identical, (done.different, done.errors)


def test_names_are_recorded_as_they_were_stored(tmp_path: Path) -> None:
    """A call that failed stored none: the caller's memory may be far smaller than it asked for."""
    path = tmp_path / "names.gcap"
    room = np.zeros(4, np.uint32)
    with recording(path):
        gl: Any = gallette.create_context()
        for count in (0x7FFFFFFF, 3):
            gl.gen_buffers(count, room.ctypes.data)
        gl.release()
    made = [call for call in open_capture(path).calls if call.name == "GenBuffers"]
    assert [call.more.get("o") for call in made] == [None, [1, 2, 3]]
    assert room.tolist() == [1, 2, 3, 0]


def test_groups_and_frames(tmp_path: Path) -> None:
    with recording(tmp_path / "a.gcap"):
        gl: Any = gallette.create_context(version=(4, 3))
        window(gl)
        gl.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, "shadows")
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.pop_debug_group()
        frame_done()
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.release()
    capture = open_capture(tmp_path / "a.gcap")
    first, second = capture.draws()
    assert capture.groups[first.number] == ("shadows",)
    assert second.number not in capture.groups
    assert [first.frame, second.frame] == [1, 2]
    assert capture.draws(2) == [second]


def test_a_capture_that_was_cut_off_ends_where_it_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.gcap"
    record_target("gradient", path, "numpipe")
    whole = open_capture(path)
    path.write_bytes(path.read_bytes()[:-30])
    cut = open_capture(path)
    assert not cut.reader.complete
    assert len(cut.calls) <= len(whole.calls)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "not a capture of gallette"),
        (b"GALLETTE CAPTURE 1\nX\x00\x00\x00\x00", "no chunk is called b'X'"),
        (b"GALLETTE CAPTURE 1\nH\x03\x00\x00\x00abc", "broken at byte 24"),
    ],
)
def test_files_that_are_not_captures_are_reported(
    content: bytes, text: str, tmp_path: Path
) -> None:
    (tmp_path / "a.gcap").write_bytes(content)
    with pytest.raises(CaptureError, match=text):
        open_capture(tmp_path / "a.gcap")


def test_a_script_is_traced_replayed_and_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import moderngl, sys\n"
        "ctx = moderngl.create_context(standalone=True)\n"
        "target = ctx.simple_framebuffer((16, 16))\n"
        "target.clear(float(sys.argv[1]), 0, 0)\n"
        "assert target.read()[0] == 255\n"
    )
    out = tmp_path / "script.gcap"
    assert main(["trace", str(script), "1", "-o", str(out)]) == 0
    assert "1 draw," in capsys.readouterr().out
    assert main(["replay", str(out), "--save", str(tmp_path / "picture.png")]) == 0
    assert "1 of 1 pictures" in capsys.readouterr().out
    assert (tmp_path / "picture.png").exists()
    assert main(["trace", str(out), "--calls"]) == 0
    assert "glClear(mask=" in capsys.readouterr().out
    assert main(["trace", str(out)]) == 0
    assert "1 draw in " in capsys.readouterr().out
    assert main(["pixel", str(out), "3,4"]) == 0
    assert "colour (1, 0, 0, 0)" in capsys.readouterr().out


@pytest.mark.parametrize("frames", [0, 1, 2, 3])
def test_a_recording_is_summed_up_under_its_name(
    frames: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the name may look like a colour; frames are told if there are several."""
    monkeypatch.chdir(tmp_path)
    path = Path("[red]a[b].gcap")
    with recording(path):
        gl = gallette.create_context("numpipe", size=(8, 8))
        for _ in range(frames):
            gl.clear(GL.COLOR_BUFFER_BIT)
            frame_done()
        gl.release()
    capture = open_capture(path)
    trace._summary(Console(width=200), path)
    calls = counted(len(capture.calls), "call")
    draws = f"{counted(frames, 'draw')}, " + (f"{frames} frames, " if frames > 1 else "")
    assert capsys.readouterr().out == (
        f"[red]a[b].gcap: {calls}, {draws}"
        f"{capture.reader.resources} resources, {path.stat().st_size / 1000:.0f} kB\n"
    )


def test_until_stops_after_a_call(tmp_path: Path) -> None:
    record_target("blur", tmp_path / "a.gcap", "numpipe")
    capture = open_capture(tmp_path / "a.gcap")
    third = capture.draws()[2].number
    seen: list[int] = []
    Replayer(capture).run(third, lambda call, gl: seen.append(call.number))
    assert seen[-1] == third
    with pytest.raises(CaptureError, match="calls are 1 to"):
        capture.call(10**6)


@pytest.mark.native
def test_a_capture_replays_on_the_machines_own_gl(tmp_path: Path) -> None:
    from gallette.capture.differ import diff_capture

    for name in ("shadow_map", "particles"):
        path = tmp_path / f"{name}.gcap"
        record_target(name, path, "numpipe")
        diff = diff_capture(path, "numpipe", "native:llvmpipe")
        assert diff.compared and diff.ok, (diff.first, diff.notes)


def test_contexts_can_alternate(tmp_path: Path) -> None:
    with recording(tmp_path / "a.gcap"):
        contexts: list[Any] = [gallette.create_context(size=(4, 4)) for _ in range(2)]
        for shade in (0.2, 0.4, 0.6):
            for i, gl in enumerate(contexts):
                gl.make_current()
                gl.clear_color(shade, i, 0, 1)
                gl.clear(GL.COLOR_BUFFER_BIT)
        for gl in contexts:
            gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
            gl.release()
    done = replay(tmp_path / "a.gcap")
    assert done.images == 2
    assert done.identical, (done.different, done.errors)


def test_threads_have_their_own_contexts(tmp_path: Path) -> None:
    import threading

    def draw(number: int) -> None:
        gl: Any = gallette.create_context(size=(4, 4))
        for shade in range(20):
            gl.clear_color(shade / 20, number / 4, 0, 1)
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)
        gl.release()

    with recording(tmp_path / "a.gcap"):
        threads = [threading.Thread(target=draw, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    done = replay(tmp_path / "a.gcap")
    assert done.images == 80
    assert done.identical, (done.different, done.errors)


def test_passes_of_a_scene_are_groups(tmp_path: Path) -> None:
    told = record_target("transparency", tmp_path / "a.gcap", "numpipe")
    assert told == "passes: source over, added"
    capture = open_capture(tmp_path / "a.gcap")
    groups = [capture.groups.get(c.number) for c in capture.draws()]
    assert groups == [("source over",), ("source over",), ("added",)]


def test_calls_that_went_into_a_display_list_drew_nothing(tmp_path: Path) -> None:
    with recording(tmp_path / "a.gcap"):
        gl: Any = gallette.create_context(profile="compat", version=(2, 1), size=(8, 8))
        made = gl.gen_lists(1)
        gl.new_list(made, GL.COMPILE)
        gl.begin(GL.TRIANGLES)
        for x, y in ((-1, -1), (3, -1), (-1, 3)):
            gl.vertex2f(x, y)
        gl.end()
        gl.end_list()
        gl.call_list(made)
        assert gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE) == b"\xff" * 4
        gl.release()
    capture = open_capture(tmp_path / "a.gcap")
    assert [c.name for c in capture.draws()] == ["CallList"]
    assert replay(tmp_path / "a.gcap").identical


def test_what_can_change_the_framebuffer_draws() -> None:
    """Every function named after something that may, and what sounds like it but does not."""
    verbs = (
        "Draw(Arrays|Elements|RangeElements|TransformFeedback|Pixels|Tex|MeshTasks)"
        "|MultiDraw|MultiMode|Bitmap|CopyPixels|CallLists?$|Rect[dfis]v?$|Accum$|EvalMesh"
        "|End$|Clear$|ClearBuffer(fi|[fiu]+v)$|ClearNamedFramebuffer|Blit(Named)?Framebuffer"
        "|DispatchCompute"
    )
    wrong = [name for name in FUNCTIONS if draws(name) != bool(re.match(verbs, name))]
    assert wrong == []

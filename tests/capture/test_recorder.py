"""What the recorder writes down, of mapped memory above all, and how it is switched on."""

from __future__ import annotations

import atexit
import ctypes
import sys
from pathlib import Path
from typing import Any

import pytest

import gallette
from gallette.capture import Replayer, open_capture, recorder, recording, replay
from gallette.cli import main
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.watchers import WATCHERS, frame_done, unwatched
from tests.capture.captured import captured, other_names


def test_what_is_hidden_is_not_recorded(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        with unwatched():
            gl.flush()
            gl.clear(GL.COLOR_BUFFER_BIT)
        gl.finish()

    capture = captured(tmp_path / "a.gcap", draw, size=(2, 2))
    assert [c.name for c in capture.calls if c.name != "GetError"] == ["Finish"]


def test_calls_without_room_for_their_outputs_are_recorded(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        program = gl.create_program()
        shader = gl.create_shader(GL.FRAGMENT_SHADER)
        gl.shader_source(shader, "#version 330\nvoid main() {}")
        gl.compile_shader(shader)
        gl.attach_shader(program, shader)
        gl.link_program(program)
        assert len(gl.get_program_binary(program)[1]) > 20
        assert gl.get_debug_message_log(5) == []

    capture = captured(tmp_path / "a.gcap", draw, size=(2, 2))
    calls = {c.name: c.args for c in capture.calls}
    assert calls["GetProgramBinary"][1:] == [0] and calls["GetDebugMessageLog"] == [5, 0]
    assert replay(capture).errors == []


@pytest.mark.parametrize("way", ["target", "elements", "name"])
def test_mapped_memory_is_found_however_it_was_mapped(way: str, tmp_path: Path) -> None:
    """Written down when it is unmapped or flushed, and by a draw only if it stays mapped."""
    target = GL.ELEMENT_ARRAY_BUFFER if way == "elements" else GL.ARRAY_BUFFER

    def draw(gl: Any) -> None:
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        buffer = gl.gen_buffers(3)[2]
        gl.bind_buffer(target, buffer)
        gl.buffer_data(target, 32, None, GL.STATIC_DRAW)
        access = GL.MAP_WRITE_BIT | GL.MAP_FLUSH_EXPLICIT_BIT
        if way == "name":
            address = gl.map_named_buffer_range(buffer, 4, 12, access)
        else:
            address = gl.map_buffer_range(target, 4, 12, access)
        ctypes.memset(address, 7, 12)
        gl.clear(GL.COLOR_BUFFER_BIT)
        if way == "name":
            gl.flush_mapped_named_buffer_range(buffer, 0, 12)
            ctypes.memset(address, 8, 4)
            gl.unmap_named_buffer(buffer)
        else:
            gl.flush_mapped_buffer_range(target, 0, 12)
            ctypes.memset(address, 8, 4)
            gl.unmap_buffer(target)
        gl.map_buffer_range(target, 0, 4, GL.MAP_READ_BIT)
        gl.unmap_buffer(target)
        gl.finish()

    capture = captured(tmp_path / "a.gcap", draw, version=(4, 5), size=(2, 2))
    maps = list(capture.events("map"))
    access = int(GL.MAP_WRITE_BIT | GL.MAP_FLUSH_EXPLICIT_BIT)
    assert [m.parts for m in maps] == [[3, 4, 12, access], [3, 0, 4, int(GL.MAP_READ_BIT)]]
    written = list(capture.events("write"))
    before = [capture.call(w.before).name for w in written]
    assert [n.replace("Named", "") for n in before] == ["FlushMappedBufferRange", "UnmapBuffer"]
    assert [w.parts[:2] for w in written] == [[3, 4], [3, 4]]
    assert [capture.blob(w.parts[2]) for w in written] == [b"\7" * 12, b"\x08" * 4 + b"\7" * 8]

    last: list[bytes] = []

    def look(call: Any, gl: Any) -> None:
        if call.name == "Finish":
            last.append(bytes(gl.get_buffer_sub_data(target, 0, 32)))

    assert replay(capture).identical
    Replayer(capture, after_create=other_names).run(after=look)
    assert last == [bytes(4) + b"\x08" * 4 + b"\7" * 8 + bytes(16)]


def test_buffers_are_mapped_side_by_side(tmp_path: Path) -> None:
    def draw(gl: Any) -> None:
        addresses = []
        targets = GL.ARRAY_BUFFER, GL.COPY_READ_BUFFER
        for target, buffer in zip(targets, gl.gen_buffers(2), strict=True):
            gl.bind_buffer(target, buffer)
            gl.buffer_data(target, 4, None, GL.STATIC_DRAW)
            addresses.append(gl.map_buffer(target, GL.WRITE_ONLY))
        for value, (target, address) in enumerate(zip(targets, addresses, strict=True)):
            ctypes.memset(address, value + 1, 4)
            gl.unmap_buffer(target)

    capture = captured(tmp_path / "a.gcap", draw)
    written = [(e.parts[0], capture.blob(e.parts[2])) for e in capture.events("write")]
    assert written == [(1, b"\1" * 4), (2, b"\2" * 4)]


def test_a_process_is_recorded_where_its_environment_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.gcap"
    ends: list[Any] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    monkeypatch.setattr(sys, "argv", ["script.py", "1"])
    monkeypatch.delenv("GALLETTE_CAPTURE", raising=False)
    recorder.from_environment()
    assert not ends
    monkeypatch.setenv("GALLETTE_CAPTURE", str(path))
    gl: Any = gallette.create_context()
    assert len(WATCHERS) == 1
    again: Any = gallette.create_context()  # once: the environment is not asked again
    assert len(WATCHERS) == len(ends) == 1
    again.release()
    gl.make_current()
    gl.flush()
    gl.release()
    ends[0]()
    assert not WATCHERS
    capture = open_capture(path)
    assert capture.header == {"program": "script.py 1"}
    assert [c.name for c in capture.calls] == ["Flush"]
    assert capture.reader.complete


@pytest.mark.parametrize("argv", [[], [""]])
def test_a_program_without_a_name_is_called_after_its_python(
    argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[Any] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setenv("GALLETTE_CAPTURE", str(tmp_path / "a.gcap"))
    recorder.from_environment()
    ends[0]()
    assert open_capture(tmp_path / "a.gcap").header == {"program": Path(sys.executable).name}


@pytest.mark.parametrize("python", [True, False])
def test_a_host_that_is_no_python_closes_its_capture_when_it_exits(
    python: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []

    class Libc:
        @staticmethod
        def on_exit(function: Any, argument: Any) -> None:
            kept.append((function, argument))

    ends: list[Any] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Libc)
    name = "/usr/bin/python3.11" if python else "/usr/bin/game"
    monkeypatch.setattr(Path, "resolve", lambda self: Path(name))
    monkeypatch.setenv("GALLETTE_CAPTURE", str(tmp_path / "a.gcap"))
    recorder.from_environment()
    assert len(kept) == (0 if python else 1)
    for function, argument in kept:
        assert not open_capture(tmp_path / "a.gcap").reader.complete
        assert argument is None
        function(0, None)
        assert open_capture(tmp_path / "a.gcap").reader.complete
    ends[0]()
    assert open_capture(tmp_path / "a.gcap").reader.complete


def test_calls_are_listed_by_frames_and_groups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.gcap"
    with recording(path):
        gl: Any = gallette.create_context(version=(4, 3), size=(2, 2))
        gl.flush()
        for name in ("first [red]", "second"):
            gl.push_debug_group(GL.DEBUG_SOURCE_APPLICATION, 1, -1, name)
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.pop_debug_group()
            frame_done()
        gl.finish()
        gl.release()
    assert main(["trace", str(path), "--calls"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    push = "glPushDebugGroup(source=GL_DEBUG_SOURCE_APPLICATION, id=1, length=-1, message="
    assert lines == [
        "frame 1",
        "1 glFlush()",
        "first [red]",
        f"2 {push}'first [red]')",
        "3 glClear(mask=0x4000)  (draw 1)",
        "4 glPopDebugGroup()",
        "frame 2",
        "second",
        f"5 {push}'second')",
        "6 glClear(mask=0x4000)  (draw 2)",
        "7 glPopDebugGroup()",
        "frame 3",
        "8 glFinish()",
    ]

"""Captures made to do harm: a replay follows no address of the file, and says what was wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallette.capture.container as container
import gallette.capture.memory as memory
from gallette.capture import CaptureError, Replayer, open_capture, replay
from gallette.capture.container import MAGIC, CaptureReader, CaptureWriter, content_hash
from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.enums import GL
from tests.capture.captured import captured
from tests.conftest import native_context

FACTS: dict[str, Any] = {
    "driver": "numpipe", "profile": "compat", "version": [4, 5], "debug": False, "share": 0,
    "size": [4, 4], "samples": 0,
}  # fmt: skip
CONTEXT = [["@context", 1, FACTS], ["@current", 1]]
ASCII = GL.PROGRAM_FORMAT_ASCII_ARB
PINNED = GL.EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD
RGBA = [GL.RGBA, GL.UNSIGNED_BYTE]


def written(path: Path, records: list[Any], blobs: tuple[bytes, ...] = ()) -> Path:
    writer = CaptureWriter(path, {})
    for data in blobs:
        writer.blob(data)
    for record in records:
        writer.record(record)
    writer.close()
    return path


def buffer(target: int, size: int = 16) -> list[Any]:
    return [
        ["GenBuffers", [1, None], {"o": [1]}],
        ["BindBuffer", [target, 1]],
        ["BufferData", [target, size, None, GL.STATIC_DRAW]],
    ]


# -- what is refused at once -----------------------------------------------------------------------

WINDOW = ["@window", [7, [4, 4], 0, GL.RGBA8, GL.NONE], None]
REFUSED: dict[str, tuple[list[Any], str]] = {
    "no name": ([[3]], r"record 1: it has no name"),
    "no list": ([{"a": 1}], r"broken records: b'.*' is not a list"),
    "no such function": ([["Nothing", []]], r"record 1: OpenGL has no function glNothing"),
    "no such record": ([["@nothing"]], r"record 1: there are no records @nothing"),
    "too few arguments": ([["Viewport", [1, 2, 3]]], r"glViewport\(.*\) has other arguments"),
    "too many arguments": ([["Flush", [1]]], r"glFlush\(\) has other arguments"),
    "a text for a number": ([["Enable", ["x"]]], r"cap cannot be 'x'"),
    "a number that C does not hold": ([["Enable", [1 << 32]]], r"cap cannot be 4294967296"),
    "a fraction of an index": ([["Enable", [0.5]]], r"cap cannot be 0\.5"),
    "half a character": ([["ObjectLabel", [1, 2, 3, "\ud800"]]], r"label cannot be '\\ud800'"),
    "an address that is no number": (
        [["VertexPointer", [2, GL.FLOAT, 0, {"@": "here"}]]], r"ptr cannot be \{'@': 'here'\}",
    ),
    "numbers that are none": ([["Vertex2fv", [[0.5, None]]]], r"v cannot be \[0\.5, None\]"),
    "more texts than there are": (
        [["ShaderSource", [1, 9, ["text"], None]]], r"9 texts are 1",
    ),
    "a result that is none": ([["Flush", [], {"m": [[1]]}]], r"the result 'm' cannot be \[\[1\]\]"),
    "a context of half the facts": (
        [["@context", 1, {"driver": "numpipe"}]], r"@context cannot be",
    ),
    "a call before a context": ([["Flush", []]], r"call 1 has no context"),
    "a window before a context": ([WINDOW], r"a record @window has no context"),
    "a context that was not made": ([["@current", 2]], r"context 2 becomes current, but"),
    "a context made twice": ([*CONTEXT, CONTEXT[0]], r"context 1 is one too many"),
    "a call after the context's end": (
        [*CONTEXT, ["@context", 2, FACTS], ["@release", 1], ["Flush", []]],
        r"call 1 has no context",
    ),
    "a window of no format": (
        [*CONTEXT, ["@window", [7, [4, 4], 0, 9, 5], None]], r"windows have no formats 0x9 and 0x5",
    ),
    "a window too large": (
        [*CONTEXT, ["@window", [7, [32768, 32768], 0, GL.RGBA8, 0], None]], r"32768 x 32768 pixels",
    ),
    "a context too large": (
        [["@context", 1, {**FACTS, "size": [32768, 32768]}]], r"32768 x 32768 pixels",
    ),
    "an unknown driver": (
        [["@context", 1, {**FACTS, "driver": "nothing"}]], r"unknown driver 'nothing'",
    ),
    "a resource that is not there": (
        [*CONTEXT, ["Vertex2fv", [{"b": "00"}]]], r"resource 00 is missing",
    ),
    "more words for hits than memory": (
        [*CONTEXT, ["SelectBuffer", [1 << 30, {"@": 4096}]]], r"wants 1073741824 words",
    ),
    "a write beyond what is mapped": (
        [*CONTEXT, *buffer(GL.ARRAY_BUFFER),
         ["MapBuffer", [GL.ARRAY_BUFFER, GL.WRITE_ONLY], {"r": 1}],
         ["@map", 1, 0, 16, 2], ["@write", 1, 8, content_hash(bytes(16))]],
        r"bytes 8\+16 of buffer 1 are written, but 0\+16 are mapped",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_program_can_have_done_is_refused(case: str, tmp_path: Path) -> None:
    records, message = REFUSED[case]
    path = written(tmp_path / "a.gcap", records, (bytes(16),))
    with pytest.raises(GalletteError, match=message):
        replay(path)


# -- addresses -------------------------------------------------------------------------------------

# Calls that would read or write at the address "HERE", whose memory must stay as it is.
ADDRESSES: dict[str, list[Any]] = {
    "an image is read": [["ReadPixels", [0, 0, 4, 4, *RGBA, {"@": "HERE"}]]],
    "a texture is read": [
        ["TexImage2D", [GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, *RGBA, [7] * 16]],
        ["GetTexImage", [GL.TEXTURE_2D, 0, *RGBA, {"@": "HERE"}], {"w": "no text"}],
        ["GetnTexImage", [GL.TEXTURE_2D, 0, *RGBA, 64, {"@": "HERE"}], {"w": ""}],
        ["ReadPixels", [0, 0, 4, 4, *RGBA, {"@": "HERE"}]],
    ],
    "a client array is drawn": [
        ["EnableClientState", [GL.VERTEX_ARRAY]],
        ["VertexPointer", [2, GL.FLOAT, 0, {"@": "HERE"}]],
        ["DrawArrays", [GL.POINTS, 0, 8]],
    ],
    "an element of a client array": [
        ["EnableClientState", [GL.VERTEX_ARRAY]],
        ["VertexPointer", [2, GL.FLOAT, 0, {"@": "HERE"}]],
        ["Begin", [GL.POINTS]],
        ["ArrayElement", [3]],
        ["End", []],
    ],
    "a client array whose memory was an argument": [
        ["EnableClientState", [GL.VERTEX_ARRAY]],
        ["VertexPointer", [2, GL.FLOAT, 0, [1, 2, 3, 4]]],
        ["DrawArrays", [GL.POINTS, 0, 1]],
    ],
    "a draw beyond what was recorded": [
        ["EnableClientState", [GL.VERTEX_ARRAY]],
        ["VertexPointer", [2, GL.FLOAT, 0, {"@": 1 << 20}]],
        ["DrawArrays", [GL.POINTS, 0, 1 << 20], {"m": [[1 << 20, content_hash(bytes(16))]]}],
    ],
    "indices": [["DrawElements", [GL.POINTS, 4, GL.UNSIGNED_BYTE, {"@": "HERE"}]]],
    "addresses of indices": [
        ["MultiDrawElements", [GL.POINTS, [3], GL.UNSIGNED_BYTE, ["HERE"], 1]],
    ],
    "a short argument": [["LoadMatrixf", [[1, 2, 3]]]],
    "an image shorter than its size": [
        ["TexImage2D", [GL.TEXTURE_2D, 0, GL.RGBA8, 64, 64, 0, *RGBA, [1, 2, 3, 4]]],
    ],
    "rows longer than the image": [
        ["PixelStorei", [GL.UNPACK_ROW_LENGTH, 1 << 20]],
        ["TexImage2D", [GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, *RGBA, [7] * 16]],
    ],
    "more data than there are": [
        ["BindBuffer", [GL.ARRAY_BUFFER, 1]],
        ["BufferData", [GL.ARRAY_BUFFER, 1 << 20, [1, 2, 3], GL.STATIC_DRAW]],
    ],
    "a text of the caller's memory": [
        ["ProgramStringARB", [GL.VERTEX_PROGRAM_ARB, ASCII, 64, {"@": "HERE"}]],
    ],
    "memory that becomes a buffer": [
        ["BindBuffer", [PINNED, 1]],
        ["BufferData", [PINNED, 64, {"@": "HERE"}, GL.STREAM_COPY]],
    ],
    "an argument that becomes a buffer": [
        ["BindBuffer", [PINNED, 1]],
        ["BufferData", [PINNED, 4, [1, 2, 3, 4], GL.STREAM_COPY]],
    ],
    "lists": [["CallLists", [8, GL.UNSIGNED_BYTE, {"@": "HERE"}]]],
}  # fmt: skip


def _placed(value: Any, here: int) -> Any:
    if isinstance(value, list):
        return [_placed(v, here) for v in value]
    if isinstance(value, dict):
        return {k: _placed(v, here) for k, v in value.items()}
    return here if value == "HERE" else value


@pytest.mark.parametrize("case", ADDRESSES)
def test_addresses_of_a_file_are_not_followed(case: str, tmp_path: Path) -> None:
    room = np.full(4096, 5, np.uint8)
    calls = [["ClearColor", [1, 1, 1, 1]], ["Clear", [GL.COLOR_BUFFER_BIT]], *ADDRESSES[case]]
    records = [*CONTEXT, *_placed(calls, room.ctypes.data)]
    done = replay(written(tmp_path / "a.gcap", records, (bytes(16),)))
    assert (room == 5).all()
    assert len(done.errors) == 1
    assert "where the capture has no memory" in done.errors[0]


@pytest.mark.native
def test_the_machines_own_gl_gets_no_address_of_a_file(tmp_path: Path) -> None:
    native_context().release()
    room = np.full(4096, 5, np.uint8)
    here = {"@": room.ctypes.data}
    records = [
        ["@context", 1, {**FACTS, "profile": "compat"}],
        ["@current", 1],
        ["ClearColor", [1, 1, 1, 1]],
        ["Clear", [GL.COLOR_BUFFER_BIT]],
        ["TexImage2D", [GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, *RGBA, here]],
        ["GetTexImage", [GL.TEXTURE_2D, 0, *RGBA, here], {"w": ""}],
        *buffer(GL.PIXEL_PACK_BUFFER, 128),
        ["ReadPixels", [0, 0, 4, 4, *RGBA, {"@": 32}]],
        ["GetBufferSubData", [GL.PIXEL_PACK_BUFFER, 0, 128, here], {"w": ""}],
    ]
    seen: list[Any] = []

    def look(call: Any, gl: Any) -> None:
        if call.name == "ReadPixels":
            data = gl.get_buffer_sub_data(GL.PIXEL_PACK_BUFFER, 0, 128)
            seen.append(np.frombuffer(data, np.uint8)[32:96].tolist())

    path = written(tmp_path / "a.gcap", records)
    assert Replayer(open_capture(path), "native:llvmpipe").run(after=look).errors == []
    assert (room == 5).all()
    assert seen == [[255] * 64]


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "native:llvmpipe"])
def test_only_what_is_mapped_for_writing_is_written(driver: str, tmp_path: Path) -> None:
    native_context().release()
    target, data = GL.ARRAY_BUFFER, bytes(range(1, 17))
    write = ["@write", 1, 0, content_hash(data)]
    maps = [["MapBufferRange", [target, 0, 16, how], {"r": 1}] for how in (1, 2)]
    records: list[Any] = [
        *CONTEXT, *buffer(target), ["BufferSubData", [target, 0, 16, [0] * 16]],
        write,
        maps[0], write, ["UnmapBuffer", [target]], write, ["Flush", []],
        maps[1], write, ["UnmapBuffer", [target]], ["Flush", []],
        maps[1], ["DeleteBuffers", [1, [1]]], write, ["Flush", []],
    ]  # fmt: skip
    seen: list[bytes] = []

    def look(call: Any, gl: Any) -> None:
        if call.name == "Flush" and len(seen) < 2:
            seen.append(bytes(gl.get_buffer_sub_data(target, 0, 16)))

    path = written(tmp_path / "a.gcap", records, (data,))
    Replayer(open_capture(path), driver).run(after=look)
    assert seen == [bytes(16), data]


def test_memory_of_an_argument_may_be_read_and_arrays_of_a_list_are_its_own(tmp_path: Path) -> None:
    """Draws of display lists and of glBegin read memory of the state tracker's own."""
    corners = np.array([-1, -1, 3, -1, -1, 3], np.float32)
    places = np.array([corners.ctypes.data] * 2, np.int64)
    index = np.array([0, 1, 2], np.uint8)
    places[:] = index.ctypes.data
    counts = np.array([3, 3], np.int32)

    def draw(gl: Any) -> None:
        gl.enable_client_state(GL.VERTEX_ARRAY)
        gl.vertex_pointer(2, GL.FLOAT, 0, corners.ctypes.data)
        (first,) = [gl.gen_lists(1)]
        gl.new_list(first, GL.COMPILE)
        gl.multi_draw_elements(
            GL.TRIANGLES, counts.ctypes.data, GL.UNSIGNED_BYTE, places.ctypes.data, 2
        )
        gl.end_list()
        gl.call_list(first)
        gl.begin(GL.TRIANGLES)
        gl.array_element(0)
        gl.vertex2fv(corners.ctypes.data + 8)
        gl.vertex2f(-1, 3)
        gl.end()
        gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE)

    capture = captured(tmp_path / "a.gcap", draw, profile="compat", version=(2, 1), size=(4, 4))
    corners[:] = 0
    done = replay(capture)
    assert done.identical, (done.different, done.errors)


# -- sizes and files -------------------------------------------------------------------------------


def test_client_memory_is_bounded_before_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = content_hash(bytes(16))
    calls = [["DrawArrays", [0, 0, 1], {"m": [[i << 24, name]]}] for i in range(1, 9)]
    capture = open_capture(written(tmp_path / "a.gcap", [*CONTEXT, *calls], (bytes(16),)))
    monkeypatch.setattr(memory, "MOST", 7 << 16)
    made: list[int] = []
    monkeypatch.setattr(memory, "zeros", lambda size: made.append(size))
    with pytest.raises(CaptureError, match=f"read {8 * (16 + (1 << 16))} bytes of client arrays"):
        Replayer(capture)
    assert made == []


def test_a_chunk_grows_no_further_than_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(1 << 16)
    path = written(tmp_path / "a.gcap", [["marker", "x" * 5000]], (data,))
    monkeypatch.setattr(container, "MOST", 1 << 15)
    monkeypatch.setattr(container, "MOST_RECORDS", 1 << 12)
    reader = CaptureReader(path)
    with pytest.raises(CaptureError, match="more than 32768 bytes"):
        reader._read(*reader._places[content_hash(data)], container.MOST)
    with pytest.raises(CaptureError, match="more than 4096 bytes"):
        list(reader.records())
    reader.close()


def test_damage_is_found_wherever_it_is(tmp_path: Path) -> None:
    data = bytes(range(200))
    path = written(tmp_path / "a.gcap", CONTEXT, (data,))
    whole = path.read_bytes()
    name = bytes.fromhex(content_hash(data))
    path.write_bytes(whole.replace(name, bytes(12)))
    with pytest.raises(CaptureError, match=f"resource {'00' * 12} is damaged"):
        open_capture(path).blob("00" * 12)
    path.write_bytes(MAGIC + b"B\3\0\0\0abc")
    with pytest.raises(CaptureError, match="a resource has no name"):
        open_capture(path)
    for header, message in (
        (b"[1]", "the header is not a JSON object"),
        (b"{", "broken records"),
        (b"[" * 100_000, "broken records"),
        (b"\xff", "broken records"),
    ):
        writer = CaptureWriter(path, {})
        writer._chunk(b"H", header)
        writer.close()
        with pytest.raises(CaptureError, match=message):
            open_capture(path)
    at = whole.index(name) - 5  # the resource's bytes, cut off inside the chunk that says so
    cut = whole[at : at + 5 + 12 + 20]
    path.write_bytes(MAGIC + cut[:1] + (32).to_bytes(4, "little") + cut[5:])
    with pytest.raises(CaptureError, match="half of it is missing"):
        open_capture(path).blob(content_hash(data))


def test_a_capture_chooses_no_driver_that_writes_files(tmp_path: Path) -> None:
    facts = {**FACTS, "driver": "trace:trace:numpipe"}
    assert open_capture(written(tmp_path / "a.gcap", [["@context", 1, facts]])).driver == "numpipe"

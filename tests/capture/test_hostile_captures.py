"""Captures made to do harm: a replay follows no address of the file, and says what was wrong."""

from __future__ import annotations

import json
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
from tests.cases import Case, each
from tests.conftest import native_context

FACTS: dict[str, Any] = {
    "driver": "numpipe", "profile": "compat", "version": [4, 5], "debug": False, "share": 0,
    "size": [4, 4], "samples": 0,
}  # fmt: skip
CONTEXT = [["@context", 1, FACTS], ["@current", 1]]
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

HOSTILE = Path(__file__).with_name("hostile.txt")


def records_of(case: Case, here: int = 0) -> list[Any]:
    """The records of a case, a line each."""

    def placed(value: Any) -> Any:
        if isinstance(value, list):
            return [placed(v) for v in value]
        if isinstance(value, dict):
            return FACTS if "FACTS" in value else {k: placed(v) for k, v in value.items()}
        if value == "HERE":
            return here
        named = isinstance(value, str) and value.startswith("GL_")
        return getattr(GL, value[3:]) if named else value

    lines = case.text.splitlines()
    head = CONTEXT if lines[0] == "context" else []
    return [*head, *(placed(json.loads(line)) for line in lines[bool(head) :])]


@each(HOSTILE, "refused")
def test_what_no_program_can_have_done_is_refused(case: Case, tmp_path: Path) -> None:
    path = written(tmp_path / "a.gcap", records_of(case), (bytes(16),))
    with pytest.raises(GalletteError, match=case.answer):
        replay(path)


# -- addresses -------------------------------------------------------------------------------------


@each(HOSTILE, "addresses")
def test_addresses_of_a_file_are_not_followed(case: Case, tmp_path: Path) -> None:
    room = np.full(4096, 5, np.uint8)
    calls = [["ClearColor", [1, 1, 1, 1]], ["Clear", [GL.COLOR_BUFFER_BIT]]]
    records = [*CONTEXT, *calls, *records_of(case, room.ctypes.data)]
    done = replay(written(tmp_path / "a.gcap", records, (bytes(16),)))
    assert (room == 5).all()
    assert len(done.errors) == 1
    assert case.answer in done.errors[0]


@pytest.mark.parametrize("name", ["TexImage2D", "CompressedTexImage2D", "DrawPixels", "Bitmap"])
def test_data_in_place_of_an_offset_is_an_error(name: str, tmp_path: Path) -> None:
    """Of a call that reads from a bound buffer."""
    data, compressed = {"b": content_hash(bytes(16))}, GL.COMPRESSED_RED_RGTC1
    calls = {
        "TexImage2D": [GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, *RGBA, data],
        "CompressedTexImage2D": [GL.TEXTURE_2D, 0, compressed, 4, 4, 0, 8, data],
        "DrawPixels": [2, 2, *RGBA, data],
        "Bitmap": [8, 2, 0, 0, 0, 0, data],
    }
    records = [*CONTEXT, *buffer(GL.PIXEL_UNPACK_BUFFER), [name, calls[name]]]
    replayer = Replayer(open_capture(written(tmp_path / "a.gcap", records, (bytes(16),))))
    replayer.run(release=False)
    assert replayer.gl.get_error() == GL.INVALID_OPERATION
    replayer.release()


def test_the_first_context_need_not_be_made_current(tmp_path: Path) -> None:
    records = [CONTEXT[0], ["Uniform1i", [0, 1]]]
    assert replay(written(tmp_path / "a.gcap", records)).calls == 1


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

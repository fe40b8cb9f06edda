"""The file of a capture: what goes in comes out, and what came before the cut of one cut short."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.capture.container import (
    BATCH,
    MAGIC,
    CaptureError,
    CaptureReader,
    CaptureWriter,
    content_hash,
    is_capture,
)

HEADER = {"driver": "numpipe", "version": [3, 3]}


def written(path: Path, records: list[Any], blobs: list[bytes] | None = None) -> list[str]:
    writer = CaptureWriter(path, HEADER)
    names = [writer.blob(data) for data in blobs or []]
    for record in records:
        writer.record(record)
    writer.close()
    writer.close()  # again is no harm
    return names


def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    """Programs fork, and what the child has recorded or inherited is not the parent's."""
    writer = CaptureWriter(tmp_path / "a", HEADER)
    writer.blob(b"inherited")
    writer.record(["before"])
    child = os.fork()
    if not child:
        try:
            writer.record(["in the child"])
            writer.close()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0) == (child, 0)
    writer.record(["after"])
    writer.close()
    reader = CaptureReader(tmp_path / "a")
    assert (list(reader.records()), reader.complete) == ([["before"], ["after"]], True)
    assert reader.blob(content_hash(b"inherited")) == b"inherited"


@pytest.mark.parametrize("count", [0, 1, 7, 3 * BATCH // 40])
def test_every_record_is_in_the_file_when_it_is_closed(tmp_path: Path, count: int) -> None:
    records = [["call", number, "x" * 30] for number in range(count)]
    written(tmp_path / "a", records)
    reader = CaptureReader(tmp_path / "a")
    assert list(reader.records()) == records
    assert (reader.header, reader.complete, reader.resources) == (HEADER, True, 0)
    reader.close()


def test_a_resource_is_kept_once_and_named_by_its_bytes(tmp_path: Path) -> None:
    blobs = [b"one", b"", b"one", bytes(range(256)) * 40]
    names = written(tmp_path / "a", [], blobs)
    assert names == [content_hash(data) for data in blobs]
    reader = CaptureReader(tmp_path / "a")
    assert [reader.blob(name) for name in names] == blobs and reader.resources == 3
    with pytest.raises(CaptureError, match="resource 00 is missing"):
        reader.blob("00")
    reader.close()


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    written(tmp_path / "a", [[np.int32(3), np.float64(0.5), np.bool_(True)]])
    reader = CaptureReader(tmp_path / "a")
    assert list(reader.records()) == [[3, 0.5, True]]
    reader.close()


def test_what_was_flushed_can_be_read_while_more_is_written(tmp_path: Path) -> None:
    writer = CaptureWriter(tmp_path / "a", HEADER)
    writer.record(["one"])
    writer.flush()
    writer.record(["two"])
    reader = CaptureReader(tmp_path / "a")
    assert list(reader.records()) == [["one"]] and not reader.complete
    reader.close()
    writer.close()
    reader = CaptureReader(tmp_path / "a")
    assert list(reader.records()) == [["one"], ["two"]] and reader.complete
    reader.close()


def test_a_program_that_is_killed_leaves_what_it_recorded_a_moment_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = CaptureWriter(tmp_path / "a", HEADER)
    writer.record(["one"])
    reader = CaptureReader(tmp_path / "a")
    assert reader.header == HEADER and list(reader.records()) == []
    reader.close()
    monkeypatch.setattr("gallette.capture.container.WAIT", 0.0)
    writer.record(["two"])
    reader = CaptureReader(tmp_path / "a")
    assert list(reader.records()) == [["one"], ["two"]]
    reader.close()
    writer.close()


def test_of_a_file_cut_anywhere_whole_chunks_are_left(tmp_path: Path) -> None:
    path = tmp_path / "a"
    writer = CaptureWriter(path, HEADER)
    ends = [path.stat().st_size]
    for number in range(4):
        writer.record([number])
        writer.flush()
        ends.append(path.stat().st_size)
    writer.close()
    whole = path.read_bytes()
    for size in range(ends[1] - 3, len(whole) + 1):
        path.write_bytes(whole[:size])
        reader = CaptureReader(path)
        assert len(list(reader.records())) == sum(end <= size for end in ends[1:])
        assert reader.complete == (size == len(whole))
        reader.close()


def test_other_files_are_no_captures(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for data, text in ((b"", "not a capture"), (b"x" * 40, "not a capture")):
        path.write_bytes(data)
        assert not is_capture(path)
        with pytest.raises(CaptureError, match=text):
            CaptureReader(path)
    assert not is_capture(tmp_path / "nothing")
    path.write_bytes(MAGIC + b"Z" + bytes(4))
    assert is_capture(path)
    with pytest.raises(CaptureError, match=f"broken at byte {len(MAGIC)}: no chunk is called b'Z'"):
        CaptureReader(path)
    with pytest.raises(CaptureError, match="cannot read"):
        CaptureReader(tmp_path / "nothing")
    with pytest.raises(CaptureError, match="cannot write"):
        CaptureWriter(tmp_path / "no" / "folder", HEADER)

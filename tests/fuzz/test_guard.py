"""Memory that fuzzers guard: what is written beside it is noticed, or ends the process."""

import ctypes
import gc
import multiprocessing
import signal

import numpy as np
import pytest

from fuzz.guard import Guard, fenced


def _write(at: int, at_start: bool) -> None:
    area, start = fenced(100, at_start=at_start)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area)) + start
    ctypes.memset(address, 1, 100)
    ctypes.memset(address + at, 1, 1)


@pytest.mark.parametrize(
    ("at", "at_start", "ends"),
    [(100, False, True), (-1, True, True), (-1, False, False), (100, True, False)],
)
def test_a_byte_beyond_the_fenced_end_ends_the_process(at: int, at_start: bool, ends: bool) -> None:
    child = multiprocessing.get_context("spawn").Process(target=_write, args=(at, at_start))
    child.start()
    child.join()
    assert child.exitcode == (-signal.SIGSEGV if ends else 0)


@pytest.mark.parametrize("count", [1, 2])
def test_bytes_written_on_the_side_without_a_fence_are_reported(count: int) -> None:
    guard = Guard()
    guard.count = count
    memory = guard.zeroed(1000)
    at = memory.ctypes.data + (1000 if guard.count % 2 == 0 else -1)
    ctypes.memset(at, 7, 1)
    assert not np.any(memory)
    del memory
    gc.collect()
    assert len(guard.wrong) == 1

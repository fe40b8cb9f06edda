"""Code whose values fill more of the stack than there is."""

from __future__ import annotations

import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from gallette.drivers.jit.llvm import engine, stack
from gallette.state_tracker import GL, create_context
from tests.hostile.programs import linked, storage, words
from tests.interrupts import hear_interrupts

SUMS = """layout(local_size_x = 512) in;
layout(std430, binding = 0) buffer Found { uint found[]; };
shared uint part[512];
void main() {
    uint me = gl_LocalInvocationIndex;
    part[me] = found[me];
    barrier();
    for (uint step = 256u; step > 0u; step >>= 1) {
        if (me < step) part[me] += part[me + step];
        barrier();
    }
    found[me] = part[0] + me;
}"""


def _sums() -> list[int]:
    """What the lanes of a large workgroup find, which look at one another's values."""
    gl = create_context("jit", version=(4, 5))
    buffer = storage(gl, 0, 2048)
    gl.named_buffer_sub_data(buffer, 0, 2048, np.full(512, 3, np.uint32))
    linked(gl, COMPUTE=SUMS)
    gl.dispatch_compute(1, 1, 1)
    assert gl.get_error() == GL.NO_ERROR
    return words(gl, buffer, 512)


def test_lanes_of_a_large_workgroup_gather_and_scatter() -> None:
    assert _sums() == [1536 + me for me in range(512)]


def test_code_with_a_large_frame_runs_in_a_thread_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = []
    call = stack.call_in_thread

    def called(function: Any, args: tuple[int, ...], frame: int) -> None:
        frames.append(frame)
        call(function, args, frame)

    monkeypatch.setattr("gallette.drivers.jit.llvm.engine.call_in_thread", called)
    monkeypatch.setattr(stack, "LIMIT", 1 << 8)
    stack.frame_bytes.cache_clear()
    monkeypatch.setattr(engine, "_loaded", weakref.WeakValueDictionary())
    monkeypatch.setattr("gallette.drivers.jit.llvm.engine.LIMIT", 1 << 8)
    assert _sums() == [1536 + me for me in range(512)]
    assert frames and min(frames) > 1 << 8


INTERRUPTED = """
import os, signal, threading
import tests.jit.test_stacks as own
from gallette.drivers.jit.llvm import engine, stack
from gallette.state_tracker.context import Context
stack.LIMIT = engine.LIMIT = 1 << 8
gl = Context("jit", version=(4, 5), budget=1 << 60, time_limit=1e9)
source = own.SUMS.replace("step = 256u; step > 0u; step >>= 1", "step = 1u; step > 0u; step ^= 2u")
buffer = own.storage(gl, 0, 2048)
own.linked(gl, COMPUTE=source)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    gl.dispatch_compute(1, 1, 1)
    gl.finish()
except KeyboardInterrupt:
    own.linked(gl, COMPUTE=own.SUMS)
    gl.dispatch_compute(1, 1, 1)
    gl.finish()
    print("interrupted, and goes on", gl.get_error())
"""


def test_ctrl_c_ends_code_that_runs_in_a_thread_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=hear_interrupts,
    )
    assert done.stdout.strip() == "interrupted, and goes on 0", done.stderr


def test_frames_are_counted_where_they_may_be_large() -> None:
    values = "%a = add <512 x i32> %b, %c\n%d = load <512 x double>, ptr %p\n"
    assert stack.frame_bytes(values * 100) == 100 * (512 * 4 + 512 * 8)
    assert stack.frame_bytes("%a = alloca [900 x <512 x i16>], align 64\n") == 900 * 1024
    assert stack.frame_bytes("%a = alloca [100 x <512 x i16>], align 64\n") == 0
    assert stack.frame_bytes("%a = add <16 x i32> %b, %c\n") == 0
    assert stack.frame_bytes("%a = add <16 x i32> %b, %c\n" * 4000) == 0
    assert stack.frame_bytes("%a = add <16 x i32> %b, %c\n" * 9000) == 9000 * 64


def test_a_frame_larger_than_any_stack_is_refused() -> None:
    with pytest.raises(MemoryError, match="2048 MiB of stack"):
        stack.call_in_thread(lambda: None, (), 1 << 31)

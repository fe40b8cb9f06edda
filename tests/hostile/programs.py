"""Programs of hostile tests: they compile, link and dispatch; what they compute is theirs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.state_tracker import GL, GLInterface
from tests.state_tracker import helpers


def linked(gl: GLInterface, **sources: str) -> int:
    """A program of sources by stage (`VERTEX`, `GEOMETRY`, ...), in use."""
    return helpers.linked(
        gl, **{stage: f"#version 460\n{source}" for stage, source in sources.items()}
    )


def storage(gl: GLInterface, binding: int, size: int) -> int:
    """A storage buffer of zeros at a binding."""
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, binding, name)
    gl.buffer_data(GL.SHADER_STORAGE_BUFFER, size, bytes(size), GL.DYNAMIC_DRAW)
    return int(name)


def words(gl: GLInterface, buffer: int, count: int) -> list[int]:
    """The first words of a buffer."""
    return np.frombuffer(gl.get_named_buffer_sub_data(buffer, 0, 4 * count), np.uint32).tolist()


def compute(gl: GLInterface, body: str, size: str = "local_size_x = 16") -> Any:
    """Dispatch one workgroup of a compute shader; `found` is its storage buffer, which returns."""
    out = storage(gl, 0, 256)
    linked(
        gl,
        COMPUTE=f"layout({size}) in;\n"
        f"layout(std430, binding = 0) buffer Found {{ uint found[]; }};\n{body}",
    )
    gl.dispatch_compute(1, 1, 1)
    return words(gl, out, 64)

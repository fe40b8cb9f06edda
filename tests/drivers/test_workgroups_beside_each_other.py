"""Memory of workgroups that run side by side: a word of 64 bits and one of 32 in each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gallette
from gallette.state_tracker import GL
from tests.state_tracker.helpers import errors, linked

SOURCE = """#version 430
#extension GL_ARB_gpu_shader_int64 : require
#extension GL_NV_shader_atomic_int64 : require
layout(local_size_x = 32) in;
shared int64_t sum;
shared uint bits;
layout(std430, binding = 0) buffer Results { uint results[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0u) { sum = int64_t(0); bits = 0u; }
    barrier();
    atomicAdd(sum, int64_t(i) << 28);
    atomicOr(bits, 1u << i);
    barrier();
    if (i == 0u) {
        uint at = 3u * gl_WorkGroupID.x;
        results[at] = uint(sum); results[at + 1u] = uint(sum >> 32); results[at + 2u] = bits;
    }
}"""


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
@pytest.mark.parametrize("groups", [1, 2, 5])
def test_workgroups_do_not_share_memory(driver: str, groups: int) -> None:
    gl: Any = gallette.create_context(driver, version=(4, 5))
    linked(gl, compute=SOURCE)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, buffer)
    size = 12 * groups
    gl.buffer_data(GL.SHADER_STORAGE_BUFFER, size, np.zeros(3 * groups, np.uint32), GL.STATIC_DRAW)
    gl.dispatch_compute(groups, 1, 1)
    raw = bytes(gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, size))
    total = sum(range(32)) << 28
    words = [total & 0xFFFFFFFF, total >> 32, 0xFFFFFFFF]
    assert np.frombuffer(raw, np.uint32).reshape(groups, 3).tolist() == [words] * groups
    assert errors(gl) == []
    gl.release()

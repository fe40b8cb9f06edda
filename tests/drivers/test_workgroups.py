"""Workgroups as large as a launch says: they wait for each other, and share memory of their own."""

from __future__ import annotations

import numpy as np
import pytest

import gallette

SOURCE = """#version 430
#extension GL_ARB_compute_variable_group_size: require
layout(local_size_variable) in;
shared uint part[300];
layout(std430, binding = 0) buffer Found { uint found[]; };
void main() {
    uint me = gl_LocalInvocationIndex;
    uvec3 size = gl_LocalGroupSizeARB;
    uint count = size.x * size.y * size.z;
    part[me] = me * 7u;
    barrier();
    found[gl_WorkGroupID.x * count + me] = part[count - 1u - me] + gl_WorkGroupID.x * 4096u;
}"""


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_a_group_of_any_size_is_one_group(driver: str) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    moderngl = pytest.importorskip("moderngl")
    window = gallette.moderngl_context(driver)
    ctx = moderngl.create_context(standalone=True, context=window)
    program = ctx.compute_shader(SOURCE)
    window.use_program(program.glo)
    for size in ((16, 1, 1), (70, 1, 1), (5, 3, 2), (256, 1, 1), (1, 1, 1), (16, 1, 1)):
        count, groups = int(np.prod(size)), 3
        buffer = ctx.buffer(np.full(groups * count + 1, 9, np.uint32))
        buffer.bind_to_storage_buffer(0)
        window.dispatch_compute_group_size_arb(groups, 1, 1, *size)
        found = np.frombuffer(buffer.read(), np.uint32)
        one = (count - 1 - np.arange(count)) * 7
        wanted = np.concatenate([one + group * 4096 for group in range(groups)])
        assert found.tolist() == [*wanted.tolist(), 9], size
    ctx.release()


LOOPS = """#version 430
layout(local_size_x = 16) in;
layout(std430, binding = 0) buffer Found { int found[16]; int rounds[2]; };
shared int part[16];
void main() {
    int me = int(gl_LocalInvocationIndex), a = me;
    for (int i = 0; i < rounds[0]; ++i) {
        a += 1;
        for (int k = 0; k < rounds[1]; ++k) {
            part[me] = a; barrier();
            a ^= part[(me + 3) % 16]; barrier();
        }
        a *= 3;
    }
    found[me] = a;
}"""


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_a_place_that_is_the_same_in_two_loops_around(driver: str) -> None:
    """It may be worked out in front of both."""
    if driver == "jit":
        pytest.importorskip("llvmlite")
    moderngl = pytest.importorskip("moderngl")
    ctx = moderngl.create_context(standalone=True, context=gallette.moderngl_context(driver))
    shader = ctx.compute_shader(LOOPS)
    buffer = ctx.buffer(np.array([0] * 16 + [3, 2], np.int32))
    buffer.bind_to_storage_buffer(0)
    shader.run(1)
    wanted = np.arange(16)
    for _ in range(3):
        wanted += 1
        for _ in range(2):
            wanted ^= np.roll(wanted, -3)
        wanted *= 3
    assert np.frombuffer(buffer.read(), np.int32)[:16].tolist() == wanted.tolist()
    ctx.release()

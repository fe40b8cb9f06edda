"""Compute shaders through GL, on numpipe and on the native GL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.state_tracker import GL, create_context
from tests.reference import missing

pytestmark = pytest.mark.native


@pytest.fixture(params=["native:llvmpipe", "numpipe"])
def gl(request: pytest.FixtureRequest) -> Iterator[Any]:
    native = request.param != "numpipe"
    try:
        context: Any = create_context(request.param, version=(4, 3))
    except GalletteError as error:
        if not native:
            raise
        missing(error)
    context.make_current()
    yield context
    assert context.get_error() == 0
    if native:
        context.release()


def use(gl: Any, source: str) -> int:
    shader = gl.create_shader(GL.COMPUTE_SHADER)
    gl.shader_source(shader, "#version 430\n" + source)
    gl.compile_shader(shader)
    assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(shader)
    program = gl.create_program()
    gl.attach_shader(program, shader)
    gl.link_program(program)
    assert gl.get_programiv(program, GL.LINK_STATUS)[0], gl.get_program_info_log(program)
    gl.use_program(program)
    return int(program)


def bind(gl: Any, binding: int, data: np.ndarray[Any, Any]) -> None:
    name = gl.gen_buffers(1)[0]
    gl.bind_buffer(GL.SHADER_STORAGE_BUFFER, name)
    gl.buffer_data(GL.SHADER_STORAGE_BUFFER, data.nbytes, data, GL.DYNAMIC_COPY)
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, binding, name)


def result(gl: Any, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    out = np.zeros_like(like)
    gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, out.nbytes, out)
    return out


def test_invocations_know_where_they_are(gl: Any) -> None:
    use(
        gl,
        """
        layout(local_size_x = 4, local_size_y = 2, local_size_z = 3) in;
        layout(std430, binding = 0) buffer Out { uvec4 cells[]; };
        void main() {
            uvec3 size = gl_NumWorkGroups * gl_WorkGroupSize;
            uvec3 p = gl_GlobalInvocationID;
            uint at = (p.z * size.y + p.y) * size.x + p.x;
            uvec3 g = gl_WorkGroupID, l = gl_LocalInvocationID;
            cells[at] = uvec4(g.x + 10u * g.y + 100u * g.z, l.x + 10u * l.y + 100u * l.z,
                              gl_LocalInvocationIndex, at);
        }
        """,
    )
    grid, block = (3, 2, 2), (4, 2, 3)
    cells = np.zeros((grid[2] * block[2], grid[1] * block[1], grid[0] * block[0], 4), np.uint32)
    bind(gl, 0, cells)
    gl.dispatch_compute(*grid)
    got = result(gl, cells)
    z, y, x = np.indices(cells.shape[:3])
    gx, gy, gz = x // 4, y // 2, z // 3
    lx, ly, lz = x % 4, y % 2, z % 3
    np.testing.assert_array_equal(got[..., 0], gx + 10 * gy + 100 * gz)
    np.testing.assert_array_equal(got[..., 1], lx + 10 * ly + 100 * lz)
    np.testing.assert_array_equal(got[..., 2], (lz * 2 + ly) * 4 + lx)
    np.testing.assert_array_equal(got[..., 3].reshape(-1), np.arange(cells[..., 0].size))


def test_a_workgroup_reduces_in_shared_memory(gl: Any) -> None:
    use(
        gl,
        """
        layout(local_size_x = 64) in;
        layout(std430, binding = 0) buffer Data { uint sums[32]; uint values[]; };
        shared uint part[64];
        void main() {
            uint l = gl_LocalInvocationIndex;
            part[l] = values[gl_GlobalInvocationID.x];
            for (uint step = 32u; step > 0u; step >>= 1) {
                barrier();
                if (l < step) part[l] += part[l + step];
            }
            if (l == 0u) sums[gl_WorkGroupID.x] = part[0];
        }
        """,
    )
    values = np.random.default_rng(4).integers(0, 1000, 32 * 64, np.uint32)
    data = np.concatenate([np.zeros(32, np.uint32), values])
    bind(gl, 0, data)
    gl.dispatch_compute(32, 1, 1)
    got = result(gl, data)
    np.testing.assert_array_equal(got[:32], values.reshape(32, 64).sum(axis=1))


def test_shared_atomics_stay_in_their_workgroup(gl: Any) -> None:
    use(
        gl,
        """
        layout(local_size_x = 32) in;
        layout(std430, binding = 0) buffer Out { uint counts[]; };
        shared uint seen;
        void main() {
            if (gl_LocalInvocationIndex == 0u) seen = 0u;
            barrier();
            if (gl_LocalInvocationIndex % 3u == gl_WorkGroupID.x % 3u) atomicAdd(seen, 1u);
            barrier();
            if (gl_LocalInvocationIndex == 31u) counts[gl_WorkGroupID.x] = seen;
        }
        """,
    )
    counts = np.zeros(300, np.uint32)
    bind(gl, 0, counts)
    gl.dispatch_compute(300, 1, 1)
    expected = [len(range(g % 3, 32, 3)) for g in range(300)]
    np.testing.assert_array_equal(result(gl, counts), expected)


@pytest.mark.parametrize(("grid", "words"), [((1009, 1, 1), 1), ((7, 9, 5), 4096)])
def test_every_workgroup_of_a_large_grid_runs_once(
    gl: Any, grid: tuple[int, int, int], words: int
) -> None:
    """Also where they run in parts, and the last part is smaller than the others."""
    use(
        gl,
        f"""
        layout(local_size_x = 64) in;
        layout(std430, binding = 0) buffer Out {{ uint all, outside, groups[]; }};
        shared uint sums[{words}];
        void main() {{
            uvec3 g = gl_WorkGroupID, n = gl_NumWorkGroups;
            sums[gl_LocalInvocationIndex % {words}u] = 1u;
            atomicAdd(all, 1u);
            if (any(greaterThanEqual(g, n))) atomicAdd(outside, 1u);
            else atomicAdd(groups[(g.z * n.y + g.y) * n.x + g.x], 1u);
        }}
        """,
    )
    count = grid[0] * grid[1] * grid[2]
    found = np.zeros(2 + count, np.uint32)
    bind(gl, 0, found)
    gl.dispatch_compute(*grid)
    assert result(gl, found).tolist() == [64 * count, 0] + [64] * count


def test_indirect_dispatch_reads_its_grid(gl: Any) -> None:
    use(
        gl,
        """
        layout(local_size_x = 1) in;
        layout(std430, binding = 0) buffer Out { uint count; };
        void main() { atomicAdd(count, 1u); }
        """,
    )
    count = np.zeros(1, np.uint32)
    bind(gl, 0, count)
    command = gl.gen_buffers(1)[0]
    gl.bind_buffer(GL.DISPATCH_INDIRECT_BUFFER, command)
    grid = np.array([99, 5, 4, 3], np.uint32)
    gl.buffer_data(GL.DISPATCH_INDIRECT_BUFFER, grid.nbytes, grid, GL.STATIC_DRAW)
    gl.dispatch_compute_indirect(4)
    assert result(gl, count).tolist() == [60]


def test_misuse_is_an_error_and_runs_nothing(gl: Any) -> None:
    gl.use_program(0)
    gl.dispatch_compute(1, 1, 1)
    assert gl.get_error() == GL.INVALID_OPERATION
    use(gl, "layout(local_size_x = 1) in; void main() {}")
    gl.dispatch_compute(65536, 1, 1)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.dispatch_compute_indirect(0)
    assert gl.get_error() == GL.INVALID_OPERATION
    gl.dispatch_compute(0, 1, 1)
    assert gl.get_error() == GL.NO_ERROR

"""Benchmarks of the other stages: compute, geometry and tessellation shaders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.benchmarks.registry import benchmark
from gallette.scenes.common import upload

__all__: list[str] = []

Draw = Callable[[], None]

SHOWN = """
#version 430
layout(std430, binding = 1) readonly buffer Values { vec4 values[]; };
uniform int columns;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy) / 8;
    color = fract(values[at.y * columns + at.x] * 0.25);
}
"""
FULL_SCREEN = """
#version 430
in vec2 position;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
}
"""


def _shown(ctx: Any, size: tuple[int, int]) -> Draw:
    """Draws the numbers of the buffer at binding 1, a block of 8 x 8 pixels each."""
    program = ctx.program(FULL_SCREEN, SHOWN)
    program["columns"].value = size[0] // 8
    corners = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
    array = upload(ctx, program, "2f", corners, "position", ctx.TRIANGLE_STRIP)
    return lambda: array.render()


@benchmark("reduction", size=(256, 256), version=430)
def reduction(ctx: Any, size: tuple[int, int]) -> Draw:
    """a compute shader sums 1,048,576 numbers in groups of 256, in shared memory"""
    shader = ctx.compute_shader(
        """
        #version 430
        layout(local_size_x = 256) in;
        layout(std430, binding = 0) readonly buffer Numbers { float numbers[]; };
        layout(std430, binding = 1) writeonly buffer Sums { float sums[]; };
        shared float part[256];
        void main() {
            uint me = gl_LocalInvocationIndex;
            part[me] = numbers[gl_GlobalInvocationID.x];
            barrier();
            for (uint step = 128u; step > 0u; step >>= 1) {
                if (me < step)
                    part[me] += part[me + step];
                barrier();
            }
            if (me == 0u)
                sums[gl_WorkGroupID.x] = part[0];
        }
        """
    )
    numbers = np.random.default_rng(6).integers(0, 16, 1 << 20).astype(np.float32)
    source, sums = ctx.buffer(numbers.tobytes()), ctx.buffer(reserve=1 << 14)
    show = _shown(ctx, size)

    def draw() -> None:
        source.bind_to_storage_buffer(0)
        sums.bind_to_storage_buffer(1)
        shader.run(4096)
        ctx.memory_barrier()
        show()

    return draw


@benchmark("nbody", size=(256, 256), version=430)
def nbody(ctx: Any, size: tuple[int, int]) -> Draw:
    """a compute shader adds up the pull of 1,024 bodies on one another"""
    shader = ctx.compute_shader(
        """
        #version 430
        layout(local_size_x = 64) in;
        layout(std430, binding = 0) readonly buffer Bodies { vec4 bodies[]; };
        layout(std430, binding = 1) writeonly buffer Pulls { vec4 pulls[]; };
        void main() {
            vec4 me = bodies[gl_GlobalInvocationID.x];
            vec3 pull = vec3(0.0);
            for (int k = 0; k < 1024; k++) {
                vec4 other = bodies[k];
                vec3 way = other.xyz - me.xyz;
                float near = dot(way, way) + 0.01;
                pull += way * (other.w / (near * sqrt(near)));
            }
            pulls[gl_GlobalInvocationID.x] = vec4(pull * 0.001, 1.0);
        }
        """
    )
    bodies = np.random.default_rng(7).uniform(-1, 1, (1024, 4)).astype(np.float32)
    source, pulls = ctx.buffer(bodies.tobytes()), ctx.buffer(reserve=1 << 14)
    show = _shown(ctx, size)

    def draw() -> None:
        source.bind_to_storage_buffer(0)
        pulls.bind_to_storage_buffer(1)
        shader.run(16)
        ctx.memory_barrier()
        show()

    return draw


@benchmark("geometry")
def geometry(ctx: Any, size: tuple[int, int]) -> Draw:
    """a geometry shader turns 20,000 points into squares"""
    program = ctx.program(
        vertex_shader="""
        #version 330
        in vec2 position;
        void main() {
            gl_Position = vec4(position, 0.0, 1.0);
        }
        """,
        geometry_shader="""
        #version 330
        layout(points) in;
        layout(triangle_strip, max_vertices = 4) out;
        out vec2 uv;
        void main() {
            vec2 at = gl_in[0].gl_Position.xy;
            for (int k = 0; k < 4; k++) {
                uv = vec2(k & 1, k >> 1);
                gl_Position = vec4(at + (uv - 0.5) * 0.012, 0.0, 1.0);
                EmitVertex();
            }
            EndPrimitive();
        }
        """,
        fragment_shader="""
        #version 330
        in vec2 uv;
        out vec4 color;
        void main() {
            color = vec4(uv, 0.5, 1.0);
        }
        """,
    )
    points = np.random.default_rng(8).uniform(-1, 1, (20000, 2))
    array = upload(ctx, program, "2f", points, "position", ctx.POINTS)
    return lambda: array.render()


@benchmark("tessellation", version=410)
def tessellation(ctx: Any, size: tuple[int, int]) -> Draw:
    """256 patches at level 12: 73,728 triangles of a wavy sheet"""
    program = ctx.program(
        vertex_shader="""
        #version 410
        in vec2 position;
        void main() {
            gl_Position = vec4(position, 0.0, 1.0);
        }
        """,
        tess_control_shader="""
        #version 410
        layout(vertices = 4) out;
        void main() {
            gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
            if (gl_InvocationID == 0) {
                for (int k = 0; k < 4; k++)
                    gl_TessLevelOuter[k] = 12.0;
                gl_TessLevelInner[0] = gl_TessLevelInner[1] = 12.0;
            }
        }
        """,
        tess_evaluation_shader="""
        #version 410
        layout(quads, equal_spacing, ccw) in;
        out vec3 p;
        void main() {
            vec4 low = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_TessCoord.x);
            vec4 high = mix(gl_in[3].gl_Position, gl_in[2].gl_Position, gl_TessCoord.x);
            gl_Position = mix(low, high, gl_TessCoord.y);
            vec2 wave = abs(fract(gl_Position.xy * 3.0) - 0.5);
            gl_Position.z = wave.x * wave.y;
            p = gl_Position.xyz;
        }
        """,
        fragment_shader="""
        #version 410
        in vec3 p;
        out vec4 color;
        void main() {
            color = vec4(p.xy * 0.5 + 0.5, p.z * 4.0, 1.0);
        }
        """,
    )
    y, x = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    corners = np.stack(
        [
            np.stack(((x + dx) / 8 - 1, (y + dy) / 8 - 1), -1)
            for dx, dy in ((0, 0), (1, 0), (1, 1), (0, 1))
        ],
        axis=-2,
    )
    array = upload(ctx, program, "2f", corners.reshape(-1, 2), "position", ctx.PATCHES)

    def draw() -> None:
        ctx.enable(ctx.DEPTH_TEST)
        ctx.patch_vertices = 4
        array.render()

    return draw

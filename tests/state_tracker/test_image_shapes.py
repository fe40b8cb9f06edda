"""Images of every shape: stored to, loaded from and counted in by compute shaders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import linked

from .helpers import errors

DRIVERS = ["numpipe", "jit", "simd", "tiler"]


@dataclass(frozen=True)
class Shape:
    """An image type of GLSL, its texture target, and its texels along each coordinate."""

    name: str
    target: str
    extent: tuple[int, ...]
    samples: int = 0


SHAPES = (
    Shape("1D", "TEXTURE_1D", (4,)),
    Shape("1DArray", "TEXTURE_1D_ARRAY", (4, 3)),
    Shape("2D", "TEXTURE_2D", (4, 2)),
    Shape("2DArray", "TEXTURE_2D_ARRAY", (4, 2, 3)),
    Shape("2DRect", "TEXTURE_RECTANGLE", (4, 2)),
    Shape("3D", "TEXTURE_3D", (4, 2, 3)),
    Shape("Cube", "TEXTURE_CUBE_MAP", (2, 2, 6)),
    Shape("CubeArray", "TEXTURE_CUBE_MAP_ARRAY", (2, 2, 12)),
    Shape("Buffer", "TEXTURE_BUFFER", (8,)),
    Shape("2DMS", "TEXTURE_2D_MULTISAMPLE", (4, 2), 4),
    Shape("2DMSArray", "TEXTURE_2D_MULTISAMPLE_ARRAY", (4, 2, 3), 4),
)


def storage(gl: GLInterface, shape: Shape) -> None:
    """A texture of the shape, with integers of 32 bits, as image 0."""
    (texture,) = gl.gen_textures(1)
    target = getattr(GL, shape.target)
    gl.bind_texture(target, texture)
    if shape.name == "Buffer":
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.TEXTURE_BUFFER, buffer)
        gl.buffer_data(GL.TEXTURE_BUFFER, 4 * shape.extent[0], None, GL.STATIC_DRAW)
        gl.tex_buffer(target, GL.R32I, buffer)
    elif shape.samples:
        make = (gl.tex_storage2d_multisample, gl.tex_storage3d_multisample)[len(shape.extent) - 2]
        make(target, shape.samples, GL.R32I, *shape.extent, True)
    elif shape.name == "Cube":
        gl.tex_storage2d(target, 1, GL.R32I, *shape.extent[:2])
    else:
        make = (gl.tex_storage1d, gl.tex_storage2d, gl.tex_storage3d)[len(shape.extent) - 1]
        make(target, 1, GL.R32I, *shape.extent)
    gl.bind_image_texture(0, texture, 0, True, 0, GL.READ_WRITE, GL.R32I)
    assert errors(gl) == []


def run(gl: GLInterface, shape: Shape, body: str) -> None:
    """One invocation for every texel and sample; `at` is its place, `number` counts them."""
    size = (*shape.extent, *(1,) * (3 - len(shape.extent)))
    swizzle = "xyz"[: len(shape.extent)]
    kind = "int" if len(shape.extent) == 1 else f"ivec{len(shape.extent)}"
    source = f"""#version 450
        layout(local_size_x = {size[0]}, local_size_y = {size[1]}) in;
        layout(r32i, binding = 0) uniform iimage{shape.name} img;
        layout(std430, binding = 0) buffer Out {{ int seen[]; }};
        void main() {{
            ivec3 all = ivec3(gl_GlobalInvocationID);
            int sampled = all.z % {shape.samples or 1};
            all.z /= {shape.samples or 1};
            {kind} at = all.{swizzle};
            int number = sampled + {shape.samples or 1}
                * (all.x + {size[0]} * (all.y + {size[1]} * all.z));
            {body}
        }}"""
    name = linked(gl, compute=source)
    gl.dispatch_compute(1, 1, size[2] * (shape.samples or 1))
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    assert errors(gl) == []
    gl.use_program(0)
    gl.delete_program(name)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.name)
@pytest.mark.parametrize("driver", DRIVERS)
def test_texels_of_images_are_where_they_were_stored(driver: str, shape: Shape) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    gl = create_context(driver, version=(4, 3), size=(4, 4))
    storage(gl, shape)
    count = int(np.prod(shape.extent)) * max(1, shape.samples)
    (out,) = gl.gen_buffers(1)
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, out)
    gl.buffer_data(GL.SHADER_STORAGE_BUFFER, 8 * count, bytes(8 * count), GL.STATIC_DRAW)
    sample = ", sampled" if shape.samples else ""
    run(gl, shape, f"imageStore(img, at{sample}, ivec4(number + 100));")
    run(gl, shape, f"seen[number] = imageLoad(img, at{sample}).x;")
    run(gl, shape, f"seen[{count} + number] = imageAtomicAdd(img, at{sample}, 1);")
    raw = gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 8 * count)
    expected = np.arange(count) + 100
    np.testing.assert_array_equal(np.frombuffer(raw, np.int32).reshape(2, -1), [expected] * 2)
    gl.release()


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_a_cube_s_faces_are_its_layers(driver: str) -> None:
    name = "native:llvmpipe" if driver == "native" else driver
    gl = create_context(name, version=(4, 3), size=(4, 4))
    shape = next(s for s in SHAPES if s.name == "Cube")
    storage(gl, shape)
    run(gl, shape, "imageStore(img, at, ivec4(number));")
    for face in range(6):
        target = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
        raw = gl.get_tex_image(target, 0, GL.RED_INTEGER, GL.INT)
        assert np.frombuffer(raw, np.int32).tolist() == [4 * face + i for i in range(4)]
    gl.release()

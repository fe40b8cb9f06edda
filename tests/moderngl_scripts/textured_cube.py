"""A textured, depth-tested cube, drawn indexed into a framebuffer with a depth texture."""

from __future__ import annotations

import itertools
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt

VERTEX = """#version 330
in vec3 in_position;
in vec2 in_uv;
uniform mat4 mvp;
out vec2 uv;
void main() {
    uv = in_uv;
    gl_Position = mvp * vec4(in_position, 1.0);
}
"""
FRAGMENT = """#version 330
in vec2 uv;
uniform sampler2D image;
out vec4 f_color;
void main() {
    f_color = texture(image, uv * 2.0);
}
"""


def faces() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Vertices (position, uv) and indices of a unit cube."""
    vertices, indices = [], []
    for axis, side in itertools.product(range(3), (-1.0, 1.0)):
        base = len(vertices)
        for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
            position = np.zeros(3)
            position[axis] = side
            position[(axis + 1) % 3] = 2 * u - 1
            position[(axis + 2) % 3] = 2 * v - 1
            vertices.append([*position, u, v])
        indices += [base, base + 1, base + 2, base, base + 2, base + 3]
    return np.array(vertices, np.float32), np.array(indices, np.uint32)


def camera() -> npt.NDArray[Any]:
    """A fixed perspective view; column-major bytes."""
    a, b = 0.7, 0.5
    rotate_y = np.array(
        [[np.cos(a), 0, np.sin(a), 0], [0, 1, 0, 0], [-np.sin(a), 0, np.cos(a), 0], [0, 0, 0, 1]]
    )
    rotate_x = np.array(
        [[1, 0, 0, 0], [0, np.cos(b), -np.sin(b), 0], [0, np.sin(b), np.cos(b), 0], [0, 0, 0, 1]]
    )
    view = rotate_x @ rotate_y
    view[2, 3] -= 5.0
    near, far, f = 1.0, 10.0, 1.8
    projection = np.zeros((4, 4))
    projection[0, 0] = projection[1, 1] = f
    projection[2, 2], projection[2, 3] = (far + near) / (near - far), 2 * far * near / (near - far)
    projection[3, 2] = -1.0
    matrix: npt.NDArray[Any] = np.ascontiguousarray((projection @ view).T, np.float32)
    return matrix


def checker(ctx: moderngl.Context) -> moderngl.Texture:
    pattern = np.indices((16, 16)).sum(axis=0) % 2
    image = np.zeros((16, 16, 3), np.uint8)
    image[..., 0], image[..., 1], image[..., 2] = 255 * pattern, 128, 255 - 200 * pattern
    texture = ctx.texture((16, 16), 3, image.tobytes(), alignment=1)
    texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    texture.build_mipmaps()
    return texture


def render(ctx: moderngl.Context) -> dict[str, Any]:
    program = ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    vertices, indices = faces()
    vao = ctx.vertex_array(
        program,
        [(ctx.buffer(vertices), "3f 2f", "in_position", "in_uv")],
        index_buffer=ctx.buffer(indices),
    )
    color, depth = ctx.texture((96, 96), 4), ctx.depth_texture((96, 96))
    fbo = ctx.framebuffer([color], depth)
    fbo.use()
    ctx.enable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    fbo.clear(0.0, 0.0, 0.0, 1.0)
    program["mvp"].write(camera().tobytes())
    checker(ctx).use(0)
    vao.render()
    return {
        "color": np.frombuffer(color.read(), np.uint8).reshape(96, 96, 4),
        "depth": np.frombuffer(depth.read(), np.float32).reshape(96, 96),
    }

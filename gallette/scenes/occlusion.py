"""Screen-space occlusion: a depth buffer read back as a texture darkens the corners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import (
    Pass,
    capture,
    capture_depth,
    gl_matrix,
    look_at,
    perspective,
    plane,
    scene,
    screen_filler,
    sphere,
    upload,
)

VERTEX = """
#version 330
in vec3 position;
uniform mat4 matrix;
uniform vec3 place;
void main() { gl_Position = matrix * vec4(position * 0.75 + place, 1.0); }
"""
FRAGMENT = """
#version 330
out vec4 color;
void main() { color = vec4(1.0); }
"""
OCCLUSION = """
#version 330
uniform sampler2D depths;
out vec4 color;
float away(ivec2 at) {  // the distance from the eye, from what the projection made of it
    float z = texelFetch(depths, clamp(at, ivec2(0), textureSize(depths, 0) - 1), 0).r;
    return 0.5 / (1.0 + 1.0 / 32.0 - z);
}
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    float here = away(at), hidden = 0.0;
    for (int y = -3; y <= 3; y++)
        for (int x = -3; x <= 3; x++) {
            float nearer = here - away(at + 2 * ivec2(x, y));
            hidden += nearer > 0.03125 ? 1.0 / (1.0 + 4.0 * nearer) : 0.0;
        }
    color = vec4(vec3(1.0 - hidden / 36.0), 1.0);
}
"""
SMOOTH = """
#version 330
uniform sampler2D shade;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy), top = textureSize(shade, 0) - 1;
    float sum = 0.0;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            sum += texelFetch(shade, clamp(at + ivec2(x, y) - 2, ivec2(0), top), 0).r;
    color = vec4(vec3(0.95, 0.9, 0.8) * sum / 16.0, 1.0);
}
"""


@scene("occlusion", size=(128, 96), tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Balls on a floor: their depth, what hides of each pixel's surroundings, and that smoothed."""
    program = ctx.program(VERTEX, FRAGMENT)
    matrix = perspective(45, size[0] / size[1], 0.5, 16) @ look_at((1.5, 1.5, 3.5))
    program["matrix"].write(gl_matrix(matrix))
    ball = upload(ctx, program, "3f 3f 2f", sphere(24, 12), "position normal uv")
    floor = upload(ctx, program, "3f 3f 2f", plane(2.0, -1.0), "position normal uv")
    depth = ctx.depth_texture(size)
    depth.compare_func = ""
    depth.filter = ctx.NEAREST, ctx.NEAREST
    scene_target = ctx.framebuffer([ctx.texture(size, 4)], depth)
    scene_target.use()
    scene_target.clear()
    ctx.enable(ctx.DEPTH_TEST)
    for place in ((-0.75, 0.0, 0.0), (0.5, 0.0, -0.25), (0.0, 0.25, 0.75)):
        program["place"].value = place
        ball.render()
    program["place"].value = (0.0, 0.0, 0.0)
    floor.render()
    yield capture_depth("depth", depth)
    ctx.disable(ctx.DEPTH_TEST)
    shade = ctx.texture(size, 4)
    for name, text, source, target in (
        ("hidden", OCCLUSION, depth, ctx.framebuffer([shade])),
        ("smoothed", SMOOTH, shade, ctx.framebuffer([ctx.texture(size, 4)])),
    ):
        step, screen = screen_filler(ctx, text)
        source.use(0)
        target.use()
        screen.render()
        yield capture(name, target)
        step.release()

"""Image processing by ping-pong: bright parts of a picture blurred across and down, added back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import Pass, capture, quad, scene, upload

VERTEX = """
#version 330
in vec2 position;
out vec2 uv;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    uv = position * 0.5 + 0.5;
}
"""
SOURCE = """
#version 330
in vec2 uv;
out vec4 color;
void main() {
    vec2 cell = fract(uv * vec2(8.0, 6.0)) - 0.5;
    float dot_ = step(length(cell), 0.18);
    color = vec4(dot_ * vec3(uv, 1.0 - uv.x) + vec3(0.05), 1.0);
}
"""
BLUR = """
#version 330
uniform sampler2D image;
uniform vec2 along;
in vec2 uv;
out vec4 color;
const float weights[5] = float[5](0.227027, 0.1945946, 0.1216216, 0.054054, 0.016216);
void main() {
    vec4 sum = texture(image, uv) * weights[0];
    for (int i = 1; i < 5; i++)
        sum += (texture(image, uv + along * float(i)) + texture(image, uv - along * float(i)))
            * weights[i];
    color = vec4(sum.rgb, 1.0);
}
"""
COMBINE = """
#version 330
uniform sampler2D image;
uniform sampler2D glow;
in vec2 uv;
out vec4 color;
void main() {
    vec3 c = texture(image, uv).rgb + 1.5 * texture(glow, uv).rgb;
    color = vec4(c / (1.0 + c), 1.0);
}
"""


@scene("blur", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Bloom: a source picture, four half-float blur passes between two textures, the sum."""

    def picture(dtype: str) -> Any:
        texture = ctx.texture(size, 4, dtype=dtype)
        texture.repeat_x = texture.repeat_y = False
        return texture

    source, first, second = picture("f1"), picture("f2"), picture("f2")
    targets = {t: ctx.framebuffer([t]) for t in (source, first, second)}

    def draw(program: Any, target: Any) -> None:
        target.use()
        target.clear()
        upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP).render()

    draw(ctx.program(VERTEX, SOURCE), targets[source])
    yield capture("source", targets[source])
    blur = ctx.program(VERTEX, BLUR)
    steps = [
        ("across", source, first, (1 / size[0], 0.0)),
        ("down", first, second, (0.0, 1 / size[1])),
        ("across again", second, first, (2 / size[0], 0.0)),
        ("down again", first, second, (0.0, 2 / size[1])),
    ]
    for name, read, write, along in steps:
        read.use(0)
        blur["along"].value = along
        draw(blur, targets[write])
        yield capture(name, targets[write])
    combine = ctx.program(VERTEX, COMBINE)
    source.use(0)
    second.use(1)
    combine["image"].value, combine["glow"].value = 0, 1
    final = ctx.framebuffer([ctx.texture(size, 4)])
    draw(combine, final)
    yield capture("combined", final)

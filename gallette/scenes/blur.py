"""Image processing by ping-pong: bright parts of a picture blurred across and down, added back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.scenes.common import (
    Pass,
    capture,
    scene,
    screen_filler,
    shaders,
)

GLSL = shaders(__file__)


@scene("blur", tags=("multipass",))
def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
    """Bloom: a source picture, four half-float blur passes between two textures, the sum."""

    def picture(dtype: str) -> Any:
        texture = ctx.texture(size, 4, dtype=dtype)
        texture.repeat_x = texture.repeat_y = False
        return texture

    source, first, second = picture("f1"), picture("f2"), picture("f2")
    targets = {t: ctx.framebuffer([t]) for t in (source, first, second)}

    def draw(screen: Any, target: Any) -> None:
        target.use()
        target.clear()
        screen.render()

    draw(screen_filler(ctx, GLSL["source"])[1], targets[source])
    yield capture("source", targets[source])
    blur, blurred = screen_filler(ctx, GLSL["blur"])
    steps = [
        ("across", source, first, (1 / size[0], 0.0)),
        ("down", first, second, (0.0, 1 / size[1])),
        ("across again", second, first, (2 / size[0], 0.0)),
        ("down again", first, second, (0.0, 2 / size[1])),
    ]
    for name, read, write, along in steps:
        read.use(0)
        blur["along"].value = along
        draw(blurred, targets[write])
        yield capture(name, targets[write])
    combine, combined = screen_filler(ctx, GLSL["combine"])
    source.use(0)
    second.use(1)
    combine["image"].value, combine["glow"].value = 0, 1
    final = ctx.framebuffer([ctx.texture(size, 4)])
    draw(combined, final)
    yield capture("combined", final)

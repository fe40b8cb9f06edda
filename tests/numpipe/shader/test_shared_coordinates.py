"""Lookups with one coordinate share what they need of it, also where loops change coordinates."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest

import gallette

VERTEX = """
#version 330
in vec2 place;
out vec2 uv;
void main() { gl_Position = vec4(place, 0, 1); uv = place * 1.3; }
"""

FRAGMENT = """
#version 330
uniform sampler2D a, b;
uniform int n;
in vec2 uv;
out vec4 color;
void main() { color = vec4(0); vec2 p = uv; BODY }
"""

BODIES = {
    "two textures": "color = texture(a, p) - 0.5 * texture(b, p) + texture(a, p.yx);",
    "coordinates that a loop carries": """
        for (int k = 0; k < n; k++) {
            color += texture(a, p) * 0.1 + texture(b, p) * 0.05;
            p = p * 1.5 + 0.1;
        }""",
    "one that a loop makes anew": """
        for (int y = 0; y < n; y++) {
            vec2 q = vec2(p.x * float(y + 1), p.y);
            color += texture(a, q) * 0.1 + texture(b, q + vec2(0, 0.3)) * 0.1;
            p.y = q.x + 0.25;
        }""",
    "one in the memory of the one before": """
        for (int k = 0; k < n; k++) {
            vec2 q = p + 0.1;
            color += texture(a, q) * 0.1 + texture(b, q) * 0.1;
            p = q * 1.5;
        }""",
    "one that arithmetic needs last": """
        vec2 q = p * 2.0;
        color = texture(a, q) + texture(b, q);
        q = q * q;
        color += texture(a, q) - texture(b, q);""",
    "in lanes that leave a loop": """
        while (p.x < 1.0) {
            vec2 q = p * 1.7;
            color += textureLod(a, q, 0.0) * 0.1 + textureLod(b, q, 0.0) * 0.1;
            p += 0.37;
        }""",
    "at levels": """
        color = textureLod(a, p, 0.0) + textureLod(b, p, 1.3) * 0.5 + textureLod(a, p, p.x) * 0.3;
    """,
    "beside one for all lanes": "color = texture(a, vec2(p.x, 0.3)) + texture(b, vec2(p.x, 0.7));",
}


def picture(driver: str, body: str, wraps: bool, floats: bool) -> Any:
    window: Any = gallette.moderngl_context(driver)
    ctx = moderngl.create_context(standalone=True, context=window)
    program = ctx.program(VERTEX, FRAGMENT.replace("BODY", body))
    random = np.random.default_rng(1)
    for unit, (name, size) in enumerate({"a": (16, 16), "b": (16, 12)}.items()):
        texels = random.integers(0, 255, (size[1], size[0], 4), np.uint8)
        if floats:
            texture = ctx.texture(size, 4, (texels / 255).astype(np.float32), dtype="f4")
        else:
            texture = ctx.texture(size, 4, texels)
        texture.build_mipmaps()
        texture.filter = ctx.LINEAR_MIPMAP_NEAREST, ctx.LINEAR
        texture.repeat_x = texture.repeat_y = wraps
        texture.use(unit)
        program[name].value = unit
    if "n" in program:
        program["n"].value = 5
    corners = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
    target = ctx.framebuffer([ctx.texture((48, 40), 4, dtype="f4")])
    target.use()
    target.clear()
    for _ in range(3):  # copies pay after some lookups
        ctx.vertex_array(program, [(ctx.buffer(corners), "2f", "place")]).render(5)
    return np.frombuffer(target.read(components=4, dtype="f4"), np.float32).reshape(-1, 4)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("floats", [False, True])
def test_lookups_are_those_of_compiled_code(body: str, wraps: bool, floats: bool) -> None:
    found, expected = (
        picture(driver, BODIES[body], wraps, floats) for driver in ("numpipe", "jit")
    )
    assert len(np.unique(expected, axis=0)) > 10
    np.testing.assert_array_equal(found, expected)

"""Texture formats: what a lookup gives of channels a format has, and of those it has not; drawing
into them.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import (
    GREEN,
    Test,
    channels,
    drawn,
    green_if,
    main,
    slug,
)

_SAMPLED = (
    "R8", "RG8", "RGB8", "RGBA8", "R16", "RG16", "RGB16", "RGBA16", "R8_SNORM", "RG8_SNORM",
    "RGBA8_SNORM", "R16F", "RG16F", "RGB16F", "RGBA16F", "R32F", "RG32F", "RGB32F", "RGBA32F",
    "RGB10_A2", "R11F_G11F_B10F", "RGB9_E5", "SRGB8", "SRGB8_ALPHA8", "RGBA4", "RGB5_A1",
    "RGB565",
)  # fmt: skip
_INTEGERS = (
    "R8UI", "R8I", "R16UI", "R16I", "R32UI", "R32I", "RGBA8UI", "RGBA8I", "RGBA16UI", "RGBA16I",
    "RGBA32UI", "RGBA32I", "RG8UI", "RG8I", "RG32UI", "RG32I",
)  # fmt: skip
_RENDERED = (
    "R8", "RG8", "RGBA8", "R16", "RG16", "RGBA16", "R16F", "RG16F", "RGBA16F", "R32F", "RG32F",
    "RGBA32F", "RGB10_A2", "R11F_G11F_B10F", "SRGB8_ALPHA8",
)  # fmt: skip
_CORNERS = ((2, 2, "1 0 0 1"), (12, 2, "0 1 0 1"), (2, 12, "0 0 1 1"), (12, 12, "1 1 1 1"))

_VERTEX = ["in vec4 piglit_vertex;", "in vec4 piglit_texcoord;", "out vec2 uv;"]
_VERTEX += main("gl_Position = piglit_vertex;", "uv = piglit_texcoord.xy;")


def tests() -> Iterator[Test]:
    for name in _SAMPLED:
        yield _sampled(name)
    for name in _INTEGERS:
        yield _integer(name)
    for name in _RENDERED:
        yield _rendered(name)


def _kept(color: str, name: str) -> str:
    """A colour with 0 0 0 1 for the channels that a format has not."""
    pairs = zip("RGBA", color.split(), strict=True)
    return " ".join(v if c in channels(name) else "01"[c == "A"] for c, v in pairs)


def _sampled(name: str) -> Test:
    fragment = ["uniform sampler2D tex;", "in vec2 uv;", "out vec4 color;"]
    fragment += main("color = texture(tex, uv);")
    commands = ["uniform int tex 0", f"texture rgbw 0 (8, 8) GL_{name}"]
    commands += ["draw rect tex -1 -1 2 2 0 0 1 1"]
    commands += [f"probe rgba {x} {y} {_kept(color, name)}" for x, y, color in _CORNERS]
    require = ["GL_ARB_ES2_compatibility"] if name == "RGB565" else []
    return (
        f"gl-3.3/texture-formats/sample-{slug(name)}",
        f"A lookup in {name} gives its channels, and 0 0 0 1 for the others.",
        drawn(330, fragment, commands, require=require, vertex=_VERTEX, size="16 16"),
    )


def _integer(name: str) -> Test:
    letter, suffix = ("u", "u") if name.endswith("UI") else ("i", "")
    missing = [(c, v) for c, v in (("G", 0), ("B", 0), ("A", 1)) if c not in name]
    checks = [f"t.{c.lower()} == {v}{suffix}" for c, v in missing]
    wanted = "3 + 2 * int(gl_FragCoord.y / 2.0) + int(gl_FragCoord.x / 2.0)"
    checks.append(f"t.r == {suffix}int({wanted})")
    fragment = [f"uniform {letter}sampler2D tex;", "out vec4 color;"]
    fragment += main(
        f"{letter}vec4 t = texelFetch(tex, ivec2(gl_FragCoord.xy / 2.0), 0);",
        f"bool right = {' && '.join(checks)};",
        f"color = {green_if('right')};",
    )
    commands = ["uniform int tex 0", f"texture integer 0 (4, 4) (2, 3) GL_{name}"]
    commands += GREEN
    return (
        f"gl-3.3/texture-formats/fetch-{name.lower()}",
        f"A fetch from {name} gives its integers, and 0 0 0 1 for missing channels.",
        drawn(330, fragment, commands),
    )


def _rendered(name: str) -> Test:
    drawn_color = "1 0.5 0.25 0"
    rounds = name in ("RGB10_A2", "R11F_G11F_B10F")
    commands = [
        *(["tolerance 0.02 0.02 0.02 0.02"] if rounds else []),
        f"texture storage 0 2D GL_{name} (1, 8, 8)",
        "fb tex 2d 0",
        f"uniform vec4 c {drawn_color}",
        "draw rect -1 -1 2 2",
        f"probe rect rgba (0, 0, 8, 8) ({_kept(drawn_color, name)})",
    ]
    fragment = ["uniform vec4 c;", "out vec4 color;", *main("color = c;")]
    return (
        f"gl-3.3/texture-formats/render-{slug(name)}",
        f"Drawing into {name} keeps its channels, and it reads 0 0 0 1 for the others.",
        drawn(330, fragment, commands, require=["GL_ARB_texture_storage"], vertex=_VERTEX),
    )

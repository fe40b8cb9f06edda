"""Texture formats: what a lookup gives of channels a format has, and of those it has not; drawing
into them.
"""

from __future__ import annotations

from collections.abc import Iterator

_CHANNELS = {
    "R8": "R", "RG8": "RG", "RGB8": "RGB", "RGBA8": "RGBA", "R16": "R", "RG16": "RG",
    "RGB16": "RGB", "RGBA16": "RGBA", "R8_SNORM": "R", "RG8_SNORM": "RG", "RGBA8_SNORM": "RGBA",
    "R16F": "R", "RG16F": "RG", "RGB16F": "RGB", "RGBA16F": "RGBA", "R32F": "R", "RG32F": "RG",
    "RGB32F": "RGB", "RGBA32F": "RGBA", "RGB10_A2": "RGBA", "R11F_G11F_B10F": "RGB",
    "RGB9_E5": "RGB", "SRGB8": "RGB", "SRGB8_ALPHA8": "RGBA", "RGBA4": "RGBA", "RGB5_A1": "RGBA",
    "RGB565": "RGB",
}  # fmt: skip
_INTEGERS = ("R8UI", "R8I", "R16UI", "R16I", "R32UI", "R32I", "RGBA8UI", "RGBA8I", "RGBA16UI",
             "RGBA16I", "RGBA32UI", "RGBA32I", "RG8UI", "RG8I", "RG32UI", "RG32I")  # fmt: skip
_RENDERED = ("R8", "RG8", "RGBA8", "R16", "RG16", "RGBA16", "R16F", "RG16F", "RGBA16F", "R32F",
             "RG32F", "RGBA32F", "RGB10_A2", "R11F_G11F_B10F", "SRGB8_ALPHA8")  # fmt: skip
_CORNERS = ((2, 2, "1 0 0 1"), (12, 2, "0 1 0 1"), (2, 12, "0 0 1 1"), (12, 12, "1 1 1 1"))

_VERTEX = """[vertex shader]
#version 330
in vec4 piglit_vertex;
in vec4 piglit_texcoord;
out vec2 uv;

void main()
{
	gl_Position = piglit_vertex;
	uv = piglit_texcoord.xy;
}
"""


def tests() -> Iterator[tuple[str, str, str]]:
    for name, channels in _CHANNELS.items():
        yield _sampled(name, channels)
    for name in _INTEGERS:
        yield _integer(name)
    for name in _RENDERED:
        yield _rendered(name, _CHANNELS[name])


def _sampled(name: str, channels: str) -> tuple[str, str, str]:
    lines = [
        "[require]",
        "GLSL >= 3.30",
        *(["GL_ARB_ES2_compatibility"] if name == "RGB565" else []),
        "SIZE 16 16",
        "",
        _VERTEX,
        "[fragment shader]",
        "#version 330",
        "uniform sampler2D tex;",
        "in vec2 uv;",
        "out vec4 color;",
        "",
        "void main()",
        "{",
        "\tcolor = texture(tex, uv);",
        "}",
        "",
        "[test]",
        "uniform int tex 0",
        f"texture rgbw 0 (8, 8) GL_{name}",
        "draw rect tex -1 -1 2 2 0 0 1 1",
    ]
    for x, y, color in _CORNERS:
        pairs = zip("RGBA", color.split(), strict=True)
        texel = [v if c in channels else "01"[c == "A"] for c, v in pairs]
        lines.append(f"probe rgba {x} {y} {' '.join(texel)}")
    return (
        f"gl-3.3/texture-formats/sample-{name.lower().replace('_', '-')}",
        f"A lookup in {name} gives its channels, and 0 0 0 1 for the others.",
        "\n".join(lines),
    )


def _integer(name: str) -> tuple[str, str, str]:
    unsigned = name.endswith("UI")
    letter = "u" if unsigned else "i"
    channels = name.rstrip("UI").rstrip("0123456789")
    suffix = "u" if unsigned else ""
    defaults = {"R": "", "G": f"0{suffix}", "B": f"0{suffix}", "A": f"1{suffix}"}
    checks = [
        f"t.{c.lower()} == {value}" for c, value in defaults.items() if value and c not in channels
    ]
    wanted = f"{letter}int(" if unsigned else "int("
    checks.append(f"t.r == {wanted}3 + 2 * int(gl_FragCoord.y / 2.0) + int(gl_FragCoord.x / 2.0))")
    lines = [
        "[require]",
        "GLSL >= 3.30",
        "SIZE 8 8",
        "",
        "[vertex shader passthrough]",
        "",
        "[fragment shader]",
        "#version 330",
        f"uniform {letter}sampler2D tex;",
        "out vec4 color;",
        "",
        "void main()",
        "{",
        f"\t{letter}vec4 t = texelFetch(tex, ivec2(gl_FragCoord.xy / 2.0), 0);",
        f"\tbool right = {' && '.join(checks)};",
        "\tcolor = right ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);",
        "}",
        "",
        "[test]",
        "uniform int tex 0",
        f"texture integer 0 (4, 4) (2, 3) GL_{name}",
        "draw rect -1 -1 2 2",
        "probe all rgba 0.0 1.0 0.0 1.0",
    ]
    return (
        f"gl-3.3/texture-formats/fetch-{name.lower()}",
        f"A fetch from {name} gives its integers, and 0 0 0 1 for missing channels.",
        "\n".join(lines),
    )


def _rendered(name: str, channels: str) -> tuple[str, str, str]:
    color = {"R": "1", "G": "0.5", "B": "0.25", "A": "0"}
    drawn = " ".join(color.values())
    seen = " ".join(v if c in channels else "01"[c == "A"] for c, v in color.items())
    tolerance = "tolerance 0.02 0.02 0.02 0.02\n" if name in ("RGB10_A2", "R11F_G11F_B10F") else ""
    body = f"""[require]
GLSL >= 3.30
GL_ARB_texture_storage
SIZE 8 8

{_VERTEX}
[fragment shader]
#version 330
uniform vec4 c;
out vec4 color;

void main()
{{
	color = c;
}}

[test]
{tolerance}texture storage 0 2D GL_{name} (1, 8, 8)
fb tex 2d 0
uniform vec4 c {drawn}
draw rect -1 -1 2 2
probe rect rgba (0, 0, 8, 8) ({seen})
"""
    return (
        f"gl-3.3/texture-formats/render-{name.lower().replace('_', '-')}",
        f"Drawing into {name} keeps its channels, and it reads 0 0 0 1 for the others.",
        body,
    )

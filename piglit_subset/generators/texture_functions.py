"""Lookup functions by all their names: those of GLSL 1.20 and its extensions, and the overloads of
today; each finds the texel whose colour is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_QUADRANTS = (
    ("0.25", "0.25", "r"),
    ("0.75", "0.25", "g"),
    ("0.25", "0.75", "b"),
    ("0.75", "0.75", "w"),
)
_ROW = (("0.125", "0.0", "r"), ("0.375", "0.0", "g"), ("0.625", "0.0", "b"), ("0.875", "0.0", "w"))
_LAYERS = (("0.0", "0.5", "r"), ("1.0", "0.5", "g"), ("2.0", "0.5", "b"), ("3.0", "0.5", "w"))
_COLORS = {
    "r": "vec4(1.0, 0.0, 0.0, 1.0)",
    "g": "vec4(0.0, 1.0, 0.0, 1.0)",
    "b": "vec4(0.0, 0.0, 1.0, 1.0)",
    "w": "vec4(1.0)",
}


@dataclass(frozen=True, slots=True)
class _Kind:
    """A texture: its sampler, the command that makes it, and where which colour is."""

    sampler: str
    setup: str
    places: tuple[tuple[str, str, str], ...]


_1D = _Kind("sampler1D", "texture rgbw 1D 0", _ROW)
_2D = _Kind("sampler2D", "texture rgbw 0 (8, 8)", _QUADRANTS)
_3D = _Kind("sampler3D", "texture rgbw 3D 0", _QUADRANTS)
_1DA = _Kind("sampler1DArray", "texture rgbw 1DArray 0 (4, 4)", _LAYERS)
_2DA = _Kind("sampler2DArray", "texture rgbw 2DArray 0 (4, 4, 4)", _LAYERS)
_ZERO = {_1D: "0.0", _2D: "vec2(0.0)", _3D: "vec3(0.0)", _1DA: "0.0", _2DA: "vec2(0.0)"}
_AT = {
    _1D: "{s}",
    _2D: "vec2({s}, {t})",
    _3D: "vec3({s}, {t}, 0.25)",
    _1DA: "vec2({t}, {s})",
    _2DA: "vec3({t}, {t}, {s})",
}
_PROJECTED = {
    _1D: ("vec2({s}, 1.0) * 2.0", "vec4({s}, 9.0, 9.0, 1.0) * 2.0"),
    _2D: ("vec3({s}, {t}, 1.0) * 2.0", "vec4({s}, {t}, 9.0, 1.0) * 2.0"),
    _3D: ("vec4({s}, {t}, 0.25, 1.0) * 2.0",),
}
_OFFSET = {
    _1D: ("1", "rg gb bw wr"),
    _2D: ("ivec2(4, 0)", "rg gg bw ww"),  # clamped to its edges
    _3D: ("ivec3(1, 0, 0)", "rg gr bw wb"),
    _1DA: ("1", "rr gg bb ww"),  # a layer has one colour
    _2DA: ("ivec2(1, 2)", "rr gg bb ww"),
}
"""An offset in texels, and the colour it leads to from each."""
_TEXELS = {  # the texel an offset away from one of the n-th colour
    _1D: ("{n} - 1", "1"),
    _2D: ("ivec2({n} % 2 * 4 + 1, {n} / 2 * 4 - 2)", "ivec2(2, 4)"),
    _3D: ("ivec3({n} % 2 + 1, {n} / 2 - 1, 1)", "ivec3(-1, 1, -1)"),
    _1DA: ("ivec2(3, {n})", "-2"),
    _2DA: ("ivec3(5, -1, {n})", "ivec2(-3, 2)"),
}
_NAMES = {_1D: "1D", _2D: "2D", _3D: "3D", _1DA: "1DArray", _2DA: "2DArray"}


def tests() -> Iterator[tuple[str, str, str]]:
    for kind, name in _NAMES.items():
        yield from _old(kind, name)
        yield from _new(kind, name)
    yield from _shadow()


def _old(kind: _Kind, name: str) -> Iterator[tuple[str, str, str]]:
    """What GLSL 1.20 calls them, with ARB_shader_texture_lod and EXT_texture_array."""
    at, zero = _AT[kind], _ZERO[kind]
    array = "GL_EXT_texture_array" if kind in (_1DA, _2DA) else ""
    lod = "GL_ARB_shader_texture_lod"
    calls = [(f"texture{name}", f"texture{name}(tex, {at})", array)]
    if not array:
        calls.append((f"texture{name}Lod", f"texture{name}Lod(tex, {at}, 0.0)", lod))
        call = f"texture{name}GradARB(tex, {at}, {zero}, {zero})"
        calls.append((f"texture{name}GradARB", call, lod))
    for number, place in enumerate(_PROJECTED.get(kind, ())):
        tail = f"-{'vec' + place[3]}" if number else ""
        calls.append((f"texture{name}Proj{tail}", f"texture{name}Proj(tex, {place})", ""))
        calls.append(
            (f"texture{name}ProjLod{tail}", f"texture{name}ProjLod(tex, {place}, 0.0)", lod)
        )
        call = f"texture{name}ProjGradARB(tex, {place}, {zero}, {zero})"
        calls.append((f"texture{name}ProjGradARB{tail}", call, lod))
    for title, call, extension in calls:
        yield _test(f"glsl-1.20/texture-functions/{title}", kind, 120, call, extension)


def _new(kind: _Kind, name: str) -> Iterator[tuple[str, str, str]]:
    """What they have been called since GLSL 1.30."""
    at, zero = _AT[kind], _ZERO[kind]
    offset, _ = _OFFSET[kind]
    calls = [
        ("textureGrad", f"textureGrad(tex, {at}, {zero}, {zero})"),
        ("textureGradOffset", f"textureGradOffset(tex, {at}, {zero}, {zero}, {offset})"),
        ("textureLod", f"textureLod(tex, {at}, 0.0)"),
        ("textureLodOffset", f"textureLodOffset(tex, {at}, 0.0, {offset})"),
        ("textureOffset", f"textureOffset(tex, {at}, {offset})"),
    ]
    for number, place in enumerate(_PROJECTED.get(kind, ())):
        tail = "-vec4" if number else ""
        calls += [
            (f"textureProj{tail}", f"textureProj(tex, {place})"),
            (f"textureProjGrad{tail}", f"textureProjGrad(tex, {place}, {zero}, {zero})"),
            (
                f"textureProjGradOffset{tail}",
                f"textureProjGradOffset(tex, {place}, {zero}, {zero}, {offset})",
            ),
            (f"textureProjLod{tail}", f"textureProjLod(tex, {place}, 0.0)"),
            (f"textureProjLodOffset{tail}", f"textureProjLodOffset(tex, {place}, 0.0, {offset})"),
            (f"textureProjOffset{tail}", f"textureProjOffset(tex, {place}, {offset})"),
        ]
    for title, call in calls:
        yield _test(f"glsl-1.30/texture-functions/{title}-{name}", kind, 130, call, "")
    place, offset = _TEXELS[kind]
    call = f"texelFetchOffset(tex, {place}, 0, {offset})"
    yield _test(f"glsl-1.30/texture-functions/texelFetchOffset-{name}", kind, 130, call, "")


def _test(place: str, kind: _Kind, version: int, call: str, extension: str) -> tuple[str, str, str]:
    offset = "Offset(" in call and "Fetch" not in call
    moved = {way[0]: way[1] for way in _OFFSET[kind][1].split()} if offset else {}
    checks = [
        f"{call.format(s=s, t=t, n=n)} == {_COLORS[moved.get(color, color)]}"
        for n, (s, t, color) in enumerate(kind.places)
    ]
    out = "gl_FragColor" if version < 130 else "color"
    lines = [
        "[require]",
        f"GLSL >= {version // 100}.{version % 100:02}",
        *filter(None, [extension]),
        "SIZE 8 8",
        "",
        "[vertex shader passthrough]",
        "",
        "[fragment shader]",
        f"#version {version}",
        *([f"#extension {extension} : require"] if extension else []),
        f"uniform {kind.sampler} tex;",
        *([] if version < 130 else ["out vec4 color;"]),
        "",
        "void main()",
        "{",
        "\tbool right = " + "\n\t\t&& ".join(checks) + ";",
        f"\t{out} = right ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);",
        "}",
        "",
        "[test]",
        "uniform int tex 0",
        kind.setup,
        "texparameter " + _target(kind) + " min nearest",
        "texparameter " + _target(kind) + " mag nearest",
        "draw rect -1 -1 2 2",
        "probe all rgba 0.0 1.0 0.0 1.0",
    ]
    return place, f"{place.rpartition('/')[2]} finds the texel of each colour.", "\n".join(lines)


def _target(kind: _Kind) -> str:
    return _NAMES[kind]


def _shadow() -> Iterator[tuple[str, str, str]]:
    """Comparisons with depths that rise from 0 to 1 along the texture."""
    calls = [
        ("1D", "shadow1D", "shadow1D(tex, vec3({s}, 0.0, 0.5))", ""),
        ("1D", "shadow1DProj", "shadow1DProj(tex, vec4({s}, 0.0, 0.5, 1.0) * 2.0)", ""),
        ("2D", "shadow2D", "shadow2D(tex, vec3({s}, 0.5, 0.5))", ""),
        ("2D", "shadow2DProj", "shadow2DProj(tex, vec4({s}, 0.5, 0.5, 1.0) * 2.0)", ""),
        ("1D", "shadow1DLod", "shadow1DLod(tex, vec3({s}, 0.0, 0.5), 0.0)", "lod"),
        ("2D", "shadow2DLod", "shadow2DLod(tex, vec3({s}, 0.5, 0.5), 0.0)", "lod"),
        (
            "2D",
            "shadow2DProjLod",
            "shadow2DProjLod(tex, vec4({s}, 0.5, 0.5, 1.0) * 2.0, 0.0)",
            "lod",
        ),
        (
            "2D",
            "shadow2DGradARB",
            "shadow2DGradARB(tex, vec3({s}, 0.5, 0.5), vec2(0.0), vec2(0.0))",
            "lod",
        ),
    ]
    for kind, name, call, needs in calls:
        extension = "GL_ARB_shader_texture_lod" if needs else ""
        checks = [
            f"{call.format(s=s)}.r == {value}" for s, value in (("0.1", "0.0"), ("0.9", "1.0"))
        ]
        lines = [
            "[require]",
            "GLSL >= 1.20",
            *filter(None, [extension]),
            "SIZE 8 8",
            "",
            "[vertex shader passthrough]",
            "",
            "[fragment shader]",
            "#version 120",
            *([f"#extension {extension} : require"] if extension else []),
            f"uniform sampler{kind}Shadow tex;",
            "",
            "void main()",
            "{",
            "\tbool right = " + "\n\t\t&& ".join(checks) + ";",
            "\tgl_FragColor = right ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);",
            "}",
            "",
            "[test]",
            "uniform int tex 0",
            f"texture shadow{kind} 0 ({'16' if kind == '1D' else '16, 16'})",
            f"texparameter {kind} compare_func lequal",
            "draw rect -1 -1 2 2",
            "probe all rgba 0.0 1.0 0.0 1.0",
        ]
        place = f"glsl-1.20/texture-functions/{name}"
        yield place, f"{name} compares with the depth that is there.", "\n".join(lines)

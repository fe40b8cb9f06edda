"""Lookup functions by all their names: those of GLSL 1.20 and its extensions, and the overloads of
today; each finds the texel whose colour is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gallette.piglit_subset.generators.common import GREEN, Test, drawn, green_if, main

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
_LOD = "GL_ARB_shader_texture_lod"
_NAMES = {_1D: "1D", _2D: "2D", _3D: "3D", _1DA: "1DArray", _2DA: "2DArray"}


def tests() -> Iterator[Test]:
    for kind, name in _NAMES.items():
        yield from _old(kind, name)
        yield from _new(kind, name)
    yield from _shadow()


def _old(kind: _Kind, name: str) -> Iterator[Test]:
    """What GLSL 1.20 calls them, with ARB_shader_texture_lod and EXT_texture_array."""
    array = "GL_EXT_texture_array" if kind in (_1DA, _2DA) else ""
    ways = (("", "", array), ("Lod", ", 0.0", _LOD), ("GradARB", ", {zero}, {zero}", _LOD))
    places = [("", "", _AT[kind])]
    for number, place in enumerate(_PROJECTED.get(kind, ())):
        places.append(("Proj", f"-vec{place[3]}" if number else "", place))
    for projected, tail, place in places:
        for how, more, extension in ways[: 1 if array else 3]:
            function = f"texture{name}{projected}{how}"
            call = f"{function}(tex, {place}{more.format(zero=_ZERO[kind])})"
            yield _test(f"glsl-1.20/texture-functions/{function}{tail}", kind, 120, call, extension)


def _new(kind: _Kind, name: str) -> Iterator[Test]:
    """What they have been called since GLSL 1.30."""
    zero, (offset, _) = _ZERO[kind], _OFFSET[kind]
    ways = (
        ("Grad", f", {zero}, {zero}"),
        ("GradOffset", f", {zero}, {zero}, {offset}"),
        ("Lod", ", 0.0"),
        ("LodOffset", f", 0.0, {offset}"),
        ("Offset", f", {offset}"),
    )
    calls = [(f"texture{how}", "", f"{_AT[kind]}{more}") for how, more in ways]
    for number, place in enumerate(_PROJECTED.get(kind, ())):
        tail = "-vec4" if number else ""
        for how, more in (("", ""), *ways):
            calls.append((f"textureProj{how}", tail, f"{place}{more}"))
    place, offset = _TEXELS[kind]
    calls.append(("texelFetchOffset", "", f"{place}, 0, {offset}"))
    for function, tail, arguments in calls:
        title = f"{function}{tail}-{name}"
        call = f"{function}(tex, {arguments})"
        yield _test(f"glsl-1.30/texture-functions/{title}", kind, 130, call, "")


def _test(place: str, kind: _Kind, version: int, call: str, extension: str) -> Test:
    offset = "Offset(" in call and "Fetch" not in call
    moved = {way[0]: way[1] for way in _OFFSET[kind][1].split()} if offset else {}
    checks = [
        f"{call.format(s=s, t=t, n=n)} == {_COLORS[moved.get(color, color)]}"
        for n, (s, t, color) in enumerate(kind.places)
    ]
    target = _NAMES[kind]
    setup = [kind.setup, f"texparameter {target} min nearest", f"texparameter {target} mag nearest"]
    body = _looked_up(version, kind.sampler, checks, extension, setup)
    return place, f"{place.rpartition('/')[2]} finds the texel of each colour.", body


def _looked_up(
    version: int, sampler: str, checks: list[str], extension: str, setup: list[str]
) -> str:
    old = version < 130
    fragment = [
        *([f"#extension {extension} : require"] if extension else []),
        f"uniform {sampler} tex;",
        *([] if old else ["out vec4 color;"]),
        *main(
            "bool right = " + "\n\t\t&& ".join(checks) + ";",
            f"{'gl_FragColor' if old else 'color'} = {green_if('right')};",
        ),
    ]
    commands = ["uniform int tex 0", *setup, *GREEN]
    return drawn(version, fragment, commands, require=filter(None, [extension]))


def _shadow() -> Iterator[Test]:
    """Comparisons with depths that rise from 0 to 1 along the texture."""
    for kind, name, arguments in (
        ("1D", "shadow1D", "vec3({s}, 0.0, 0.5)"),
        ("1D", "shadow1DProj", "vec4({s}, 0.0, 0.5, 1.0) * 2.0"),
        ("2D", "shadow2D", "vec3({s}, 0.5, 0.5)"),
        ("2D", "shadow2DProj", "vec4({s}, 0.5, 0.5, 1.0) * 2.0"),
        ("1D", "shadow1DLod", "vec3({s}, 0.0, 0.5), 0.0"),
        ("2D", "shadow2DLod", "vec3({s}, 0.5, 0.5), 0.0"),
        ("2D", "shadow2DProjLod", "vec4({s}, 0.5, 0.5, 1.0) * 2.0, 0.0"),
        ("2D", "shadow2DGradARB", "vec3({s}, 0.5, 0.5), vec2(0.0), vec2(0.0)"),
    ):
        extension = _LOD if name.endswith(("Lod", "ARB")) else ""
        found = (("0.1", "0.0"), ("0.9", "1.0"))
        checks = [f"{name}(tex, {arguments.format(s=s)}).r == {value}" for s, value in found]
        setup = [
            f"texture shadow{kind} 0 ({'16' if kind == '1D' else '16, 16'})",
            f"texparameter {kind} compare_func lequal",
        ]
        body = _looked_up(120, f"sampler{kind}Shadow", checks, extension, setup)
        place = f"glsl-1.20/texture-functions/{name}"
        yield place, f"{name} compares with the depth that is there.", body

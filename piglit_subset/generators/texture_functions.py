"""Lookup functions by all their names, of GLSL 1.20, its extensions and GLSL 1.30.

Each test looks up a texel of known colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gallette.piglit_subset.generators.common import templates

_QUADRANTS = (("0.25", "0.25", "r"), ("0.75", "0.25", "g"), ("0.25", "0.75", "b"),
              ("0.75", "0.75", "w"))  # fmt: skip
_ROW = (("0.125", "0.0", "r"), ("0.375", "0.0", "g"), ("0.625", "0.0", "b"), ("0.875", "0.0", "w"))
_LAYERS = (("0.0", "0.5", "r"), ("1.0", "0.5", "g"), ("2.0", "0.5", "b"), ("3.0", "0.5", "w"))
_COLORS = {"r": "vec4(1.0, 0.0, 0.0, 1.0)", "g": "vec4(0.0, 1.0, 0.0, 1.0)",
           "b": "vec4(0.0, 0.0, 1.0, 1.0)", "w": "vec4(1.0)"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Kind:
    """A texture: its name in functions, the command that creates it, and the positions of its
    colours.

    The arguments of lookups are a coordinate (and projected ones), a zero derivative, an offset in
    texels with the resulting colours, and a texel at an offset from one of the n-th colour.
    """

    name: str
    setup: str
    places: tuple[tuple[str, str, str], ...]
    at: str
    zero: str
    offset: tuple[str, str]
    texel: tuple[str, str]
    projected: tuple[str, ...] = ()


_KINDS = (
    _Kind("1D", "texture rgbw 1D 0", _ROW, "{s}", "0.0", ("1", "rg gb bw wr"), ("{n} - 1", "1"),
          ("vec2({s}, 1.0) * 2.0", "vec4({s}, 9.0, 9.0, 1.0) * 2.0")),
    # The offset is clamped to the edges.
    _Kind("2D", "texture rgbw 0 (8, 8)", _QUADRANTS, "vec2({s}, {t})", "vec2(0.0)",
          ("ivec2(4, 0)", "rg gg bw ww"), ("ivec2({n} % 2 * 4 + 1, {n} / 2 * 4 - 2)",
          "ivec2(2, 4)"), ("vec3({s}, {t}, 1.0) * 2.0", "vec4({s}, {t}, 9.0, 1.0) * 2.0")),
    _Kind("3D", "texture rgbw 3D 0", _QUADRANTS, "vec3({s}, {t}, 0.25)", "vec3(0.0)",
          ("ivec3(1, 0, 0)", "rg gr bw wb"), ("ivec3({n} % 2 + 1, {n} / 2 - 1, 1)",
          "ivec3(-1, 1, -1)"), ("vec4({s}, {t}, 0.25, 1.0) * 2.0",)),
    # A layer has one colour.
    _Kind("1DArray", "texture rgbw 1DArray 0 (4, 4)", _LAYERS, "vec2({t}, {s})", "0.0",
          ("1", "rr gg bb ww"), ("ivec2(3, {n})", "-2")),
    _Kind("2DArray", "texture rgbw 2DArray 0 (4, 4, 4)", _LAYERS, "vec3({t}, {t}, {s})",
          "vec2(0.0)", ("ivec2(1, 2)", "rr gg bb ww"), ("ivec3(5, -1, {n})", "ivec2(-3, 2)")),
)  # fmt: skip
_LOD = "GL_ARB_shader_texture_lod"
# Comparisons with depths that rise from 0 to 1 along the texture.
_SHADOWS = (
    ("1D", "shadow1D", "vec3({s}, 0.0, 0.5)", ""),
    ("1D", "shadow1DProj", "vec4({s}, 0.0, 0.5, 1.0) * 2.0", ""),
    ("2D", "shadow2D", "vec3({s}, 0.5, 0.5)", ""),
    ("2D", "shadow2DProj", "vec4({s}, 0.5, 0.5, 1.0) * 2.0", ""),
    ("1D", "shadow1DLod", "vec3({s}, 0.0, 0.5), 0.0", _LOD),
    ("2D", "shadow2DLod", "vec3({s}, 0.5, 0.5), 0.0", _LOD),
    ("2D", "shadow2DProjLod", "vec4({s}, 0.5, 0.5, 1.0) * 2.0, 0.0", _LOD),
    ("2D", "shadow2DGradARB", "vec3({s}, 0.5, 0.5), vec2(0.0), vec2(0.0)", _LOD),
)


def tests() -> Iterator[str]:
    for kind in _KINDS:
        for title, arguments, extension in _old(kind):
            yield _test(kind, 120, title, title.partition("-")[0], arguments, extension)
        for title, arguments in _new(kind):
            name = title.partition("-")[0]
            yield _test(kind, 130, f"{title}-{kind.name}", name, arguments, "")
    for size, name, arguments, extension in _SHADOWS:
        call = f"{name}(tex, {arguments}).r"
        checks = [f"{call.format(s=s)} == {v}" for s, v in (("0.1", "0.0"), ("0.9", "1.0"))]
        yield templates("texture_functions").shadow(size, name, extension, checks)


def _old(kind: _Kind) -> Iterator[tuple[str, str, str]]:
    """The names in GLSL 1.20, with ARB_shader_texture_lod and EXT_texture_array."""
    name, zero = f"texture{kind.name}", kind.zero
    if kind.name.endswith("Array"):
        yield name, kind.at, "GL_EXT_texture_array"
        return
    ways = [("", kind.at, "")]
    for place in kind.projected:
        ways.append(("Proj", place, f"-{place[:4]}" if len(ways) > 1 else ""))
    for how, place, tail in ways:
        yield f"{name}{how}{tail}", place, ""
        yield f"{name}{how}Lod{tail}", f"{place}, 0.0", _LOD
        yield f"{name}{how}GradARB{tail}", f"{place}, {zero}, {zero}", _LOD


def _new(kind: _Kind) -> Iterator[tuple[str, str]]:
    """The names since GLSL 1.30."""
    zero, offset = kind.zero, kind.offset[0]
    for number, place in enumerate((kind.at, *kind.projected)):
        how, tail = "Proj" * (number > 0), "-vec4" * (number > 1)
        if number:
            yield f"textureProj{tail}", place
        yield f"texture{how}Grad{tail}", f"{place}, {zero}, {zero}"
        yield f"texture{how}GradOffset{tail}", f"{place}, {zero}, {zero}, {offset}"
        yield f"texture{how}Lod{tail}", f"{place}, 0.0"
        yield f"texture{how}LodOffset{tail}", f"{place}, 0.0, {offset}"
        yield f"texture{how}Offset{tail}", f"{place}, {offset}"
    texel, away = kind.texel
    yield "texelFetchOffset", f"{texel}, 0, {away}"


def _test(kind: _Kind, version: int, title: str, name: str, arguments: str, extension: str) -> str:
    moves = name.endswith("Offset") and "Fetch" not in name
    moved = {way[0]: way[1] for way in kind.offset[1].split()} if moves else {}
    call = f"{name}(tex, {arguments})"
    checks = [
        f"{call.format(s=s, t=t, n=n)} == {_COLORS[moved.get(color, color)]}"
        for n, (s, t, color) in enumerate(kind.places)
    ]
    return str(templates("texture_functions").lookup(kind, version, title, extension, checks))

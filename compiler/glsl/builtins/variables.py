"""The built-in variables, read from `variables.txt` and created on first use.

`lookup(name, lang, limits)` returns a new description; `names(lang)` is for suggestions in
messages. Interface blocks (`gl_in`, `gl_out`, `gl_PerVertex`) and the built-in structures are here
too.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from gallette.compiler.glsl.availability import CLIP_DISTANCES, CULL_DISTANCES
from gallette.compiler.glsl.builtins.limits import CONSTANTS
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.typenames import TYPE_NAMES
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.limits import Limits
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Field, Type
from gallette.compiler.text_tables import grouped_rows


@lazy_dataclass(frozen=True)
class BuiltinVariable:
    """The declaration of one built-in variable."""

    name: str
    storage: str
    type: Type
    slot: str
    patch: bool = False
    precision: str = ""


def _struct(name: str, members: str) -> Type:
    pairs = [m.split() for m in members.split(",")]
    return t.struct(name, [Field(n, TYPE_NAMES[type_]) for type_, n in pairs])


STRUCTS: dict[str, tuple[Type, str]] = {
    "gl_DepthRangeParameters": (
        _struct("gl_DepthRangeParameters", "float near,float far,float diff"),
        "*",
    ),
    "gl_PointParameters": (
        _struct(
            "gl_PointParameters",
            "float size,float sizeMin,float sizeMax,float fadeThresholdSize,"
            "float distanceConstantAttenuation,float distanceLinearAttenuation,"
            "float distanceQuadraticAttenuation",
        ),
        "compat",
    ),
    "gl_MaterialParameters": (
        _struct(
            "gl_MaterialParameters",
            "vec4 emission,vec4 ambient,vec4 diffuse,vec4 specular,float shininess",
        ),
        "compat",
    ),
    "gl_LightSourceParameters": (
        _struct(
            "gl_LightSourceParameters",
            "vec4 ambient,vec4 diffuse,vec4 specular,vec4 position,vec4 halfVector,"
            "vec3 spotDirection,float spotExponent,float spotCutoff,float spotCosCutoff,"
            "float constantAttenuation,float linearAttenuation,float quadraticAttenuation",
        ),
        "compat",
    ),
    "gl_LightModelParameters": (_struct("gl_LightModelParameters", "vec4 ambient"), "compat"),
    "gl_LightModelProducts": (_struct("gl_LightModelProducts", "vec4 sceneColor"), "compat"),
    "gl_LightProducts": (
        _struct("gl_LightProducts", "vec4 ambient,vec4 diffuse,vec4 specular"),
        "compat",
    ),
    "gl_FogParameters": (
        _struct("gl_FogParameters", "vec4 color,float density,float start,float end,float scale"),
        "compat",
    ),
}


@lru_cache(maxsize=1)
def _lines() -> dict[str, list[tuple[str, list[str]]]]:
    table: dict[str, list[tuple[str, list[str]]]] = {}
    for group, line in grouped_rows(Path(__file__).with_name("variables.txt")):
        words = line.split()
        table.setdefault(words[2], []).append((group, words))
    return table


def _type(word: str, limits: Limits) -> Type:
    name, *dims = word.replace("]", "").split("[")
    type_ = STRUCTS[name][0] if name in STRUCTS else TYPE_NAMES[name]
    for dim in reversed(dims):
        if dim.startswith("Max"):
            snake = "".join("_" + c.lower() if c.isupper() else c for c in dim).lstrip("_")
            length = int(getattr(limits, snake))
        else:
            length = int(dim) if dim else 0
        type_ = t.array(type_, length)
    return type_


def lookup(name: str, lang: Language, limits: Limits) -> BuiltinVariable | None:
    """The built-in variable of that name, if this language and stage has it."""
    for group, (storage, type_, _, slot) in _lines().get(name, ()):
        if lang.has_group(group):
            precision, _, spelled = type_.rpartition(":")
            patch = storage.startswith("patch_")
            return BuiltinVariable(
                name,
                storage.removeprefix("patch_"),
                _type(spelled, limits),
                slot,
                patch,
                precision,
            )
    return None


def constant(name: str, lang: Language, limits: Limits) -> tuple[Type, tuple[int, ...]] | None:
    """Type and value of a `gl_Max...` constant."""
    found = CONSTANTS.get(name)
    if found is None or not lang.has(found[1]):
        return None
    value = getattr(limits, found[0])
    if isinstance(value, tuple):
        return t.IVEC3, value
    return t.INT, (value,)


def names(lang: Language) -> list[str]:
    """Built-in variables and constants of this language and stage."""
    found = [n for n, groups in _lines().items() if any(lang.has_group(g) for g, _ in groups)]
    return found + [n for n, (_, when) in CONSTANTS.items() if lang.has(when)]


_PER_VERTEX = (
    ("gl_Position", "vec4", "var:POS", "*"),
    ("gl_PointSize", "float", "var:PSIZ", "*"),
    ("gl_ClipDistance", "float[]", "var:CLIP_DIST0", CLIP_DISTANCES),
    (
        "gl_CullDistance",
        "float[]",
        "var:CULL_DIST0",
        CULL_DISTANCES,
    ),
    ("gl_ClipVertex", "vec4", "var:CLIP_VERTEX", "compat"),
    ("gl_FrontColor", "vec4", "var:COL0", "compat"),
    ("gl_BackColor", "vec4", "var:BFC0", "compat"),
    ("gl_FrontSecondaryColor", "vec4", "var:COL1", "compat"),
    ("gl_BackSecondaryColor", "vec4", "var:BFC1", "compat"),
    ("gl_TexCoord", "vec4[]", "var:TEX0", "compat"),
    ("gl_FogFragCoord", "float", "var:FOGC", "compat"),
)


def per_vertex_fields(lang: Language) -> list[tuple[Field, str]]:
    """Members of the built-in block `gl_PerVertex` with their slots."""
    limits = Limits()
    return [
        (Field(name, _type(type_, limits)), slot)
        for name, type_, slot, when in _PER_VERTEX
        if lang.has(when) and (name != "gl_PointSize" or _has_point_size(lang))
    ]


def _has_point_size(lang: Language) -> bool:
    """Whether the point size can be passed between stages, for which OpenGL ES needs an
    extension.
    """
    kind = {"geometry": "geometry", "tess_ctrl": "tessellation", "tess_eval": "tessellation"}
    between = kind.get(lang.stage)
    if between is None or not lang.es:
        return True
    return lang.has(f"OES_{between}_point_size EXT_{between}_point_size")

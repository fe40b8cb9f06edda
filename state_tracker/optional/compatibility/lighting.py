"""Lighting, material, fog and texture environment state of the compatibility profile.

Shaders read it through built-in uniforms (`gl_LightSource[0].position`); so does fixed function,
which is a generated shader (`fixed_function`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import to_int
from gallette.state_tracker.optional.compatibility.matrices import coordinate_unit, inverse
from gallette.state_tracker.setters import fractions

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["MATERIAL0", "PROPERTIES", "Light", "LightingState", "Material"]

Vec = tuple[float, ...]

PROPERTIES = tuple(
    (side, name)
    for side in (0, 1)
    for name in ("ambient", "diffuse", "specular", "emission", "shininess")
)
"""All material properties: of the front, of the back."""
MATERIAL0 = 64
"""Past all vertex attributes: material properties that change between glBegin and glEnd."""


@dataclass(slots=True)
class Light:
    """One light source, position and direction in eye coordinates."""

    enabled: bool = False
    ambient: Vec = (0.0, 0.0, 0.0, 1.0)
    diffuse: Vec = (0.0, 0.0, 0.0, 1.0)
    specular: Vec = (0.0, 0.0, 0.0, 1.0)
    position: Vec = (0.0, 0.0, 1.0, 0.0)
    spot_direction: Vec = (0.0, 0.0, -1.0)
    spot_exponent: float = 0.0
    spot_cutoff: float = 180.0
    constant_attenuation: float = 1.0
    linear_attenuation: float = 0.0
    quadratic_attenuation: float = 0.0

    @property
    def spot_cos_cutoff(self) -> float:
        return math.cos(math.radians(self.spot_cutoff)) if self.spot_cutoff != 180.0 else -1.0

    @property
    def half_vector(self) -> Vec:
        """The half vector between the light and a viewer at infinity."""
        direction = np.array(self.position[:3], np.float64)
        length = float(np.linalg.norm(direction))
        half = (direction / length if length else direction) + np.array([0.0, 0.0, 1.0])
        size = float(np.linalg.norm(half))
        half = half / size if size else half
        return (*(float(v) for v in half), 1.0)


@dataclass(slots=True)
class Material:
    """The material of one face."""

    ambient: Vec = (0.2, 0.2, 0.2, 1.0)
    diffuse: Vec = (0.8, 0.8, 0.8, 1.0)
    specular: Vec = (0.0, 0.0, 0.0, 1.0)
    emission: Vec = (0.0, 0.0, 0.0, 1.0)
    shininess: float = 0.0
    color_indexes: Vec = (0.0, 1.0, 1.0)  # stored only: there is no colour index lighting


_UNITS = 8


@dataclass(slots=True)
class TexGen:
    """Texture coordinate generation of one unit: a mode and two planes per coordinate."""

    modes: list[int] = field(default_factory=lambda: [GL.EYE_LINEAR] * 4)
    object_planes: list[Vec] = field(default_factory=lambda: _planes())
    eye_planes: list[Vec] = field(default_factory=lambda: _planes())


def _planes() -> list[Vec]:
    zero = (0.0, 0.0, 0.0, 0.0)
    return [(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), zero, zero]


class LightingState:
    """All state of fixed-function shading apart from matrices."""

    def __init__(self, ctx: Context) -> None:
        self.enabled = False
        self.lights = [Light() for _ in range(8)]
        white = (1.0, 1.0, 1.0, 1.0)
        self.lights[0].diffuse = self.lights[0].specular = white
        self.materials = [Material(), Material()]  # front, back
        self.model_ambient: Vec = (0.2, 0.2, 0.2, 1.0)
        self.local_viewer = self.two_side = False
        self.color_control: int = GL.SINGLE_COLOR
        self.color_material_enabled = False
        self.color_material_face: int = GL.FRONT_AND_BACK
        self.color_material_mode: int = GL.AMBIENT_AND_DIFFUSE
        self.normalize = self.rescale_normal = False
        self.color_sum = False
        self.fog_enabled = False
        self.fog_mode: int = GL.EXP
        self.fog_distance: int = GL.EYE_PLANE_ABSOLUTE_NV
        self.fog_color: Vec = (0.0, 0.0, 0.0, 0.0)
        self.fog_density, self.fog_start, self.fog_end = 1.0, 0.0, 1.0
        self.fog_source: int = GL.FRAGMENT_DEPTH
        self.fog_index = 0.0
        self.env_colors: list[Vec] = [(0.0, 0.0, 0.0, 0.0)] * _UNITS
        self.texgen = [TexGen() for _ in range(_UNITS)]
        self.texgen_enabled = [[False] * 4 for _ in range(256)]

    def track_color(self, ctx: Context) -> None:
        """GL_COLOR_MATERIAL: copy the current colour to the tracked material properties."""
        if not self.color_material_enabled:
            return
        color = tuple(float(v) for v in ctx.arrays.values[int(VertAttrib.COLOR0)])
        for side, name in self.tracked():
            setattr(self.materials[side], name, color)
        ctx.dirty |= Dirty.BUILTINS

    def tracked(self) -> set[tuple[int, str]]:
        """The properties that follow the current colour."""
        if not self.color_material_enabled:
            return set()
        names = _MATERIAL_FIELDS[self.color_material_mode]
        return {(side, name) for side in faces(self.color_material_face) for name in names}

    def set_property(self, ctx: Context, side: int, name: str, value: Any) -> None:
        """Set a property of a material, from the next vertex on."""
        material, slot = self.materials[side], MATERIAL0 + PROPERTIES.index((side, name))
        if ctx.immediate.active:
            before = getattr(material, name)
            pair = [v if isinstance(v, tuple) else (v, 0.0, 0.0, 1.0) for v in (value, before)]
            ctx.immediate.attribute(slot, *pair)
        else:
            ctx.immediate.draw_pending()
        setattr(material, name, value)


def faces(face: int) -> tuple[int, ...]:
    """The numbers of the materials that a face enum names."""
    chosen = {GL.FRONT: (0,), GL.BACK: (1,), GL.FRONT_AND_BACK: (0, 1)}.get(face)
    if chosen is None:
        raise invalid_enum(face, "face")
    return chosen


_MATERIAL_FIELDS: dict[int, tuple[str, ...]] = {
    GL.AMBIENT: ("ambient",),
    GL.DIFFUSE: ("diffuse",),
    GL.SPECULAR: ("specular",),
    GL.EMISSION: ("emission",),
    GL.AMBIENT_AND_DIFFUSE: ("ambient", "diffuse"),
}


# -- materials -------------------------------------------------------------------------------------


def _material(ctx: Context, face: int, pname: int, values: list[float]) -> None:
    """Implements glMaterial; properties that follow the current colour cannot be set."""
    state, sides = ctx.lighting, faces(face)
    names: tuple[str, ...] = ()
    value: Any = tuple(values)
    if pname == GL.SHININESS:
        if not 0.0 <= values[0] <= 128.0:
            raise invalid_value("shininess out of range")
        names, value = ("shininess",), values[0]
    elif pname in _MATERIAL_FIELDS and len(values) == 4:
        names = _MATERIAL_FIELDS[pname]
    elif pname == GL.COLOR_INDEXES and len(values) == 3:
        for side in sides:
            state.materials[side].color_indexes = value
    else:
        raise invalid_enum(pname, "material parameter")
    tracked = state.tracked()
    for side in sides:
        for name in names:
            if (side, name) not in tracked:
                state.set_property(ctx, side, name, value)
    ctx.dirty |= Dirty.BUILTINS


def _colors(gl_type: str, pointer: Pointer, count: int) -> list[float]:
    return fractions(read_array(pointer, gl_type, count).tolist(), gl_type)


for _suffix, _gl_type in (("f", "float"), ("i", "int")):

    def _material_vector(
        ctx: Context, face: int, pname: int, params: Pointer, t: str = _gl_type
    ) -> None:
        count = {GL.SHININESS: 1, GL.COLOR_INDEXES: 3}.get(pname, 4)
        _material(ctx, face, pname, _colors(t, params, count))

    register(f"material{_suffix}v", _material_vector)
    register(
        f"material{_suffix}", lambda ctx, face, pname, v: _material(ctx, face, pname, [float(v)])
    )


@entry
def color_material(ctx: Context, face: int, mode: int) -> None:
    faces(face)
    if mode not in _MATERIAL_FIELDS:
        raise invalid_enum(mode, "colour material mode")
    ctx.lighting.color_material_face, ctx.lighting.color_material_mode = face, mode
    ctx.lighting.track_color(ctx)


def _get_material(ctx: Context, face: int, pname: int) -> list[float]:
    if face not in (GL.FRONT, GL.BACK):
        raise invalid_enum(face, "face")
    material = ctx.lighting.materials[face == GL.BACK]
    if pname == GL.SHININESS:
        return [material.shininess]
    if pname == GL.COLOR_INDEXES:
        return list(material.color_indexes)
    if pname not in _MATERIAL_FIELDS or pname == GL.AMBIENT_AND_DIFFUSE:
        raise invalid_enum(pname, "material parameter")
    return list(getattr(material, _MATERIAL_FIELDS[pname][0]))


register("get_materialfv", _get_material)


def _get_material_integers(ctx: Context, face: int, pname: int) -> list[int]:
    """Query a material as integers: colours map to the full integer range, other values are
    rounded.
    """
    scale = 1 if pname in (GL.SHININESS, GL.COLOR_INDEXES) else 2147483647
    return [round(v * scale) for v in _get_material(ctx, face, pname)]


register("get_materialiv", _get_material_integers)


# -- lights ----------------------------------------------------------------------------------------

_LIGHT_VECTORS: dict[int, str] = {
    GL.AMBIENT: "ambient",
    GL.DIFFUSE: "diffuse",
    GL.SPECULAR: "specular",
    GL.POSITION: "position",
    GL.SPOT_DIRECTION: "spot_direction",
}
_LIGHT_SCALARS: dict[int, str] = {
    GL.SPOT_EXPONENT: "spot_exponent",
    GL.SPOT_CUTOFF: "spot_cutoff",
    GL.CONSTANT_ATTENUATION: "constant_attenuation",
    GL.LINEAR_ATTENUATION: "linear_attenuation",
    GL.QUADRATIC_ATTENUATION: "quadratic_attenuation",
}


def _light_of(ctx: Context, light: int) -> Light:
    if not 0 <= light - GL.LIGHT0 < 8:
        raise invalid_enum(light, "light")
    return ctx.lighting.lights[light - GL.LIGHT0]


def _light(ctx: Context, light: int, pname: int, values: list[float]) -> None:
    found = _light_of(ctx, light)
    if pname in _LIGHT_SCALARS:
        value = values[0]
        bad = value < 0 or (pname == GL.SPOT_EXPONENT and value > 128)
        if pname == GL.SPOT_CUTOFF:
            bad = not (0 <= value <= 90 or value == 180)
        if bad:
            raise invalid_value("light parameter out of range")
        setattr(found, _LIGHT_SCALARS[pname], value)
    elif pname in _LIGHT_VECTORS and len(values) >= 3:
        modelview = ctx.matrices.modelview[-1]
        if pname == GL.POSITION:
            values = [float(v) for v in modelview @ np.array(values)]
        elif pname == GL.SPOT_DIRECTION:
            values = [float(v) for v in modelview[:3, :3] @ np.array(values)]
        setattr(found, _LIGHT_VECTORS[pname], tuple(values))
    else:
        raise invalid_enum(pname, "light parameter")
    ctx.dirty |= Dirty.BUILTINS


def _light_count(pname: int) -> int:
    return 1 if pname in _LIGHT_SCALARS else 3 if pname == GL.SPOT_DIRECTION else 4


for _suffix, _gl_type in (("f", "float"), ("i", "int")):

    def _light_vector(
        ctx: Context, light: int, pname: int, params: Pointer, t: str = _gl_type
    ) -> None:
        plain = pname in (GL.POSITION, GL.SPOT_DIRECTION) or pname in _LIGHT_SCALARS
        count = _light_count(pname)
        if plain:
            values = [float(v) for v in read_array(params, t, count).tolist()]
        else:
            values = _colors(t, params, count)
        _light(ctx, light, pname, values)

    register(f"light{_suffix}v", _light_vector)
    register(f"light{_suffix}", lambda ctx, light, pname, v: _light(ctx, light, pname, [float(v)]))


@entry
def get_lightfv(ctx: Context, light: int, pname: int) -> list[float]:
    found = _light_of(ctx, light)
    if pname in _LIGHT_SCALARS:
        return [getattr(found, _LIGHT_SCALARS[pname])]
    if pname in _LIGHT_VECTORS:
        return list(getattr(found, _LIGHT_VECTORS[pname]))
    raise invalid_enum(pname, "light parameter")


# -- fog and texture environment -------------------------------------------------------------------


def _tex_env(ctx: Context, target: int, pname: int, values: list[float]) -> None:
    unit, active = ctx.textures.unit, ctx.textures.active
    if target == GL.POINT_SPRITE and pname == GL.COORD_REPLACE:
        bit = 1 << coordinate_unit(ctx)
        on = bool(values[0])
        replaced = ctx.raster.coord_replace
        ctx.raster.coord_replace = replaced | bit if on else replaced & ~bit
        ctx.dirty |= Dirty.RASTERIZER
    elif target == GL.TEXTURE_FILTER_CONTROL and pname == GL.TEXTURE_LOD_BIAS:
        unit.lod_bias = values[0]
        ctx.dirty |= Dirty.TEXTURES
    elif target == GL.TEXTURE_ENV and pname == GL.TEXTURE_ENV_COLOR and len(values) == 4:
        if active < _UNITS:
            ctx.lighting.env_colors[active] = tuple(values)
        ctx.dirty |= Dirty.BUILTINS
    elif target == GL.TEXTURE_ENV and pname in _ENV_SCALES:
        if values[0] not in (1.0, 2.0, 4.0):
            raise invalid_value("a scale is 1, 2 or 4")
        unit.env[pname] = to_int(values[0], False)
        ctx.dirty |= Dirty.PROGRAM
    elif target == GL.TEXTURE_ENV and pname in _ENV_VALUES:
        chosen = to_int(values[0], False)
        crossbar = pname in _ENV_SOURCES and 0 <= chosen - GL.TEXTURE0 < _UNITS
        if chosen not in _ENV_VALUES[pname] and not crossbar:
            raise invalid_enum(chosen, "texture environment value")
        unit.env[pname] = chosen
        ctx.dirty |= Dirty.PROGRAM
    elif target in (GL.TEXTURE_ENV, GL.POINT_SPRITE, GL.TEXTURE_FILTER_CONTROL):
        raise invalid_enum(pname, "texture environment parameter")
    else:
        raise invalid_enum(target, "texture environment target")


_ENV_SCALES = (GL.RGB_SCALE, GL.ALPHA_SCALE)
_COMBINES = (
    GL.REPLACE, GL.MODULATE, GL.ADD, GL.ADD_SIGNED, GL.INTERPOLATE, GL.SUBTRACT,
    GL.MODULATE_ADD_ATI, GL.MODULATE_SIGNED_ADD_ATI, GL.MODULATE_SUBTRACT_ATI,
)  # fmt: skip
_OPERANDS = (GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
_ENV_SOURCES = tuple(
    getattr(GL, f"SOURCE{i}_{kind}")
    for i in ("0", "1", "2", "3")
    for kind in (("RGB_NV", "ALPHA_NV") if i == "3" else ("RGB", "ALPHA"))
)
# Valid values of each texture environment parameter.
_ENV_VALUES: dict[int, tuple[int, ...]] = {
    GL.TEXTURE_ENV_MODE: (
        GL.MODULATE, GL.REPLACE, GL.DECAL, GL.BLEND, GL.ADD, GL.COMBINE,
        GL.COMBINE4_NV,
    ),
    GL.COMBINE_RGB: (*_COMBINES, GL.DOT3_RGB, GL.DOT3_RGBA, GL.DOT3_RGB_EXT, GL.DOT3_RGBA_EXT),
    GL.COMBINE_ALPHA: _COMBINES,
    **dict.fromkeys(
        _ENV_SOURCES, (GL.TEXTURE, GL.CONSTANT, GL.PRIMARY_COLOR, GL.PREVIOUS, GL.ZERO, GL.ONE)
    ),
    **{
        getattr(GL, f"OPERAND{i}_RGB"): (GL.SRC_COLOR, GL.ONE_MINUS_SRC_COLOR, *_OPERANDS)
        for i in range(3)
    },
    **{getattr(GL, f"OPERAND{i}_ALPHA"): _OPERANDS for i in range(3)},
    GL.OPERAND3_RGB_NV: (GL.SRC_COLOR, GL.ONE_MINUS_SRC_COLOR, *_OPERANDS),
    GL.OPERAND3_ALPHA_NV: _OPERANDS,
}  # fmt: skip


@entry
def tex_envf(ctx: Context, target: int, pname: int, param: float) -> None:
    _tex_env(ctx, target, pname, [float(param)])


@entry
def tex_envi(ctx: Context, target: int, pname: int, param: int) -> None:
    _tex_env(ctx, target, pname, [float(param)])


@entry
def tex_envfv(ctx: Context, target: int, pname: int, params: Pointer) -> None:
    count = 4 if pname == GL.TEXTURE_ENV_COLOR else 1
    _tex_env(ctx, target, pname, _colors("float", params, count))


@entry
def tex_enviv(ctx: Context, target: int, pname: int, params: Pointer) -> None:
    count = 4 if pname == GL.TEXTURE_ENV_COLOR else 1
    _tex_env(ctx, target, pname, _colors("int", params, count))


_GEN_MODES = (
    GL.EYE_LINEAR, GL.OBJECT_LINEAR, GL.SPHERE_MAP, GL.REFLECTION_MAP, GL.NORMAL_MAP,
)  # fmt: skip
_COORDS = {GL.S: 0, GL.T: 1, GL.R: 2, GL.Q: 3}


def _tex_gen(ctx: Context, coord: int, pname: int, values: list[float]) -> None:
    if coord not in _COORDS:
        raise invalid_enum(coord, "texture coordinate")
    gen, index = ctx.lighting.texgen[coordinate_unit(ctx)], _COORDS[coord]
    if pname == GL.TEXTURE_GEN_MODE:
        mode = to_int(values[0], False)
        last = {GL.SPHERE_MAP: 2, GL.REFLECTION_MAP: 3, GL.NORMAL_MAP: 3}.get(mode, 4)
        if mode not in _GEN_MODES or index >= last:
            raise invalid_enum(mode, "texture generation mode")
        gen.modes[index] = mode
    elif pname == GL.OBJECT_PLANE and len(values) == 4:
        gen.object_planes[index] = tuple(values)
    elif pname == GL.EYE_PLANE and len(values) == 4:
        plane = np.array(values) @ inverse(ctx.matrices.modelview[-1])
        gen.eye_planes[index] = tuple(float(v) for v in plane)
    else:
        raise invalid_enum(pname, "texture generation parameter")
    ctx.dirty |= Dirty.BUILTINS


for _suffix, _gl_type in (("f", "float"), ("d", "double"), ("i", "int")):
    register(
        f"tex_gen{_suffix}", lambda ctx, coord, pname, v: _tex_gen(ctx, coord, pname, [float(v)])
    )

    def _tex_gen_vector(
        ctx: Context, coord: int, pname: int, params: Pointer, t: str = _gl_type
    ) -> None:
        count = 1 if pname == GL.TEXTURE_GEN_MODE else 4
        _tex_gen(ctx, coord, pname, [float(v) for v in read_array(params, t, count)])

    register(f"tex_gen{_suffix}v", _tex_gen_vector)

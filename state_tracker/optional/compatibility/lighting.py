"""Lighting, material, fog and texture environment state of the compatibility profile.

Shaders read it through built-in uniforms (`gl_LightSource[0].position`); so does fixed function,
which is a generated shader (`fixed_function`).
"""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import to_int
from gallette.state_tracker.object_parameters import ObjectParameter, object_parameters
from gallette.state_tracker.optional.compatibility.matrices import (
    TEXTURE_UNITS,
    coordinate_unit,
    inverse,
)
from gallette.state_tracker.setters import fractions

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Vec = tuple[float, ...]

PROPERTIES = tuple(
    (side, name)
    for side in (0, 1)
    for name in ("ambient", "diffuse", "specular", "emission", "shininess")
)
"""All material properties: of the front, of the back."""
COLOR = int(VertAttrib.COLOR0)
MATERIAL0 = 64
"""Past all vertex attributes: material properties that change between glBegin and glEnd."""


@lazy_dataclass()
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
    def kind(self) -> tuple[bool, bool]:
        """What selects shaders: whether it is directional, and whether it is a spot light."""
        return self.position[3] == 0.0, self.spot_cutoff != 180.0

    @property
    def spot_cos_cutoff(self) -> float:
        return _cos(self.spot_cutoff)

    @property
    def half_vector(self) -> Vec:
        """The half vector between the light and a viewer at infinity."""
        return _half_vector(self.position)


@functools.lru_cache(64)
def _cos(cutoff: float) -> float:
    return math.cos(math.radians(cutoff)) if cutoff != 180.0 else -1.0


@functools.lru_cache(64)
def _half_vector(position: Vec) -> Vec:
    direction = np.array(position[:3], np.float64)
    length = float(np.linalg.norm(direction))
    half = (direction / length if length else direction) + np.array([0.0, 0.0, 1.0])
    size = float(np.linalg.norm(half))
    half = half / size if size else half
    return (*(float(v) for v in half), 1.0)


@lazy_dataclass()
class Material:
    """The material of one face."""

    ambient: Vec = (0.2, 0.2, 0.2, 1.0)
    diffuse: Vec = (0.8, 0.8, 0.8, 1.0)
    specular: Vec = (0.0, 0.0, 0.0, 1.0)
    emission: Vec = (0.0, 0.0, 0.0, 1.0)
    shininess: float = 0.0
    color_indexes: Vec = (0.0, 1.0, 1.0)  # stored only: there is no colour index lighting

    @property
    def values(self) -> tuple[Any, ...]:
        """All properties."""
        found: tuple[Any, ...] = _of_material(self)
        return found


@lazy_dataclass()
class TexGen:
    """How one texture coordinate of a unit is generated."""

    coordinate: int  # 0 to 3
    object_plane: Vec
    eye_plane: Vec
    mode: int = GL.EYE_LINEAR


_of_material = operator.attrgetter(*Material.__annotations__)


def _generations() -> list[TexGen]:
    zero = (0.0, 0.0, 0.0, 0.0)
    planes = [(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), zero, zero]
    return [TexGen(i, plane, plane) for i, plane in enumerate(planes)]


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
        self.fog_density: float = 1.0
        self.fog_start: float = 0.0
        self.fog_end: float = 1.0
        self.fog_source: int = GL.FRAGMENT_DEPTH
        self.fog_index = 0.0
        self.env_colors: list[Vec] = [(0.0, 0.0, 0.0, 0.0)] * TEXTURE_UNITS
        self.texgen = [_generations() for _ in range(TEXTURE_UNITS)]
        self.texgen_enabled: list[tuple[bool, ...]] = [(False,) * 4] * 256

    @property
    def values(self) -> tuple[Any, ...]:
        """Properties that select shaders. No calls that set them are commands of a stream."""
        modes = [[each.mode for each in unit] for unit in self.texgen]
        others = (
            self.color_material_face,
            self.color_material_mode,
            self.fog_source,
            self.fog_distance,
        )
        model = self.local_viewer, self.two_side, self.color_control
        return [each.kind for each in self.lights], model, others, modes

    def track_color(self, ctx: Context) -> None:
        """GL_COLOR_MATERIAL: copy the current colour to the tracked material properties."""
        if not self.color_material_enabled:
            return
        color, materials = ctx.arrays.values[COLOR], self.materials
        immediate = ctx.immediate
        for side, name in _followers(self.color_material_face, self.color_material_mode):
            if getattr(materials[side], name) != color:
                if immediate.busy and not (immediate.active or immediate.is_fixed()):
                    immediate.draw_pending()  # by a shader that may read materials
                self.put(ctx, PROPERTIES.index((side, name)), color)

    def tracked(self) -> frozenset[tuple[int, str]]:
        """The properties that follow the current colour."""
        if not self.color_material_enabled:
            return frozenset()
        return _followers(self.color_material_face, self.color_material_mode)

    def property(self, number: int) -> Any:
        """The value of a material property."""
        side, name = PROPERTIES[number]
        return getattr(self.materials[side], name)

    def put(self, ctx: Context, number: int, value: Any) -> None:
        """Store a material property."""
        side, name = PROPERTIES[number]
        setattr(self.materials[side], name, value)
        ctx.dirty |= Dirty.VALUES

    def put_all(self, ctx: Context, values: dict[int, Any]) -> None:
        """Store material properties, but those that follow the colour."""
        tracked = self.tracked()
        for number, value in values.items():
            if PROPERTIES[number] not in tracked and self.property(number) != value:
                self.put(ctx, number, value)

    def set_property(self, ctx: Context, number: int, value: Any) -> None:
        """Set a property of a material, from the next vertex on, unless it follows the colour."""
        before = self.property(number)
        immediate, follows = ctx.immediate, PROPERTIES[number] in self.tracked()
        if immediate.keeps or (value != before and not follows):  # many programs repeat it
            immediate.material(number, value, before)
        if value != before and not follows:
            self.put(ctx, number, value)


def faces(face: int) -> tuple[int, ...]:
    """The numbers of the materials that a face enum names."""
    chosen = {GL.FRONT: (0,), GL.BACK: (1,), GL.FRONT_AND_BACK: (0, 1)}.get(face)
    if chosen is None:
        raise invalid_enum(face, "face")
    return chosen


_COLORED: dict[int, tuple[str, ...]] = {
    GL.AMBIENT: ("ambient",),
    GL.DIFFUSE: ("diffuse",),
    GL.SPECULAR: ("specular",),
    GL.EMISSION: ("emission",),
    GL.AMBIENT_AND_DIFFUSE: ("ambient", "diffuse"),
}
"""what glColorMaterial can let follow the current colour"""


@functools.cache
def _followers(face: int, mode: int) -> frozenset[tuple[int, str]]:
    """The properties that glColorMaterial lets follow the current colour."""
    return frozenset((side, name) for side in faces(face) for name in _COLORED[mode])


# -- materials -------------------------------------------------------------------------------------


def _set_material(ctx: Context, sides: tuple[int, ...], row: ObjectParameter, value: Any) -> None:
    """Store a property, unless it follows the current colour."""
    state = ctx.lighting
    for side in sides:
        for name in row.field.split():
            if name == "color_indexes":
                state.materials[side].color_indexes = value
            else:
                state.set_property(ctx, PROPERTIES.index((side, name)), value)


def _asked_material(ctx: Context, face: int) -> Material:
    if face not in (GL.FRONT, GL.BACK):
        raise invalid_enum(face, "face")
    return ctx.lighting.materials[face == GL.BACK]


object_parameters(
    "Material",
    lambda ctx, face: faces(face),
    (
        ObjectParameter("AMBIENT", "ambient", "color"),
        ObjectParameter("DIFFUSE", "diffuse", "color"),
        ObjectParameter("SPECULAR", "specular", "color"),
        ObjectParameter("EMISSION", "emission", "color"),
        ObjectParameter("AMBIENT_AND_DIFFUSE", "ambient diffuse", "color", asked=False),
        ObjectParameter("SHININESS", "shininess", "within 0 128"),
        ObjectParameter("COLOR_INDEXES", "color_indexes", "3"),
    ),
    dirty=0,  # `set_property` says what changes
    store=_set_material,
    asks=_asked_material,
)


@entry
def color_material(ctx: Context, face: int, mode: int) -> None:
    faces(face)
    if mode not in _COLORED:
        raise invalid_enum(mode, "colour material mode")
    ctx.lighting.color_material_face, ctx.lighting.color_material_mode = face, mode
    ctx.dirty |= Dirty.BUILTINS
    ctx.lighting.track_color(ctx)


# -- lights ----------------------------------------------------------------------------------------


def _light_of(ctx: Context, light: int) -> Light:
    if not 0 <= light - GL.LIGHT0 < 8:
        raise invalid_enum(light, "light")
    return ctx.lighting.lights[light - GL.LIGHT0]


def _to_eye(ctx: Context, values: Vec) -> Vec:
    """A position, or a direction of three components, in eye coordinates."""
    matrix = ctx.matrices.modelview[-1][: len(values), : len(values)]
    return tuple(float(v) for v in matrix @ np.array(values))


object_parameters(
    "Light",
    _light_of,
    (
        ObjectParameter("AMBIENT", "ambient", "color"),
        ObjectParameter("DIFFUSE", "diffuse", "color"),
        ObjectParameter("SPECULAR", "specular", "color"),
        ObjectParameter("POSITION", "position", "4", _to_eye),
        ObjectParameter("SPOT_DIRECTION", "spot_direction", "3", _to_eye),
        ObjectParameter("SPOT_EXPONENT", "spot_exponent", "within 0 128"),
        ObjectParameter("SPOT_CUTOFF", "spot_cutoff", "within 0 90 180"),
        ObjectParameter("CONSTANT_ATTENUATION", "constant_attenuation", ">=0"),
        ObjectParameter("LINEAR_ATTENUATION", "linear_attenuation", ">=0"),
        ObjectParameter("QUADRATIC_ATTENUATION", "quadratic_attenuation", ">=0"),
    ),
    dirty=Dirty.BUILTINS,
)


# -- fog and texture environment -------------------------------------------------------------------


def _colors(gl_type: str, pointer: Pointer, count: int) -> list[float]:
    return fractions(read_array(pointer, gl_type, count).tolist(), gl_type)


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
        if active < TEXTURE_UNITS:
            ctx.lighting.env_colors[active] = tuple(values)
        ctx.dirty |= Dirty.VALUES
    elif target == GL.TEXTURE_ENV and pname in _ENV_SCALES:
        if values[0] not in (1.0, 2.0, 4.0):
            raise invalid_value("a scale is 1, 2 or 4")
        unit.set_env(pname, to_int(values[0], False))
        ctx.dirty |= Dirty.PROGRAM
    elif target == GL.TEXTURE_ENV and pname in _ENV_VALUES:
        chosen = to_int(values[0], False)
        crossbar = pname in _ENV_SOURCES and 0 <= chosen - GL.TEXTURE0 < TEXTURE_UNITS
        if chosen not in _ENV_VALUES[pname] and not crossbar:
            raise invalid_enum(chosen, "texture environment value")
        unit.set_env(pname, chosen)
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


# -- texture coordinate generation -----------------------------------------------------------------

_COORDINATES = (GL.S, GL.T, GL.R, GL.Q)
_LAST = {GL.SPHERE_MAP: 2, GL.REFLECTION_MAP: 3, GL.NORMAL_MAP: 3}
"""modes that generate only the first coordinates"""


def _generation(ctx: Context, coordinate: int) -> TexGen:
    if coordinate not in _COORDINATES:
        raise invalid_enum(coordinate, "texture coordinate")
    return ctx.lighting.texgen[coordinate_unit(ctx)][_COORDINATES.index(coordinate)]


def _set_generation(ctx: Context, gen: TexGen, row: ObjectParameter, value: Any) -> None:
    if row.field == "mode" and gen.coordinate >= _LAST.get(value, 4):
        raise invalid_enum(value, "mode of this texture coordinate")
    setattr(gen, row.field, value)


def _plane_to_eye(ctx: Context, values: Vec) -> Vec:
    return tuple(float(v) for v in np.array(values) @ inverse(ctx.matrices.modelview[-1]))


_GEN_MODES = "EYE_LINEAR,OBJECT_LINEAR,SPHERE_MAP,REFLECTION_MAP,NORMAL_MAP"
object_parameters(
    "TexGen",
    _generation,
    (
        ObjectParameter("TEXTURE_GEN_MODE", "mode", _GEN_MODES),
        ObjectParameter("OBJECT_PLANE", "object_plane", "4"),
        ObjectParameter("EYE_PLANE", "eye_plane", "4", _plane_to_eye),
    ),
    dirty=Dirty.BUILTINS,
    types="fdi",
    store=_set_generation,
)

"""Programs without shaders: lights, materials, texture environments, coordinates that are made,
fog, matrices, lists, raster positions.

Numbers are as exact as in the other programs where coverage depends on them. Colours come from sums
that round in many places, so textures are smooth and filtered: where a coordinate is a little off,
so is the colour, and no more.
"""

from __future__ import annotations

import random
import re

from fuzz.gl_programs import tables as t
from fuzz.gl_programs.kind import Kind
from fuzz.gl_programs.old import UNITS
from fuzz.gl_programs.size import SIZE
from fuzz.gl_programs.writer import WHOLE_VIEW, Writer

__all__ = ["FIXED", "generate_fixed"]

LIGHTS = 3
FIXED: Kind[Writer] = Kind()
"""programs without shaders"""
step, setting, switch = FIXED.step, FIXED.setting, FIXED.switch


def generate_fixed(seed: int, steps: int, family: int) -> list[str]:
    """The lines of a program: some state, then draws between which it changes."""
    w = Writer(random.Random(seed // family), random.Random(seed), False)
    w.say(
        f"gl.clear_color({w.quarters()})",
        f"target = w.target([GL.{w.choice('RGBA8', 'RGBA8', 'RGB8', 'RGBA16F')}], "
        f"GL.{w.choice('DEPTH24_STENCIL8', 'DEPTH_COMPONENT24')})",
    )
    w.say("gl.enable(GL.TEXTURE_CUBE_MAP_SEAMLESS); old.initial_current()")
    for _ in range(6):
        w.say(FIXED.change(w))
    FIXED.walk(w, w, steps)
    w.say("see.color(0)", "see.depth()")
    return w.lines


def _vector(w: Writer, count: int = 4, low: int = 0, high: int = 4) -> str:
    """An array of quarters."""
    return f"old.f({', '.join(str(w.data.randrange(low, high + 1) / 4) for _ in range(count))})"


def _direction(w: Writer) -> str:
    """Never zero, and never quite at a right angle to an axis."""
    x, y = w.data.choice([-3, -1, 1, 3]) / 4, w.data.choice([-3, -1, 1, 3]) / 4
    return f"{x}, {y}, {w.data.choice([0.5, 1.0, 2.0])}"


def _place(w: Writer) -> str:
    """Coordinates of a texture: never zero, which is no direction in a cube map."""
    return ", ".join(str(w.data.randrange(1, 9) / 8) for _ in range(3))


def _light(w: Writer) -> str:
    return f"GL.LIGHT{w.number(LIGHTS)}"


def _unit(w: Writer, line: str) -> str:
    """A line about one texture unit."""
    return f"gl.active_texture(GL.TEXTURE{w.number(UNITS)}); {line}; gl.active_texture(GL.TEXTURE0)"


def _for_units(line: str) -> str:
    of = "; ".join(f"gl.active_texture(GL.TEXTURE{unit}); {line}" for unit in range(UNITS))
    return f"{of}; gl.active_texture(GL.TEXTURE0)"


# -- lights and materials --------------------------------------------------------------------------

switch("LIGHTING", 0.7)
switch("NORMALIZE", 0.5)
switch("RESCALE_NORMAL", 0.4)
for _number in range(LIGHTS):
    switch(f"LIGHT{_number}", 0.7)
    FIXED.resets.append(f"old.initial_light(GL.LIGHT{_number})")
_FACES = ("FRONT", "BACK", "FRONT_AND_BACK")
_LIGHT_COLORS = ("AMBIENT", "DIFFUSE", "SPECULAR")
_MATERIAL_COLORS = ("AMBIENT", "DIFFUSE", "SPECULAR", "EMISSION", "AMBIENT_AND_DIFFUSE")


def _color_of_a_light(w: Writer) -> str:
    return f"gl.lightfv({_light(w)}, {w.pick(_LIGHT_COLORS)}, {_vector(w, 4, -1)})"


def _place_of_a_light(w: Writer) -> str:
    far = w.choice(0.0, 1.0)
    return f"gl.lightfv({_light(w)}, GL.POSITION, old.f({_direction(w)}, {far}))"


def _spot(w: Writer) -> str:
    light = _light(w)
    kind = w.number(3)
    if kind == 0:  # llvmpipe takes another exponent than the material's for a spot's highlights
        cutoff = f"gl.lightf({light}, GL.SPOT_CUTOFF, {w.choice(180.0, 180.0, 85.0)})"
        return f"{cutoff}; gl.lightfv({light}, GL.SPECULAR, old.f(0, 0, 0, 1))"
    if kind == 1:
        return f"gl.lightf({light}, GL.SPOT_EXPONENT, {w.choice(0.0, 1.0, 4.0)})"
    x, y, z = _direction(w).split(", ")
    return f"gl.lightfv({light}, GL.SPOT_DIRECTION, old.f({x}, {y}, -{z}))"


def _attenuation(w: Writer) -> str:
    of = w.pick(("CONSTANT_ATTENUATION", "LINEAR_ATTENUATION", "QUADRATIC_ATTENUATION"))
    least = 1.0 if "CONSTANT" in of else 0.0
    return f"gl.lightf({_light(w)}, {of}, {w.choice(least, 1.0, 0.5)})"


for _each in (_color_of_a_light, _color_of_a_light, _place_of_a_light, _spot, _attenuation):
    setting(_each, "")  # a light is put back as a whole
setting(
    lambda w: (
        "gl.disable(GL.COLOR_MATERIAL); "
        f"gl.materialfv({w.pick(_FACES)}, {w.pick(_MATERIAL_COLORS)}, {_vector(w)})"
    ),
    "old.initial_material()",
)
setting(
    lambda w: f"gl.materialf({w.pick(_FACES)}, GL.SHININESS, {w.choice(0.0, 1.0, 2.0, 8.0)})",
    "old.initial_material()",
)


def _tracked(w: Writer, line: str) -> str:
    """With a colour that is a new one: Mesa keeps materials that were set just before."""
    eighths = ", ".join(str((2 * w.data.randrange(4) + 1) / 8) for _ in range(4))
    return f"{line}; gl.color4f({eighths})"


setting(
    lambda w: _tracked(w, f"gl.{w.choice('enable', 'disable')}(GL.COLOR_MATERIAL)"),
    "gl.disable(GL.COLOR_MATERIAL)",
)
setting(
    lambda w: _tracked(w, f"gl.color_material({w.pick(_FACES)}, {w.pick(_MATERIAL_COLORS)})"),
    "gl.color_material(GL.FRONT_AND_BACK, GL.AMBIENT_AND_DIFFUSE)",
)
setting(
    lambda w: f"gl.light_modelfv(GL.LIGHT_MODEL_AMBIENT, {_vector(w)})",
    "gl.light_modelfv(GL.LIGHT_MODEL_AMBIENT, old.f(0.2, 0.2, 0.2, 1.0))",
)
for _name in ("LIGHT_MODEL_LOCAL_VIEWER", "LIGHT_MODEL_TWO_SIDE"):
    setting(
        lambda w, name=_name: f"gl.light_modeli(GL.{name}, {w.flag()})",  # type: ignore[misc]
        f"gl.light_modeli(GL.{_name}, 0)",
    )
setting(
    lambda w: (
        "gl.light_modeli(GL.LIGHT_MODEL_COLOR_CONTROL, "
        f"{w.pick(('SINGLE_COLOR', 'SEPARATE_SPECULAR_COLOR'))})"
    ),
    "gl.light_modeli(GL.LIGHT_MODEL_COLOR_CONTROL, GL.SINGLE_COLOR)",
)
switch("COLOR_SUM", 0.5)

# -- fog -------------------------------------------------------------------------------------------

switch("FOG", 0.5)
setting(lambda w: f"gl.fogi(GL.FOG_MODE, {w.pick(('LINEAR', 'EXP', 'EXP2'))})",
        "gl.fogi(GL.FOG_MODE, GL.EXP)")  # fmt: skip
setting(lambda w: f"gl.fogf(GL.FOG_DENSITY, {w.choice(0.25, 0.5, 1.0, 2.0)})",
        "gl.fogf(GL.FOG_DENSITY, 1.0)")  # fmt: skip
setting(lambda w: f"gl.fogf(GL.FOG_START, {w.choice(0.0, -0.5, 0.25)})",
        "gl.fogf(GL.FOG_START, 0.0)")  # fmt: skip
setting(lambda w: f"gl.fogf(GL.FOG_END, {w.choice(1.0, 0.75, 2.0, -1.0)})",
        "gl.fogf(GL.FOG_END, 1.0)")  # fmt: skip
setting(lambda w: f"gl.fogfv(GL.FOG_COLOR, {_vector(w)})",
        "gl.fogfv(GL.FOG_COLOR, old.f(0.0, 0.0, 0.0, 0.0))")  # fmt: skip
setting(
    lambda w: f"gl.fogi(GL.FOG_COORD_SRC, {w.pick(('FOG_COORD', 'FRAGMENT_DEPTH'))})",
    "gl.fogi(GL.FOG_COORD_SRC, GL.FRAGMENT_DEPTH)",
)

# -- textures --------------------------------------------------------------------------------------

_TARGETS = ("TEXTURE_1D", "TEXTURE_2D", "TEXTURE_3D", "TEXTURE_CUBE_MAP", "TEXTURE_RECTANGLE")
_BASES = ("ALPHA8", "LUMINANCE8", "LUMINANCE8_ALPHA8", "INTENSITY8", "RGB8", "RGBA8", "RGBA4",
          "R8", "RG8", "SRGB8_ALPHA8")  # fmt: skip
# DECAL is undefined for most formats.
_ENVIRONMENTS = ("MODULATE", "BLEND", "REPLACE", "ADD", "COMBINE", "COMBINE", "COMBINE")
_COMBINE_RGB = ("REPLACE", "MODULATE", "ADD", "ADD_SIGNED", "INTERPOLATE", "SUBTRACT", "DOT3_RGB",
                "DOT3_RGBA")  # fmt: skip
_SOURCES = ("TEXTURE", "CONSTANT", "PRIMARY_COLOR", "PREVIOUS", "TEXTURE0", "TEXTURE1")
_OPERANDS = ("SRC_COLOR", "ONE_MINUS_SRC_COLOR", "SRC_ALPHA", "ONE_MINUS_SRC_ALPHA")


setting(lambda w: _unit(w, f"gl.disable({w.pick(_TARGETS)})"), "old.untextured(0)")


def _environment(w: Writer) -> str:
    kind = w.number(8)
    if kind < 2:
        line = f"gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, {w.pick(_ENVIRONMENTS)})"
    elif kind == 2:
        line = f"gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, {_vector(w)})"
    elif kind == 3:
        line = f"gl.tex_envi(GL.TEXTURE_ENV, GL.COMBINE_RGB, {w.pick(_COMBINE_RGB)})"
    elif kind == 4:
        line = f"gl.tex_envi(GL.TEXTURE_ENV, GL.COMBINE_ALPHA, {w.pick(_COMBINE_RGB[:6])})"
    elif kind == 5:
        which = f"GL.SRC{w.number(3)}_{w.choice('RGB', 'ALPHA')}"
        line = f"gl.tex_envi(GL.TEXTURE_ENV, {which}, {w.pick(_SOURCES)})"
    elif kind == 6:
        number = w.number(3)
        if w.often(0.5):
            line = f"gl.tex_envi(GL.TEXTURE_ENV, GL.OPERAND{number}_RGB, {w.pick(_OPERANDS)})"
        else:
            chosen = w.pick(_OPERANDS[2:])
            line = f"gl.tex_envi(GL.TEXTURE_ENV, GL.OPERAND{number}_ALPHA, {chosen})"
    else:
        scale = w.choice("RGB_SCALE", "ALPHA_SCALE")
        line = f"gl.tex_envf(GL.TEXTURE_ENV, GL.{scale}, {w.choice(1.0, 2.0)})"
    return _unit(w, line)


for _ in range(4):
    setting(_environment, _for_units("old.initial_environment()"))
_AXES = "STRQ"
_MADE = ("OBJECT_LINEAR", "EYE_LINEAR", "SPHERE_MAP", "REFLECTION_MAP", "NORMAL_MAP")


def _made_coordinates(w: Writer) -> str:
    axis, kind = w.number(4), w.number(4)
    if kind == 0:
        how = "enable" if w.often(0.6) else "disable"
        return _unit(w, f"gl.{how}(GL.TEXTURE_GEN_{_AXES[axis]})")
    if kind == 1:
        allowed = _MADE[: (3, 3, 2, 2)[axis]] + (_MADE[3:] if axis < 3 else ())
        return _unit(w, f"gl.tex_geni(GL.{_AXES[axis]}, GL.TEXTURE_GEN_MODE, {w.pick(allowed)})")
    plane = w.pick(("OBJECT_PLANE", "EYE_PLANE"))
    values = _vector(w, 4, -2) if axis < 3 else "old.f(0.0, 0.0, 0.0, 1.0)"
    return _unit(w, f"gl.tex_genfv(GL.{_AXES[axis]}, {plane}, {values})")


for _ in range(2):
    setting(_made_coordinates, _for_units("old.initial_coordinates()"))
setting(
    lambda w: _unit(
        w, f"gl.tex_envf(GL.TEXTURE_FILTER_CONTROL, GL.TEXTURE_LOD_BIAS, {w.choice(0.0, 1.0)})"
    ),
    _for_units("gl.tex_envf(GL.TEXTURE_FILTER_CONTROL, GL.TEXTURE_LOD_BIAS, 0.0)"),
)


@step(3)
def new_texture(w: Writer) -> None:
    """A texture, bound to a unit which is switched on."""
    target, format = w.r.choice(("TEXTURE_2D", *_TARGETS)), w.pick(_BASES)
    name, wrap = w.fresh("texture"), w.pick(("REPEAT", "MIRRORED_REPEAT", "CLAMP_TO_EDGE"))
    if target == "TEXTURE_RECTANGLE":
        wrap = "GL.CLAMP_TO_EDGE"
    w.say(
        f"{name} = old.smooth(GL.{target}, {format}, {w.seed()}, {wrap})",
        _unit(w, f"gl.bind_texture(GL.{target}, {name}); gl.enable(GL.{target})"),
    )


# -- matrices --------------------------------------------------------------------------------------

_TURNED = ("0.0, 0.0, 1.0", "0.0, 0.0, -1.0", "1.0, 0.0, 0.0", "0.0, 1.0, 0.0")


def _matrix(w: Writer) -> str:
    """Nothing that moves corners off the grid; behind it, positions are what they were set with."""
    kind = w.number(6)
    if kind == 0:
        change = "gl.load_identity()"
    elif kind == 1:
        change = f"gl.scalef({w.choice(1.0, 0.5, -1.0)}, {w.choice(1.0, 0.5)}, 0.5)"
    elif kind == 2:
        change = f"gl.translatef({w.sixteenths(4)}, {w.sixteenths(4)}, 0.0)"
    elif kind == 3:
        change = f"gl.rotatef({w.choice(90.0, 180.0)}, {w.r.choice(_TURNED[:2])})"
    elif kind == 4:
        change = "gl.load_matrixf(old.f(0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1))"
    else:
        change = (
            "gl.mult_transpose_matrixf(old.f(1, 0, 0, .25, 0, 1, 0, 0, 0, 0, .5, 0, 0, 0, 0, 1))"
        )
    mode = w.choice("MODELVIEW", "MODELVIEW", "PROJECTION")
    return f"gl.matrix_mode(GL.{mode}); gl.load_identity(); {change}; gl.matrix_mode(GL.MODELVIEW)"


def _texture_matrix(w: Writer) -> str:
    change = w.choice(
        "gl.load_identity()", "gl.scalef(2.0, 0.5, 1.0)", "gl.translatef(0.25, 0.5, 0.25)"
    )
    line = f"gl.matrix_mode(GL.TEXTURE); gl.load_identity(); {change}"
    return _unit(w, f"{line}; gl.matrix_mode(GL.MODELVIEW)")


_IDENTITY = "gl.load_identity(); gl.matrix_mode(GL.MODELVIEW)"
setting(_matrix, f"gl.matrix_mode(GL.PROJECTION); {_IDENTITY}; gl.load_identity()")
setting(_texture_matrix, _for_units(f"gl.matrix_mode(GL.TEXTURE); {_IDENTITY}"))

# -- what happens to fragments ---------------------------------------------------------------------

setting(lambda w: f"gl.shade_model({w.pick(('FLAT', 'SMOOTH'))})", "gl.shade_model(GL.SMOOTH)")
switch("ALPHA_TEST", 0.4)
setting(lambda w: f"gl.alpha_func({w.pick(t.COMPARES)}, {w.choice(0.1, 0.35, 0.6)})",
        "gl.alpha_func(GL.ALWAYS, 0.0)")  # fmt: skip
switch("BLEND", 0.5)
setting(lambda w: f"gl.blend_func({w.pick(t.FACTORS[:8])}, {w.pick(t.FACTORS[:4])})",
        "gl.blend_func(GL.ONE, GL.ZERO)")  # fmt: skip
switch("DEPTH_TEST", 0.4)
setting(lambda w: f"gl.depth_func({w.pick(t.COMPARES)})", "gl.depth_func(GL.LESS)")
switch("CULL_FACE", 0.3)
setting(lambda w: f"gl.cull_face({w.pick(t.SIDES[:2])})", "gl.cull_face(GL.BACK)")
setting(lambda w: f"gl.front_face({w.pick(('CW', 'CCW'))})", "gl.front_face(GL.CCW)")
switch("POLYGON_STIPPLE", 0.2)
setting(
    lambda w: f"gl.polygon_stipple(w.texels({w.seed()}, 8, 4))",
    "gl.polygon_stipple(np.full(128, 255, 'u1'))",
)
switch("SCISSOR_TEST", 0.3)
setting(lambda w: f"gl.scissor({w.number(12)}, {w.number(12)}, 16, 20)",
        f"gl.scissor(0, 0, {SIZE}, {SIZE})")  # fmt: skip
switch("CLIP_PLANE0", 0.3)
switch("CLIP_PLANE1", 0.3)
for _plane in ("CLIP_PLANE0", "CLIP_PLANE1"):
    setting(
        lambda w, plane=_plane: (  # type: ignore[misc]
            f"gl.clip_plane(GL.{plane}, np.array([{w.choice('1.0, 0.0', '0.0, -1.0')}, 0.0, "
            f"{w.quarter() + 1 / 32}]))"
        ),
        f"gl.clip_plane(GL.{_plane}, np.zeros(4))",
    )
for _which in ("VERTEX", "FRAGMENT"):
    setting(
        lambda w, which=_which: f"gl.clamp_color(GL.CLAMP_{which}_COLOR, {w.pick(t.CLAMPS)})",  # type: ignore[misc]
        f"gl.clamp_color(GL.CLAMP_{_which}_COLOR, "
        f"{'GL.TRUE' if _which == 'VERTEX' else 'GL.FIXED_ONLY'})",
    )
switch("POINT_SPRITE", 0.5)
setting(lambda w: f"gl.point_size({w.choice(1.0, 3.0, 4.0, 7.0)})", "gl.point_size(1.0)")
setting(
    lambda w: _unit(w, f"gl.tex_envi(GL.POINT_SPRITE, GL.COORD_REPLACE, {w.flag()})"),
    _for_units("gl.tex_envi(GL.POINT_SPRITE, GL.COORD_REPLACE, 0)"),
)
setting(
    lambda w: (
        f"gl.point_parameteri(GL.POINT_SPRITE_COORD_ORIGIN, {w.pick(('LOWER_LEFT', 'UPPER_LEFT'))})"
    ),
    "gl.point_parameteri(GL.POINT_SPRITE_COORD_ORIGIN, GL.UPPER_LEFT)",
)
setting(lambda w: f"gl.color4f({w.quarters()})", "old.initial_current()")
setting(lambda w: f"gl.secondary_color3f({w.quarters(3)})", "old.initial_current()")
setting(lambda w: f"gl.normal3f({_direction(w)})", "old.initial_current()")
setting(lambda w: f"gl.fog_coordf({w.quarter()})", "old.initial_current()")
setting(lambda w: f"gl.multi_tex_coord4f(GL.TEXTURE{w.number(UNITS)}, {_place(w)}, 1.0)",
        "old.initial_current()")  # fmt: skip
switch("TEXTURE_CUBE_MAP_SEAMLESS", 1.0)


@step(14)
def one_setting(w: Writer) -> None:
    w.say(FIXED.change(w))


# -- draws -----------------------------------------------------------------------------------------


def _corner(w: Writer) -> list[str]:
    """What may be said of a vertex before its position; all four coordinates of a texture, for Mesa
    forgets the last one of corners before the first that has three."""
    calls = []
    if w.often(0.5):
        calls.append(f"gl.color4f({w.quarters()})")
    if w.often(0.5):
        calls.append(f"gl.normal3f({_direction(w)})")
    if w.often(0.4):
        calls.append(f"gl.multi_tex_coord4f(GL.TEXTURE{w.number(UNITS)}, {_place(w)}, 1.0)")
    if w.often(0.1):
        calls.append(f"gl.multi_tex_coord4f(GL.TEXTURE{w.number(UNITS)}, {_place(w)}, 2.0)")
    if w.often(0.2):
        calls.append(f"gl.secondary_color3f({w.quarters(3)})")
    if w.often(0.2):
        calls.append(f"gl.fog_coordf({w.quarter()})")
    if w.often(0.1):
        calls.append(f"gl.materialfv({w.pick(_FACES)}, {w.pick(_MATERIAL_COLORS)}, {_vector(w)})")
    return calls


def _rectangle(w: Writer) -> list[tuple[float, float]]:
    x, y = w.data.randrange(-16, 9) / 16, w.data.randrange(-16, 9) / 16
    u, v = x + w.data.randrange(2, 16) / 16, y + w.data.randrange(2, 16) / 16
    return [(x, y), (u, y), (u, v), (x, v)]


def _between(w: Writer) -> list[str]:
    """glBegin to glEnd."""
    mode = w.r.choice(("QUADS", "TRIANGLES", "TRIANGLE_FAN", "POLYGON", "QUAD_STRIP", "POINTS"))
    corners = _rectangle(w)
    if mode == "QUAD_STRIP":
        corners = [corners[0], corners[1], corners[3], corners[2]]
    elif mode == "TRIANGLES":
        corners = corners[:3]
    elif mode == "POINTS":
        corners = [(x + 1 / 64, y + 1 / 64) for x, y in corners]
    depth = w.sixteenths(7) * 2
    calls = [f"gl.begin(GL.{mode})"]
    for number, (x, y) in enumerate(corners):
        # What differs between corners depends on how Mesa cuts quads, in which there are two ways.
        said = _corner(w) if number == 0 or "QUAD" not in mode else []
        calls += [*said, f"gl.vertex3f({x}, {y}, {depth})"]
    # llvmpipe replaces coordinates of triangles, too.
    before = [WHOLE_VIEW if mode == "POINTS" else "gl.disable(GL.POINT_SPRITE)"]
    if any("gl.material" in call for call in calls):
        before.append("gl.disable(GL.COLOR_MATERIAL)")  # Mesa sets what follows the colour, too
    return [*before, *calls, "gl.end()"]


def _drawn(w: Writer, calls: list[str]) -> None:
    w.draws += 1
    w.say("; ".join(["see.blended()", *calls]))


@step(8)
def immediate(w: Writer) -> None:
    _drawn(w, _between(w))


@step(3)
def listed(w: Writer) -> None:
    """The same from a list, with settings in it, which stay as the list left them. (Current values
    do not: what Mesa takes for the colour behind a list is sometimes from before it.)"""
    name, kind = w.fresh("list"), w.pick(("COMPILE", "COMPILE_AND_EXECUTE"))
    inside = [FIXED.change(w) for _ in range(w.number(3))]
    w.draws += 2
    calls = "; ".join([*inside, *_between(w)])
    w.say(
        f"see.blended(); {name} = gl.gen_lists(1); gl.new_list({name}, {kind}); {calls}; "
        f"gl.end_list(); old.initial_current()"
    )
    again = w.choice(
        f"gl.call_list({name})", f"gl.call_lists(1, GL.UNSIGNED_INT, np.array([{name}], 'u4'))"
    )
    w.say(f"see.blended(); {again}; old.initial_current()")
    w.say(f"gl.delete_lists({name}, 1)")


@step(4)
def arrays(w: Writer) -> None:
    """Arrays of the fixed attributes, in a buffer or in the application's memory."""
    count = w.r.choice([3, 6])
    data = f"w.{'quad' if count == 6 else 'vertices'}({w.seed()}{'' if count == 6 else ', 3'})"
    name, client = w.fresh("data"), w.often(0.3)
    calls = [f"{name} = {data}"]
    at: list[str] = []
    if client:
        calls.append("gl.bind_buffer(GL.ARRAY_BUFFER, 0)")
        at = [f"{name}.reshape(-1)[{offset}:]" for offset in (0, 4, 8)]
    else:
        calls.append(f"gl.bind_buffer(GL.ARRAY_BUFFER, w.storage({name}))")
        at = ["0", "16", "32"]
    calls += [f"gl.vertex_pointer(4, GL.FLOAT, 40, {at[0]})",
              "gl.enable_client_state(GL.VERTEX_ARRAY)"]  # fmt: skip
    for often, kind, call in (
        (0.7, "COLOR_ARRAY", f"gl.color_pointer({w.choice(3, 4)}, GL.FLOAT, 40, {at[1]})"),
        (0.4, "NORMAL_ARRAY", f"gl.normal_pointer(GL.FLOAT, 40, {at[1]})"),
        (0.3, "SECONDARY_COLOR_ARRAY", f"gl.secondary_color_pointer(3, GL.FLOAT, 40, {at[1]})"),
        (0.3, "FOG_COORD_ARRAY", f"gl.fog_coord_pointer(GL.FLOAT, 40, {at[1]})"),
    ):
        if w.often(often):
            calls += [call, f"gl.enable_client_state(GL.{kind})"]
    for unit in range(UNITS):
        if w.often(0.4):
            calls += [
                f"gl.client_active_texture(GL.TEXTURE{unit})",
                f"gl.tex_coord_pointer(2, GL.FLOAT, 40, {at[2]})",
                "gl.enable_client_state(GL.TEXTURE_COORD_ARRAY)",
            ]
    kind = w.number(3)
    if kind == 0:
        calls.append(f"gl.draw_arrays(GL.TRIANGLES, 0, {count})")
    elif kind == 1:
        calls.append("gl.begin(GL.TRIANGLES)")
        calls += [f"gl.array_element({i})" for i in range(count)]
        calls.append("gl.end()")
    else:
        indices = "np.array([2, 1, 0], 'u2')"
        calls.append(f"gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, {indices})")
    before = ["gl.disable(GL.POINT_SPRITE)", "gl.push_client_attrib(GL.CLIENT_ALL_ATTRIB_BITS)"]
    # Mesa may draw with current values it had before, unless it is asked for them.
    before.append("gl.get_floatv(GL.CURRENT_TEXTURE_COORDS)")
    _drawn(w, [*before, *calls, "gl.pop_client_attrib()", "old.initial_current()"])


@step(2)
def stacked(w: Writer) -> None:
    """Settings that last for one draw; but Mesa draws on with a sum that was switched, with where
    fog comes from, and with planes that were set."""
    bits = w.choice(
        "GL.ALL_ATTRIB_BITS",
        "GL.LIGHTING_BIT | GL.ENABLE_BIT",
        "GL.TEXTURE_BIT | GL.TRANSFORM_BIT",
        "GL.FOG_BIT | GL.POLYGON_BIT | GL.CURRENT_BIT",
        "GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT",
    )
    inside = [FIXED.change(w) for _ in range(1 + w.number(3))]
    stays = re.compile(r"COLOR_SUM|FOG_COORD_SRC|gl\.clip_plane\(")
    inside = [line for line in inside if not stays.search(line)]
    before = "gl.push_matrix(); " if w.often(0.4) else ""
    after = "; gl.pop_matrix()" if before else ""
    _drawn(w, [f"{before}gl.push_attrib({bits})", *inside, *_between(w), f"gl.pop_attrib(){after}"])


@step(1)
def rectangle(w: Writer) -> None:
    (x, y), _, (u, v), _ = _rectangle(w)
    _drawn(w, [f"gl.disable(GL.POINT_SPRITE); gl.rectf({x}, {y}, {u}, {v})"])


@step(2)
def raster(w: Writer) -> None:
    """Pixels and bits at a raster position, between the centres of pixels.

    llvmpipe gives them no fog and no second colour, and coordinates of textures that are not those
    of the raster position.
    """
    x, y = w.data.randrange(-14, 9) / 16 + 1 / 64, w.data.randrange(-14, 9) / 16 + 1 / 64
    calls = [
        "gl.disable(GL.FOG); gl.disable(GL.COLOR_SUM); gl.disable(GL.POINT_SPRITE)",
        "gl.light_modeli(GL.LIGHT_MODEL_COLOR_CONTROL, GL.SINGLE_COLOR); old.untextured(0)",
        *_corner(w),
        f"gl.raster_pos3f({x}, {y}, {w.sixteenths(7) * 2})",
    ]
    kind = w.number(3)
    if kind == 0:
        # The second beside the first: Mesa gathers bits, and draws those that overlap once.
        calls.append(f"gl.bitmap(16, 8, 0.0, 0.0, 17.0, 1.0, w.bytes({w.seed()}, 32))")
        calls.append(f"gl.bitmap(8, 8, 0.0, 2.0, 0.0, 0.0, w.bytes({w.seed()}, 32))")
    elif kind == 1:
        zoom = f"{w.choice(1.0, 2.0, -1.0)}, {w.choice(1.0, 2.0, -1.0)}"
        calls.append(f"gl.pixel_zoom({zoom})")
        calls.append(f"gl.draw_pixels(6, 5, GL.RGBA, GL.UNSIGNED_BYTE, w.texels({w.seed()}, 6, 5))")
        calls.append("gl.pixel_zoom(1.0, 1.0)")
    else:
        calls.append(f"gl.copy_pixels({w.number(10)}, {w.number(10)}, 7, 6, GL.COLOR)")
    _drawn(w, calls)


@step(1)
def look(w: Writer) -> None:
    w.say("see.color(0)")

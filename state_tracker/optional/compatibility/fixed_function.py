"""Fixed function as generated shaders: GLSL 1.20 written from the fixed-function state.

In the compatibility profile any stage without a shader is fixed function. A *key* holds the state
that changes the code (lights, texture units and environments, fog); all other state is read from
built-in uniforms. Each key is compiled once, as a separable program of one stage: the driver links
stages by varying slots, so the stage fits any shader on the other side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gallette.compiler.errors import GalletteError
from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot, VertAttrib
from gallette.state_tracker.drawing.color_clamp import clamps
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.optional.compatibility.client_arrays import POINT_SIZES
from gallette.state_tracker.optional.compatibility.fixed_fragment import TextureEnv, fragment_source
from gallette.state_tracker.optional.compatibility.kept_primitives import attribute_of
from gallette.state_tracker.optional.compatibility.lighting import PROPERTIES
from gallette.state_tracker.optional.compatibility.matrices import TEXTURE_UNITS
from gallette.state_tracker.shading.programs import Executable

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

# The order GL prefers when several targets of a unit are enabled.
TARGETS = (
    (GL.TEXTURE_CUBE_MAP, "Cube"),
    (GL.TEXTURE_3D, "3D"),
    (GL.TEXTURE_RECTANGLE, "2DRect"),
    (GL.TEXTURE_2D, "2D"),
    (GL.TEXTURE_1D, "1D"),
)


class LightKey(NamedTuple):
    """How one light is computed."""

    number: int
    directional: bool
    spot: bool


class VertexKey(NamedTuple):
    """The state that determines the vertex shader."""

    lights: tuple[LightKey, ...] | None  # None: lighting is off
    two_side: bool
    local_viewer: bool
    separate_specular: bool
    color_material: frozenset[tuple[int, str]]  # colours: 0 front, 1 back, and the name
    materials: tuple[int, ...]  # per-vertex properties: numbers of `PROPERTIES`
    normalize: int  # 0 not, 1 normalise, 2 rescale
    texcoords: int  # bit per set of coordinates
    texgen: tuple[tuple[int, int], ...]  # per unit: enabled bits, packed mode indices
    fog_coord: bool
    fog_distance: int
    attenuated: bool  # points shrink with their distance
    point_sizes: bool  # each point has its own size (OpenGL ES 1.1)


class FragmentKey(NamedTuple):
    """The state that determines the fragment shader."""

    units: tuple[TextureEnv, ...]
    fog: int  # 0: off
    color_sum: bool
    clamped: bool  # colours before, between and after textures


_TEXGEN_MODES = (
    GL.EYE_LINEAR,
    GL.OBJECT_LINEAR,
    GL.SPHERE_MAP,
    GL.REFLECTION_MAP,
    GL.NORMAL_MAP,
)


def vertex_key(ctx: Context, texcoords: int) -> VertexKey:
    """The key of the current state, for a fragment stage that reads these texture coordinates."""
    s = ctx.lighting
    lights: list[LightKey] | None = None
    if s.enabled:
        lights = [LightKey(i, *light.kind) for i, light in enumerate(s.lights) if light.enabled]
    texgen = []
    for generations, enabled in zip(s.texgen, s.texgen_enabled, strict=False):
        bits = modes = 0
        for i, on in enumerate(enabled) if any(enabled) else ():
            if on:
                bits |= 1 << i
                modes |= _TEXGEN_MODES.index(generations[i].mode) << (4 * i)
        texgen.append((bits, modes))
    return VertexKey(
        None if lights is None else tuple(lights),
        s.enabled and s.two_side,
        s.local_viewer,
        s.color_control == GL.SEPARATE_SPECULAR_COLOR,
        frozenset(s.tracked() if s.enabled else ()),
        ctx.immediate.materials if s.enabled else (),
        1 if s.normalize else 2 if s.rescale_normal else 0,
        texcoords,
        tuple(texgen),
        s.fog_source == GL.FOG_COORD,
        s.fog_distance,
        ctx.raster.point_attenuation != (1.0, 0.0, 0.0),
        ctx.profile == "es1" and ctx.arrays.current.attribs[POINT_SIZES].enabled,
    )


def vertex_source(key: VertexKey) -> str:
    """GLSL 1.20 of the fixed-function vertex stage."""
    lines = [
        "vec4 eye = gl_ModelViewMatrix * gl_Vertex;",
        "gl_Position = gl_ModelViewProjectionMatrix * gl_Vertex;",
        "gl_ClipVertex = eye;",
    ]
    generated = any(bits and key.texcoords >> u & 1 for u, (bits, _) in enumerate(key.texgen))
    if key.lights is not None or generated:
        lines.append("vec3 normal = gl_NormalMatrix * gl_Normal;")
        if key.normalize == 1:
            lines.append("normal = normalize(normal);")
        elif key.normalize == 2:
            lines.append("normal = normal * gl_NormalScale;")
    if key.lights is None:
        lines += [
            "gl_FrontColor = gl_Color;",
            "gl_BackColor = gl_Color;",
            "gl_FrontSecondaryColor = gl_SecondaryColor;",
            "gl_BackSecondaryColor = gl_SecondaryColor;",
        ]
    else:
        lines += _face(key, "Front", "normal", 1)
        if key.two_side:
            lines += _face(key, "Back", "-normal", 2)
        else:
            lines.append("gl_BackColor = gl_FrontColor;")
            lines.append("gl_BackSecondaryColor = gl_FrontSecondaryColor;")
    distance = {
        GL.EYE_RADIAL_NV: "length(eye.xyz)",
        GL.EYE_PLANE: "eye.z",
        GL.EYE_PLANE_ABSOLUTE_NV: "abs(eye.z)",
    }[key.fog_distance]
    lines.append(f"gl_FogFragCoord = {'gl_FogCoord' if key.fog_coord else distance};")
    for unit in range(TEXTURE_UNITS):
        if key.texcoords >> unit & 1:
            lines += _texcoord(unit, *key.texgen[unit])
    head = "#version 120\n"
    if key.lights is not None:
        head += _UNIT
    if key.attenuated or key.point_sizes:
        lines += _point_size(key)
        head += "attribute float point_size;\n" if key.point_sizes else ""
    for number in key.materials:
        head += f"attribute vec4 {_attribute(*PROPERTIES[number])};\n"
    body = "\n".join("    " + line for line in lines)
    return f"{head}void main()\n{{\n{body}\n}}\n"


_UNIT = """
vec3 unit(vec3 v)
{
    float square = dot(v, v);
    return square > 0.0 && square < 3.4e38 ? normalize(v) : vec3(0.0);
}
"""
"""The direction of a vector: none where it has no length, or one that is no number, as that to a
light whose w is tiny. A light without direction leaves its ambient part."""


def _point_size(key: VertexKey) -> list[str]:
    """Code for the derived size of a point."""
    lines = [f"float size = {'point_size' if key.point_sizes else 'gl_Point.size'};"]
    if key.attenuated:
        lines += [
            "float away = length(eye.xyz);",
            "size *= inversesqrt(gl_Point.distanceConstantAttenuation + away"
            " * (gl_Point.distanceLinearAttenuation"
            " + away * gl_Point.distanceQuadraticAttenuation));",
        ]
    return [*lines, "gl_PointSize = clamp(size, gl_Point.sizeMin, gl_Point.sizeMax);"]


def _material(key: VertexKey, side: str, field: str) -> str:
    """The source of a material property: the colour, an attribute, or a uniform."""
    place = int(side == "Back"), field
    if place in key.color_material:
        return "gl_Color"
    if PROPERTIES.index(place) in key.materials:
        return _attribute(*place) + (".x" if field == "shininess" else "")
    return f"gl_{side}Material.{field}"


def _attribute(side: int, field: str) -> str:
    return f"material_{'back' if side else 'front'}_{field}"


def _face(key: VertexKey, side: str, normal: str, number: int) -> list[str]:
    """Code for the colours of one side: emission, global ambient, and every light."""
    ambient, diffuse = _material(key, side, "ambient"), _material(key, side, "diffuse")
    specular, emission = _material(key, side, "specular"), _material(key, side, "emission")
    n, c, sp = f"n{number}", f"color{number}", f"spec{number}"
    lines = [
        f"vec3 {n} = {normal};",
        f"vec4 {c} = {emission} + {ambient} * gl_LightModel.ambient;",
        f"vec4 {sp} = vec4(0.0);",
    ]
    for light in key.lights or ():
        lines += _light(key, light, side, number, (ambient, diffuse, specular))
    if not key.separate_specular:
        lines += [f"{c} += {sp};", f"{sp} = vec4(0.0);"]
    lines += [
        f"gl_{side}Color = vec4({c}.rgb, {diffuse}.a);",
        f"gl_{side}SecondaryColor = vec4({sp}.rgb, 0.0);",
    ]
    return lines


def _light(
    key: VertexKey, light: LightKey, side: str, number: int, material: tuple[str, str, str]
) -> list[str]:
    source = f"gl_LightSource[{light.number}]"
    n, c, sp = f"n{number}", f"color{number}", f"spec{number}"
    lines = ["{"]
    if light.directional:
        lines += [f"vec3 l = unit({source}.position.xyz);", "float att = 1.0;"]
    else:
        lines += [
            f"vec3 to = {source}.position.xyz / {source}.position.w - eye.xyz / eye.w;",
            "float d = min(length(to), 1e18);",  # whose square is a number
            "vec3 l = unit(to);",
            f"float att = 1.0 / max({source}.constantAttenuation + {source}.linearAttenuation * d"
            f" + {source}.quadraticAttenuation * d * d, 1e-30);",
        ]
    if light.spot:
        lines += [
            f"float spot = dot(-l, unit({source}.spotDirection));",
            f"att *= spot < {source}.spotCosCutoff ? 0.0 : pow(spot, {source}.spotExponent);",
        ]
    viewer = "unit(-eye.xyz)" if key.local_viewer else "vec3(0.0, 0.0, 1.0)"
    ambient, diffuse, specular = material
    shininess = _material(key, side, "shininess")
    lines += [
        f"float nl = max(dot({n}, l), 0.0);",
        f"vec3 h = unit(l + {viewer});",
        f"float nh = max(dot({n}, h), 0.0);",
        f"float shine = {shininess} == 0.0 ? 1.0 : pow(nh, {shininess});",
        f"{c} += att * ({ambient} * {source}.ambient + nl * {diffuse} * {source}.diffuse);",
        f"if (nl > 0.0) {sp} += att * shine * {specular} * {source}.specular;",
        "}",
    ]
    return lines


def _texcoord(unit: int, bits: int, modes: int) -> list[str]:
    coord = f"gl_MultiTexCoord{unit}"
    if not bits:
        return [f"gl_TexCoord[{unit}] = gl_TextureMatrix[{unit}] * {coord};"]
    lines = [f"vec4 tc{unit} = {coord};"]
    used = {_TEXGEN_MODES[modes >> (4 * i) & 15] for i in range(4) if bits >> i & 1}
    if used & {GL.SPHERE_MAP, GL.REFLECTION_MAP}:
        lines += [
            f"vec3 u{unit} = normalize(eye.xyz);",
            f"vec3 r{unit} = reflect(u{unit}, normal);",
            f"float m{unit} = 2.0 * sqrt(dot(r{unit} + vec3(0.0, 0.0, 1.0),"
            f" r{unit} + vec3(0.0, 0.0, 1.0)));",
        ]
    for i, (letter, plane) in enumerate(zip("xyzw", "STRQ", strict=True)):
        if not bits >> i & 1:
            continue
        mode = _TEXGEN_MODES[modes >> (4 * i) & 15]
        value = {
            GL.EYE_LINEAR: f"dot(eye, gl_EyePlane{plane}[{unit}])",
            GL.OBJECT_LINEAR: f"dot(gl_Vertex, gl_ObjectPlane{plane}[{unit}])",
            GL.SPHERE_MAP: f"r{unit}.{letter if letter in 'xy' else 'x'} / m{unit} + 0.5",
            GL.REFLECTION_MAP: f"r{unit}.{letter if letter in 'xyz' else 'x'}",
            GL.NORMAL_MAP: f"normal.{letter if letter in 'xyz' else 'x'}",
        }[mode]
        lines.append(f"tc{unit}.{letter} = {value};")
    lines.append(f"gl_TexCoord[{unit}] = gl_TextureMatrix[{unit}] * tc{unit};")
    return lines


_DEPTH_BASES: dict[int, str] = {GL.LUMINANCE: "L", GL.INTENSITY: "I", GL.ALPHA: "A", GL.RED: "R"}
"""The base format as which a depth texture is sampled (`GL_DEPTH_TEXTURE_MODE`)."""


def fragment_key(ctx: Context) -> FragmentKey:
    """The key of the current texture environment and fog."""
    units = []
    for index, unit in enumerate(ctx.textures.units[:TEXTURE_UNITS]):
        enabled = unit.enabled
        if not enabled:
            continue
        for target, spelling in TARGETS:
            if target in enabled:
                texture = unit.bound[target]
                params = unit.sampler.params if unit.sampler is not None else texture.params
                if not texture.usable(params):
                    break
                base = texture.images[0][texture.base_level].info.base
                shadow = params.compare_mode != GL.NONE and base in ("Z", "ZS")
                if base in ("Z", "ZS"):
                    base = _DEPTH_BASES[texture.depth_mode]
                units.append(TextureEnv(index, spelling, base, shadow, unit.env))
                break
    s = ctx.lighting
    separate = s.enabled and s.color_control == GL.SEPARATE_SPECULAR_COLOR
    fog = s.fog_mode if s.fog_enabled else 0
    clamped = clamps(ctx, ctx.fragment.clamp_fragment_color)
    return FragmentKey(tuple(units), fog, s.color_sum or separate, clamped)


class FixedFunction:
    """The generated programs of one context, by key."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self._programs: dict[VertexKey | FragmentKey, Executable] = {}

    def vertex(self, fragment: Executable | None) -> Executable:
        """The fixed-function vertex stage for a fragment stage."""
        texcoords = 0
        shader = fragment.linked.shaders.get(Stage.FRAGMENT) if fragment is not None else None
        for slot in shader.info.inputs_read if shader is not None else ():
            if VaryingSlot.TEX0 <= slot <= VaryingSlot.TEX7:
                texcoords |= 1 << (slot - VaryingSlot.TEX0)
        if self._ctx.rendering.active:  # feedback returns the first set, used by the draw or not
            texcoords |= 1
        key = vertex_key(self._ctx, texcoords)
        return self._get(key, Stage.VERTEX)

    def fragment(self) -> Executable:
        """The fixed-function fragment stage."""
        return self._get(fragment_key(self._ctx), Stage.FRAGMENT)

    def _get(self, key: VertexKey | FragmentKey, stage: Stage) -> Executable:
        found = self._programs.get(key)
        if found is None:
            if isinstance(key, VertexKey):
                source = vertex_source(key)
            else:
                source = fragment_source(key.units, key.fog, key.color_sum, key.clamped)
            found = self._programs[key] = self._compile(stage, source)
        return found

    def _compile(self, stage: Stage, source: str) -> Executable:
        ctx = self._ctx
        options = CompileOptions(api="compat", version_limit=330, limits=ctx.limits.glsl_limits)
        compiled = compile_shader(stage, source, options, [f"fixed-function {stage.value}"])
        bindings = {"point_size": POINT_SIZES - VertAttrib.GENERIC0}
        for number, place in enumerate(PROPERTIES):
            bindings[_attribute(*place)] = attribute_of(number) - VertAttrib.GENERIC0
        linked = link_program(
            [compiled], LinkOptions(separable=True, api="compat", attrib_bindings=bindings)
        )
        if not compiled.ok or not linked.ok:
            log = compiled.info_log or linked.info_log
            raise GalletteError(f"fixed function does not compile:\n{log}\n{source}")
        executable = Executable(ctx, linked, 120)
        executable.is_fixed_function = True
        for index, uniform in enumerate(linked.uniforms):
            if uniform.name.startswith("texture_"):
                executable.uniforms.units[index][:] = [int(uniform.name.removeprefix("texture_"))]
        return executable

    def release_all(self) -> None:
        for executable in self._programs.values():
            executable.destroy()
        self._programs.clear()

"""The fixed-function fragment stage as GLSL: texture environments, colour sum, fog."""

from __future__ import annotations

from typing import NamedTuple

from gallette.state_tracker.entry_points.enums import GL


class TextureEnv(NamedTuple):
    """One enabled texture unit and its combiner state."""

    unit: int
    dimension: str  # as in `sampler2D`
    base: str  # channels of the texture, as the environment uses it
    shadow: bool
    env: tuple[tuple[int, int], ...]  # glTexEnv parameters that were set


def fragment_source(units: tuple[TextureEnv, ...], fog: int, color_sum: bool, clamped: bool) -> str:
    """GLSL 1.20 of the fixed-function fragment stage.

    `clamped`: fragment colours are clamped, and so are those that texture environments combine.
    """
    head = ["#version 120"]
    if any(u.dimension == "2DRect" for u in units):
        head.append("#extension GL_ARB_texture_rectangle : require")
    primary = "clamp(gl_Color, 0.0, 1.0)" if clamped and units else "gl_Color"
    lines = [f"vec4 primary = {primary};", "vec4 color = primary;"]
    for unit in units:
        kind = "Shadow" if unit.shadow else ""
        name = f"texture_{unit.unit}"
        head.append(f"uniform sampler{unit.dimension}{kind} {name};")
        lines.append(f"vec4 t{unit.unit} = {_sample(unit, name)};")
    for number in _others(units):
        lines.append(f"vec4 t{number} = vec4(0.0);")
    for unit in units:
        lines += _combine(unit)
        if clamped:
            lines.append("color = clamp(color, 0.0, 1.0);")
    if color_sum:
        lines.append("color.rgb += gl_SecondaryColor.rgb;")
    if fog:
        lines += fog_lines(fog)
    lines.append("gl_FragColor = color;")
    body = "\n".join("    " + line for line in lines)
    return "\n".join(head) + f"\nvoid main()\n{{\n{body}\n}}\n"


def _others(units: tuple[TextureEnv, ...]) -> list[int]:
    """Units that combiners name though no texture is enabled there; they read zeros."""
    named = {value - GL.TEXTURE0 for unit in units for _, value in unit.env}
    return sorted((named & set(range(32))) - {unit.unit for unit in units})


def _sample(unit: TextureEnv, name: str) -> str:
    coord = f"gl_TexCoord[{unit.unit}]"
    if unit.dimension == "Cube":
        return f"textureCube({name}, {coord}.xyz)"
    if unit.shadow:
        return f"shadow{unit.dimension}Proj({name}, {coord})"
    return f"texture{unit.dimension}Proj({name}, {coord})"


def fog_lines(mode: int) -> list[str]:
    distance = "gl_FogFragCoord"
    factor = {
        GL.LINEAR: f"(gl_Fog.end - {distance}) * gl_Fog.scale",
        GL.EXP: f"exp(-gl_Fog.density * {distance})",
        GL.EXP2: f"exp(-(gl_Fog.density * {distance}) * (gl_Fog.density * {distance}))",
    }[mode]
    return [
        f"float fog = clamp({factor}, 0.0, 1.0);",
        "color.rgb = mix(gl_Fog.color.rgb, color.rgb, fog);",
    ]


def _combine(unit: TextureEnv) -> list[str]:
    env, t, u = dict(unit.env), f"t{unit.unit}", unit.unit
    mode = env.get(GL.TEXTURE_ENV_MODE, GL.MODULATE)
    base = {"R": "RGB", "RG": "RGB"}.get(unit.base, unit.base)
    if mode in (GL.COMBINE, GL.COMBINE4_NV):
        return _combiner(unit, env)
    color, alpha = f"{t}.rgb", f"{t}.a"
    has_color, has_alpha = base != "A", "A" in base or base == "I"
    lines: list[str] = []
    if mode == GL.REPLACE:
        if has_color:
            lines.append(f"color.rgb = {color};")
        if has_alpha:
            lines.append(f"color.a = {alpha};")
    elif mode == GL.MODULATE:
        if has_color:
            lines.append(f"color.rgb *= {color};")
        if has_alpha:
            lines.append(f"color.a *= {alpha};")
    elif mode == GL.DECAL:
        weight = alpha if base == "RGBA" else "1.0"
        lines.append(f"color.rgb = mix(color.rgb, {color}, {weight});")
    elif mode == GL.BLEND:
        if has_color:
            lines.append(f"color.rgb = mix(color.rgb, gl_TextureEnvColor[{u}].rgb, {color});")
        if base == "I":
            lines.append(f"color.a = mix(color.a, gl_TextureEnvColor[{u}].a, {alpha});")
        elif has_alpha:
            lines.append(f"color.a *= {alpha};")
    else:  # GL_ADD
        if has_color:
            lines.append(f"color.rgb += {color};")
        if base == "I":
            lines.append(f"color.a += {alpha};")
        elif has_alpha:
            lines.append(f"color.a *= {alpha};")
    return lines


_SOURCES = {
    GL.PREVIOUS: "color",
    GL.PRIMARY_COLOR: "primary",
    GL.ZERO: "vec4(0.0)",
    GL.ONE: "vec4(1.0)",
}


def _argument(unit: TextureEnv, env: dict[int, int], index: int, channel: str) -> str:
    """One argument of the combiner, as a vec3 or a float."""
    rgb = channel == "RGB"
    default_source = (GL.TEXTURE, GL.PREVIOUS, GL.CONSTANT, GL.ZERO)[index]
    default_operand = GL.SRC_ALPHA if not rgb or index == 2 else GL.SRC_COLOR
    if index == 3:
        default_operand = GL.ONE_MINUS_SRC_COLOR if rgb else GL.ONE_MINUS_SRC_ALPHA
    end = "_NV" if index == 3 else ""
    source = env.get(getattr(GL, f"SOURCE{index}_{channel}{end}"), default_source)
    operand = env.get(getattr(GL, f"OPERAND{index}_{channel}{end}"), default_operand)
    if source == GL.TEXTURE:
        value = f"t{unit.unit}"
    elif source == GL.CONSTANT:
        value = f"gl_TextureEnvColor[{unit.unit}]"
    elif source in _SOURCES:
        value = _SOURCES[source]
    else:
        value = f"t{source - GL.TEXTURE0}"
    part = {
        GL.SRC_COLOR: f"{value}.rgb",
        GL.ONE_MINUS_SRC_COLOR: f"(1.0 - {value}.rgb)",
        GL.SRC_ALPHA: f"{value}.a",
        GL.ONE_MINUS_SRC_ALPHA: f"(1.0 - {value}.a)",
    }[operand]
    alpha_operand = operand in (GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)
    return f"vec3({part})" if rgb and alpha_operand else part


_DOTS = (GL.DOT3_RGB, GL.DOT3_RGBA, GL.DOT3_RGB_EXT, GL.DOT3_RGBA_EXT)


def _combiner(unit: TextureEnv, env: dict[int, int]) -> list[str]:
    lines: list[str] = []
    whole: tuple[str, int] | None = None  # a dot product that is alpha as well, and its mode
    for channel, swizzle in (("RGB", "rgb"), ("ALPHA", "a")):
        mode = env.get(getattr(GL, f"COMBINE_{channel}"), GL.MODULATE)
        a, b, c, d = (_argument(unit, env, i, channel) for i in range(4))
        four = env.get(GL.TEXTURE_ENV_MODE) == GL.COMBINE4_NV
        total = f"{a} * {b} + {c} * {d}" if four else f"{a} + {b}"
        dot = f"4.0 * dot({a} - 0.5, {b} - 0.5)"
        value = {
            GL.REPLACE: a,
            GL.MODULATE: f"{a} * {b}",
            GL.ADD: total,
            GL.ADD_SIGNED: f"{total} - 0.5",
            GL.INTERPOLATE: f"mix({b}, {a}, {c})",
            GL.SUBTRACT: f"{a} - {b}",
            GL.MODULATE_ADD_ATI: f"{a} * {c} + {b}",
            GL.MODULATE_SIGNED_ADD_ATI: f"{a} * {c} + {b} - 0.5",
            GL.MODULATE_SUBTRACT_ATI: f"{a} * {c} - {b}",
            **dict.fromkeys(_DOTS, f"vec3({dot})"),
        }[mode]
        scale = env.get(GL.RGB_SCALE if channel == "RGB" else GL.ALPHA_SCALE, 1)
        if whole is not None:
            value, mode = whole
        elif mode in (GL.DOT3_RGBA, GL.DOT3_RGBA_EXT):
            whole = dot, mode
        if mode in (GL.DOT3_RGB_EXT, GL.DOT3_RGBA_EXT):
            scale = 1  # the older dot products are not scaled
        kind = "vec3" if channel == "RGB" else "float"
        name = f"{swizzle}{unit.unit}"
        lines.append(f"{kind} {name} = ({value}) * {float(scale)};")
    u = unit.unit
    lines.append(f"color = vec4(rgb{u}, a{u});")
    return lines

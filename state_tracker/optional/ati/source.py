"""GLSL 1.20 for a program of ATI_fragment_shader."""

from __future__ import annotations

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.optional.ati.programs import (
    CONSTANTS,
    REGISTERS,
    Argument,
    Operation,
    Program,
    Setup,
)
from gallette.state_tracker.optional.compatibility.fixed_fragment import fog_lines

_COORDS = {
    GL.SWIZZLE_STR_ATI: "{0}.xyz",
    GL.SWIZZLE_STQ_ATI: "{0}.xyw",
    GL.SWIZZLE_STR_DR_ATI: "vec3({0}.xy, 1.0) / {0}.z",
    GL.SWIZZLE_STQ_DQ_ATI: "vec3({0}.xy, 1.0) / {0}.w",
}
_SAMPLES = {
    "1D": "texture1D({0}, {1}.x)",
    "2D": "texture2D({0}, {1}.xy)",
    "2DRect": "texture2DRect({0}, {1}.xy)",
    "3D": "texture3D({0}, {1})",
    "Cube": "textureCube({0}, {1})",
}
_SCALES = {
    GL._2X_BIT_ATI: "2.0", GL._4X_BIT_ATI: "4.0", GL._8X_BIT_ATI: "8.0", GL.HALF_BIT_ATI: "0.5",
    GL.QUARTER_BIT_ATI: "0.25", GL.EIGHTH_BIT_ATI: "0.125",
}  # fmt: skip
_MASK = ((GL.RED_BIT_ATI, "r"), (GL.GREEN_BIT_ATI, "g"), (GL.BLUE_BIT_ATI, "b"))
# For arguments a, b, c: vectors for colours, numbers for alpha.
_RESULTS = {
    GL.MOV_ATI: "a", GL.ADD_ATI: "a + b", GL.MUL_ATI: "a * b", GL.SUB_ATI: "a - b",
    GL.MAD_ATI: "a * b + c", GL.LERP_ATI: "a * b + (1.0 - a) * c",
}  # fmt: skip


def ati_source(program: Program, targets: dict[int, str], fog: int) -> str:
    """GLSL of the fragment stage; `targets` gives the texture type of each unit."""
    head = ["#version 120"]
    if "2DRect" in targets.values():
        head.append("#extension GL_ARB_texture_rectangle : require")
    head.append(f"uniform vec4 ati_constants[{CONSTANTS}];")
    body = [f"vec4 r{i} = vec4(0.0);" for i in range(REGISTERS)]
    sampled: set[int] = set()
    for number, each in enumerate(program.passes):
        for setup in each.setup:
            body += _set_up(setup, targets, f"t{number}{setup.register}")
            if setup.samples and setup.register in targets:
                sampled.add(setup.register)
        for setup in each.setup:  # all of them read the previous values
            body.append(f"r{setup.register} = t{number}{setup.register};")
        for index, pair in enumerate(each.pairs):
            name = f"{number}_{index}"
            if pair.color is not None:
                body += _operation(pair.color, False, f"c{name}", None)
            if pair.alpha is not None:
                body += _operation(pair.alpha, True, f"a{name}", pair.color)
            if pair.color is not None:
                mask = pair.color.mask
                rgb = "".join(x for bit, x in _MASK if mask & bit) or "rgb"
                body.append(f"r{pair.color.register}.{rgb} = c{name}.{rgb};")
                if pair.color.op == GL.DOT4_ATI and pair.alpha is None:
                    body.append(f"r{pair.color.register}.a = c{name}.r;")
            if pair.alpha is not None:
                body.append(f"r{pair.alpha.register}.a = a{name};")
    for unit in sorted(sampled):
        head.append(f"uniform sampler{targets[unit]} texture_{unit};")
    body.append("vec4 color = r0;")
    if fog:
        body += fog_lines(fog)
    body.append("gl_FragColor = color;")
    inner = "\n".join("    " + line for line in body)
    return "\n".join(head) + f"\nvoid main()\n{{\n{inner}\n}}\n"


def _set_up(setup: Setup, targets: dict[int, str], name: str) -> list[str]:
    if 0 <= setup.source - GL.TEXTURE0 < 8:
        source = f"gl_TexCoord[{setup.source - GL.TEXTURE0}]"
    else:
        source = f"r{setup.source - GL.REG_0_ATI}"
    coords = f"({_COORDS[setup.swizzle].format(source)})"
    if not setup.samples:
        return [f"vec4 {name} = vec4({coords}, 0.0);"]
    if setup.register not in targets:
        return [f"vec4 {name} = vec4(0.0, 0.0, 0.0, 1.0);"]
    sample = _SAMPLES[targets[setup.register]].format(f"texture_{setup.register}", coords)
    return [f"vec4 {name} = {sample};"]


def _argument(argument: Argument, alpha: bool) -> str:
    """A vec4 for colours, a number for alpha."""
    source = argument.source
    if source in (GL.ZERO, GL.ONE):
        value = "vec4(1.0)" if source == GL.ONE else "vec4(0.0)"
    elif source == GL.PRIMARY_COLOR:
        value = "gl_Color"
    elif source == GL.SECONDARY_INTERPOLATOR_ATI:
        value = "vec4(gl_SecondaryColor.rgb, 0.0)"
    elif 0 <= source - GL.CON_0_ATI < CONSTANTS:
        value = f"ati_constants[{source - GL.CON_0_ATI}]"
    else:
        value = f"r{source - GL.REG_0_ATI}"
    letter = {GL.RED: "r", GL.GREEN: "g", GL.BLUE: "b", GL.ALPHA: "a"}.get(argument.repeat)
    if alpha:
        value = f"{value}.{letter or 'a'}"
    elif letter is not None:
        value = f"vec4({value}.{letter})"
    if argument.modifiers & GL.COMP_BIT_ATI:
        value = f"(1.0 - {value})"
    if argument.modifiers & GL.BIAS_BIT_ATI:
        value = f"({value} - 0.5)"
    if argument.modifiers & GL._2X_BIT_ATI:
        value = f"(2.0 * {value})"
    if argument.modifiers & GL.NEGATE_BIT_ATI:
        value = f"(-{value})"
    return value


def _operation(operation: Operation, alpha: bool, name: str, color: Operation | None) -> list[str]:
    kind = "float" if alpha else "vec4"
    given = operation.arguments
    op = operation.op
    dot = op in (GL.DOT3_ATI, GL.DOT4_ATI, GL.DOT2_ADD_ATI)
    if dot and alpha and color is not None:  # alpha gets the colours' dot product
        given = color.arguments
    a, b, c = (_argument(x, alpha and not dot) for x in (*given, *(given[:1] * (3 - len(given)))))
    if op == GL.DOT3_ATI:
        value = f"dot({a}.rgb, {b}.rgb)"
    elif op == GL.DOT4_ATI:
        value = f"dot({a}, {b})"
    elif op == GL.DOT2_ADD_ATI:
        value = f"(dot({a}.rg, {b}.rg) + {c}.b)"
    elif op in (GL.CND_ATI, GL.CND0_ATI):
        half = op == GL.CND_ATI
        test = "greaterThan({0}, vec4(0.5))" if half else "greaterThanEqual({0}, vec4(0.0))"
        if alpha:
            test = "{0} > 0.5" if half else "{0} >= 0.0"
            value = f"(({test.format(c)}) ? {a} : {b})"
        else:
            value = f"mix({b}, {a}, vec4({test.format(c)}))"
    else:
        value = _RESULTS[op].replace("a", "\0").replace("b", "\1").replace("c", "\2")
        value = "(" + value.replace("\0", a).replace("\1", b).replace("\2", c) + ")"
    if dot and not alpha:
        value = f"vec4({value})"
    scale = _SCALES.get(operation.modifiers & ~GL.SATURATE_BIT_ATI)
    if scale is not None:
        value = f"{value} * {scale}"
    if operation.modifiers & GL.SATURATE_BIT_ATI:
        value = f"clamp({value}, 0.0, 1.0)"
    return [f"{kind} {name} = {value};"]

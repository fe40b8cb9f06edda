"""Translates a parsed assembly program to GLSL 1.20, which the GLSL compiler compiles.

Results are variables that are copied to the built-in outputs at the end. Program parameters are
uniform arrays (`assembly_env`, `assembly_local`), generic attributes `assembly_attribN`, textures
`assembly_N_TARGET` (which name their unit); state is GLSL's built-in uniforms.
"""

from __future__ import annotations

from gallette.compiler.assembly.program import Instruction, Operand, Program

_ATTRIBS = {
    "vertex.position": "gl_Vertex",
    "vertex.normal": "vec4(gl_Normal, 1.0)",
    "vertex.color.primary": "gl_Color",
    "vertex.color.secondary": "gl_SecondaryColor",
    "vertex.fogcoord": "vec4(gl_FogCoord, 0.0, 0.0, 1.0)",
    "fragment.color.primary": "gl_Color",
    "fragment.color.secondary": "gl_SecondaryColor",
    "fragment.fogcoord": "vec4(gl_FogFragCoord, 0.0, 0.0, 1.0)",
    "fragment.position": "gl_FragCoord",
}
_MATRICES = {
    "modelview": "gl_ModelViewMatrix",
    "projection": "gl_ProjectionMatrix",
    "mvp": "gl_ModelViewProjectionMatrix",
    "texture": "gl_TextureMatrix",
}
_FORMS = {"plain": "Transpose", "transpose": "", "inverse": "InverseTranspose",
          "invtrans": "Inverse"}  # fmt: skip
_LOOKUPS = {
    "1D": ("sampler1D", "texture1D", "x"),
    "2D": ("sampler2D", "texture2D", "xy"),
    "3D": ("sampler3D", "texture3D", "xyz"),
    "CUBE": ("samplerCube", "textureCube", "xyz"),
    "RECT": ("sampler2DRect", "texture2DRect", "xy"),
    "SHADOW1D": ("sampler1DShadow", "shadow1D", "xyz"),
    "SHADOW2D": ("sampler2DShadow", "shadow2D", "xyz"),
    "SHADOWRECT": ("sampler2DRectShadow", "shadow2DRect", "xyz"),
}
# GLSL of each opcode over its operands; `{0}` is a vec4 or, for scalar operands, a float.
_VALUES = {
    "ABS": "abs({0})", "ADD": "{0} + {1}", "DP3": "vec4(dot({0}.xyz, {1}.xyz))",
    "DP4": "vec4(dot({0}, {1}))", "DPH": "vec4(dot({0}.xyz, {1}.xyz) + {1}.w)",
    "DST": "vec4(1.0, {0}.y * {1}.y, {0}.z, {1}.w)", "EX2": "vec4(exp2({0}))",
    "FLR": "floor({0})", "FRC": "fract({0})", "LG2": "vec4(log2({0}))",
    "MAD": "{0} * {1} + {2}", "MAX": "max({0}, {1})", "MIN": "min({0}, {1})", "MOV": "{0}",
    "MUL": "{0} * {1}", "POW": "vec4(pow({0}, {1}))", "RCP": "vec4(1.0 / ({0}))",
    "RSQ": "vec4(inversesqrt(abs({0})))", "SGE": "vec4(greaterThanEqual({0}, {1}))",
    "SLT": "vec4(lessThan({0}, {1}))", "SUB": "{0} - {1}", "SWZ": "{0}",
    "XPD": "vec4(cross({0}.xyz, {1}.xyz), 1.0)", "COS": "vec4(cos({0}))", "SIN": "vec4(sin({0}))",
    "SCS": "vec4(cos({0}), sin({0}), 0.0, 0.0)", "LRP": "mix({2}, {1}, {0})",
    "CMP": "assembly_cmp({0}, {1}, {2})", "LIT": "assembly_lit({0})",
    "EXP": "vec4(exp2(floor({0})), fract({0}), exp2({0}), 1.0)", "LOG": "assembly_log({0})",
}  # fmt: skip
_HELPERS = {
    "assembly_cmp": "vec4 assembly_cmp(vec4 a, vec4 b, vec4 c) { return vec4(a.x < 0.0 ? b.x : c.x,"
    " a.y < 0.0 ? b.y : c.y, a.z < 0.0 ? b.z : c.z, a.w < 0.0 ? b.w : c.w); }",
    "assembly_lit": "vec4 assembly_lit(vec4 a) { float x = max(a.x, 0.0); return vec4(1.0, x,"
    " a.x > 0.0 ? pow(max(a.y, 0.0), clamp(a.w, -128.0, 128.0)) : 0.0, 1.0); }",
    "assembly_log": "vec4 assembly_log(float a) { float l = log2(abs(a)); float e = floor(l);"
    " return vec4(e, abs(a) / exp2(e), l, 1.0); }",
}
_SCALARS = frozenset("EX2 LG2 RCP RSQ POW COS SIN SCS EXP LOG ARL".split())  # noqa: SIM905
_FACES = {"front": "Front", "back": "Back"}


class _Translator:
    """Writes the text of one program."""

    def __init__(self, program: Program):
        self.program = program
        self.globals: dict[str, None] = {}  # an ordered set
        self.used: dict[str, int] = {}  # "env" or "local" -> number of parameters used
        self.runs: dict[str, tuple[str, int]] = {}  # array -> the table it is in, and where
        self.results: set[str] = set()
        self.body: list[str] = []

    def text(self) -> str:
        program = self.program
        relative = {
            o.name
            for i in program.instructions
            for o in i.sources
            if o.kind == "array" and o.relative
        }
        setup = [f"vec4 t_{t} = vec4(0.0);" for t in program.temps]
        setup += [f"int a_{a} = 0;" for a in program.addresses]
        for name in sorted(relative):
            elements = program.arrays[name]
            if self.is_run(name, elements):
                continue
            setup.append(f"vec4 p_{name}[{len(elements)}];")
            setup += [f"p_{name}[{i}] = {self.parameter(e)};" for i, e in enumerate(elements)]
        for instruction in program.instructions:
            self.instruction(instruction)
        setup += [f"vec4 {_variable(r)} = vec4(0.0, 0.0, 0.0, 1.0);" for r in sorted(self.results)]
        lines = [*setup, *self.body, *self.endings()]
        code = "\n".join("    " + line for line in lines)
        helpers = [text for name, text in _HELPERS.items() if name in code]
        top = "#version 120\n#extension GL_ARB_texture_rectangle : enable\n"
        tables = [f"uniform vec4 assembly_{w}[{n}];" for w, n in self.used.items()]
        return (
            top + "\n".join([*tables, *self.globals, *helpers]) + f"\nvoid main()\n{{\n{code}\n}}\n"
        )

    def is_run(self, name: str, elements: list[str]) -> bool:
        """Whether parameters are consecutive in a table, so that they can be indexed there without
        a copy.
        """
        kind, _, rest = elements[0].partition(".")
        which, _, first = rest.partition(".")
        if kind != "program" or which not in ("env", "local"):
            return False
        if elements != [f"program.{which}.{int(first) + i}" for i in range(len(elements))]:
            return False
        self.parameter(elements[-1])
        self.runs[name] = which, int(first)
        return True

    # -- operands --------------------------------------------------------------------------------

    def attribute(self, binding: str) -> str:
        if binding in _ATTRIBS:
            return _ATTRIBS[binding]
        stage, word, number = binding.split(".")
        if word == "texcoord":
            vertex = stage == "vertex"
            return f"gl_MultiTexCoord{number}" if vertex else f"gl_TexCoord[{number}]"
        self.globals[f"attribute vec4 assembly_attrib{number};"] = None
        return f"assembly_attrib{number}"

    def parameter(self, binding: str) -> str:
        kind, *path = binding.split(".") if not binding.startswith("const.") else ["const"]
        if kind == "const":
            return f"vec4({', '.join(binding.removeprefix('const.').split('/'))})"
        if kind == "program":
            which, number = path
            self.used[which] = max(self.used.get(which, 0), int(number) + 1)
            return f"assembly_{which}[{number}]"
        if kind == "matrix":
            return self.row(*path)
        return _state(path)

    def row(self, which: str, number: str, form: str, row: str) -> str:
        if which == "program":
            self.globals["uniform mat4 assembly_matrix[32];"] = None
            forms = {"plain": 0, "inverse": 1, "transpose": 2, "invtrans": 3}
            return f"assembly_matrix[{int(number) * 4 + forms[form]}][{row}]"
        index = f"[{number}]" if which == "texture" else ""
        return f"{_MATRICES[which]}{_FORMS[form]}{index}[{row}]"

    def operand(self, o: Operand, scalar: bool) -> str:
        if o.kind == "temp":
            base = f"t_{o.name}"
        elif o.kind == "attrib":
            base = self.attribute(o.name)
        elif o.kind == "param":
            base = self.parameter(o.name)
        elif o.relative:
            size = len(self.program.arrays[o.name])
            register = o.relative.removesuffix(".x")
            place = f"clamp(a_{register} + ({o.index}), 0, {size - 1})"
            if o.name in self.runs:
                which, first = self.runs[o.name]
                base = f"assembly_{which}[{place} + {first}]"
            else:
                base = f"p_{o.name}[{place}]"
        else:
            base = self.parameter(self.program.arrays[o.name][o.index])
        if scalar:
            return f"{'-' if o.negate[0] else ''}({base}).{o.swizzle[0]}"
        if {"0", "1"} & set(o.swizzle) or len(set(o.negate)) > 1:
            parts = [f"{c}.0" if c in "01" else f"({base}).{c}" for c in o.swizzle]
            signed = [f"-{p}" if n else p for p, n in zip(parts, o.negate, strict=True)]
            return f"vec4({', '.join(signed)})"
        text = base if o.swizzle == "xyzw" else f"({base}).{o.swizzle}"
        return f"(-{text})" if o.negate[0] else text

    # -- instructions ----------------------------------------------------------------------------

    def instruction(self, i: Instruction) -> None:
        sources = [self.operand(o, i.op in _SCALARS) for o in i.sources]
        if i.op == "KIL":
            self.body.append(f"if (any(lessThan({sources[0]}, vec4(0.0)))) discard;")
            return
        assert i.target is not None
        if i.op == "ARL":
            self.body.append(f"a_{i.target.name} = int(floor({sources[0]}));")
            return
        if i.texture:
            value = self.lookup(i, sources[0])
        else:
            value = _VALUES[i.op].format(*(_grouped(s) for s in sources))
        if i.saturate:
            value = f"clamp({value}, 0.0, 1.0)"
        if i.target.kind == "result":
            self.results.add(i.target.name)
            name = _variable(i.target.name)
        else:
            name = f"t_{i.target.name}"
        mask = i.target.mask
        if mask == "xyzw":
            self.body.append(f"{name} = {value};")
        else:
            self.body.append(f"{name}.{mask} = ({value}).{mask};")

    def lookup(self, i: Instruction, coord: str) -> str:
        kind, function, letters = _LOOKUPS[i.texture]
        sampler = f"assembly_{i.unit}_{i.texture}"
        self.globals[f"uniform {kind} {sampler};"] = None
        if i.op == "TXP" and i.texture != "CUBE":
            return f"{function}Proj({sampler}, {coord})"
        place = f"({coord}).{letters}"
        if i.op == "TXP":
            return f"{function}({sampler}, ({coord}).xyz / ({coord}).w)"
        if i.op == "TXB" and "RECT" not in i.texture:
            return f"{function}({sampler}, {place}, ({coord}).w)"
        return f"{function}({sampler}, {place})"

    # -- results ---------------------------------------------------------------------------------

    def endings(self) -> list[str]:
        lines = []
        options = self.program.options
        if "ARB_position_invariant" in options:
            lines.append("gl_Position = ftransform();")
        for name in sorted(self.results):
            lines += self.ending(name)
        return lines

    def ending(self, name: str) -> list[str]:
        value, path = _variable(name), name.split(".")
        if not self.program.vertex:
            if name == "depth":
                return [f"gl_FragDepth = {value}.z;"]
            several = {"ARB_draw_buffers", "ATI_draw_buffers"} & set(self.program.options)
            if several:
                return [f"gl_FragData[{path[1]}] = {value};"]
            return [*self.fog(value), f"gl_FragColor = {value};"]
        if path[0] == "color":
            secondary = "Secondary" if path[2] == "secondary" else ""
            return [f"gl_{_FACES[path[1]]}{secondary}Color = {value};"]
        if path[0] == "texcoord":
            return [f"gl_TexCoord[{path[1]}] = {value};"]
        return {
            "position": [f"gl_Position = {value};"],
            "fogcoord": [f"gl_FogFragCoord = {value}.x;"],
            "pointsize": [f"gl_PointSize = {value}.x;"],
        }[name]

    def fog(self, value: str) -> list[str]:
        factors = {
            "ARB_fog_linear": "(gl_Fog.end - gl_FogFragCoord) * gl_Fog.scale",
            "ARB_fog_exp": "exp(-gl_Fog.density * gl_FogFragCoord)",
            "ARB_fog_exp2": "exp(-pow(gl_Fog.density * gl_FogFragCoord, 2.0))",
        }
        for option, factor in factors.items():
            if option in self.program.options:
                mixed = f"mix(gl_Fog.color.rgb, {value}.rgb, clamp({factor}, 0.0, 1.0))"
                return [f"{value}.rgb = {mixed};"]
        return []


def _grouped(text: str) -> str:
    plain = text.replace("_", "").replace(".", "").replace("[", "").replace("]", "").isalnum()
    return text if plain or text.startswith("(-") else f"({text})"


def _variable(result: str) -> str:
    return "r_" + result.replace(".", "_")


def _state(path: list[str]) -> str:
    """A state binding as a built-in uniform, in the specification's vector layout."""
    word, *rest = path
    side = "Front"
    if rest and rest[0] in _FACES:
        side, rest = _FACES[rest[0]], rest[1:]
    if len(rest) > 1 and rest[1] in _FACES:
        side, rest = _FACES[rest[1]], [rest[0], *rest[2:]]
    if word == "material":
        if rest[0] == "shininess":
            return f"vec4(gl_{side}Material.shininess, 0.0, 0.0, 1.0)"
        return f"gl_{side}Material.{rest[0]}"
    if word == "light":
        light = f"gl_LightSource[{rest[0]}]"
        if rest[1] == "attenuation":
            return (
                f"vec4({light}.constantAttenuation, {light}.linearAttenuation,"
                f" {light}.quadraticAttenuation, {light}.spotExponent)"
            )
        if rest[1] == "spot":
            return f"vec4({light}.spotDirection, {light}.spotCosCutoff)"
        if rest[1] == "half":
            return f"vec4(normalize({light}.halfVector.xyz), 1.0)"
        return f"{light}.{rest[1]}"
    if word == "lightmodel":
        if rest[0] == "ambient":
            return "gl_LightModel.ambient"
        return f"gl_{side}LightModelProduct.sceneColor"
    if word == "lightprod":
        product = f"gl_{side}LightProduct[{rest[0]}].{rest[1]}"
        return f"vec4({product}.rgb, gl_{side}Material.{rest[1]}.a)"
    if word == "texgen":
        return f"gl_{rest[1].capitalize()}Plane{rest[2].upper()}[{rest[0]}]"
    if word == "texenv":
        return f"gl_TextureEnvColor[{rest[0]}]"
    if word == "fog":
        if rest[0] == "color":
            return "gl_Fog.color"
        return "vec4(gl_Fog.density, gl_Fog.start, gl_Fog.end, gl_Fog.scale)"
    if word == "clip":
        return f"gl_ClipPlane[{rest[0]}]"
    if word == "depth":
        return "vec4(gl_DepthRange.near, gl_DepthRange.far, gl_DepthRange.diff, 1.0)"
    if rest[0] == "size":
        return "vec4(gl_Point.size, gl_Point.sizeMin, gl_Point.sizeMax, gl_Point.fadeThresholdSize)"
    return (
        "vec4(gl_Point.distanceConstantAttenuation, gl_Point.distanceLinearAttenuation,"
        " gl_Point.distanceQuadraticAttenuation, 1.0)"
    )


def translate(program: Program) -> str:
    """Translate a program to GLSL 1.20."""
    return _Translator(program).text()

"""Programs of all stages: each has what the stage before it writes, and does something with it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .resources import add_resources
from .source import Need, Source

__all__ = ["Program", "graphics", "kernel"]

_VARYINGS = (
    "float", "vec2", "vec3", "vec4", "vec4", "int", "ivec3", "uvec4", "double", "dvec2", "mat2",
    "mat4x3", "float[3]", "vec2[2]", "int64_t", "Part",
)  # fmt: skip
_ATTRIBUTES = (
    "float", "vec2", "vec3", "vec4", "vec4", "vec4", "int", "ivec2", "ivec4", "uint", "uvec3",
    "uvec4", "double", "dvec2", "dvec3", "dvec4", "mat2", "mat4", "vec4[2]",
)  # fmt: skip
_EXACT = ("i", "u", "d", "P")  # such types are flat in fragment shaders
_INPUTS = {"points": 1, "lines": 2, "lines_adjacency": 4, "triangles": 3, "triangles_adjacency": 6}


@dataclass(slots=True)
class Program:
    """Sources by stage, what they look for, and how they are drawn with."""

    sources: dict[str, str] = field(default_factory=dict)
    needs: list[Need] = field(default_factory=list)
    uniforms: list[str] = field(default_factory=list)  # letters of the stages
    attributes: list[tuple[int, str]] = field(default_factory=list)  # location and letter of type
    captured: list[str] = field(default_factory=list)
    patches: bool = False
    primitive: str = ""  # that a geometry shader takes
    outputs: str = ""  # letters of the fragment shader's outputs

    def add(self, stage: str, s: Source, main: str) -> None:
        self.sources[stage] = s.text(main)
        self.needs += s.needs
        self.uniforms.append(s.stage)


@dataclass(frozen=True, slots=True)
class Varying:
    """What goes from stage to stage, under a name of each (`va0` of vertex shaders)."""

    number: int
    type: str
    qualifier: str

    def name(self, stage: str) -> str:
        return f"v{stage}{self.number}"

    def declared(self, direction: str, stage: str, array: str = "") -> str:
        base, bracket, size = self.type.partition("[")
        return f"{self.qualifier}{direction} {base} {self.name(stage)}{array}{bracket}{size};"

    def read(self, name: str) -> tuple[str, str]:
        """An expression of a float, or "", and of an integer, or ""."""
        kind = self.type
        if kind == "Part":
            return f"{name}.c[n.x]", f"{name}.b"
        if kind.startswith("mat"):
            return f"{name}[n.x & 1].y", ""
        if kind == "float[3]":
            return f"{name}[n.y]", ""
        if kind == "vec2[2]":
            return f"{name}[n.z][n.w & 1]", ""
        if kind in ("float", "double"):
            return f"float({name})", ""
        if kind.startswith(("vec", "dvec")):
            return f"float({name}.y)", ""
        return "", f"int({name}{'.y' if 'vec' in kind else ''})"

    def written(self, s: Source) -> str:
        """An expression for it."""
        kind = self.type
        if kind == "Part":
            return s.filled("Part($f3, $i, float[2]($f, $f))", 1)
        if "[" in kind:
            base, count = kind[:-1].split("[")
            parts = ", ".join(["$f" if base == "float" else "$f2"] * int(count))
            return s.filled(f"{kind}({parts})", 1)
        return s.filled(f"{kind}({_PARTS.get(kind, '$f')})", 1)


_PARTS = {
    "int": "$i", "int64_t": "$l", "double": "$d", "vec2": "$f2", "vec3": "$f3", "vec4": "$f4",
    "ivec3": "$i3", "uvec4": "$u4", "dvec2": "$d2", "mat2": "$f2, $f2", "mat4x3": "$f, $f",
}  # fmt: skip
_PARTS["mat4x3"] = "$f3, $f3, $f3, $f3"


def _varyings(r: random.Random, count: int) -> list[Varying]:
    found = []
    for number in range(count):
        kind = r.choice(_VARYINGS)
        exact = kind.startswith(_EXACT)
        qualifier = "flat " if exact else r.choice(["", "", "", "flat ", "noperspective ",
                                                    "centroid ", "sample "])  # fmt: skip
        found.append(Varying(number, kind, qualifier))
    return found


def _take(s: Source, varyings: list[Varying], stage: str, array: str = "") -> None:
    """Declares inputs, and lets expressions read them; arrays of them by vertex."""
    for varying in varyings:
        s.declare(varying.declared("in", stage, array))
        name = varying.name(stage)
        at = f"{name}[{s.r.choice(['0', 'n.x & 1', 'n.y', 'u_ints[1].x'])}]" if array else name
        real, whole = varying.read(at)
        s.reals += [real] if real else []
        s.whole += [whole] if whole else []


def _give(s: Source, varyings: list[Varying], at: str = "") -> str:
    """Statements that write outputs, some of which may stay unwritten."""
    stage = s.stage
    lines = []
    for varying in varyings:
        if s.r.random() < 0.93:
            lines.append(f"{varying.name(stage)}{at} = {varying.written(s)};")
    return " ".join(lines)


_START = "vec4 f = vec4($f, $f, $f, $f); ivec4 n = ivec4($i, $i, $i, $i);"


def _start(s: Source, first: str = "vec4(0.5, -0.25, 3.0, 1.0)") -> str:
    """The locals that statements work with."""
    reals = [s.r.choice(s.reals) if s.reals else "u_floats[0].x" for _ in range(2)]
    whole = [s.r.choice(s.whole) if s.whole else "u_ints[0].y" for _ in range(2)]
    return (
        f"vec4 f = {first}; ivec4 n = ivec4(1, 2, 3, 0); n += u_ints[0]; f += u_floats[1];\n"
        f"    n.xy += ivec2({whole[0]}, {whole[1]}); f.zw += vec2({reals[0]}, {reals[1]});\n    "
    )


_PLACES = (
    "vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1 & 1) * 2 - 1, 0.0, 1.0)",
    "vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0.25, 1.0)",
    "vec4(fract(vec3(0.37, 0.73, 0.11) * float(gl_VertexID + gl_InstanceID)) * 2.2 - 1.1, 1.0)",
    "vec4(fract(vec3(0.37, 0.73, 0.11) * float(gl_VertexID)) * 3.0 - 1.5, 1.0 + fract(f.x))",
)


def _position(s: Source) -> str:
    """Where a vertex is: mostly somewhere in the picture."""
    if s.r.random() < 0.2:
        return "gl_Position = f;"
    return f"gl_Position = {s.r.choice(_PLACES)};"


def _specials(s: Source) -> str:
    """Built-in outputs of the stages before rasterization."""
    r, lines = s.r, []
    if r.random() < 0.3:
        lines.append(f"gl_PointSize = {s.expression('f', 1)};")
    if r.random() < 0.15:
        s.declare("out float gl_ClipDistance[3];")
        lines.append(f"gl_ClipDistance[0] = {s.expression('f', 1)}; gl_ClipDistance[n.x & 1] = f.y;"
                     " gl_ClipDistance[2] = 1.0;")  # fmt: skip
    if r.random() < 0.1:
        s.declare("out float gl_CullDistance[2];")
        lines.append(f"gl_CullDistance[0] = {s.expression('f', 1)}; gl_CullDistance[1] = f.z;")
    if r.random() < 0.2:
        if s.stage != "g":
            s.extensions.add("ARB_shader_viewport_layer_array")
        lines.append(f"gl_Layer = {s.expression('i', 1)}; gl_ViewportIndex = {s.index()};")
    return " ".join(lines)


def _vertex(p: Program, s: Source, out: list[Varying], size: int) -> None:
    s.whole += ["gl_VertexID", "gl_InstanceID", "gl_BaseVertex", "gl_BaseInstance", "gl_DrawID"]
    location = 0
    for _ in range(s.r.randrange(5)):
        kind = s.r.choice(_ATTRIBUTES)
        name = s.fresh("in")
        base, bracket, count = kind.partition("[")
        s.declare(f"layout(location = {location}) in {base} {name}{bracket}{count};")
        letter = base[0] if base[0] in "iud" else "f"
        columns = int(base[3]) if base.startswith("mat") else 2 if bracket else 1
        p.attributes += [(location + k, letter) for k in range(columns)]
        location += 2 * columns if base in ("dvec3", "dvec4") else columns
        at = f"{name}[n.x & 1]" if columns > 1 else name
        wide = "vec" in base or columns > 1
        text = f"{'int' if letter in 'iu' else 'float'}({at}{'.x' if wide else ''})"
        (s.whole if letter in "iu" else s.reals).append(text)
    for varying in out:
        s.declare(varying.declared("out", "v"))
    s.declare("out gl_PerVertex { vec4 gl_Position; float gl_PointSize; };")
    s.declared = [d for d in s.declared if "gl_PerVertex" not in d]
    main = _start(s) + s.body(size) + f"\n    {_position(s)} {_specials(s)}\n    {_give(s, out)}"
    p.add("VERTEX", s, main)


def _control(p: Program, s: Source, given: list[Varying], out: list[Varying], size: int) -> None:
    s.loose = False
    s.whole += ["gl_InvocationID", "gl_PrimitiveID", "gl_PatchVerticesIn"]
    s.reals += ["gl_in[n.x].gl_Position.y", "gl_in[1].gl_PointSize"]
    _take(s, given, "v", "[]")
    s.declare(f"layout(vertices = {s.r.choice((1, 2, 3, 4, 4, 7))}) out;")
    for varying in out:
        s.declare(varying.declared("out", "c", "[]"))
    s.declare("patch out vec4 vc_patch; patch out ivec2 vc_counts[2];")
    own = s.r.choice(["gl_InvocationID", "n.x"])
    levels = [
        s.expression("f", 0) if s.r.random() < 0.1 else s.r.choice(["1.0", "2.0", "3.5"])
        for _ in range(6)
    ]
    main = (
        _start(s)
        + s.body(size)
        + f"\n    gl_out[gl_InvocationID].gl_Position = gl_in[{own}].gl_Position;"
        f"\n    {_give(s, out, '[gl_InvocationID]')}"
        + "".join(f"\n    gl_TessLevelOuter[{k}] = {levels[k]};" for k in range(4))
        + f"\n    gl_TessLevelInner[0] = {levels[4]}; gl_TessLevelInner[n.y & 1] = {levels[5]};"
        + f"\n    vc_patch = f; vc_patch[{s.index()}] = f.x; vc_counts[{s.index()}] = n.xy;"
        + ("\n    barrier(); f.x = gl_out[n.z].gl_Position.x;" if s.r.random() < 0.5 else "")
    )
    p.add("TESS_CONTROL", s, main)


def _evaluation(
    p: Program, s: Source, given: list[Varying], before: str, out: list[Varying], size: int
) -> None:
    r = s.r
    s.whole += ["gl_PrimitiveID", "gl_PatchVerticesIn"]
    s.reals += ["gl_TessCoord.x", "gl_TessCoord.y", "gl_in[n.x].gl_Position.x"]
    s.reals += ["gl_TessLevelOuter[n.x]", "gl_TessLevelInner[1]"]
    _take(s, given, before, "[]")
    if before == "c":
        s.declare("patch in vec4 vc_patch; patch in ivec2 vc_counts[2];")
        s.reals.append("vc_patch[n.x]")
        s.whole.append("vc_counts[n.y].x")
    domain = r.choice(["triangles", "quads", "isolines"])
    spacing = r.choice(["equal_spacing", "fractional_even_spacing", "fractional_odd_spacing"])
    more = r.choice(["", ", cw", ", point_mode"])
    s.declare(f"layout({domain}, {spacing}{more}) in;")
    for varying in out:
        s.declare(varying.declared("out", "e"))
    place = r.choice(["vec4(gl_TessCoord.xy * 2.0 - 1.0, 0.0, 1.0)", "gl_in[0].gl_Position",
                      "mix(gl_in[0].gl_Position, gl_in[n.x & 3].gl_Position, gl_TessCoord.x)",
                      "f"])  # fmt: skip
    main = (
        _start(s) + s.body(size) + f"\n    gl_Position = {place}; {_specials(s)}"
        f"\n    {_give(s, out)}"
    )
    p.add("TESS_EVALUATION", s, main)


def _geometry(
    p: Program, s: Source, given: list[Varying], before: str, out: list[Varying], size: int
) -> None:
    r = s.r
    if "TESS_EVALUATION" in p.sources:
        text = p.sources["TESS_EVALUATION"]
        p.primitive = "points" if "point_mode" in text else "lines" if "isolines" in text else ""
        p.primitive = p.primitive or "triangles"
    else:
        p.primitive = r.choice([*_INPUTS])
    s.whole += ["gl_PrimitiveIDIn", "gl_InvocationID"]
    s.reals += ["gl_in[n.x].gl_Position.x", "gl_in[0].gl_Position.y"]
    most = r.choice((1, 3, 4, 8, 33))
    streams = r.random() < 0.15
    kind = "points" if streams else r.choice(["points", "line_strip", "triangle_strip"])
    calls = f", invocations = {r.choice((2, 5))}" if r.random() < 0.2 else ""
    s.declare(f"layout({p.primitive}{calls}) in; layout({kind}, max_vertices = {most}) out;")
    _take(s, given, before, "[]")
    for varying in out:
        s.declare(varying.declared("out", "g"))
    if streams:
        s.declare("layout(stream = 1) out vec4 vg_other;")
    emit = "EmitStreamVertex(0); vg_other = f; EmitStreamVertex(1);" if streams else "EmitVertex();"
    ends = "EndStreamPrimitive(1);" if streams else "EndPrimitive();"
    count = r.choice([str(min(most, 3)), str(most), str(most + 2), "(n.x & 7)"])
    place = r.choice(["gl_in[0].gl_Position + vec4(q & 1, q >> 1, 0, 0)", "gl_in[q].gl_Position",
                      "vec4(ivec2(q & 1, q >> 1) * 2 - 1, 0, 1)", "f"])  # fmt: skip
    id_ = "gl_PrimitiveID = n.x;" if r.random() < 0.3 else ""
    main = (
        _start(s)
        + s.body(size)
        + f"\n    for (int q = 0; q < {count}; q++) {{\n        gl_Position = {place}; "
        f"{_specials(s)} {id_}\n        {_give(s, out)}\n        {emit}\n"
        f"        if ((q & 3) == n.y) {{ {ends} }}"
        f" {s.statement(1)}\n    }}\n    {ends}"
    )
    p.add("GEOMETRY", s, main)


def _fragment(p: Program, s: Source, given: list[Varying], before: str, size: int) -> None:
    r = s.r
    s.reals += ["gl_FragCoord.x", "gl_FragCoord.z", "gl_FragCoord.w", "gl_PointCoord.x"]
    s.whole += ["gl_PrimitiveID", "int(gl_FragCoord.x)", "int(gl_FrontFacing)", "gl_Layer"]
    s.whole += ["gl_ViewportIndex", "int(gl_HelperInvocation)"]
    if r.random() < 0.25:
        s.whole += ["gl_SampleID", "gl_SampleMaskIn[0]", "gl_NumSamples"]
        s.reals.append("gl_SamplePosition.x")
    _take(s, given, before)
    smooth = [v for v in given if not v.qualifier.startswith("flat") and v.type.startswith("vec")
              and "[" not in v.type]  # fmt: skip
    for varying in smooth[:2]:
        name = varying.name(before)
        s.reals.append(f"interpolateAtOffset({name}, vec2(u_floats[2].xy)).y")
        s.reals.append(f"interpolateAtSample({name}, n.x).x")
        s.reals.append(f"interpolateAtCentroid({name}).x")
    if r.random() < 0.15:
        s.declare("layout(early_fragment_tests) in;")
    if r.random() < 0.08:
        s.extensions.add("ARB_fragment_shader_interlock")
        s.declare("layout(pixel_interlock_ordered) in;")
    dual = r.random() < 0.08
    fetch = not dual and r.random() < 0.1
    writes, places = [], ["0", "0"] if dual else [str(k) for k in range(r.choice((0, 1, 1, 2, 4)))]
    for number, place in enumerate(places):
        kind = r.choice("ffffiu")
        p.outputs += kind
        base = {"f": "vec4", "i": "ivec4", "u": "uvec4"}[kind]
        index = f", index = {number}" if dual else ""
        s.declare(
            f"layout(location = {place}{index}) {'inout' if fetch else 'out'} {base} o{number};"
        )
        value = f"{base}({'f' if kind == 'f' else 'n'})"
        writes.append(f"o{number} {'+=' if fetch else '='} {value};")
    if fetch:
        s.extensions.add("EXT_shader_framebuffer_fetch")
    early = "early_fragment_tests" in "".join(s.declared)
    if r.random() < 0.2 and not early:
        s.declare(r.choice(["", "layout(depth_greater) out float gl_FragDepth;"]))
        writes.append("gl_FragDepth = f.z;")
    if r.random() < 0.12 and not early:
        writes.append(f"gl_SampleMask[0] = {s.expression('i', 1)};")
    if r.random() < 0.08 and not early:
        s.extensions.add("ARB_shader_stencil_export")
        writes.append("gl_FragStencilRefARB = n.x;")
    body = s.body(size)
    if "ARB_fragment_shader_interlock" in s.extensions:
        s.loose = False
        body += f"\n    beginInvocationInterlockARB();\n    {s.statement(1)}\n" + (
            "    endInvocationInterlockARB();"
        )
    main = _start(s) + body + "\n    " + " ".join(writes)
    p.add("FRAGMENT", s, main)


def graphics(r: random.Random, known: list[tuple[str, str, str]]) -> Program:
    """A program to draw with."""
    p = Program()
    size = lambda: r.choice((0, 1, 2, 2, 3, 5))  # noqa: E731

    def source(letter: str) -> Source:
        s = Source(r, letter)
        add_resources(s, known, r.choice((0, 1, 2, 3) if letter != "f" else (1, 2, 3, 4)))
        return s

    varyings = _varyings(r, r.randrange(5))
    _vertex(p, source("v"), varyings, size())
    last, before = varyings, "v"
    p.patches = r.random() < 0.25
    if p.patches:
        if r.random() < 0.8:
            last = _varyings(r, r.randrange(4))
            _control(p, source("c"), varyings, last, size())
            before = "c"
        given, last = last, _varyings(r, r.randrange(4))
        _evaluation(p, source("e"), given, before, last, size())
        before = "e"
    if r.random() < 0.25:
        given, last = last, _varyings(r, r.randrange(4))
        _geometry(p, source("g"), given, before, last, size())
        before = "g"
    if r.random() < 0.95:
        _fragment(p, source("f"), last, before, size())
    if r.random() < 0.25:
        names = [v.name(before) for v in last if v.type != "Part"]
        p.captured = [*names[:3], "gl_Position"]
        if r.random() < 0.3:
            p.captured.insert(1, "gl_SkipComponents2")
        if r.random() < 0.3:
            p.captured.insert(1, "gl_NextBuffer")
    return p


def kernel(r: random.Random, known: list[tuple[str, str, str]]) -> Program:
    """A program to dispatch."""
    p = Program()
    s = Source(r, "k")
    s.whole += ["int(gl_GlobalInvocationID.x)", "int(gl_LocalInvocationIndex)"]
    s.whole += ["int(gl_WorkGroupID.y)", "int(gl_NumWorkGroups.x)", "int(gl_LocalInvocationID.x)"]
    add_resources(s, known, r.choice((2, 3, 4)))
    if r.random() < 0.15:
        s.extensions.add("ARB_compute_variable_group_size")
        s.declare("layout(local_size_variable) in;")
    else:
        sizes = r.choice([(1, 1, 1), (4, 1, 1), (16, 1, 1), (4, 4, 1), (3, 5, 2), (64, 1, 1),
                          (33, 1, 1)])  # fmt: skip
        axes = zip("xyz", sizes, strict=True)
        s.declare(f"layout({', '.join(f'local_size_{axis} = {size}' for axis, size in axes)}) in;")
    p.add("COMPUTE", s, _start(s) + s.body(r.choice((2, 4, 6))))
    return p

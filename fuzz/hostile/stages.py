"""Programs of all stages: each has what the stage before it writes, and does something with it.

The rules of `shaders.txt` write what stands in `main`; what is declared for it gathers here.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from fuzz.grammar import Grammar

from . import numbers
from .tables import IMAGE_FORMATS, TARGETS, Shape

UNITS = 8  # of textures, images and blocks each
_VECTORS = {"f": "vec", "i": "ivec", "u": "uvec", "b": "bvec", "d": "dvec", "w": "ivec"}
_INPUTS = ("points", "lines", "lines_adjacency", "triangles", "triangles_adjacency")
_ATTRIBUTES = """float vec2 vec3 vec4 vec4 vec4 int ivec2 ivec4 uint uvec3 uvec4 double dvec2 dvec3
dvec4 mat2 mat4 vec4[2]"""
# What goes from stage to stage: the type, a float and an integer of it, and how it is written.
_VARYINGS = [
    tuple(cell.strip() for cell in line.split("|"))
    for line in """
float    | float(V)          |        | float($f)
vec2     | float(V.y)        |        | $f2
vec3     | float(V.y)        |        | $f3
vec4     | float(V.y)        |        | $f4
vec4     | float(V.y)        |        | $f4
int      |                   | int(V) | int($i)
ivec3    |                   | int(V.y) | $i3
uvec4    |                   | int(V.y) | $u4
double   | float(V)          |        | double($d)
dvec2    | float(V.y)        |        | $d2
mat2     | V[n.x & 1].y      |        | mat2($f2, $f2)
mat4x3   | V[n.x & 1].y      |        | mat4x3($f3, $f3, $f3, $f3)
float[3] | V[n.y]            |        | float[3]($f, $f, $f)
vec2[2]  | V[n.z][n.w & 1]   |        | vec2[2]($f2, $f2)
int64_t  |                   | int(V) | int64_t($l)
Part     | V.c[n.x]          | V.b    | Part($f3, $i, float[2]($f, $f))
""".strip().splitlines()
]
_INPUTS_OF = {
    "v": "gl_VertexID gl_InstanceID gl_BaseVertex gl_BaseInstance gl_DrawID",
    "c": "gl_InvocationID gl_PrimitiveID gl_PatchVerticesIn "
    "=gl_in[n.x].gl_Position.y =gl_in[1].gl_PointSize",
    "e": "gl_PrimitiveID gl_PatchVerticesIn =gl_TessCoord.x =gl_TessCoord.y "
    "=gl_in[n.x].gl_Position.x =gl_TessLevelOuter[n.x] =gl_TessLevelInner[1]",
    "g": "gl_PrimitiveIDIn gl_InvocationID =gl_in[n.x].gl_Position.x =gl_in[0].gl_Position.y",
    "f": "gl_PrimitiveID int(gl_FragCoord.x) int(gl_FrontFacing) gl_Layer gl_ViewportIndex "
    "int(gl_HelperInvocation) =gl_FragCoord.x =gl_FragCoord.z =gl_FragCoord.w =gl_PointCoord.x",
    "k": "int(gl_GlobalInvocationID.x) int(gl_LocalInvocationIndex) int(gl_WorkGroupID.y) "
    "int(gl_NumWorkGroups.x) int(gl_LocalInvocationID.x)",
}
"""built-in inputs by stage; a sign before those that are floats"""
_OFTEN = 50
"""weight of all statements but those about resources"""


@cache
def grammar() -> Grammar:
    return Grammar(Path(__file__).with_name("shaders.txt").read_text(), "\n    ", dollars=True)


class Need(NamedTuple):
    """What should be bound where a stage looks: `kind` is sampler, image, or a target of buffers.

    `count` units from `first` on, of textures of `target`, whose texels are `texels` (a kind of
    samplers, the format of images).
    """

    kind: str
    first: int
    count: int = 1
    target: str = ""
    texels: str = ""


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
    domain: str = ""  # what tessellation makes
    variable: bool = False  # the group's size is given when it is dispatched


class Varying(SimpleNamespace):
    """What goes from stage to stage, under a name of each (`vv0` of vertex shaders)."""

    def declared(self, direction: str, stage: str, array: str = "") -> str:
        base, bracket, size = self.type.partition("[")
        name = f"v{stage}{self.number}"
        return f"{self.qualifier}{direction} {base} {name}{array}{bracket}{size};"


class Stage:
    """A stage being written: `stage` is a letter (v, c, e, g, f; k of kernels)."""

    def __init__(self, r: random.Random, letter: str, p: Program) -> None:
        self.r, self.stage, self.p = r, letter, p
        given = _INPUTS_OF[letter].split()
        self.reals = [word[1:] for word in given if word[0] == "="]
        self.whole = [word for word in given if word[0] != "="]
        self.declared: list[str] = []
        self.extensions: set[str] = set()
        self.uses: list[tuple[int, str, dict[str, Any]]] = []
        self.loose = letter != "c"  # statements may leave early
        self.inside = False
        self.made = 0
        self.depth = 1

    # -- words ---------------------------------------------------------------------------------

    def often(self, chance: float) -> bool:
        return self.r.random() < chance

    def number(self, stop: int) -> int:
        return self.r.randrange(stop)

    def k(self) -> int:
        return self.number(9)

    def n(self) -> int:
        return self.r.choice((1, 2, 3, 4, 7, 16, 33))

    def c(self) -> str:
        return self.r.choice("xyzw")

    def w(self) -> str:
        return self._write("index")

    def m(self, size: int) -> str:
        return f"mat{size}({', '.join(self.vec('f', size) for _ in range(size))})"

    def f(self, size: int = 1) -> str:
        return self.vec("f", size)

    def i(self, size: int = 1) -> str:
        return self.vec("i", size)

    def u(self, size: int = 1) -> str:
        return self.vec("u", size)

    def b(self, size: int = 1) -> str:
        return self.vec("b", size)

    def d(self, size: int = 1) -> str:
        return self.vec("d", size)

    def l(self, size: int = 1) -> str:  # noqa: E743
        return self.vec("l", size)

    def vec(self, kind: str, size: int) -> str:
        """An expression of a scalar or a vector."""
        if size > 1:
            parts = [self.vec(kind, 1) for _ in range(size if self.often(0.7) else 1)]
            if kind == "w":
                parts += [self.w() for _ in range(size - len(parts))]
            return f"{_VECTORS[kind]}{size}({', '.join(parts)})"
        if kind == "w":
            return self.w()
        if self.depth <= 0 or self.often(0.3):
            return self._write(f"{kind}_atom")
        self.depth -= 1
        text = self._write(f"{kind}_of")
        self.depth += 1
        return f"({text})"

    def s(self, inside: int = 1) -> str:
        """A statement; inside others simpler ones."""
        before, self.inside, self.depth = (self.inside, self.depth), bool(inside), 2 - inside
        uses = [(weight, use) for weight, *use in self.uses] + [(_OFTEN, ["statement", {}])]
        ((rule, known),) = self.r.choices([use for _, use in uses], [weight for weight, _ in uses])
        text = self._write(rule, **known)
        self.inside, self.depth = before
        return text

    def integer(self) -> int:
        return numbers.integer(self.r)

    def real(self) -> str:
        return self.r.choice(numbers.FLOATS)

    def bits(self) -> str:
        return hex(self.r.choice(numbers.BITS))

    def literal(self) -> str:
        value = self.integer()
        return f"({value + 1} - 1)" if value == -(1 << 31) else f"({value})"

    def shift(self, size: int) -> str:
        """A constant offset."""
        values = [str(self.r.randrange(-8, 8)) for _ in range(size)]
        return values[0] if size == 1 else f"ivec{size}({', '.join(values)})"

    def declare(self, text: str) -> None:
        self.declared.append(text)

    def need(self, extension: str) -> None:
        self.extensions.add(extension)

    def interlock(self) -> None:
        self.need("ARB_fragment_shader_interlock")
        self.declare("layout(pixel_interlock_ordered) in;")
        self.loose = False

    def fresh(self, what: str) -> str:
        """A name that no other stage has."""
        self.made += 1
        return f"{what}_{self.stage}{self.made}"

    def _write(self, rule: str, **known: Any) -> str:
        return grammar().write(rule, self, **known)

    # -- inputs and outputs --------------------------------------------------------------------

    def attributes(self) -> None:
        location = 0
        for _ in range(self.number(5)):
            kind, name = self.r.choice(_ATTRIBUTES.split()), self.fresh("in")
            base, bracket, count = kind.partition("[")
            self.declare(f"layout(location = {location}) in {base} {name}{bracket}{count};")
            letter = base[0] if base[0] in "iud" else "f"
            columns = int(base[3]) if base.startswith("mat") else 2 if bracket else 1
            self.p.attributes += [(location + k, letter) for k in range(columns)]
            location += 2 * columns if base in ("dvec3", "dvec4") else columns
            at = f"{name}[n.x & 1]" if columns > 1 else name
            wide = ".x" if "vec" in base or columns > 1 else ""
            into = self.whole if letter in "iu" else self.reals
            into.append(f"{'int' if letter in 'iu' else 'float'}({at}{wide})")

    def take(self, varyings: list[Varying], before: str, array: str = "") -> None:
        """Declares inputs, and lets expressions read them; arrays of them by vertex."""
        for varying in varyings:
            self.declare(varying.declared("in", before, array))
            name = f"v{before}{varying.number}"
            if array:
                name += f"[{self.r.choice(['0', 'n.x & 1', 'n.y', 'u_ints[1].x'])}]"
            self.reals += [varying.real.replace("V", name)] if varying.real else []
            self.whole += [varying.whole.replace("V", name)] if varying.whole else []

    def give(self, varyings: list[Varying], at: str = "") -> str:
        """Statements that write outputs, some of which may stay unwritten."""
        lines = []
        for varying in varyings:
            self.declare(varying.declared("out", self.stage, "[]" if at else ""))
            if self.often(0.93):
                value = _written(varying.written)({"w": self})
                lines.append(f"v{self.stage}{varying.number}{at} = {value};")
        return " ".join(lines)

    def outputs(self, dual: bool, fetch: bool) -> str:
        """Colours of a fragment shader."""
        places = ["0", "0"] if dual else [str(k) for k in range(self.r.choice((0, 1, 1, 2, 4)))]
        writes = []
        for number, place in enumerate(places):
            base = self.r.choice(("vec4",) * 4 + ("ivec4", "uvec4"))
            index = f", index = {number}" if dual else ""
            direction = "inout" if fetch else "out"
            self.declare(f"layout(location = {place}{index}) {direction} {base} o{number};")
            value = f"{base}({'f' if base == 'vec4' else 'n'})"
            writes.append(f"o{number} {'+=' if fetch else '='} {value};")
        return " ".join(writes)

    # -- resources -----------------------------------------------------------------------------

    def resources(self, known: list[tuple[str, str, str]], count: int) -> None:
        """Some resources; `known` are textures there are: target, kind and format."""
        makers = (self._sampler, self._image, self._storage, self._uniform, self._counter,
                  self._subroutine, self._handle)  # fmt: skip
        for _ in range(count):
            there = self.r.choice(known) if known and self.often(0.7) else None
            self.r.choices(makers, (40, 15, 20, 13, 6, 3, 3))[0](there)

    def _several(self, letter: str, most: int) -> tuple[str, int, int, str]:
        """A name, the first unit, how many, and the array's brackets."""
        count = self.r.choice((1, 1, 1, 2, most))
        return self.fresh(letter), self.number(UNITS - count + 1), count, f"[{count}]" * (count > 1)

    def _sampler(self, there: Any) -> None:
        target, kind = (there or (self.r.choice([*TARGETS]), self.r.choice(["", "", *"iuz"])))[:2]
        at, (name, first, count, array) = TARGETS[target], self._several("t", 3)
        shadow = kind == "z" and at.plain and at.sampler != "3D" and self.often(0.6)
        letter = kind if kind in "iu" else ""
        text = f"{letter}sampler{at.sampler}{'Shadow' * shadow}"
        self.declare(f"layout(binding = {first}) uniform {text} {name}{array};")
        self.p.needs.append(Need("sampler", first, count, target, kind))
        self._used(5, "sampler_use", name=name, count=count, letter=letter, shadow=shadow, at=at)

    def _used(self, weight: int, rule: str, at: Shape | None = None, **known: Any) -> None:
        if at is not None:
            known |= {
                "at": at,
                "rect": "Rect" in at.sampler,
                "cube": "Cube" in at.sampler,
                "levels": at.plain and "Rect" not in at.sampler,
                "gathers": at.sampler in ("2D", "2DArray", "Cube", "CubeArray", "2DRect"),
            }
        self.uses.append((weight, rule, known))

    def _image(self, there: Any) -> None:
        target, format = (there[0], there[2]) if there else (self.r.choice([*TARGETS]), "")
        if format not in IMAGE_FORMATS:
            format = self.r.choice([*IMAGE_FORMATS])
        if self.often(0.3):
            format = self.r.choice(["R32UI", "R32I", "R32F"])
        at, (name, first, count, array) = TARGETS[target], self._several("m", 3)
        letter = "u" if format.endswith("UI") else "i" if format.endswith("I") else ""
        more = self.r.choice(["", "", "coherent ", "volatile ", "restrict "])
        self.declare(
            f"layout({IMAGE_FORMATS[format]}, binding = {first}) {more}uniform "
            f"{letter}image{at.sampler} {name}{array};"
        )
        self.p.needs.append(Need("image", first, count, target, format))
        self._used(4, "image_use", name=name, count=count, letter=letter, format=format, at=at)

    def _storage(self, there: Any) -> None:
        self._block("storage", "buffer", self.r.choice(["", "coherent ", "volatile "]))

    def _uniform(self, there: Any) -> None:
        self._block("uniform", "uniform", "")

    def _block(self, rule: str, kind: str, more: str) -> None:
        members, (name, first, count, array) = self._write(rule), self._several("b", 3)
        layouts = ["std430", "std430", "std140"] if rule == "storage" else ["std140", "shared"]
        layouts += ["packed"] if rule == "uniform" and count == 1 else []
        self.declare(
            f"layout({self.r.choice(layouts)}, binding = {first}) {more}{kind} {name.title()} "
            f"{{ {self._write(members)} }} {name}{array};"
        )
        target = "SHADER_STORAGE_BUFFER" if rule == "storage" else "UNIFORM_BUFFER"
        self.p.needs.append(Need(target, first, count))
        self._used(4, "block_use", name=name, count=count, members=members)

    def _counter(self, there: Any) -> None:
        name, binding, count = self.fresh("a"), self.number(UNITS), self.r.choice((1, 4))
        place = f"binding = {binding}, offset = {self.r.choice((0, 4, 16, 4000))}"
        self.declare(f"layout({place}) uniform atomic_uint {name}{'[4]' * (count > 1)};")
        self.p.needs.append(Need("ATOMIC_COUNTER_BUFFER", binding))
        self._used(3, "counter_use", name=name, count=count)

    def _subroutine(self, there: Any) -> None:
        known = {"name": self.fresh("r"), "kind": self.fresh("Kind")}
        self.declare(self._write("subroutines", **known))
        self._used(2, "subroutine_use", **known)

    def _handle(self, there: Any) -> None:
        """Samplers and images made of numbers."""
        self.need("ARB_bindless_texture")
        target = self.r.choice(["TEXTURE_1D", "TEXTURE_2D", "TEXTURE_3D", "TEXTURE_CUBE_MAP"])
        name = self.fresh("h")
        self.declare(f"layout(bindless_sampler) uniform sampler2D {name};")
        self._used(3, "handle_use", name=name, at=TARGETS[target])

    def text(self, main: str) -> str:
        """The whole source."""
        head = "".join(f"#extension GL_{name} : require\n" for name in sorted(self.extensions))
        body = self._write("functions") + "\n" + "\n".join(self.declared)
        body += f"\nvoid main() {{\n    {main}\n}}\n"
        body = re.sub(r"\bu_(floats|ints|matrices|doubles|long)\b", rf"u_\1_{self.stage}", body)
        return f"#version 460 core\n{head}#extension GL_ARB_gpu_shader_int64 : require\n{body}"


@cache
def _written(text: str) -> Any:
    return grammar().template(text)


_STAGES = {"v": "VERTEX", "c": "TESS_CONTROL", "e": "TESS_EVALUATION", "g": "GEOMETRY",
           "f": "FRAGMENT", "k": "COMPUTE"}  # fmt: skip
_RULES = {"v": "vertex", "c": "control", "e": "evaluation", "g": "geometry", "f": "fragment",
          "k": "kernel"}  # fmt: skip


def _add(p: Program, w: Stage, size: int, out: list[Varying] | None = None) -> None:
    """The source of a stage."""
    streams = "EmitStreamVertex(0); vg_other = f; EmitStreamVertex(1);"
    main = w._write(
        _RULES[w.stage],
        size=size,
        out=out or [],
        emit=("EmitVertex();", streams),
        ends=("EndPrimitive();", "EndStreamPrimitive(1);"),
    )
    p.sources[_STAGES[w.stage]] = w.text(main)
    p.uniforms.append(w.stage)


def _varyings(r: random.Random, count: int) -> list[Varying]:
    found = []
    for number in range(count):
        kind, real, whole, written = r.choice(_VARYINGS)
        exact = kind.startswith(("i", "u", "d", "P"))  # flat in fragment shaders
        ways = ["", "", "", "flat ", "noperspective ", "centroid ", "sample "]
        found.append(
            Varying(
                number=number,
                type=kind,
                real=real,
                whole=whole,
                written=written,
                qualifier="flat " if exact else r.choice(ways),
            )
        )
    return found


def graphics(r: random.Random, known: list[tuple[str, str, str]]) -> Program:
    """A program to draw with."""
    p, given, before = Program(), _varyings(r, r.randrange(5)), "v"

    def stage(letter: str) -> tuple[Stage, int]:
        w = Stage(r, letter, p)
        w.resources(known, r.choice((0, 1, 2, 3) if letter != "f" else (1, 2, 3, 4)))
        return w, r.choice((0, 1, 2, 2, 3, 5))

    w, size = stage("v")
    w.attributes()
    _add(p, w, size, given)
    p.patches = r.random() < 0.25
    letters = "ce" if p.patches and r.random() < 0.8 else "e" if p.patches else ""
    for letter in letters + "g" * (r.random() < 0.25):
        w, size = stage(letter)
        w.take(given, before, "[]")
        if letter == "e" and before == "c":
            w.declare("patch in vec4 vc_patch; patch in ivec2 vc_counts[2];")
            w.reals.append("vc_patch[n.x]")
            w.whole.append("vc_counts[n.y].x")
        if letter == "g":
            p.primitive = p.domain or r.choice(_INPUTS)
        given, before = _varyings(r, r.randrange(4)), letter
        _add(p, w, size, given)
    if r.random() < 0.95:
        w, size = stage("f")
        if r.random() < 0.25:
            w.whole += ["gl_SampleID", "gl_SampleMaskIn[0]", "gl_NumSamples"]
            w.reals.append("gl_SamplePosition.x")
        w.take(given, before)
        smooth = [v for v in given if v.qualifier != "flat " and v.type in ("vec2", "vec3", "vec4")]
        for name in [f"v{before}{v.number}" for v in smooth[:2]]:
            w.reals.append(f"interpolateAtOffset({name}, vec2(u_floats[2].xy)).y")
            w.reals.append(f"interpolateAtSample({name}, n.x).x")
            w.reals.append(f"interpolateAtCentroid({name}).x")
        _add(p, w, size)
    if r.random() < 0.25:
        names = [f"v{before}{v.number}" for v in given if v.type != "Part"]
        p.captured = [*names[:3], "gl_Position"]
        for special in ("gl_SkipComponents2", "gl_NextBuffer"):
            if r.random() < 0.3:
                p.captured.insert(1, special)
    return p


def kernel(r: random.Random, known: list[tuple[str, str, str]]) -> Program:
    """A program to dispatch."""
    p = Program()
    w = Stage(r, "k", p)
    w.resources(known, r.choice((2, 3, 4)))
    _add(p, w, r.choice((2, 4, 6)))
    return p

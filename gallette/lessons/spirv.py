"""Lesson: GLSL to NIR to SPIR-V, and back."""

from __future__ import annotations

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.glsl.link.program import LinkOptions
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import FRONT_END
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.spirv.disassembler import disassemble
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import Module, read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir
from gallette.lessons.page import Code, Diff, Page, Pictures, Table, lesson
from gallette.lessons.plots import bars

__all__ = ["SOURCE", "census", "round_trip"]

SOURCE = """#version 450
layout(location = 0) in vec2 place;
layout(location = 0) out vec4 color;
layout(std140, binding = 0) uniform Light { vec4 tint; float levels[4]; };
float step_of(float x)
{
    float total = 0.0;
    for (int i = 0; i < 4; i++) {
        if (levels[i] > x) break;
        total += 0.25;
    }
    return total;
}
void main()
{
    precise float wave = sin(place.x) * 0.5 + 0.5;
    color = tint * step_of(wave);
}
"""
_SAYS: list[tuple[str, str, str, str]] = [
    ("files and lines", "yes", "lines", "OpString, OpLine"),
    ("names", "yes", "of variables and functions", "OpName, for debuggers only"),
    ("loops and branches", "statements", "If and Loop", "branches, and merge instructions"),
    ("memory layout", "std140, std430", "in the types", "Offset, ArrayStride, MatrixStride"),
    ("what may be reordered", "precise", "exact instructions", "NoContraction, per instruction"),
    ("constants known later", "no", "no", "specialisation constants"),
    ("values of structs, arrays", "yes", "no: variables", "yes"),
    ("atan2, mix, refract", "functions", "a few instructions", "GLSL.std.450"),
    ("swizzles and modifiers", "swizzles", "on every source", "OpVectorShuffle"),
    ("what a machine has", "no", "caps, lowering passes", "no"),
]


def front_form(source: str, stage: Stage = Stage.FRAGMENT) -> Shader:
    """A shader in SSA form whose interface is still variables: what SPIR-V can say."""
    compiled = compile_shader(stage, [source], CompileOptions(), ["lesson.frag"])
    assert compiled.ok, compiled.info_log
    linked = link_program([compiled], LinkOptions(separable=True, optimize=False))
    assert linked.ok, linked.info_log
    shader = linked.shaders[stage]
    run_passes(shader, FRONT_END)
    optimize(shader)
    return shader


def round_trip(shader: Shader) -> tuple[Module, Shader]:
    """The module, and what comes back, brought into the same form."""
    module = read_module(nir_to_spirv(shader, "lesson.frag").to_bytes())
    back = spirv_to_nir(module)
    run_passes(back, FRONT_END)
    optimize(back)
    return module, back


def census(module: Module) -> dict[str, int]:
    """Instructions by what they are for."""
    groups = {"names": 0, "types": 0, "facts": 0, "lines": 0, "code": 0}
    inside = False
    for i in module.instructions:
        inside = inside or i.name == "OpFunction"
        if i.name in ("OpName", "OpMemberName"):
            groups["names"] += 1
        elif i.name in ("OpLine", "OpNoLine", "OpString"):
            groups["lines"] += 1
        elif inside:
            groups["code"] += 1
        elif i.name.startswith(("OpType", "OpConstant", "OpVariable")):
            groups["types"] += 1
        else:
            groups["facts"] += 1
    return groups


@lesson("spirv", "SPIR-V: an interchange format beside an IR", chapter="The compiler", place=40)
def run(page: Page, driver: str) -> None:
    """What compilers hand to each other is not what one compiler thinks in.

    One shader from GLSL to NIR to SPIR-V and back, and what each of the three can and cannot say.
    """
    page.section(
        "Two formats",
        """NIR is what gallette optimises and lowers: it changes with every pass and with every
        version. SPIR-V is what other compilers write and other drivers read: it is fixed, binary,
        and says everything about a module without the program that made it.""",
    )
    page.add(Code(SOURCE.strip(), "glsl", "the shader"))
    shader = front_form(SOURCE)
    before = print_shader(shader)
    page.add(Code(before, "nir", "NIR, before slots and offsets replace variables"))
    page.progress("round trip")
    module, back = round_trip(shader)
    page.add(Code(disassemble(module), "spirv", "SPIR-V, as the standard tools write it"))
    page.section(
        "And back",
        """Reading it again makes derefs of access chains, an If and a Loop of branches and merge
        instructions, exact instructions of NoContraction. What differs is what one of the formats
        cannot say, or says otherwise.""",
    )
    page.add(Diff(before, print_shader(back), "before (-), after the round trip (+)"))
    rows: list[tuple[str, ...]] = [
        ("NIR", str(shader.count_instrs()), ""),
        ("SPIR-V", str(len(module.instructions)), f"{len(module.to_bytes())} bytes"),
        ("NIR again", str(back.count_instrs()), ""),
    ]
    page.add(Table(("form", "instructions", ""), rows))
    found = census(module)
    most = float(max(found.values()))
    picture = bars(
        list(found), [float(v) for v in found.values()], [(0.0, "0"), (most, f"{most:g}")]
    )
    page.add(Pictures([("what a module's instructions are for", picture)]))
    page.section(
        "What each can say",
        """SPIR-V names types and constants once and then numbers everything; a value may be a whole
        struct. NIR has no value larger than a vector, so that every pass is simple; structs and
        arrays live in variables until they become SSA values or addresses.""",
    )
    page.add(Table(("", "GLSL", "NIR", "SPIR-V"), [tuple(row) for row in _SAYS]))
    for one in (shader, back):
        one.unref()
    page.ask(
        "Why do SPIR-V's branches need merge instructions, when NIR's do not?",
        """They say where the ways meet again, which a machine with an execution mask must know.
        In NIR that is the shape of the tree: what stands behind an If.""",
    )
    page.ask(
        "Kernels of OpenCL come without merge instructions. What then?",
        """The reader finds loops and meeting points by dominance and adds them
        (`compiler/spirv/read/cfg.py`).""",
    )
    page.tries(
        ("gallette spirv shader.frag --via", "the NIR above the module"),
        ("gallette spirv module.spv --to nir", "what NIR makes of anybody's module"),
        ("gallette spirv edited.spvasm -o edited.spv", "assemble a text that you have changed"),
    )

"""The lesson: a pass from the first line to the checks that it has to pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gallette.compiler.errors import ValidationError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.metadata import check_metadata
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

SUBJECT = """shader fragment "subject"
function main () entry
impl main {
    32 %zero = load_const (0x0)
    32x4 %a = @load_input (%zero) (location=VARYING.VAR0)
    32x4 %b = @load_input (%zero) (location=VARYING.VAR1)
    32x2 %difference = fsub %a.zw, %b.yx
    32x2 %twice = fadd %difference, %difference
    @store_output (%twice, %zero) (write_mask=xy, location=FRAG.DATA0)
}
"""


def lower_fsub(shader: Shader) -> bool:
    """`fsub a, b` becomes `fadd a, fneg b`, for machines that cannot subtract."""
    progress = False
    for impl in shader.impls():
        for instr in instrs_of(impl):  # safe against removal of the current instruction
            if isinstance(instr, Alu) and instr.op.name == "fsub":
                b = Builder(impl).at_before(instr)
                x, y = (b.swizzle(src.value, src.swizzle) for src in instr.srcs)
                instr.replace_by(b.fadd(x, b.fneg(y)))
                progress = True
    return progress


def forgets_the_swizzle(shader: Shader) -> bool:
    """A wrong pass: it takes values without the swizzle with which the instruction reads them."""
    progress = False
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if isinstance(instr, Alu) and instr.op.name == "fsub":
                b = Builder(impl).at_before(instr)
                x, y = (src.value for src in instr.srcs)
                width = instr.result.num_components
                whole = b.fadd(x, b.fneg(y))
                instr.replace_by(b.swizzle(whole, tuple(range(width))))
                progress = True
    return progress


def builds_behind(shader: Shader) -> bool:
    """A wrong pass: it inserts the new instructions after the users of the old one."""
    progress = False
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if isinstance(instr, Alu) and instr.op.name == "fsub":
                b = Builder(impl)  # at the end of the function
                x, y = (b.swizzle(src.value, src.swizzle) for src in instr.srcs)
                instr.replace_by(b.fadd(x, b.fneg(y)))
                progress = True
    return progress


def negates_the_wrong_one(shader: Shader) -> bool:
    """A wrong pass: the code is valid, but computes `fadd fneg a, b`."""
    progress = False
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if isinstance(instr, Alu) and instr.op.name == "fsub":
                b = Builder(impl).at_before(instr)
                x, y = (b.swizzle(src.value, src.swizzle) for src in instr.srcs)
                instr.replace_by(b.fadd(b.fneg(x), y))
                progress = True
    return progress


def keeps_quiet(shader: Shader) -> bool:
    """A wrong pass: it makes the change, and returns that nothing changed."""
    lower_fsub(shader)
    return False


Pass = Callable[[Shader], bool]
ATTEMPTS: tuple[tuple[str, Pass, str], ...] = (
    ("right", lower_fsub, "Nothing to complain about, and a second run makes no progress."),
    (
        "forgets the swizzle",
        forgets_the_swizzle,
        "A source is a value *and* a choice of its components. The result is well formed; only "
        "running both shaders shows that other components were subtracted.",
    ),
    (
        "builds behind the users",
        builds_behind,
        "The builder stands at the end of the function unless told otherwise. A value may be used "
        "only where its definition dominates: the validator points at the use.",
    ),
    (
        "negates the wrong one",
        negates_the_wrong_one,
        "No checker of form can know what was meant. The interpreter runs both shaders on the same "
        "made-up inputs and compares bits.",
    ),
    (
        "keeps quiet",
        keeps_quiet,
        "Whoever runs passes until none makes progress stops too early, and facts about the "
        "function that were computed before (dominance, use counts kept elsewhere) count as "
        "still true. Comparing the texts before and after shows it.",
    ),
)


def verdict(run: Pass, text: str = SUBJECT) -> tuple[str, str, str]:
    """The problem with a pass or "", the evidence, and the shader after the pass."""
    shader = parse(text)
    untouched = clone_shader(shader)
    for impl in shader.impls():
        impl.require(Metadata.DOMINANCE)
    said = run(shader)
    after = print_shader(shader)
    changed = after != print_shader(untouched)
    try:
        validate(shader, run.__name__)
        for impl in shader.impls():
            check_metadata(impl, run.__name__)
    except ValidationError as error:
        return "the validator refuses it", str(error), after
    env = Environment(4)
    one, two = interpret(untouched, env).outputs, interpret(shader, env).outputs
    for key in sorted(one):
        if not np.array_equal(one[key], two[key]):
            slot, component = key
            a, b = (rows[key].astype(np.uint32).view(np.float32) for rows in (one, two))
            evidence = f"output {slot}, component {component}: {a.tolist()} became {b.tolist()}"
            return "it computes something else", evidence, after
    if changed and not said:
        return "it changed the shader and says it did not", f"{changed=}, said {said}", after
    if said and run(shader):
        return "it makes progress for ever", "", after
    return "", "", after

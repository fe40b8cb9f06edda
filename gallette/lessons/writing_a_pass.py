"""Lesson: a pass from the first line to the checks it has to survive."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from gallette.compiler.errors import ValidationError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.metadata import check_metadata
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.lessons.page import Block, Code, Diff, Page, Prose, Table, lesson

__all__ = ["ATTEMPTS", "SUBJECT", "verdict"]

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
    """Takes the values, not the components that the instruction reads of them."""
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
    """Puts the new instructions behind the users of the old one."""
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
    """Well formed in every way, and another number: `fadd fneg a, b`."""
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
    """Does the work, and says that nothing changed."""
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
    """(what is wrong or "", the evidence, the shader after the pass)."""
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


@lesson("writing_a_pass", "Writing a pass", chapter="Doing it yourself", place=10)
def run(page: Page, driver: str) -> None:
    """One intent, one function, an honest answer: did I change anything?

    A pass that replaces subtractions, four ways to get it wrong, and what catches each.
    """
    page.section(
        "What a pass is",
        """A function that walks over a shader, changes a little, and says whether it did. It does
        one thing; a compiler is a list of them. This one is for a machine that can add and negate
        and not subtract.""",
    )
    page.add(Code(inspect.getsource(lower_fsub).strip(), "python", "the whole pass"))
    page.prose(
        """`instrs_of` walks and stands removal; `Builder` makes instructions in front of the one
        looked at; `replace_by` gives the new value to everybody who used the old one and removes
        that. Use lists are exact at every moment: there is nothing to rebuild."""
    )
    page.add(Code(SUBJECT.strip(), "nir", "a shader to try it on"))
    _, _, after = verdict(lower_fsub)
    page.add(Diff(print_shader(parse(SUBJECT)), after, "before and after"))
    page.section(
        "Four ways to get it wrong",
        """Each of these was run on the same shader and met the same checks: the validator, the
        check of what is claimed to be known about the function, and the reference interpreter on
        both shaders.""",
    )
    states: list[tuple[str, list[Block]]] = []
    rows: list[tuple[str, ...]] = []
    for name, function, moral in ATTEMPTS:
        page.progress(name)
        wrong, evidence, _ = verdict(function)
        blocks: list[Block] = [Code(inspect.getsource(function).strip(), "python")]
        blocks.append(Prose(f"Caught: {wrong}." if wrong else "Passes every check."))
        if evidence:
            blocks.append(Code(evidence, "nir"))
        blocks.append(Prose(moral))
        states.append((name, blocks))
        rows.append((name, wrong or "nothing"))
    page.flip("the pass as it might have been written", *states)
    page.add(Table(("attempt", "what is wrong"), rows))
    page.section(
        "Registering it",
        """`@nir_pass("lower_fsub", preserves=Metadata.CONTROL_FLOW)` above the function, in a file
        of that name under `compiler/nir/passes/`, and every tool knows it: the runner times and
        validates it, `nir-opt` runs it on a text, `explain` shows it between its neighbours.
        `preserves` is a promise: blocks are where they were, so dominance still holds.""",
    )
    page.ask(
        "Why does a pass say whether it made progress? The runner could compare the shaders.",
        """It would have to print or copy every shader around every pass: most runs of most passes
        change nothing. An honest answer is free.""",
    )
    page.ask(
        "`fsub a, b` and `fadd a, fneg b`: are they equal to the last bit?",
        """Yes, IEEE arithmetic defines subtraction that way. Had rounding changed, the pass would
        have to be registered as inexact and stay away from what is `precise`.""",
    )
    page.tries(
        (
            "gallette nir-opt shader.nir -p lower_alu_to_scalar,dce --each",
            "the text after every pass that changed something",
        ),
        (
            "gallette nir-opt shader.nir -p algebraic --run",
            "runs the shader before and after and compares, as this lesson does",
        ),
        (
            "GALLETTE_DEBUG=nir:validate,nir:metadata gallette piglit run --filter float",
            "every shader of these tests is checked after every pass",
        ),
    )

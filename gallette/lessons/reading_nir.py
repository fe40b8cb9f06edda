"""Lesson: reading NIR, one shader in five forms."""

from __future__ import annotations

import re

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import PassRecord, recording
from gallette.lessons.page import Block, Code, Diff, Page, Prose, Table, lesson

__all__ = ["SHADER", "forms"]

SHADER = """#version 330
in vec2 uv;
uniform float level;
out vec4 color;
void main() {
    float shade = uv.x * level;
    if (shade > 0.5) {
        shade = 1.0 - shade;
    }
    color = vec4(shade, shade, uv.y, 1.0);
}
"""

# How to read a line: (a pattern, the meaning); an example is looked for in the shader itself.
READING: tuple[tuple[str, str], ...] = (
    (r"^shader .*", "the stage and a name"),
    (r"^var shader_in .*", "a variable of the stage's inputs, with its type and slot"),
    (r".*= deref_var .*", "not a value but a place: where a variable is"),
    (r".*@load_deref.*", "an intrinsic (`@`) reads from a place; the result has 2 times 32 bits"),
    (r".*= load_const .*", "a constant, in bits; the comment shows it as a float"),
    (r".*= fmul .*", "arithmetic: `%n` are values, `.x` chooses a component"),
    (r".*= flt!? .*", "a comparison gives one bit"),
    (r"^ *if .*", "control flow is structured: an `if` has two bodies of blocks"),
    (r".*= phi .*", "where ways meet: the value is this if we came from that block"),
    (r".*@store_output.*", "what the driver sees at the end: a numbered output, which components"),
)
STEPS = ("lower_vars_to_ssa", "peephole_select", "lower_io")


def forms(source: str = SHADER) -> tuple[list[PassRecord], str]:
    """Every pass that changed the shader, and its last form: one component at a time."""
    from gallette.compiler.nir.text.printer import print_shader

    with recording() as log:
        shader = compile_shader(Stage.FRAGMENT, source, CompileOptions())
        program = link_program([shader], LinkOptions(separable=True))
        linked = program.shaders[Stage.FRAGMENT]
        optimize(linked, OptimizeOptions(scalar=True))
    last = print_shader(linked)
    linked.unref()
    return log.made_progress(), last


def examples(texts: list[str]) -> list[tuple[str, ...]]:
    """For every kind of line, the first one of the texts, and what it means."""
    rows: list[tuple[str, ...]] = []
    for pattern, meaning in READING:
        for text in texts:
            found = re.search(pattern, text, re.M)
            if found:
                rows.append((f"`{found[0].strip()}`", meaning))
                break
    return rows


@lesson("reading_nir", "Reading NIR", chapter="First steps", place=20)
def run(page: Page, driver: str) -> None:
    """One shader, from variables and branches to values and selections, line by line.

    What the signs mean, why a variable disappears, and where a branch goes.
    """
    records, last = forms()
    texts = [r.before for r in records[:1]] + [r.after for r in records] + [last]
    page.section(
        "The shader",
        """Twelve lines of GLSL. The front end makes NIR of it that says the same in small steps:
        every variable has a place, every access is a load or a store.""",
    )
    page.add(Code(SHADER.strip(), "glsl"))
    page.add(Code(records[0].before.strip(), "nir", "as the front end made it"))
    page.section("How to read a line")
    page.add(Table(("line", "meaning"), examples(texts)))
    page.section(
        "Values instead of variables",
        """`shade` was a variable that is written twice. In SSA a value is defined once and never
        changes, so the question becomes which value is in `shade` at each place. Behind the `if`
        it depends on the way taken: that is what a phi says. Loads and stores of `shade` are
        gone, and from now on whoever uses a value is connected to who made it.""",
    )
    ssa = _of(records, "lower_vars_to_ssa")
    if ssa is not None:
        page.add(Diff(ssa.before, ssa.after, "lower_vars_to_ssa"))
    page.section(
        "A branch becomes a selection",
        """Both sides of this `if` are a single subtraction. On a machine that runs many lanes at
        once a branch costs more than that, so both are computed and `bcsel` picks one: the phi
        becomes an instruction like any other.""",
    )
    select = _of(records, "peephole_select")
    if select is not None:
        page.add(Diff(select.before, select.after, "peephole_select"))
    page.section(
        "All its forms",
        f"""{len(records)} runs of passes changed this shader. Step through them; each shows only
        what it changed.""",
    )
    states: list[tuple[str, list[Block]]] = []
    for record in records:
        saved = f"{record.instrs_before} instructions before, {record.instrs_after} after"
        states.append((record.name, [Diff(record.before, record.after, saved)]))
    page.flip("pass by pass (arrow keys)", *states)
    page.add(Code(last.strip(), "nir", "the last form, a component at a time: what numpipe gets"))
    count = [sum(t.count(w) for w in ("@load_", "@store_")) for t in (records[0].before, last)]
    page.add(
        Prose(
            f"Of {count[0]} loads and stores {count[1]} are left, the ones that reach inputs, the"
            " uniform and the output. Everything else has become a value."
        )
    )
    page.ask(
        "What does `32x4 %7` say?",
        """The instruction defines value 7, a vector of four components of 32 bits each. Whether
        those bits are a float or an integer is not part of the value: the operation that uses
        them decides.""",
    )
    page.ask(
        "Why has a phi to stand at the start of a block?",
        """It does not compute anything there; it says which value holds on arrival, depending on
        the edge. All phis of a block happen at once, before its first instruction.""",
    )
    page.ask(
        "Where did the name `shade` go?",
        """Variables are gone, but values remember the variables they were assigned to, and the
        source lines they were made for: `gallette debug` and `gallette explore` show them. A
        variable no value stands for is *optimised out*.""",
    )
    page.tries(
        ("gallette explain shader.frag", "every pass of a shader of your own"),
        ("gallette explore shader.frag", "the same, live, while you type"),
        ("gallette nir-opt shader.nir -p copy_prop,dce --each", "passes of your choice on a text"),
        ("gallette debug shadow_map 120,90 -c 'vars; quad; out'", "values while it runs"),
    )


def _of(records: list[PassRecord], name: str) -> PassRecord | None:
    return next((r for r in records if r.name == name), None)

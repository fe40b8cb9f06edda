"""Lesson: 64-bit vertex attributes on an API with explicit slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gallette.compiler.errors import ValidationError
from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import recording, run_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.lessons.page import Code, Diff, Drawing, Page, Prose, Table, lesson

__all__ = ["SHADER", "split"]

SHADER = """#version 410
layout(location = 0) in dvec3 wide;
layout(location = 2) in vec4 plain;
void main() {
    gl_Position = vec4(wide, 1.0) + plain;
}
"""


def split(source: str = SHADER) -> tuple[str, str, list[tuple[str, ...]]]:
    """NIR before and after the pass, and the inputs: name, type and slot on both sides."""
    with recording() as log:
        shader = compile_shader(Stage.VERTEX, source, CompileOptions(version_limit=410))
        program = link_program([shader], LinkOptions(separable=True))
    for linked in program.shaders.values():
        linked.unref()
    text = next(r.before for r in log.records if r.name == "lower_io")
    split_shader = parse(text)
    inputs: list[tuple[str, ...]] = []
    inputs += [("before", v.name, str(v.type), str(v.location)) for v in _inputs(split_shader)]
    run_passes(split_shader, ["split_64bit_vs_inputs", "copy_prop", "dce"])
    inputs += [("after", v.name, str(v.type), str(v.location)) for v in _inputs(split_shader)]
    after = print_shader(split_shader)
    split_shader.unref()
    return text, after, inputs


def _inputs(shader: Shader) -> list[Variable]:
    return list(shader.variables_of(Mode.SHADER_IN))


@lesson("dvec_inputs", "64-bit vertex attributes in 16-byte slots", chapter="Drivers", place=30)
def run(page: Page, driver: str) -> None:
    """A `dvec3` fills two 16-byte slots: GL names one location, an explicit API wants two inputs.

    See the pass that gives each slot its own variable.
    """
    page.section(
        "One location, two slots",
        """Three or four doubles do not fit 16 bytes. OpenGL lets the shader name one location
        and implies the next; an API whose slots are explicit needs two variables at consecutive
        locations. The pass clamps the variable to `dvec2`, makes a second one in the next slot
        for the rest, loads both, puts the vector together again, and rewrites the uses that
        come after that, and only those: the loads themselves must keep reading the halves.""",
    )
    page.add(Code(SHADER.strip(), "glsl"))
    _slots(page)
    before, after, inputs = split()
    page.add(Table(("", "input", "type", "slot"), inputs))
    page.add(Diff(before, after, "before and after split_64bit_vs_inputs"))
    _broken(page, before)
    page.ask(
        "A `dvec2` is 16 bytes. Does the pass touch it?",
        "No. It fits a slot, as do a double, a vec4 and anything smaller.",
    )
    page.ask(
        "What becomes of `in dvec3 rows[2]`?",
        """Four slots. Each variable keeps its array, of `dvec2` and of `double`; the second one's
        locations lie between those of the first.""",
    )
    page.ask(
        "Why are the variables behind `wide` not renumbered?",
        """By the time the pass runs, locations count slots already: the linker left room. The pass
        only says aloud what the next location was for.""",
    )
    page.tries(
        (
            "gallette nir-opt shader.nir -p split_64bit_vs_inputs,copy_prop,dce --each",
            "the pass on a text of your own",
        ),
        (
            "gallette piglit run --filter fp64",
            "the bundled tests about doubles",
        ),
    )


# -- pictures of slots ---------------------------------------------------------------------------

CELL = 88


def row_of_slots(y: int, title: str, cells: Sequence[tuple[str, str, int]]) -> str:
    """A row of 8-byte halves of slots: (text, class, halves wide)."""
    parts = [f'<text x="4" y="{y + 22}" class="faint">{title}</text>']
    x = 150
    for text, kind, wide in cells:
        width = CELL * wide
        parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="34" rx="4"/>')
        parts.append(f'<text x="{x + 8}" y="{y + 22}">{text}</text>')
        x += width
    return "".join(parts)


def _frame(rows: Sequence[str], words: str, caption: str) -> Drawing:
    heads = "".join(
        f'<text class="faint" x="{154 + 2 * CELL * i}" y="14">slot {i}</text>'
        f'<path class="arrow" d="M{150 + 2 * CELL * i} 4 v{20 + 44 * len(rows)}"/>'
        for i in range(3)
    )
    height = 32 + 44 * len(rows)
    svg = f'<svg viewBox="0 0 690 {height}" width="690" height="{height}">'
    return Drawing(f"{svg}{''.join(rows)}{heads}</svg>", words, caption)


def _slots(page: Page) -> None:
    named = [
        ("wide: dvec3, location 0", "box", 3),
        ("implied", "bad", 1),
        ("plain: vec4", "box", 2),
    ]
    held = [("wide.x", "good", 1), ("wide.y", "good", 1), ("wide.z", "good", 1)]
    held += [("unused", "box", 1), ("plain.xyzw", "box", 2)]
    rows = [row_of_slots(24, "what GL says", named), row_of_slots(68, "what slots hold", held)]
    words = "slot 0: wide.x, wide.y; slot 1: wide.z, 8 bytes unused; slot 2: plain"
    page.add(_frame(rows, words, "16 bytes are a slot; a double takes half of one"))


def read_through_slots(slots: Any, location: int, split: bool) -> list[float]:
    """A `dvec3` as a machine fetches it whose inputs end at 16 bytes.

    With the pass, two inputs are fetched. Without it, one: what the registers hold behind it is
    taken for z, and that is the next attribute that was fetched.
    """
    low = slots[location].view(np.float64)
    behind = slots[location + 1 if split else location + 2].view(np.float64)
    return [float(low[0]), float(low[1]), float(behind[0])]


def every_use_rewritten(text: str) -> str:
    """The pass's last rule broken: also what rebuilds the vector is given the rebuilt one.

    What the validator says.
    """
    shader = parse(text)
    impl = shader.entry
    load = next(i for i in intrinsics_of(impl, "load_deref") if i.result.bit_size == 64)
    b = Builder(impl).at_after(load)
    whole = b.vec(b.channels(load.result))
    for use in list(load.result.uses):  # the channels above are among them
        use.rewrite(whole)
    try:
        validate(shader, "a pass that rewrites every use")
    except ValidationError as error:
        return str(error)
    return ""


def _broken(page: Page, before: str) -> None:
    slots = np.zeros((3, 16), np.uint8)
    slots[0] = np.array([1.5, -2.25]).view(np.uint8)
    slots[1, :8] = np.array([1e10]).view(np.uint8)
    slots[2] = np.array([1, 2, 3, 4], np.float32).view(np.uint8)
    right, wrong = (read_through_slots(slots, 0, split) for split in (True, False))
    page.section(
        "What breaks without it",
        """A vertex has (1.5, -2.25, 1e10) in `wide` and (1, 2, 3, 4) in `plain`. Flip the pass off,
        and the third component is read from where the next input was put. Flip one of its rules
        off, and what is left is no shader.""",
    )
    good = [("1.5", "good", 1), ("-2.25", "good", 1), ("1e10", "good", 1), ("", "box", 1)]
    bad = [("1.5", "good", 1), ("-2.25", "good", 1), ("never fetched", "bad", 2)]
    whole = row_of_slots(24, "fetched", [*good, ("1, 2, 3, 4", "box", 2)])
    torn = row_of_slots(24, "fetched", [*bad, ("1, 2 taken for z", "bad", 2)])
    page.flip(
        "the pass",
        (
            "with the pass",
            [
                _frame([whole], "every slot is fetched", "two inputs of one slot each"),
                Code(f"wide = {right}", "python", "what the shader sees"),
            ],
        ),
        (
            "without it",
            [
                _frame([torn], "z is read from the bytes of plain", "one input of 16 bytes"),
                Code(f"wide = {wrong}", "python", "what the shader sees"),
                Prose(
                    "The bits of the floats 1 and 2, side by side, are a double a little above 2."
                    " Nothing crashes; the model is bent."
                ),
            ],
        ),
        (
            "rewriting every use",
            [
                Code(every_use_rewritten(before), "nir"),
                Prose(
                    "The halves are put together again, and uses of the old value are given the"
                    " new one: only those that come after it. Rewriting all of them also rewrites"
                    " those it is made from."
                ),
            ],
        ),
    )

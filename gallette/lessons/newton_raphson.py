"""Lesson: a division from eight bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.lower import Machine
from gallette.compiler.nir.text.printer import print_shader
from gallette.lessons.page import Block, Code, Page, Pictures, Table, lesson
from gallette.lessons.plots import bars, curves
from gallette.precision import BINS, FUNCTIONS, Precision, measure, shader_of

__all__ = ["STEPS", "errors_between_one_and_two", "machine"]

STEPS = (0, 1, 2, 3)
_SHOWN = ("1/x", "inversesqrt", "sqrt", "x/y", "tan", "atan2")
_TICKS = [(float(v), f"2^{v}") for v in range(-28, -4, 4)]


def machine(steps: int, ffma: bool = True) -> Machine:
    """A machine with tables of eight bits, and sines of small angles."""
    return Machine.of("frcp_8bit frsq_8bit fsin_reduced fcos_reduced", steps=steps, ffma=ffma)


def errors_between_one_and_two(
    name: str, machine: Machine, count: int = 400
) -> npt.NDArray[np.float64]:
    """Relative errors of 1/x or 1/sqrt(x) at places from 1 to 2 (to 4)."""
    x = np.linspace(1, 2 if name == "1/x" else 4, count, endpoint=False).astype(np.float32)
    shader = shader_of(name, machine, 1)
    inputs = {(32, 0): x.view(np.uint32)}
    found = interpret(shader, Environment(count, inputs=inputs), budget=10**8)
    have = found.floats(int(VaryingSlot.VAR0), 0).astype(np.float64)
    wide = x.astype(np.float64)
    truth = 1 / wide if name == "1/x" else 1 / np.sqrt(wide)
    return np.asarray(np.abs(have / truth - 1))


def _picture(name: str) -> npt.NDArray[np.uint8]:
    series = []
    for steps in STEPS[:3]:
        errors = errors_between_one_and_two(name, machine(steps))
        series.append((f"{steps} steps", np.log2(np.maximum(errors, 2.0**-28))))
    return curves(series, _TICKS, ["1", "", "2" if name == "1/x" else "4"])


def _row(name: str, found: Precision) -> tuple[str, ...]:
    parts = found.histogram
    good = f"{100 * sum(parts[:1]):.3g} %"
    return (name, f"{found.bits:.1f}", good, f"{found.worst:.3g}", str(found.instructions))


@lesson(
    "newton_raphson",
    "Newton-Raphson: a division from eight bits",
    chapter="The compiler",
    place=50,
)
def run(page: Page, driver: str) -> None:
    """A small machine has a table with the first eight bits of 1/x. Two steps give all 24.

    See the error before and after each step, what a step costs, and what is left at the end.
    """
    page.section(
        "A guess and how wrong it is",
        """If y is nearly 1/x, then x y is nearly one, and e = 1 - x y says how much is missing: it
        is the relative error of y. Adding y e mends it, all but e squared. So a step doubles the
        number of right bits: a table of 8 bits becomes 16, then 32, of which a float keeps 24. The
        same with 1/sqrt(x), where e = 1 - x y y is twice the error and half of it is added.""",
    )
    for steps in (0, 1):
        shader = shader_of("1/x", machine(steps), 1)
        page.add(Code(print_shader(shader), "nir", f"1/x with {steps} step{'s' * (steps != 1)}"))
        shader.unref()
    page.prose(
        """The last choice costs two instructions and saves three tests: for zero, infinity and what
        overflows, e is no number, the refined value is a NaN, and the table was right."""
    )
    page.progress("plots")
    page.section(
        "The error per step",
        """Relative error between 1 and 2 (for the root, 4), on a scale of powers of two. The teeth
        of the first curve are where the table changes its last bit; below 2^-25 a float cannot
        tell.""",
    )
    page.add(
        Pictures([(f"{name}: error per step", _picture(name)) for name in ("1/x", "inversesqrt")])
    )
    page.section(
        "Every function that needs it", "At 20000 random places each, over the whole range."
    )
    chosen = [f for f in FUNCTIONS if f.name in _SHOWN]
    columns = ("function", "bits at worst", "correctly rounded", "worst ULP", "instructions")
    states: list[tuple[str, list[Block]]] = []
    for steps in STEPS:
        page.progress(f"{steps} steps")
        rows = [_row(f.name, measure(f, machine(steps), 20000)) for f in chosen]
        states.append((f"{steps} steps", [Table(columns, rows)]))
    page.flip("steps after the table", *states)
    page.section(
        "Where the last bit goes",
        """With a fused multiply-add, e is rounded once, next to zero, where floats are dense.
        Without one, x y is rounded next to one first: the histograms below show what that costs
        after two steps. A third step mends nothing, because the error is in e itself.""",
    )
    pictures = []
    names = [f"<={b:g}" for b in BINS[:4]] + ["more"]
    for ffma in (True, False):
        found = measure(chosen[0], machine(2, ffma), 20000).histogram
        values = [*found[:4], sum(found[4:])]
        ticks = [(0.0, "0"), (0.5, "50 %"), (1.0, "100 %")]
        title = f"1/x, distance in ULP, {'with' if ffma else 'without'} ffma"
        pictures.append((title, bars(names, values, ticks)))
    page.add(Pictures(pictures))
    page.ask(
        "Why does sqrt need one step less than 1/sqrt?",
        """It is x times 1/sqrt(x), and then corrected once more: x - root root is what its square
        lacks, and half of that over the root is added. That is a Newton step of its own.""",
    )
    page.ask(
        "Why is a quotient not correctly rounded, when the reciprocal is?",
        """The reciprocal was rounded, and so is its product with x: two roundings. With
        `exact_division` the remainder x - y q is computed exactly and corrects the last bit.""",
    )
    page.tries(
        (
            "GALLETTE_CAPS=machine=frcp_8bit+frsq_8bit gallette diff shadow_map",
            "a scene on such a machine, two steps, polynomials for sines and powers",
        ),
        (
            "gallette nir-opt shader.nir -p lower_special_functions(has=frcp_8bit+frsq_8bit)",
            "the pass on a text",
        ),
    )

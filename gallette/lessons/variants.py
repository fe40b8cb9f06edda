"""Lesson: one program, many variants, and what each of them costs."""

from __future__ import annotations

from typing import Any

from gallette.lessons.page import Block, Code, Diff, Page, Table, lesson
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text

__all__ = ["PROGRAM", "collect"]

PROGRAM = """[require]
GLSL >= 1.20

[vertex shader]
#version 120
void main()
{
	gl_Position = gl_Vertex;
	gl_FrontColor = vec4(gl_Vertex.xy * 0.5 + 0.5, 0.0, 0.75);
	gl_BackColor = vec4(0.0, 0.0, 1.0, 0.25);
}

[fragment shader]
#version 120
void main()
{
	gl_FragColor = gl_Color;
}

[test]
# Nothing special: the null key, made with the shader.
draw rect -1 -1 2 2
# The code generator's business: no second round in NIR.
shade model flat
draw rect -1 -1 2 2
shade model smooth
# Lowered in NIR, on a clone.
enable GL_VERTEX_PROGRAM_TWO_SIDE
draw rect -1 -1 2 2
enable GL_ALPHA_TEST
alpha func GL_GREATER 0.5
draw rect -1 -1 2 2
# The reference value is a parameter, not part of the key: no new variant.
alpha func GL_GREATER 0.25
draw rect -1 -1 2 2
disable GL_ALPHA_TEST
clip plane 0 1 0 0 0
enable GL_CLIP_PLANE0
draw rect -1 -1 2 2
# Back to where we were: a hit.
disable GL_CLIP_PLANE0
disable GL_VERTEX_PROGRAM_TWO_SIDE
draw rect -1 -1 2 2
"""


def collect(driver: str) -> tuple[list[Any], dict[str, dict[str, Any]]]:
    """Run the program: the variant log, and the driver's explanation per stage."""
    events: list[Any] = []
    stages: dict[str, dict[str, Any]] = {}

    def look(gl: Any) -> None:
        events.extend(gl.pipe.variant_log)
        for (stage, _), handle in gl.programs.executable.handles.items():
            stages[stage.value] = gl.pipe.explain(handle)

    run_test(parse_text(PROGRAM, "lesson.shader_test"), driver, before_release=look)
    return events, stages


@lesson("variants", "One program, many variants", chapter="Drivers", place=20)
def run(page: Page, driver: str) -> None:
    """Bound state a GPU would have switches for becomes code: a key chooses the variant.

    Seven draws with one program, the variants they make, and what forced each.
    """
    page.section(
        "State that is code",
        """Flat shading, two-sided colour, the alpha test, user clip planes: none of them has
        hardware in this driver, so they become part of the shader. A frozen key is derived from
        bound state for every draw and looked up. Only a key with something that is lowered in
        NIR costs a clone and a second round of passes; the rest only steers the code generator.""",
    )
    page.add(Code(PROGRAM.strip(), "text", "the draws"))
    events, stages = collect(driver)
    rows: list[tuple[str, ...]] = [
        (
            e.key,
            e.stage,
            e.reason,
            "a clone, second round" if e.lowered else "one more reference",
            f"{e.seconds * 1000:.2f} ms",
        )
        for e in events
    ]
    page.section("What was built, and why")
    page.add(Table(("key", "stage", "reason", "NIR", "built in"), rows))
    counts: list[tuple[str, ...]] = [
        (stage, str(len(s["variants"])), str(s.get("hits", "")), str(s.get("misses", "")))
        for stage, s in stages.items()
    ]
    page.add(Table(("stage", "variants", "hits", "misses"), counts))
    page.section(
        "What the keys add to the fragment shader",
        """Switch between the keys: what is green was lowered into the shader. A key that only
        steers the code generator leaves NIR as it is and changes the code.""",
    )
    variants = stages.get("fragment", {}).get("variants", [])
    base = next((v for v in variants if v["key"] == "null key"), None)
    states: list[tuple[str, list[Block]]] = []
    for variant in variants:
        blocks: list[Block] = []
        if base is not None and variant is not base:
            blocks.append(Diff(base["nir"], variant["nir"], "NIR: null key, then this one"))
            blocks.append(Diff(base["code"], variant["code"], "code: null key, then this one"))
        else:
            blocks += [Code(variant["nir"], "nir"), Code(variant["code"], "python")]
        states.append((variant["key"], blocks))
    if states:
        page.flip("the variant key", *states)
    page.ask(
        "The alpha test's reference value changes every frame. How many variants does that make?",
        """None: the value is a parameter that the code reads. Only the comparison, of which there
        are eight, is part of the key.""",
    )
    page.ask(
        "A game stutters when something first comes into view. What may be going on?",
        """A variant is being compiled in the middle of a frame. That is why the null key is
        compiled when the shader is made, and why keys should hold as little as possible.""",
    )
    page.tries(
        ("GALLETTE_DEBUG=driver:variants gallette trace two_sided", "each variant, and its reason"),
        (
            "GALLETTE_CAPS=two_sided_color=0 gallette trace two_sided",
            "a driver that leaves a lowering to the state tracker: its key has a field less",
        ),
        ("gallette explore", "key fields as switches, live"),
    )

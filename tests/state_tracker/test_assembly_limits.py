"""Numbers in assembly programs: the last one that is taken, and what is said of the next."""

from __future__ import annotations

import pytest

from gallette.compiler.assembly import STRICT, AssemblyError, parse

# Vertex or fragment program, code with a place for a number, the first and last one that fit.
NUMBERS = {
    "texture coordinates": ("v", "MOV r, vertex.texcoord[{}];", 0, 7),
    "texture coordinates of results": ("v", "MOV result.texcoord[{}], r;", 0, 7),
    "texture coordinates of fragments": ("f", "MOV r, fragment.texcoord[{}];", 0, 7),
    "attributes": ("v", "MOV r, vertex.attrib[{}];", 0, 15),
    "environment": ("v", "MOV r, program.env[{}];", 0, 255),
    "own parameters": ("f", "MOV r, program.local[{}];", 0, 2047),
    "the end of a range": ("v", "PARAM p[] = {{ program.env[3..{}] }};", 3, 255),
    "lights": ("v", "MOV r, state.light[{}].diffuse;", 0, 7),
    "products of lights": ("f", "MOV r, state.lightprod[{}].front.ambient;", 0, 7),
    "planes": ("v", "MOV r, state.clip[{}].plane;", 0, 7),
    "made coordinates": ("v", "MOV r, state.texgen[{}].eye.s;", 0, 7),
    "texture environments": ("f", "MOV r, state.texenv[{}].color;", 0, 7),
    "texture matrices": ("v", "MOV r, state.matrix.texture[{}].row[0];", 0, 7),
    "program matrices": ("v", "MOV r, state.matrix.program[{}].row[0];", 0, 7),
    "model views": ("v", "MOV r, state.matrix.modelview[{}].row[0];", 0, 0),
    "rows": ("v", "MOV r, state.matrix.mvp.row[{}];", 0, 3),
    "units": ("f", "TEX r, fragment.texcoord, texture[{}], 2D;", 0, 15),
    "colours": ("f", "MOV result.color[{}], r;", 0, 7),
    "elements": ("v", "PARAM p[3] = {{ program.env[0..2] }}; MOV r, p[{}];", 0, 2),
}
OPTIONS = {"v": "!!ARBvp1.0\n", "f": "!!ARBfp1.0\nOPTION ARB_draw_buffers;\n"}


def said(kind: str, code: str, limits: dict[str, int] | None = None) -> str:
    """What is said of a program; empty if it is taken."""
    try:
        parse(f"{OPTIONS[kind]}TEMP r;\n{code}\nEND", limits)
    except AssemblyError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", NUMBERS)
def test_indices_end_where_the_limits_say(name: str) -> None:
    kind, code, first, last = NUMBERS[name]
    for number in {first, last}:
        assert said(kind, code.format(number)) == ""
    assert f"not below {last + 1}" in said(kind, code.format(last + 1))


@pytest.mark.parametrize(("limits", "bound"), [({}, 4096), (STRICT, 64)])
def test_offsets_of_addresses_are_mesas_or_the_specifications(
    limits: dict[str, int], bound: int
) -> None:
    code = "ADDRESS a; PARAM p[] = {{ program.env[0..9] }}; MOV r, p[a.x {:+}];"
    for offset in (-bound - 1, -bound, -1, 0, 1, bound - 1, bound):
        found = said("v", code.format(offset), limits)
        fits = -bound <= offset < bound
        assert found == "" if fits else f"is not between {-bound} and {bound - 1}" in found


def test_the_first_and_last_of_a_range_are_in_it() -> None:
    program = parse("!!ARBvp1.0 PARAM p[] = { program.env[3..5], program.local[7], 2.5 }; END")
    assert program.arrays["p"] == [
        *(f"program.env.{i}" for i in (3, 4, 5)),
        "program.local.7",
        "const.2.5/2.5/2.5/2.5",
    ]
    assert "are not below 256" in said("v", "PARAM p[] = { program.env[5..4] };")
    assert said("v", "PARAM p[2] = { program.env[4..5] };") == ""
    for size in (1, 3):
        assert f"p has 2 elements, not {size}" in said(
            "v", f"PARAM p[{size}] = {{ program.env[4..5] }};"
        )


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("1", "1.0/1.0/1.0/1.0"),
        ("{ 1 }", "1.0/0.0/0.0/1.0"),
        ("{ 1, 2 }", "1.0/2.0/0.0/1.0"),
        ("{ 1, -2, +3 }", "1.0/-2.0/3.0/1.0"),
        ("{ 1, 2, 3, 4 }", "1.0/2.0/3.0/4.0"),
        ("-1.5", "-1.5/-1.5/-1.5/-1.5"),
    ],
)
def test_what_is_missing_of_a_constant_is_0_0_1(written: str, values: str) -> None:
    program = parse(f"!!ARBvp1.0 PARAM p = {written}; END")
    assert program.parameters == {f"const.{values}"}
    assert "at most four" in said("v", "PARAM p = { 1, 2, 3, 4, 5 };")


def test_attributes_that_are_one_are_not_both_used() -> None:
    """A generic attribute beside the conventional one that has its place (OpenGL 2.1, 2.14.3)."""
    twins = {
        0: "position", 2: "normal", 3: "color", 4: "color.secondary", 5: "fogcoord",
        **{8 + i: f"texcoord[{i}]" for i in range(8)},
    }  # fmt: skip
    for number in range(16):
        for other, name in twins.items():
            for one, two in ((f"attrib[{number}]", name), (name, f"attrib[{number}]")):
                found = said("v", f"ADD r, vertex.{one}, vertex.{two};")
                assert ("is the same attribute" in found) == (number == other), (one, two)

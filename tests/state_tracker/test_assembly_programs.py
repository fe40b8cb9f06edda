"""The parser of assembly programs, and what they are translated into."""

from __future__ import annotations

import pytest

from gallette.compiler.assembly import AssemblyError, parse, translate
from gallette.state_tracker import GL
from tests.conftest import native_context


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!!ARBxx1.0 END", "does not begin with"),
        ("!!ARBfp1.0 MOV result.color, fragment.color;", "has no END"),
        ("!!ARBfp1.0 TEMP a, a; END", "declared twice"),
        ("!!ARBfp1.0 FOO result.color, 1; END", "no instruction FOO"),
        ("!!ARBfp1.0 TEMP a; MOV a.wx, 1; END", "no write mask"),
        ("!!ARBfp1.0 TEMP a; RCP a, a; END", "one component is wanted"),
        ("!!ARBvp1.0 PARAM p[2] = { 1, 2, 3 }; END", "has 3 elements"),
        ("!!ARBvp1.0 MOV result.texcoord[9], 1; END", "index 9 is not below 8"),
        ("!!ARBvp1.0 OPTION NV_vertex_program2; END", "unknown option"),
        ("!!ARBfp1.0 TEX result.color, fragment.position, texture[0], 4D; END", "texture target"),
        ("!!ARBvp1.0 TEMP a; MOV a, result.position; END", "is not declared"),
        ("!!ARBvp1.0 TEMP a; ADD a, vertex.normal, vertex.attrib[2]; END", "same attribute"),
        ("!!ARBvp1.0 TEMP a; ADD a, vertex.texcoord[1], vertex.attrib[9]; END", "same attribute"),
        ("!!ARBvp1.0 TEMP a; MOV a, vertex.weight; END", "vertex.weight is not supported"),
        ("!!ARBvp1.0 TEMP a; MOV a, vertex.attrib; END", "expected an index"),
        ("!!ARBfp1.0 MOV result.color[1], 1; END", "needs OPTION ARB_draw_buffers"),
        (
            "!!ARBvp1.0 OPTION ARB_position_invariant; MOV result.position, 1; END",
            "a position invariant program does not write its position",
        ),
        ("!!ARBvp1.0 PARAM p[2] = { program.env[255..256] }; END", "indices 255 to 256 are not b"),
        ("!!ARBvp1.0 PARAM p[2] = { program.env[3..2] }; END", "indices 3 to 2 are not below"),
        ("!!ARBvp1.0 PARAM p = { 1, x }; END", "expected a number, found 'x'"),
        ("!!ARBvp1.0 PARAM p = { 1, ", "expected a number, found 'the end'"),
        ("!!ARBvp1.0 PARAM p = { 1, 2, 3, 4, 5 }; END", "a vector has at most four components"),
        ("!!ARBvp1.0 PARAM p = state.fog.colour; END", "there is no state.fog.colour"),
        ("!!ARBvp1.0 PARAM p = state.light[0].spot; END", "there is no state.light.0.spot"),
        ("!!ARBvp1.0 PARAM p = state.matrix.palette[0]; END", "there are no palette matrices"),
        ("!!ARBvp1.0 PARAM p = program.env[0..1]; END", "one vector is wanted, not several"),
        ("!!ARBfp1.0 ADDRESS a; END", "fragment programs have no address registers"),
        ("!!ARBfp1.0 ALIAS a = b; END", "b is not declared"),
        ("!!ARBfp1.0 ALIAS a = a; END", "a is not declared"),
        ("!!ARBfp1.0 TEMP a; MOV a, b; END", "b is not declared"),
        ("!!ARBfp1.0 MOV b, 1; END", "b is not declared"),
        ("!!ARBfp1.0 TEMP a; RCP a, a.xyzw; END", "one component is wanted"),
        ("!!ARBfp1.0 TEMP ?; END", "unexpected character '\\?'"),
        ("!!ARBfp1.0 TEMP a END", "expected ';', found 'END'"),
        ("!!ARBfp1.0 TEMP a", "expected ';', found 'the end'"),
        ("!!ARBfp1.0 TEMP 1; END", "expected a name, found '1'"),
        ("!!ARBvp1.0 PARAM p[x] = { 1 }; END", "expected an integer, found 'x'"),
        ("!!ARBvp1.0 PARAM p[1.5] = { 1 }; END", "expected an integer, found '1.5'"),
    ],
)
def test_errors_of_the_parser(text: str, message: str) -> None:
    with pytest.raises(AssemblyError, match=message):
        parse(text)


ARRAY = "!!ARBvp1.0 PARAM p[3] = { program.env[0..2] }; ADDRESS a; TEMP t; "
PAIRS: dict[str, tuple[str, str]] = {
    # what is wrong: what is right, what just is not
    "index 3 is not below 3": (ARRAY + "MOV t, p[2];", ARRAY + "MOV t, p[3];"),
    "not between": (ARRAY + "MOV t, p[a.x + 4095];", ARRAY + "MOV t, p[a.x + 4096];"),
    "between -4096 and 4095": (ARRAY + "MOV t, p[a.x - 4096];", ARRAY + "MOV t, p[a.x - 4097];"),
    "t is no address register": (ARRAY + "MOV t, p[a.x];", ARRAY + "MOV t, p[t.x];"),
    "expected": (ARRAY + "MOV t, p[a.x];", ARRAY + "MOV t, p[a.y];"),
    "a cannot be read": (ARRAY + "ARL a.x, t.x;", ARRAY + "MOV t, a;"),
    "this cannot be written": (ARRAY + "MOV t, 1;", ARRAY + "MOV p, 1;"),
    "address registers have one component": (ARRAY + "ARL a.x, t.x;", ARRAY + "ARL a.y, t.x;"),
    "one component is wanted": (ARRAY + "ARL a.x, t.y;", ARRAY + "ARL a.x, t;"),
    "one vector is wanted, not several": (
        ARRAY + "MOV t, state.matrix.mvp.row[0];",
        ARRAY + "MOV t, state.matrix.mvp;",
    ),
    "one vector is wanted": (
        ARRAY + "PARAM m = state.matrix.mvp.row[0];",
        ARRAY + "PARAM m = state.matrix.mvp.row[0..0];",
    ),
    "vector is wanted, not several": (
        ARRAY + "PARAM e[] = { program.env[1..1] };",
        ARRAY + "MOV t, program.env[1..1];",
    ),
    "xxxx is no swizzle|one component": (ARRAY + "RCP t, t.x;", ARRAY + "RCP t, t.xxxx;"),
    "one component": (ARRAY + "RCP t, 1.5.x;", ARRAY + "RCP t, 1.5;"),
    "xx is no swizzle": (ARRAY + "MOV t, 1.5.x;", ARRAY + "MOV t, 1.5.xx;"),
    "xxyz is no write mask": (ARRAY + "MOV t.xyz, t;", ARRAY + "MOV t.xxyz, t;"),
    "r is not made of x": (ARRAY + "MOV t, t.x;", ARRAY + "MOV t, t.r;"),
    "rgba is not made of x": (ARRAY + "SWZ t, t, r, g, b, a;", ARRAY + "MOV t.rgba, t;"),
    "ragy is not made of x": (
        "!!ARBfp1.0 TEMP t; MOV t, t.ragb;",
        "!!ARBfp1.0 TEMP t; MOV t, t.ragy;",
    ),
    "xg is not made of x": (
        "!!ARBfp1.0 TEMP t; MOV t.rg, t;",
        "!!ARBfp1.0 TEMP t; MOV t.xg, t;",
    ),
    "x1rg is not made of x": (
        "!!ARBfp1.0 TEMP t; SWZ t, t, r, 1, -r, g;",
        "!!ARBfp1.0 TEMP t; SWZ t, t, x, 1, -r, g;",
    ),
    "xy is no swizzle": (ARRAY + "MOV t, t.xyzz;", ARRAY + "MOV t, t.xy;"),
    "'v' is no component": (ARRAY + "SWZ t, t, x, -1, 0, -w;", ARRAY + "SWZ t, t, x, v, 0, w;"),
    "needs OPTION ARB_fragment_program_shadow": (
        "!!ARBfp1.0 OPTION ARB_fragment_program_shadow; TEMP t;"
        "TEX t, fragment.position, texture[0], SHADOW2D;",
        "!!ARBfp1.0 TEMP t; TEX t, fragment.position, texture[0], SHADOW2D;",
    ),
    "found texgen": (
        "!!ARBvp1.0 TEMP t; MOV t, state.texgen[1].eye.s;",
        "!!ARBfp1.0 TEMP t; MOV t, state.texgen[1].eye.s;",
    ),
    "found clip": (
        "!!ARBvp1.0 TEMP t; MOV t, state.clip[1].plane;",
        "!!ARBfp1.0 TEMP t; MOV t, state.clip[1].plane;",
    ),
    "found point": (
        "!!ARBvp1.0 TEMP t; MOV t, state.point.size;",
        "!!ARBfp1.0 TEMP t; MOV t, state.point.size;",
    ),
    "found texenv": (
        "!!ARBfp1.0 TEMP t; MOV t, state.texenv[1].color;",
        "!!ARBvp1.0 TEMP t; MOV t, state.texenv[1].color;",
    ),
    "found depth": (
        "!!ARBfp1.0 TEMP t; MOV t, state.depth.range;",
        "!!ARBvp1.0 TEMP t; MOV t, state.depth.range;",
    ),
    "there is no texture target 4D": (
        "!!ARBfp1.0 TEMP t; TEX t, fragment.position, texture[0], 3D;",
        "!!ARBfp1.0 TEMP t; TEX t, fragment.position, texture[0], 4D;",
    ),
}


@pytest.mark.parametrize("message", PAIRS)
def test_what_is_right_and_just_is_not(message: str) -> None:
    accepted, rejected = PAIRS[message]
    parse(accepted + " END")
    with pytest.raises(AssemblyError, match=message):
        parse(rejected + " END")


@pytest.mark.native
def test_the_native_gl_takes_and_refuses_the_same() -> None:
    gl = native_context(profile="compat", version=(2, 1))
    for texts in PAIRS.values():
        found = []
        for text in texts:
            vertices = "ARBvp" in text
            target = GL.VERTEX_PROGRAM_ARB if vertices else GL.FRAGMENT_PROGRAM_ARB
            data = (text + " END").encode()
            gl.bind_program_arb(target, 1 if vertices else 2)
            gl.program_string_arb(target, GL.PROGRAM_FORMAT_ASCII_ARB, len(data), data)
            found.append(gl.get_error())
        assert found == [0, GL.INVALID_OPERATION], texts


def test_translation_is_readable() -> None:
    text = "!!ARBfp1.0 TEMP t; MAD_SAT t, fragment.color, program.env[1], -t.x; END"
    body = translate(parse(text))
    assert "t_t = clamp(gl_Color * assembly_env[1] + (-(t_t).xxxx), 0.0, 1.0);" in body


INDEXED = """!!ARBvp1.0
PARAM near[] = { program.local[4..1999] };
PARAM mixed[] = { program.env[3], program.local[2047], { 1.0, 1.0, 1.0, 1.0 } };
ADDRESS a;
ARL a.x, vertex.texcoord.x;
ADD result.color, near[a.x + 1], mixed[a.x];
MOV result.position, vertex.position;
END
"""


def test_several_results_of_a_fragment_are_its_data() -> None:
    head = "!!ARBfp1.0 OPTION ARB_draw_buffers; OUTPUT o = result.color[2];"
    text = translate(parse(head + " MOV o, 1; MOV result.color, 0.5; END"))
    assert "gl_FragData[2] = r_color_2;" in text and "gl_FragData[0] = r_color_0;" in text
    with pytest.raises(AssemblyError, match="index 99 is not below"):
        parse("!!ARBfp1.0 OPTION ARB_draw_buffers; MOV result.color[99], 1; END")


def test_parameters_with_a_gap_are_copied() -> None:
    text = translate(parse(INDEXED.replace("local[4..1999]", "env[4], program.env[6]")))
    assert "vec4 p_near[2];" in text and "p_near[1] = assembly_env[6];" in text


def test_parameters_that_follow_each_other_are_indexed_in_place() -> None:
    text = translate(parse(INDEXED))
    assert "uniform vec4 assembly_local[2048];" in text and "uniform vec4 assembly_env[4];" in text
    assert "assembly_local[clamp(a_a + (1), 0, 1995) + 4]" in text
    assert "vec4 p_mixed[3];" in text and "p_near" not in text

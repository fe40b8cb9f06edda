"""Assembly programs: pictures and queries compared with native GL, and errors with their place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compiler.assembly import AssemblyError, parse, translate
from gallette.state_tracker import GL
from tests.conftest import native_context
from tests.state_tracker.pictures import compare

VERTEX = """!!ARBvp1.0
PARAM mvp[4] = { state.matrix.mvp };
PARAM offsets[] = { program.env[0..2], { 0.25, 0.0, 0.0, 0.0 } };
ADDRESS a;
TEMP moved, color;
ARL a.x, program.local[0].x;
ADD moved, vertex.position, offsets[a.x + 1];
DP4 result.position.x, mvp[0], moved;
DP4 result.position.y, mvp[1], moved;
DP4 result.position.z, mvp[2], moved;
DP4 result.position.w, mvp[3], moved;
MUL color, vertex.color, 0.5;
ADD result.color, color, vertex.attrib[6].zyxw;
MOV result.texcoord[1], vertex.position;
END
"""
FRAGMENT = """!!ARBfp1.0
TEMP t, u;
ATTRIB place = fragment.texcoord[1];
PARAM weights = { 0.3, 0.59, 0.11, 2.0 };
DP3 t.x, fragment.color, weights;
FRC u, place;
CMP_SAT t.yz, -u, u.xxyx, weights;
SLT t.w, place.x, 0.0;
LRP u, t.w, t.yyyy, t.zzzz;
POW u.x, t.x, weights.w;
SWZ result.color, u, x, -z, 1, 1;
END
"""


def _load(gl: Any, target: int, text: str) -> None:
    gl.enable(target)
    (name,) = gl.gen_programs_arb(1)
    gl.bind_program_arb(target, name)
    raw = text.encode()
    gl.program_string_arb(target, GL.PROGRAM_FORMAT_ASCII_ARB, len(raw), raw)


def _triangle(gl: Any) -> None:
    gl.begin(GL.TRIANGLES)
    for color, place in (
        ((1, 0, 0), (-0.9, -0.9)),
        ((0, 1, 0), (0.8, -0.7)),
        ((0, 0, 1), (0, 0.9)),
    ):
        gl.color3f(*color)
        gl.vertex2f(*place)
    gl.end()


def vertex_program(gl: Any) -> None:
    _load(gl, GL.VERTEX_PROGRAM_ARB, VERTEX)
    gl.program_local_parameter4f_arb(GL.VERTEX_PROGRAM_ARB, 0, 1.5, 0.0, 0.0, 0.0)
    gl.program_env_parameter4fv_arb(
        GL.VERTEX_PROGRAM_ARB, 2, np.array([0.1, -0.1, 0.0, 0.0], np.float32)
    )
    gl.vertex_attrib4f(6, 0.1, 0.2, 0.3, 0.0)
    gl.scalef(0.8, 0.8, 1.0)
    _triangle(gl)


def both_programs(gl: Any) -> None:
    vertex_program(gl)
    _load(gl, GL.FRAGMENT_PROGRAM_ARB, FRAGMENT)
    _triangle(gl)


def textured_and_lit(gl: Any) -> None:
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    texels = np.arange(64, dtype=np.uint8).repeat(4) * 4
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    gl.lightfv(GL.LIGHT0, GL.DIFFUSE, np.array([0.5, 1.0, 0.25, 1.0], np.float32))
    text = """!!ARBfp1.0
    OPTION ARB_precision_hint_fastest;
    TEMP t, at;
    MUL at, fragment.position, 0.015625;
    TEX t, at, texture[0], 2D;
    KIL t.x;
    MUL result.color, t, state.light[0].diffuse;
    END"""
    _load(gl, GL.FRAGMENT_PROGRAM_ARB, text)
    gl.rectf(-0.8, -0.8, 0.8, 0.8)


_MATRIX_FORMS = ("", ".inverse", ".transpose", ".invtrans")


def program_matrices(gl: Any) -> None:
    """Each form of some of them, none of which is its own inverse or transpose."""
    for row, number in enumerate((0, 3, 7)):
        gl.matrix_mode(GL.MATRIX0_ARB + number)
        turned = np.array([[0.9, 0.2, 0, 0], [-0.1, 0.7, 0, 0], [0, 0, 1, 0], [0.1, 0, 0, 1]])
        turned[1, 1] -= number / 20
        gl.load_matrixf(turned.astype(np.float32))
        for column, form in enumerate(_MATRIX_FORMS):
            gl.viewport(16 * column, 20 * row, 16, 20)
            text = "!!ARBvp1.0\n" + f"PARAM m[4] = {{ state.matrix.program[{number}]{form} }};"
            text += "".join(
                f"DP4 result.position.{axis}, m[{i}], vertex.position;"
                for i, axis in enumerate("xyzw")
            )
            _load(gl, GL.VERTEX_PROGRAM_ARB, f"{text} MOV result.color, vertex.color; END")
            _triangle(gl)
    gl.matrix_mode(GL.MODELVIEW)


def _put_state(gl: Any) -> None:
    """Everything a program can read, each number another one between 0 and 1."""
    numbers = iter(np.linspace(0.05, 0.95, 200).astype(np.float32))

    def some(count: int) -> np.ndarray[Any, Any]:
        return np.array([next(numbers) for _ in range(count)], np.float32)

    for light in (GL.LIGHT0, GL.LIGHT1):
        for name in (GL.AMBIENT, GL.DIFFUSE, GL.SPECULAR, GL.POSITION):
            gl.lightfv(light, name, some(4))
        gl.lightfv(light, GL.SPOT_DIRECTION, some(3))
        for name in (GL.CONSTANT_ATTENUATION, GL.LINEAR_ATTENUATION, GL.QUADRATIC_ATTENUATION,
                     GL.SPOT_EXPONENT):  # fmt: skip
            gl.lightf(light, name, float(some(1)[0]))
        gl.lightf(light, GL.SPOT_CUTOFF, 60.0)
    for face in (GL.FRONT, GL.BACK):
        for name in (GL.AMBIENT, GL.DIFFUSE, GL.SPECULAR, GL.EMISSION):
            gl.materialfv(face, name, some(4))
        gl.materialf(face, GL.SHININESS, float(some(1)[0]))
    gl.light_modelfv(GL.LIGHT_MODEL_AMBIENT, some(4))
    for unit in (0, 1):
        gl.active_texture(GL.TEXTURE0 + unit)
        gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, some(4))
        for axis in (GL.S, GL.T, GL.R, GL.Q):
            gl.tex_genfv(axis, GL.EYE_PLANE, some(4))
            gl.tex_genfv(axis, GL.OBJECT_PLANE, some(4))
    gl.active_texture(GL.TEXTURE0)
    gl.fogfv(GL.FOG_COLOR, some(4))
    for name, value in ((GL.FOG_DENSITY, 0.3), (GL.FOG_START, 0.2), (GL.FOG_END, 0.9)):
        gl.fogf(name, value)
    for plane in (GL.CLIP_PLANE0, GL.CLIP_PLANE1):
        gl.clip_plane(plane, some(4).astype(np.float64))
    gl.depth_range(0.25, 0.625)
    gl.point_size(0.7)
    gl.point_parameterf(GL.POINT_SIZE_MIN, 0.15)
    gl.point_parameterf(GL.POINT_SIZE_MAX, 0.85)
    gl.point_parameterf(GL.POINT_FADE_THRESHOLD_SIZE, 0.35)
    gl.point_parameterfv(GL.POINT_DISTANCE_ATTENUATION, some(3))


_STATES = {
    "materials": [
        *(f"state.material.{word}" for word in ("ambient", "diffuse", "specular", "emission")),
        "state.material.front.specular",
        *(f"state.material.back.{word}" for word in ("ambient", "emission", "shininess")),
        "state.material.shininess",
    ],
    "lights": [
        *(f"state.light[{n}].{word}" for n in (0, 1) for word in (
            "ambient", "diffuse", "specular", "position", "attenuation", "spot.direction",
            "half")),
        "state.lightmodel.ambient", "state.lightmodel.scenecolor",
        "state.lightmodel.back.scenecolor", "state.lightprod[1].diffuse",
        "state.lightprod[0].back.specular",
    ],
    "planes": [
        *(f"state.texgen[1].{space}.{axis}" for space in ("eye", "object") for axis in "strq"),
        "state.texgen.eye.t", "state.clip[0].plane", "state.clip[1].plane",
    ],
    "points": ["state.point.size", "state.point.attenuation", "state.fog.params"],
    "others": ["state.texenv.color", "state.texenv[1].color", "state.fog.color",
               "state.fog.params", "state.depth.range"],
}  # fmt: skip


_OF_VERTICES_ALONE = ("planes", "points")


def _of_states(words: str, swizzle: str) -> Any:
    vertices = words in _OF_VERTICES_ALONE
    target = GL.VERTEX_PROGRAM_ARB if vertices else GL.FRAGMENT_PROGRAM_ARB
    head = "!!ARBvp1.0 MOV result.position, vertex.position;" if vertices else "!!ARBfp1.0"

    def scene(gl: Any) -> None:
        _put_state(gl)
        for k, binding in enumerate(_STATES[words]):
            gl.viewport(12 * (k % 5), 12 * (k // 5), 12, 12)
            _load(gl, target, f"{head} MOV result.color, {binding}{swizzle}; END")
            gl.rectf(-1.0, -1.0, 1.0, 1.0)

    return scene


def foggy(gl: Any) -> None:
    """Each formula of the fog between what a program writes and the fog's colour."""
    gl.fogfv(GL.FOG_COLOR, np.array([0.1, 0.8, 0.3, 0.5], np.float32))
    gl.fogi(GL.FOG_COORDINATE_SOURCE, GL.FOG_COORDINATE)
    for name, value in ((GL.FOG_DENSITY, 0.8), (GL.FOG_START, 0.2), (GL.FOG_END, 1.5)):
        gl.fogf(name, value)
    for k, option in enumerate(("linear", "exp", "exp2")):
        gl.viewport(20 * k, 0, 20, 60)
        text = f"!!ARBfp1.0 OPTION ARB_fog_{option}; MOV result.color, fragment.color; END"
        _load(gl, GL.FRAGMENT_PROGRAM_ARB, text)
        gl.begin(GL.TRIANGLES)
        for color, place, fog in (
            ((1, 0, 0), (-0.9, -0.9), 0.0),
            ((0, 1, 0), (0.8, -0.7), 1.0),
            ((0, 0, 1), (0, 0.9), 2.5),
        ):
            gl.color3f(*color)
            gl.fog_coordf(fog)
            gl.vertex2f(*place)
        gl.end()


_FOG_MASKS = ["", *(f".{''.join(c for i, c in enumerate('xyzw') if bits >> i & 1)}"
                     for bits in range(1, 16))]  # fmt: skip
_FOG_SWIZZLES = ["", ".x", ".y", ".z", ".w", ".xyzw", ".wzyx", ".xxyw", ".yyyy", ".zwxy"]


def _fog_coordinates(result: bool, source: int) -> Any:
    """fragment.fogcoord with each swizzle, after each mask of result.fogcoord or without a vertex
    program; vertex.fogcoord with each swizzle.
    """
    head = "!!ARBvp1.0\nMOV result.position, vertex.position; "

    def scene(gl: Any) -> None:
        gl.fogi(GL.FOG_COORDINATE_SOURCE, source)
        gl.fog_coordf(0.75)
        for k, swizzle in enumerate(_FOG_SWIZZLES):
            text = f"!!ARBfp1.0\nMOV result.color, fragment.fogcoord{swizzle}; END"
            _load(gl, GL.FRAGMENT_PROGRAM_ARB, text)
            for j, mask in enumerate(_FOG_MASKS if result else [""]):
                gl.viewport(4 * j, 4 * k, 4, 4)
                if result:
                    text = f"{head}MOV result.fogcoord{mask}, {{ 0.25, 0.5, 0.75, 1.0 }}; END"
                    _load(gl, GL.VERTEX_PROGRAM_ARB, text)
                gl.rectf(-1.0, -1.0, 1.0, 1.0)
        gl.disable(GL.FRAGMENT_PROGRAM_ARB)
        for k, swizzle in enumerate(_FOG_SWIZZLES):
            gl.viewport(4 * k, 50, 4, 4)
            _load(
                gl, GL.VERTEX_PROGRAM_ARB, f"{head}MOV result.color, vertex.fogcoord{swizzle};END"
            )
            gl.rectf(-1.0, -1.0, 1.0, 1.0)

    return scene


def lookups_of_other_kinds(gl: Any) -> None:
    """A cube looked up by a quotient, a level biased, a rectangle."""
    texels = np.arange(64, dtype=np.uint8).repeat(4) * 4
    for target in (GL.TEXTURE_CUBE_MAP, GL.TEXTURE_2D, GL.TEXTURE_RECTANGLE):
        gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
        gl.tex_parameteri(target, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    for face in range(6):
        gl.tex_image2d(GL.TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL.RGBA, 8, 8, 0, GL.RGBA,
                       GL.UNSIGNED_BYTE, texels // (face + 1))  # fmt: skip
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    for level, size in enumerate((8, 4, 2, 1)):
        part = np.full(size * size * 4, 60 + 60 * level, np.uint8)
        gl.tex_image2d(GL.TEXTURE_2D, level, GL.RGBA, size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE,
                       part)  # fmt: skip
    gl.tex_image2d(GL.TEXTURE_RECTANGLE, 0, GL.RGBA, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    for k, (scale, instruction) in enumerate((
        ("{ 0.1, 0.05, 0.7, 0.5 }", "TXP result.color, at, texture[0], CUBE"),
        ("{ 0.02, 0.02, 0.0, 0.0 }", "TXB result.color, at, texture[0], 2D"),
        ("{ 0.02, 0.02, 0.0, 1.0 }", "TXP result.color, at, texture[0], 2D"),
        ("{ 0.1, 0.1, 0.0, 0.0 }", "TXB result.color, at, texture[0], RECT"),
    )):  # fmt: skip
        gl.viewport(15 * k, 0, 15, 60)
        bias = "ADD at.w, at.w, 1.0;" if "2D" in instruction else ""
        text = f"""!!ARBfp1.0 TEMP at;
            MUL at, fragment.position, {scale}; {bias} {instruction}; END"""
        _load(gl, GL.FRAGMENT_PROGRAM_ARB, text)
        gl.rectf(-0.9, -0.9, 0.9, 0.9)


def results_of_vertices(gl: Any) -> None:
    """Each result by a name of its own, seen through what reads it; both sides of triangles."""
    text = """!!ARBvp1.0 OPTION ARB_position_invariant;
        OUTPUT back = result.color.back; OUTPUT second = result.color.secondary;
        TEMP t; ALIAS other = t; ATTRIB c = vertex.color.primary;
        MUL other, vertex.color.secondary, 0.5; MOV second, t;
        MOV result.color.front.primary, c; SUB back, 1.0, c;
        MOV result.color.back.secondary, 0.25; MOV result.fogcoord, 0.5;
        MOV result.pointsize, 7.0; MOV result.texcoord[1], c.zxyw; END"""
    gl.enable(GL.VERTEX_PROGRAM_TWO_SIDE)
    gl.enable(GL.VERTEX_PROGRAM_POINT_SIZE)
    gl.secondary_color3f(0.4, 0.2, 0.6)
    _load(gl, GL.VERTEX_PROGRAM_ARB, text)
    _load(
        gl,
        GL.FRAGMENT_PROGRAM_ARB,
        """!!ARBfp1.0 TEMP t;
        ADD t, fragment.color.primary, fragment.color.secondary;
        MAD t, fragment.texcoord[1], 0.25, t; MUL result.color, t, fragment.fogcoord.x; END""",
    )
    gl.viewport(0, 0, 30, 60)
    _triangle(gl)
    gl.viewport(30, 0, 30, 60)
    gl.scalef(-1.0, 1.0, 1.0)
    _triangle(gl)
    gl.begin(GL.POINTS)
    gl.vertex2f(0.5, 0.5)
    gl.end()


def depth_of_fragments(gl: Any) -> None:
    gl.enable(GL.DEPTH_TEST)
    text = "!!ARBfp1.0 MOV result.depth.z, fragment.color.x; MOV result.color, fragment.color; END"
    _load(gl, GL.FRAGMENT_PROGRAM_ARB, text)
    for color, at in (((0.75, 0.0, 0.5), -0.9), ((0.25, 0.5, 0.0), -0.5), ((0.5, 0.9, 0.9), -0.2)):
        gl.color3f(*color)
        gl.rectf(at, at, at + 1.0, at + 1.0)


@pytest.mark.native
@pytest.mark.parametrize("swizzle", ["", ".y", ".wzyx"])
@pytest.mark.parametrize("words", _STATES)
def test_state_that_programs_read_is_native_gls(words: str, swizzle: str) -> None:
    compare(_of_states(words, swizzle), tolerance=1)


@pytest.mark.native
@pytest.mark.parametrize(
    "scene",
    [
        vertex_program,
        both_programs,
        textured_and_lit,
        program_matrices,
        foggy,
        pytest.param(_fog_coordinates(True, GL.FOG_COORDINATE), id="fog-of-programs"),
        pytest.param(_fog_coordinates(False, GL.FOG_COORDINATE), id="fog-of-vertices"),
        pytest.param(_fog_coordinates(False, GL.FRAGMENT_DEPTH), id="fog-by-depth"),
        lookups_of_other_kinds,
        results_of_vertices,
        depth_of_fragments,
    ],
)
def test_programs_draw_what_native_ones_draw(scene: Any) -> None:
    compare(scene, tolerance=2, stray=4)


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

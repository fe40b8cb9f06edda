"""Every instruction of assembly programs, in fragment and vertex programs, against NumPy.

The formulas are those of ARB_fragment_program and ARB_vertex_program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.assembly import AssemblyError, parse
from gallette.state_tracker import GL, create_context
from tests.conftest import native_context

from .helpers import errors

Vector = npt.NDArray[Any]
A = np.array([0.75, -1.5, 2.25, -0.5])
B = np.array([-2.0, 0.625, 1.5, 3.0])
C = np.array([0.375, -0.25, -4.0, 1.25])


def dot(x: Vector, y: Vector, n: int = 4) -> float:
    return float((x[:n] * y[:n]).sum())


def alike(value: float) -> Vector:
    return np.full(4, value)


def lit(x: Vector) -> Vector:
    diffuse, specular, power = max(x[0], 0.0), max(x[1], 0.0), float(np.clip(x[3], -128, 128))
    return np.array([1.0, diffuse, specular**power if x[0] > 0.0 else 0.0, 1.0])


BOTH: dict[str, Callable[[], Vector]] = {
    "ABS r, a": lambda: np.abs(A),
    "ADD r, a, b": lambda: A + B,
    "DP3 r, a, b": lambda: alike(dot(A, B, 3)),
    "DP4 r, a, b": lambda: alike(dot(A, B)),
    "DPH r, a, b": lambda: alike(dot(A, B, 3) + B[3]),
    "DST r, a, b": lambda: np.array([1.0, A[1] * B[1], A[2], B[3]]),
    "EX2 r, a.y": lambda: alike(2.0 ** A[1]),
    "FLR r, a": lambda: np.floor(A),
    "FRC r, a": lambda: A - np.floor(A),
    "LG2 r, b.z": lambda: alike(np.log2(B[2])),
    "LIT r, b.yzwx": lambda: lit(B[[1, 2, 3, 0]]),
    "LIT r, a.zxyw": lambda: lit(A[[2, 0, 1, 3]]),
    "LIT r, a.yzxw": lambda: lit(A[[1, 2, 0, 3]]),
    "MAD r, a, b, c": lambda: A * B + C,
    "MAX r, a, b": lambda: np.maximum(A, B),
    "MIN r, a, b": lambda: np.minimum(A, B),
    "MOV r, a": lambda: A,
    "MOV r, -a.wzyx": lambda: -A[::-1],
    "MOV r, a.z": lambda: alike(A[2]),
    "MUL r, a, b": lambda: A * B,
    "POW r, a.z, b.x": lambda: alike(A[2] ** B[0]),
    "RCP r, a.w": lambda: alike(1.0 / A[3]),
    "RSQ r, a.y": lambda: alike(1.0 / np.sqrt(abs(A[1]))),
    "SGE r, a, b": lambda: (A >= B) * 1.0,
    "SGE r, a, a": lambda: np.ones(4),
    "SLT r, a, b": lambda: (A < B) * 1.0,
    "SLT r, a, a": lambda: np.zeros(4),
    "SUB r, a, b": lambda: A - B,
    "SWZ r, a, y, -z, 0, 1": lambda: np.array([A[1], -A[2], 0.0, 1.0]),
    "SWZ r, a, -1, w, -x, -0": lambda: np.array([-1.0, A[3], -A[0], 0.0]),
    "XPD r.xyz, a, b": lambda: np.array([*np.cross(A[:3], B[:3]), C[3]]),
    "MOV r.xw, a": lambda: np.array([A[0], C[1], C[2], A[3]]),
    "MAD r.yz, a.w, -b.zyxw, c": lambda: np.array(
        [C[0], -A[3] * B[1] + C[1], -A[3] * B[0] + C[2], C[3]]
    ),
}
FRAGMENT_ONLY: dict[str, Callable[[], Vector]] = {
    "CMP r, a, b, c": lambda: np.where(A < 0, B, C),
    "COS r, a.y": lambda: alike(np.cos(A[1])),
    "SIN r, a.y": lambda: alike(np.sin(A[1])),
    "SCS r.xy, a.x": lambda: np.array([np.cos(A[0]), np.sin(A[0]), C[2], C[3]]),
    "LRP r, a, b, c": lambda: A * B + (1 - A) * C,
    "MOV_SAT r, a": lambda: np.clip(A, 0, 1),
    "MUL_SAT r.yz, a, b.wzyx": lambda: np.array(
        [C[0], np.clip(A[1] * B[2], 0, 1), np.clip(A[2] * B[1], 0, 1), C[3]]
    ),
}
VERTEX_ONLY: dict[str, Callable[[], Vector]] = {
    "EXP r, a.y": lambda: np.array(
        [2.0 ** np.floor(A[1]), A[1] - np.floor(A[1]), 2.0 ** A[1], 1.0]
    ),
    "LOG r, a.y": lambda: np.array(
        [np.floor(np.log2(abs(A[1]))), abs(A[1]) / 2.0 ** np.floor(np.log2(abs(A[1]))),
         np.log2(abs(A[1])), 1.0]
    ),
}  # fmt: skip
_HEAD = """PARAM a = {a}; PARAM b = {b}; PARAM c = {c};
TEMP r;
MOV r, c;
"""


def numbers(v: Vector) -> str:
    return "{ " + ", ".join(str(x) for x in v) + " }"


def head() -> str:
    return _HEAD.format(a=numbers(A), b=numbers(B), c=numbers(C))


@pytest.fixture(params=["numpipe", pytest.param("native", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Draws one pixel of floats."""
    options: dict[str, Any] = {"profile": "compat", "version": (3, 0), "size": (4, 4)}
    native = request.param == "native"
    context = native_context(**options) if native else create_context("numpipe", **options)
    (texture,) = context.gen_textures(1)
    context.bind_texture(GL.TEXTURE_2D, texture)
    context.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32F, 1, 1, 0, GL.RGBA, GL.FLOAT, None)
    context.bind_framebuffer(GL.FRAMEBUFFER, context.gen_framebuffers(1)[0])
    context.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    context.bind_texture(GL.TEXTURE_2D, 0)
    context.viewport(0, 0, 1, 1)
    yield context
    context.release()


def load(gl: Any, target: int, text: str) -> None:
    gl.enable(target)
    (name,) = gl.gen_programs_arb(1)
    gl.bind_program_arb(target, name)
    raw = text.encode()
    gl.program_string_arb(target, GL.PROGRAM_FORMAT_ASCII_ARB, len(raw), raw)
    assert errors(gl) == [], gl.get_string(GL.PROGRAM_ERROR_STRING_ARB)


def drawn(gl: Any, corner: tuple[float, ...] = (0.0, 0.0)) -> list[float]:
    gl.clear_color(7.0, 7.0, 7.0, 7.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    raw = gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.FLOAT)
    return [float(x) for x in np.frombuffer(raw, np.float32)]


def fragment_result(gl: Any, code: str, first: str = "") -> list[float]:
    load(
        gl,
        GL.FRAGMENT_PROGRAM_ARB,
        f"!!ARBfp1.0\n{first}{head()}{code};\nMOV result.color, r;\nEND",
    )
    return drawn(gl)


def test_instructions_of_fragment_programs(gl: Any) -> None:
    wrong = {}
    for code, wanted in (BOTH | FRAGMENT_ONLY).items():
        found = fragment_result(gl, code)
        if found != pytest.approx(wanted().tolist(), rel=1e-4, abs=1e-5):
            wrong[code] = found, wanted()
    assert wrong == {}


def test_instructions_of_vertex_programs(gl: Any) -> None:
    load(gl, GL.FRAGMENT_PROGRAM_ARB, "!!ARBfp1.0\nMOV result.color, fragment.texcoord[0];\nEND")
    wrong = {}
    for code, wanted in (BOTH | VERTEX_ONLY).items():
        text = f"!!ARBvp1.0\n{head()}{code};\nMOV result.texcoord[0], r;\n"
        load(gl, GL.VERTEX_PROGRAM_ARB, text + "MOV result.position, vertex.position;\nEND")
        found = drawn(gl)
        if found != pytest.approx(wanted().tolist(), rel=1e-3, abs=1e-4):
            wrong[code] = found, wanted()
    assert wrong == {}


@pytest.mark.parametrize("component", range(4))
def test_a_fragment_with_a_negative_component_is_killed(gl: Any, component: int) -> None:
    for value, killed in ((-0.5, True), (0.0, False), (0.5, False)):
        vector = np.ones(4)
        vector[component] = value
        found = fragment_result(gl, f"KIL {{ {', '.join(map(str, vector))} }};\nMOV r, a")
        assert found == ([7.0] * 4 if killed else A.tolist())


DIMS = {
    # target of the instruction: target of the texture, size, where a texel is
    "1D": (GL.TEXTURE_1D, (1, 1, 4), (0.625, 9.0, 9.0)),
    "2D": (GL.TEXTURE_2D, (1, 2, 4), (0.625, 0.75, 9.0)),
    "3D": (GL.TEXTURE_3D, (2, 2, 4), (0.625, 0.75, 0.75)),
    "RECT": (GL.TEXTURE_RECTANGLE, (1, 2, 4), (2.5, 1.5, 9.0)),
}


@pytest.mark.parametrize("op", ["TEX", "TXP", "TXB"])
@pytest.mark.parametrize("kind", DIMS)
def test_lookups(gl: Any, kind: str, op: str) -> None:
    target, shape, place = DIMS[kind]
    texels = np.arange(np.prod(shape) * 4, dtype=np.float32).reshape(*shape, 4)
    gl.active_texture(GL.TEXTURE1)
    gl.bind_texture(target, gl.gen_textures(1)[0])
    for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(target, name, GL.NEAREST)
    rest = (0, GL.RGBA, GL.FLOAT, texels)
    depth, height, width = shape
    if kind == "1D":
        gl.tex_image1d(target, 0, GL.RGBA32F, width, *rest)
    elif kind == "3D":
        gl.tex_image3d(target, 0, GL.RGBA32F, width, height, depth, *rest)
    else:
        gl.tex_image2d(target, 0, GL.RGBA32F, width, height, *rest)
    by = 2.0 if op == "TXP" else 1.0
    where = numbers(np.array([x * by for x in place] + [by if op == "TXP" else 0.0]))
    found = fragment_result(gl, f"{op} r, {where}, texture[1], {kind}")
    assert found == texels[depth - 1, height - 1, 2].tolist()
    gl.active_texture(GL.TEXTURE0)


@pytest.mark.parametrize("op", ["TEX", "TXP"])
@pytest.mark.parametrize("face", range(6))
def test_lookups_of_cubes(gl: Any, op: str, face: int) -> None:
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, gl.gen_textures(1)[0])
    for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_CUBE_MAP, name, GL.NEAREST)
    for i in range(6):
        target = GL.TEXTURE_CUBE_MAP_POSITIVE_X + i
        color = np.array([i, 10.0, 20.0, 30.0], np.float32)
        gl.tex_image2d(target, 0, GL.RGBA32F, 1, 1, 0, GL.RGBA, GL.FLOAT, color)
    place = np.zeros(4)
    place[face // 2] = -3.0 if face % 2 else 3.0
    place[(face // 2 + 1) % 3] = 0.5
    place[3] = 2.0
    assert fragment_result(gl, f"{op} r, {numbers(place)}, texture[0], CUBE")[0] == face


def test_arrays_are_indexed_in_any_order(gl: Any) -> None:
    """Parameters that follow one another and others, by a number and by an address."""
    for i in range(8):
        gl.program_env_parameter4fv_arb(
            GL.VERTEX_PROGRAM_ARB, i, np.array([i, 0, 0, 1], np.float32)
        )
        gl.program_local_parameter4f_arb(GL.FRAGMENT_PROGRAM_ARB, 0, 0.0, 0.0, 0.0, 0.0)
    load(gl, GL.FRAGMENT_PROGRAM_ARB, "!!ARBfp1.0\nMOV result.color, fragment.texcoord[0];\nEND")
    for elements, values in (
        ("program.env[2..5]", (2, 3, 4, 5)),
        ("program.env[2], program.env[3], program.env[4]", (2, 3, 4)),
        ("program.env[5], program.env[1], program.env[2]", (5, 1, 2)),
        ("program.env[1], program.env[3]", (1, 3)),
        ("program.env[6..7], program.env[0..1]", (6, 7, 0, 1)),
        ("{ 9.0 }, program.env[4], { 8.0, 1.0 }", (9, 4, 8)),
    ):
        for index, wanted in enumerate(values):
            text = f"""!!ARBvp1.0
            PARAM p[] = {{ {elements} }};
            ADDRESS x; TEMP r, s;
            PARAM at = {{ {index - 0.5}, 77.0, 77.0, 77.0 }};
            ARL x.x, at.x;
            MOV r, p[x.x + 1];
            MOV s, p[{index}];
            MOV r.y, s.x;
            MOV result.texcoord[0], r;
            MOV result.position, vertex.position;
            END"""
            load(gl, GL.VERTEX_PROGRAM_ARB, text)
            assert drawn(gl)[:2] == [wanted, wanted], (elements, index)


SEVERAL = "!!ARBfp1.0\n{}MOV result.color[{}], {{ 1.0, 2.0, 3.0, 4.0 }};\nEND"


@pytest.mark.parametrize("option", ["ARB_draw_buffers", "ATI_draw_buffers"])
def test_several_colours_are_an_option(gl: Any, option: str) -> None:
    load(gl, GL.FRAGMENT_PROGRAM_ARB, SEVERAL.format(f"OPTION {option};\n", 0))
    assert drawn(gl) == [1.0, 2.0, 3.0, 4.0]
    load(gl, GL.FRAGMENT_PROGRAM_ARB, SEVERAL.format(f"OPTION {option};\n", 1))
    assert parse(SEVERAL.format(f"OPTION {option};\n", 3)).options == [option]
    with pytest.raises(AssemblyError, match="needs OPTION ARB_draw_buffers"):
        parse(SEVERAL.format("", 1))


def test_errors_say_where_they_are() -> None:
    text = "!!ARBfp1.0\nTEMP r;\n  MOV q, r;\nEND"
    for at, line, char in ((0, 1, 1), (10, 1, 11), (11, 2, 1), (text.index("q"), 3, 7)):
        error = AssemblyError("odd", at, text)
        assert str(error) == f"line {line}, char {char}: error: odd"
        assert error.position == at
    assert str(AssemblyError("odd", 4)) == "line 1, char 5: error: odd"
    assert str(AssemblyError("odd", 2, "\nx!")) == "line 2, char 2: error: odd"

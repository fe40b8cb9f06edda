"""Built-in functions of integers and bits at the edges of what they take, against Python's numbers.

Each function runs over every pair of edge values at once, with and without optimisation.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from gallette.compiler.glsl import LinkOptions, link_program
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.state_tracker import GL, GLInterface, create_context
from tests.cases import Case, each, sections
from tests.glsl.shaders import fragment
from tests.state_tracker.helpers import program

EDGES = (0, 1, 2, 3, 31, 32, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x00FF00F0, 0x12345678,
         0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)  # fmt: skip
MASK = 0xFFFFFFFF
FIELDS = ((0, 0), (0, 1), (0, 32), (1, 31), (5, 7), (16, 16), (31, 1), (31, 0), (32, 0))


def signed(x: int) -> int:
    return (x & MASK) - (x >> 31 & 1) * (1 << 32)


def bits_of(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def most_significant(x: int) -> int:
    x = signed(x)
    return (x if x >= 0 else ~x).bit_length() - 1


def extracted(x: int, offset: int, count: int, sign: bool) -> int:
    field = x >> offset & ((1 << count) - 1)
    return field - (1 << count) if sign and count and field >> (count - 1) else field


def inserted(x: int, y: int, offset: int, count: int) -> int:
    mask = ((1 << count) - 1) << offset
    return x & ~mask | y << offset & mask


def truncated(a: int, b: int) -> tuple[int, int]:
    """The quotient rounded to zero, and what is left."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def unpacked(x: int, fields: int, sign: bool) -> list[float]:
    size = 32 // fields
    most = (1 << (size - sign)) - 1
    found = (extracted(x, size * i, size, sign) / most for i in range(fields))
    return [max(v, -1.0) for v in found]


def as_half(x: int) -> float:
    return float(np.array(x, np.uint16).view(np.float16))


def clipped(x: int, bits: int = 32) -> int:
    """The nearest signed integer."""
    return min(max(x, -1 << (bits - 1)), (1 << (bits - 1)) - 1)


def wide(x: int) -> int:
    """As a signed integer of 64 bits."""
    return x - (x >> 63 << 64)


FORMULAS = Path(__file__).with_name("edge_formulas.txt")


def model(case: Case, *names: str) -> Callable[..., list[float]]:
    """What the Python of a case computes of these."""
    found: Callable[..., list[float]] = eval(f"lambda {', '.join(names)}: [{case.answer}]")
    return found


EXTENSIONS = (
    "GL_INTEL_shader_integer_functions2 GL_AMD_shader_trinary_minmax GL_ARB_gpu_shader_int64"
)
ENABLED = "".join(f"#extension {name} : enable\n" for name in EXTENSIONS.split())


def ran(statements: str, lanes: Sequence[tuple[int, ...]], optimize: bool) -> list[list[int]]:
    """The four words a shader makes of each lane's words."""
    source = f"""#version 450
    {ENABLED}
    layout(location = 0) flat in uvec4 given;
    out uvec4 result;
    void main() {{
        uint a = given.x, b = given.y; int i = int(a), j = int(b);
        int offset = int(given.z), count = int(given.w);
        uvec4 r = uvec4(0u); {statements} result = r;
    }}"""
    shader = fragment(source)
    assert shader.ok, shader.info_log
    linked = link_program([shader], LinkOptions(api="compat", optimize=optimize))
    nir = linked.shaders[Stage.FRAGMENT]
    columns = np.array(lanes, np.uint32).T
    inputs = {(int(VaryingSlot.VAR0), k): column for k, column in enumerate(columns)}
    result = interpret(nir, Environment(lanes=len(lanes), inputs=inputs))
    words = [result.outputs[FragResult.DATA0, k] for k in range(4)]
    nir.unref()
    return [[int(w[lane]) for w in words] for lane in range(len(lanes))]


@pytest.mark.parametrize("optimize", [False, True])
@each(FORMULAS, "pairs")
def test_pairs_of_edges(case: Case, optimize: bool) -> None:
    of = model(case, "a", "b")
    lanes = [(a, b, 0, 0) for a, b in itertools.product(EDGES, EDGES)]
    for lane, found in zip(lanes, ran(case.text, lanes, optimize), strict=True):
        expected = [int(word) & MASK for word in of(lane[0], lane[1])]
        assert found == expected, [hex(word) for word in lane[:2]]


@pytest.mark.parametrize("optimize", [False, True])
@each(FORMULAS, "wide")
def test_pairs_of_wide_edges(case: Case, optimize: bool) -> None:
    of = model(case, "x", "y")
    statements = f"""uint64_t x = packUint2x32(uvec2(a, b)), y = packUint2x32(given.zw);
        int64_t s = int64_t(x), t = int64_t(y);
        r.xy = unpackUint2x32(uint64_t({case.text}));"""
    words = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
    lanes = list(itertools.product(words, repeat=4))
    for lane, found in zip(lanes, ran(statements, lanes, optimize), strict=True):
        a, b, c, d = lane
        (expected,) = (int(word) for word in of(a | b << 32, c | d << 32))
        assert found[:2] == [expected & MASK, expected >> 32 & MASK], [hex(w) for w in lane]


OF_FIELDS = """r = uvec4(bitfieldExtract(a, offset, count), bitfieldExtract(i, offset, count),
    bitfieldInsert(a, b, offset, count), bitfieldInsert(i, j, offset, count));"""


@pytest.mark.parametrize("optimize", [False, True])
def test_fields_of_bits(optimize: bool) -> None:
    lanes = [(a, a ^ 0x5A5A5A5A, *field) for a in EDGES for field in FIELDS]
    for lane, found in zip(lanes, ran(OF_FIELDS, lanes, optimize), strict=True):
        a, b, offset, count = lane
        put = inserted(a, b, offset, count)
        expected = [extracted(a, offset, count, False), extracted(a, offset, count, True), put, put]
        assert found == [word & MASK for word in expected], lane


def test_halves() -> None:
    """Every half but those that are no number or too small to be normal."""
    halves = [h for h in range(0, 1 << 16, 7) if 0 < h >> 10 & 31 < 31]
    lanes = [(h, h ^ 0x8000, 0, 0) for h in halves]
    statements = """r = uvec4(floatBitsToUint(unpackHalf2x16(a | b << 16)),
        packHalf2x16(unpackHalf2x16(a | b << 16)), 0u);"""
    for (h, other, *_), found in zip(lanes, ran(statements, lanes, True), strict=True):
        assert found[:2] == [bits_of(as_half(h)), bits_of(as_half(other))]
        assert found[2] == h | other << 16


FLOATS = (0.0, -0.0, 0.25, -0.25, 0.5, -0.5, 0.75, 1.0, -1.0, 1.5, 2.5, -2.5, 3.25, -7.75,
          1e6 + 0.5, 8388607.5, -8388609.0, 3e9, 1e30, math.inf, -math.inf)  # fmt: skip
OF_FLOATS = "float x = uintBitsToFloat(a); r = floatBitsToUint({});"


@pytest.mark.parametrize("optimize", [False, True])
@each(FORMULAS, "floats")
def test_floats(case: Case, optimize: bool) -> None:
    of = model(case, "x")
    lanes = [(bits_of(x), 0, 0, 0) for x in FLOATS]
    for x, found in zip(FLOATS, ran(OF_FLOATS.format(case.text), lanes, optimize), strict=True):
        values = np.array(found, np.uint32).view(np.float32)
        assert values.tolist() == [np.float32(v) for v in of(float(np.float32(x)))], x


VERTEX = """#version 430
void main() { gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0.0, 1.0); }"""


def drawn(gl: GLInterface, statements: str, lanes: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """What `ran` answers, by a picture with a lane in each pixel."""
    source = f"""#version 430
    {ENABLED}
    uniform usampler2D lanes;
    out uvec4 result;
    void main() {{
        uvec4 given = texelFetch(lanes, ivec2(gl_FragCoord.xy), 0);
        uint a = given.x, b = given.y; int i = int(a), j = int(b);
        int offset = int(given.z), count = int(given.w);
        uvec4 r = uvec4(0u); {statements} result = r;
    }}"""
    words = np.array(lanes, np.uint32)
    size = (len(lanes), 1, 0, GL.RGBA_INTEGER, GL.UNSIGNED_INT)
    given, made = gl.gen_textures(2)
    for texture, data in ((made, None), (given, words)):
        gl.bind_texture(GL.TEXTURE_2D, texture)
        for filter in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
            gl.tex_parameteri(GL.TEXTURE_2D, filter, GL.NEAREST)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32UI, *size, data)
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, made, 0)
    gl.viewport(0, 0, len(lanes), 1)
    program(gl, VERTEX, source)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    found = gl.read_pixels(0, 0, len(lanes), 1, GL.RGBA_INTEGER, GL.UNSIGNED_INT)
    assert gl.get_error() == 0
    rows: list[list[int]] = np.frombuffer(found, np.uint32).reshape(-1, 4).tolist()
    return rows


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_drivers_agree(driver: str) -> None:
    """The same statements, as each driver lowers and selects them."""
    gl = create_context(driver, profile="core", version=(4, 3), size=(4, 4))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    pairs = [(a, b, 0, 0) for a, b in itertools.product(EDGES, EDGES)]
    floats = [(bits_of(x), 0, 0, 0) for x in FLOATS]
    fields = [(a, a ^ 0x5A5A5A5A, *field) for a in EDGES for field in FIELDS]
    formulas = sections(FORMULAS)
    programs = {case.name: (case.text, pairs) for case in formulas["pairs"].cases}
    for case in formulas["floats"].cases:
        programs[case.text] = (OF_FLOATS.format(case.text), floats)
    programs["fields"] = (OF_FIELDS, fields)
    for name, (statements, lanes) in programs.items():
        assert drawn(gl, statements, lanes) == ran(statements, lanes, True), name
    gl.release()

"""Built-in functions of integers and bits at the edges of what they take, against Python's numbers.

Each function runs over every pair of edge values at once, with and without optimisation.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from gallette.compiler.glsl import LinkOptions, link_program
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.state_tracker import GL, GLInterface, create_context
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


Words = list[int]
# GLSL, where a and b are uints, i and j the same as ints, and r is what comes out -> the same here.
PAIRS: dict[str, tuple[str, Callable[[int, int], Words]]] = {
    "sums": (
        "uint c, d; r.x = uaddCarry(a, b, c); r.y = c; r.z = usubBorrow(a, b, d); r.w = d;",
        lambda a, b: [a + b, (a + b) >> 32, a - b, a < b],
    ),
    "products": (
        "uint h, l; umulExtended(a, b, h, l); int s, t; imulExtended(i, j, s, t);"
        "r = uvec4(h, l, uint(s), uint(t));",
        lambda a, b: [a * b >> 32, a * b, signed(a) * signed(b) >> 32, signed(a) * signed(b)],
    ),
    "vectors of products": (
        "uvec2 h, l; umulExtended(uvec2(a, b), uvec2(b, b), h, l); r = uvec4(h, l);",
        lambda a, b: [a * b >> 32, b * b >> 32, a * b, b * b],
    ),
    "bits": (
        "r = uvec4(bitfieldReverse(a), bitCount(a), findLSB(a), findMSB(a));",
        lambda a, b: [
            int(f"{a:032b}"[::-1], 2), a.bit_count(), (a & -a).bit_length() - 1, a.bit_length() - 1
        ],
    ),
    "bits of ints": (
        "r = uvec4(bitfieldReverse(i), bitCount(i), findLSB(i), findMSB(i));",
        lambda a, b: [
            int(f"{a:032b}"[::-1], 2), a.bit_count(), (a & -a).bit_length() - 1, most_significant(a)
        ],
    ),
    "order": (
        "r = uvec4(min(a, b), max(a, b), min(i, j), max(i, j));",
        lambda a, b: [
            min(a, b), max(a, b), min(signed(a), signed(b)), max(signed(a), signed(b))
        ],
    ),
    "comparisons": (
        "r = uvec4(a < b, i < j, a <= b, i >= j);",
        lambda a, b: [a < b, signed(a) < signed(b), a <= b, signed(a) >= signed(b)],
    ),
    "equality": (
        "r = uvec4(a == b, i != j, a > b, any(greaterThan(ivec2(i, 0), ivec2(j, 0))));",
        lambda a, b: [a == b, a != b, a > b, signed(a) > signed(b)],
    ),
    "signs": (
        "r = uvec4(abs(i), sign(i), -i, clamp(i, -3, 2));",
        lambda a, b: [
            abs(signed(a)), (signed(a) > 0) - (signed(a) < 0), -a, min(max(signed(a), -3), 2)
        ],
    ),
    "logic": ("r = uvec4(a & b, a | b, a ^ b, ~a);", lambda a, b: [a & b, a | b, a ^ b, ~a]),
    "shifts": (
        "r = uvec4(a << (b & 31u), a >> (b & 31u), i >> (j & 31), i << (b & 31u));",
        lambda a, b: [a << (b & 31), a >> (b & 31), signed(a) >> (b & 31), a << (b & 31)],
    ),
    "division": (
        "uint d = b == 0u ? 7u : b; r = uvec4(a / d, a % d, 0, 0);",
        lambda a, b: [a // (b or 7), a % (b or 7), 0, 0],
    ),
    "division of ints": (
        "int d = j == 0 || j == -1 ? 7 : j; int n = max(i, 0); r = uvec4(i / d, n % abs(d), 0, 0);",
        lambda a, b: [
            truncated(signed(a), d := (7 if signed(b) in (0, -1) else signed(b)))[0],
            max(signed(a), 0) % (abs(d) if d != -(1 << 31) else 1 << 31), 0, 0
        ],
    ),
    "constants": (
        "r = uvec4(a * 8u, a / 16u, i / 4, a % 32u);",
        lambda a, b: [a * 8, a // 16, truncated(signed(a), 4)[0], a % 32],
    ),
    "bytes": (
        "r = uvec4(packUnorm4x8(unpackUnorm4x8(a)), packUnorm2x16(unpackUnorm2x16(a)),"
        "floatBitsToUint(unpackUnorm4x8(a).z), floatBitsToUint(unpackUnorm2x16(a).y));",
        lambda a, b: [a, a, bits_of(unpacked(a, 4, False)[2]), bits_of(unpacked(a, 2, False)[1])],
    ),
    "signed bytes": (
        "r = uvec4(floatBitsToUint(unpackSnorm4x8(a).yw), floatBitsToUint(unpackSnorm2x16(a)));",
        lambda a, b: [bits_of(unpacked(a, 4, True)[k]) for k in (1, 3)]
        + [bits_of(v) for v in unpacked(a, 2, True)],
    ),
    "wide": (
        "uvec2 w = unpackDouble2x32(packDouble2x32(uvec2(a, b | 0x3ff00000u)));"
        "r = uvec4(w, 0u, 0u);",
        lambda a, b: [a, b | 0x3FF00000, 0, 0],
    ),
    "saturating": (
        "r = uvec4(addSaturate(a, b), addSaturate(i, j),"
        "subtractSaturate(a, b), subtractSaturate(i, j));",
        lambda a, b: [
            min(a + b, MASK), clipped(signed(a) + signed(b)),
            max(a - b, 0), clipped(signed(a) - signed(b))
        ],
    ),
    "averages": (
        "r = uvec4(average(a, b), average(i, j), averageRounded(a, b), averageRounded(i, j));",
        lambda a, b: [
            (a + b) >> 1, (signed(a) + signed(b)) >> 1,
            (a + b + 1) >> 1, (signed(a) + signed(b) + 1) >> 1
        ],
    ),
    "zeros and differences": (
        "r = uvec4(countLeadingZeros(a), countTrailingZeros(a),"
        "absoluteDifference(a, b), absoluteDifference(i, j));",
        lambda a, b: [
            32 - a.bit_length(), (a & -a).bit_length() - 1 if a else 32,
            abs(a - b), abs(signed(a) - signed(b))
        ],
    ),
    "products with halves": (
        "r = uvec4(multiply32x16(a, b), multiply32x16(i, j), 0u, 0u);",
        lambda a, b: [a * (b & 0xFFFF), signed(a) * extracted(b, 0, 16, True), 0, 0],
    ),
    "of three": (
        "r = uvec4(min3(a, b, 7u), max3(a, b, 7u), mid3(a, b, 7u), mid3(i, j, -7));",
        lambda a, b: [
            min(a, b, 7), max(a, b, 7), sorted((a, b, 7))[1], sorted((signed(a), signed(b), -7))[1]
        ],
    ),
}  # fmt: skip


def wide(x: int) -> int:
    """As a signed integer of 64 bits."""
    return x - (x >> 63 << 64)


# The same for x and y of 64 bits, as s and t with a sign.
WIDE: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "sum": ("addSaturate(x, y)", lambda x, y: min(x + y, (1 << 64) - 1)),
    "signed sum": ("addSaturate(s, t)", lambda x, y: clipped(wide(x) + wide(y), 64)),
    "difference": ("subtractSaturate(x, y)", lambda x, y: max(x - y, 0)),
    "signed difference": ("subtractSaturate(s, t)", lambda x, y: clipped(wide(x) - wide(y), 64)),
    "average": ("average(x, y)", lambda x, y: (x + y) >> 1),
    "signed average": ("average(s, t)", lambda x, y: (wide(x) + wide(y)) >> 1),
    "rounded": ("averageRounded(x, y)", lambda x, y: (x + y + 1) >> 1),
    "signed rounded": ("averageRounded(s, t)", lambda x, y: (wide(x) + wide(y) + 1) >> 1),
    "distance": ("absoluteDifference(x, y)", lambda x, y: abs(x - y)),
    "signed distance": ("absoluteDifference(s, t)", lambda x, y: abs(wide(x) - wide(y))),
    "least": ("min(x, y)", min),
    "signed least": ("min(s, t)", lambda x, y: min(wide(x), wide(y))),
    "most": ("max(x, y)", max),
    "signed most": ("max(s, t)", lambda x, y: max(wide(x), wide(y))),
    "magnitude": ("abs(s)", lambda x, y: abs(wide(x))),
    "sign": ("sign(s)", lambda x, y: (wide(x) > 0) - (wide(x) < 0)),
}


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
@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_edges(name: str, optimize: bool) -> None:
    statements, model = PAIRS[name]
    lanes = [(a, b, 0, 0) for a, b in itertools.product(EDGES, EDGES)]
    for lane, found in zip(lanes, ran(statements, lanes, optimize), strict=True):
        expected = [int(word) & MASK for word in model(lane[0], lane[1])]
        assert found == expected, [hex(word) for word in lane[:2]]


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", WIDE)
def test_pairs_of_wide_edges(name: str, optimize: bool) -> None:
    expression, model = WIDE[name]
    statements = f"""uint64_t x = packUint2x32(uvec2(a, b)), y = packUint2x32(given.zw);
        int64_t s = int64_t(x), t = int64_t(y);
        r.xy = unpackUint2x32(uint64_t({expression}));"""
    words = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
    lanes = list(itertools.product(words, repeat=4))
    for lane, found in zip(lanes, ran(statements, lanes, optimize), strict=True):
        a, b, c, d = lane
        expected = model(a | b << 32, c | d << 32)
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
OF_FLOATS: dict[str, tuple[str, Callable[[float], list[float]]]] = {
    "rounding": (
        "vec4(floor(x), ceil(x), trunc(x), roundEven(x))",
        lambda x: (
            [math.floor(x), math.ceil(x), math.trunc(x), round(x)] if math.isfinite(x) else [x] * 4
        ),
    ),
    "kinds": (
        "vec4(isinf(x), isnan(x), sign(x), abs(x))",
        lambda x: [math.isinf(x), 0, (x > 0) - (x < 0), abs(x)],
    ),
    "steps": (
        "vec4(step(0.5, x), min(x, 1.5), max(x, -1.0), clamp(x, -0.25, 0.75))",
        lambda x: [x >= 0.5, min(x, 1.5), max(x, -1.0), min(max(x, -0.25), 0.75)],
    ),
}


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", OF_FLOATS)
def test_floats(name: str, optimize: bool) -> None:
    expression, model = OF_FLOATS[name]
    lanes = [(bits_of(x), 0, 0, 0) for x in FLOATS]
    statements = f"float x = uintBitsToFloat(a); r = floatBitsToUint({expression});"
    for x, found in zip(FLOATS, ran(statements, lanes, optimize), strict=True):
        values = np.array(found, np.uint32).view(np.float32)
        assert values.tolist() == [np.float32(v) for v in model(float(np.float32(x)))], x


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
    programs = {name: (statements, pairs) for name, (statements, _) in PAIRS.items()}
    programs |= {
        name: (f"float x = uintBitsToFloat(a); r = floatBitsToUint({expression});", floats)
        for name, (expression, _) in OF_FLOATS.items()
    }
    programs["fields"] = (OF_FIELDS, fields)
    for name, (statements, lanes) in programs.items():
        assert drawn(gl, statements, lanes) == ran(statements, lanes, True), name
    gl.release()

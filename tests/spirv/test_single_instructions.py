"""Single instructions of modules compute what NumPy does, in every size they are there in."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from small_modules import Array, assert_same, computed

INF, NAN = math.inf, math.nan
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 100.25, -3e4, INF, -INF, NAN)
PAIRS = np.array(list(itertools.product(FLOATS, FLOATS)))
INTS = (0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x12345678)
INTS += (0x7FFFFFFF, 0x80000000, 0xFFFFFF80, 0xFFFFFFFF, 0x123456789ABCDEF0, (1 << 63) + 5)
INTS += ((1 << 64) - 1, (1 << 64) - 200)


def floats(bits: int) -> tuple[Array, Array]:
    """Every pair of some numbers, of a size."""
    pairs = PAIRS.astype(f"f{bits // 8}")
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def integers(type: str) -> Array:
    size = int(type[1:]) // 8
    return np.array(INTS, np.uint64).astype(f"u{size}").view(f"{type[0]}{size}")


COMPARED: dict[str, Callable[[Array, Array], Array]] = {
    "Equal": lambda x, y: x == y,
    "NotEqual": lambda x, y: (x < y) | (x > y),
    "LessThan": lambda x, y: x < y,
    "GreaterThan": lambda x, y: x > y,
    "LessThanEqual": lambda x, y: x <= y,
    "GreaterThanEqual": lambda x, y: x >= y,
}


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("name", COMPARED)
def test_comparisons_of_floats(name: str, bits: int) -> None:
    """Ordered ones are false of NaN, unordered ones are true."""
    x, y = floats(bits)
    unordered = np.isnan(x) | np.isnan(y)
    wanted = COMPARED[name](x, y)
    for kind, of_nan in (("Ord", False), ("Unord", True)):
        found = computed(f"%r = OpF{kind}{name} %bool %x %y", "bool", {"x": x, "y": y})
        assert_same(found, np.where(unordered, of_nan, wanted))


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_classes_of_floats(bits: int) -> None:
    x, y = floats(bits)
    smallest = np.finfo(x.dtype).smallest_normal
    x[:4] = [smallest, -smallest, smallest / 2, np.finfo(x.dtype).max]
    unordered = np.isnan(x) | np.isnan(y)
    normal = np.isfinite(x) & (np.abs(x) >= smallest)
    for code, wanted in (
        ("OpUnordered %bool %x %y", unordered),
        ("OpOrdered %bool %x %y", ~unordered),
        ("OpLessOrGreater %bool %x %y", (x < y) | (x > y)),
        ("OpIsNan %bool %x", np.isnan(x)),
        ("OpIsInf %bool %x", np.isinf(x)),
        ("OpIsFinite %bool %x", np.isfinite(x)),
        ("OpIsNormal %bool %x", normal),
        ("OpSignBitSet %bool %x", np.signbit(x)),
    ):
        assert_same(computed(f"%r = {code}", "bool", {"x": x, "y": y}), wanted)


CONVERSIONS = [
    # instruction, from, to
    *((f"Sat{kind}", a, b) for kind, a, b in itertools.chain(
        (("ConvertSToU", a, b) for a in ("i8", "i16", "i32", "i64")
         for b in ("u8", "u16", "u32", "u64")),
        (("ConvertUToS", a, b) for a in ("u8", "u16", "u32", "u64")
         for b in ("i8", "i16", "i32", "i64")),
    )),
    *((f"{letter.upper()}Convert", f"{letter}{a}", f"{letter}{b}")
      for letter in "us" for a in (8, 16, 32, 64) for b in (8, 16, 32, 64)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "source", "target"), CONVERSIONS)
def test_conversions_of_integers(name: str, source: str, target: str) -> None:
    """Saturating ones clamp into the target's range, the others cut bits off or add them."""
    source, target = source.replace("s", "i"), target.replace("s", "i")
    x = integers(source)
    found = computed(f"%r = Op{name} %{target} %x", target, {"x": x})
    dtype = np.dtype(f"{target[0]}{int(target[1:]) // 8}")
    if name.startswith("Sat"):
        limits = np.iinfo(dtype)
        wanted = [min(max(int(v), int(limits.min)), int(limits.max)) for v in x]
        assert found.tolist() == wanted
    else:
        assert_same(found, x.astype(dtype))


@pytest.mark.parametrize(("source", "target"), [("u64", "u32"), ("u16", "u32"), ("u32", "u64")])
def test_bits_are_counted_into_any_size(source: str, target: str) -> None:
    x = integers(source)
    found = computed(f"%r = OpBitCount %{target} %x", target, {"x": x})
    assert found.tolist() == [int(v).bit_count() for v in x]


# -- the same bits in components of another size --------------------------------------------------

CASTS = [
    # bits of the many parts, how many make one, bits of that one
    (8, 2, 16),
    (8, 4, 32),
    (8, 8, 64),
    (16, 2, 32),
    (16, 4, 64),
    (32, 2, 64),
]


@pytest.mark.parametrize(("few", "count", "many"), CASTS)
def test_parts_are_joined_lowest_first(few: int, count: int, many: int) -> None:
    random = np.random.default_rng(few * count)
    parts = {
        f"p{k}": random.integers(0, 1 << few, 16, np.uint64).astype(f"u{few // 8}")
        for k in range(count)
    }
    names = " ".join(f"%{name}" for name in parts)
    code = f"%v = OpCompositeConstruct %u{few}x{count} {names}\n%r = OpBitcast %u{many} %v"
    wanted = np.stack(list(parts.values()), 1).view(f"u{many // 8}")[:, 0]
    assert_same(computed(code, f"u{many}", parts), wanted)


@pytest.mark.parametrize(("few", "count", "many"), CASTS)
def test_a_number_is_cut_lowest_first(few: int, count: int, many: int) -> None:
    x = np.random.default_rng(many).integers(0, 1 << many, 16, np.uint64).astype(f"u{many // 8}")
    wanted = x[:, None].view(f"u{few // 8}")
    for k in range(count):
        code = f"%v = OpBitcast %u{few}x{count} %x\n%r = OpCompositeExtract %u{few} %v {k}"
        assert_same(computed(code, f"u{few}", {"x": x}), wanted[:, k])


# -- vectors, matrices and structures -------------------------------------------------------------

NUMBERS = {
    "x": np.array([1.5, -2.0, 3.0, 0.25], np.float32),
    "y": np.array([2.0, 4.0, -0.5, 8.0], np.float32),
    "z": np.array([-1.0, 0.5, 7.0, 3.0], np.float32),
}
MATRIX = """%mat = OpTypeMatrix %f32x2 3
%mat23 = OpTypeMatrix %f32x3 2
%pair = OpTypeStruct %f32 %mat
%c2 = OpConstant %f32 2
%c3 = OpConstant %f32 3
%c5 = OpConstant %f32 5"""
MADE = """%xy = OpCompositeConstruct %f32x2 %x %y
%yz = OpCompositeConstruct %f32x2 %y %z
%zx = OpCompositeConstruct %f32x2 %z %x
%xyz = OpCompositeConstruct %f32x3 %x %y %z
%m = OpCompositeConstruct %mat %xy %yz %zx
"""


def matrix() -> Array:
    """`%m` of each lane: lane, column, row."""
    x, y, z = NUMBERS.values()
    return np.stack([[x, y], [y, z], [z, x]]).transpose(2, 0, 1)


@pytest.mark.parametrize("column", range(3))
@pytest.mark.parametrize("row", range(2))
def test_operations_on_matrices(column: int, row: int) -> None:
    x, y, z = NUMBERS.values()
    m = matrix()
    vector = np.stack([x, y, z], 1)
    part = f"{column} {row}"
    for code, wanted in (
        (f"%s = OpMatrixTimesScalar %mat %m %y\n%r = OpCompositeExtract %f32 %s {part}",
         m[:, column, row] * y),
        (f"%s = OpOuterProduct %mat %yz %xyz\n%r = OpCompositeExtract %f32 %s {part}",
         np.stack([y, z], 1)[:, row] * vector[:, column]),
        (f"%s = OpTranspose %mat23 %m\n%r = OpCompositeExtract %f32 %s {row} {column}",
         m[:, column, row]),
        (f"%s = OpMatrixTimesVector %f32x2 %m %xyz\n%r = OpCompositeExtract %f32 %s {row}",
         np.einsum("lcr,lc->lr", m, vector)[:, row]),
        (f"%s = OpVectorTimesMatrix %f32x3 %zx %m\n%r = OpCompositeExtract %f32 %s {column}",
         np.einsum("lcr,lr->lc", m, np.stack([z, x], 1))[:, column]),
    ):  # fmt: skip
        assert_same(computed(MADE + code, "f32", NUMBERS, MATRIX), wanted)


@pytest.mark.parametrize("part", ["0", "1 2 1", "1 0 0"])
def test_structures_are_chosen_part_by_part(part: str) -> None:
    code = f"""%one = OpCompositeConstruct %pair %x %m
        %tripled = OpMatrixTimesScalar %mat %m %c3
        %two = OpCompositeConstruct %pair %c5 %tripled
        %less = OpFOrdLessThan %bool %x %y
        %s = OpSelect %pair %less %one %two
        %r = OpCompositeExtract %f32 %s {part}"""
    x, y, _ = NUMBERS.values()
    m = matrix()
    one = {"0": x, "1 2 1": m[:, 2, 1], "1 0 0": m[:, 0, 0]}[part]
    two = np.full(4, 5, np.float32) if part == "0" else one * 3
    assert_same(computed(MADE + code, "f32", NUMBERS, MATRIX), np.where(x < y, one, two))


def test_a_dot_product_of_eight() -> None:
    x, y, z = (NUMBERS[name] for name in "xyz")
    code = """%a = OpCompositeConstruct %f32x8 %x %y %z %x %y %z %x %y
        %b = OpCompositeConstruct %f32x8 %z %x %x %z %y %y %x %z
        %r = OpDot %f32 %a %b"""
    pairs = zip((x, y, z, x, y, z, x, y), (z, x, x, z, y, y, x, z), strict=True)
    assert_same(computed(code, "f32", NUMBERS), sum(a * b for a, b in pairs))


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [("3 4 2", "zxy"), ("0 1 0", "xyx"), ("4 1 2", "xyy"), ("1 4294967295 3", "y?z")],
)
def test_components_of_two_vectors_are_shuffled(chosen: str, wanted: str) -> None:
    for k, name in enumerate(wanted):
        if name != "?":
            code = f"""%xy = OpCompositeConstruct %f32x2 %x %y
                %yzx = OpCompositeConstruct %f32x3 %y %z %x
                %s = OpVectorShuffle %f32x3 %xy %yzx {chosen}
                %r = OpCompositeExtract %f32 %s {k}"""
            assert_same(computed(code, "f32", NUMBERS), NUMBERS[name])


# -- extended instructions ------------------------------------------------------------------------

MODF = np.array([1.75, -2.5, 0.0, -0.25, 1e6, 3.0], np.float32)
POINTERS = """%local = OpTypePointer Function %f32
%number = OpTypePointer Function %i32
%two_floats = OpTypeStruct %f32 %f32
%float_int = OpTypeStruct %f32 %i32
%pair_place = OpTypePointer Function %two_floats
%seven = OpConstant %f32 7"""


@pytest.mark.parametrize("way", ["pointer", "struct"])
@pytest.mark.parametrize("name", ["Modf", "Frexp"])
def test_functions_with_two_results(name: str, way: str) -> None:
    parts, exponents = np.modf(MODF) if name == "Modf" else np.frexp(MODF)
    second = "f32" if name == "Modf" else "i32"
    place, both = ("local", "two_floats") if name == "Modf" else ("number", "float_int")
    if way == "pointer":
        code = f"""%p = OpVariable %{place} Function
            %one = OpExtInst %f32 %glsl {name} %x %p
            %two = OpLoad %{second} %p
            """
    else:
        code = f"""%s = OpExtInst %{both} %glsl {name}Struct %x
            %one = OpCompositeExtract %f32 %s 0
            %two = OpCompositeExtract %{second} %s 1
            """
    given = {"x": MODF}
    first = computed(f"{code}%r = OpCopyObject %f32 %one", "f32", given, POINTERS)
    assert_same(first, parts)
    found = computed(f"{code}%r = OpCopyObject %{second} %two", second, given, POINTERS)
    assert_same(found, exponents.astype(found.dtype))


def test_memory_is_copied_whole() -> None:
    code = """%p = OpVariable %pair_place Function
        %q = OpVariable %pair_place Function
        %s = OpCompositeConstruct %two_floats %y %x
        OpStore %p %s
        OpCopyMemory %q %p
        %at = OpAccessChain %local %q %n1
        %r = OpLoad %f32 %at"""
    assert_same(computed(code, "f32", NUMBERS, POINTERS), NUMBERS["x"])


ONE = np.array([0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49, -7.75, 3.0, 0.0], np.float32)
OTHER = np.array([3.0, 2.0, -1.0, 0.5, -2.0, 6.0, 0.1, 1.0, -0.0, 2.0], np.float32)
CL_FLOATS: dict[str, Callable[[Array, Array], Array]] = {
    "round": lambda x, y: np.trunc(x + np.copysign(0.5, x)),
    "exp10": lambda x, y: np.power(10.0, x),
    "native_exp10": lambda x, y: np.power(10.0, x),
    "hypot": np.hypot,
    "copysign": np.copysign,
    "sinpi": lambda x, y: np.sin(np.pi * x),
    "cospi": lambda x, y: np.cos(np.pi * x),
    "remainder": np.vectorize(lambda x, y: math.remainder(x, y) if y else NAN),
}


@pytest.mark.parametrize("name", CL_FLOATS)
def test_functions_of_floats(name: str) -> None:
    """A polynomial or a product of constants may be a little off."""
    operands = "%x %y" if name in ("hypot", "copysign", "remainder") else "%x"
    found = computed(
        f"%r = OpExtInst %f32 %opencl {name} {operands}", "f32", {"x": ONE, "y": OTHER}
    )
    with np.errstate(invalid="ignore"):
        wanted = CL_FLOATS[name](ONE.astype(np.float64), OTHER.astype(np.float64))
    assert np.allclose(found, wanted, rtol=3e-6, atol=1e-6, equal_nan=True), (found, wanted)
    if name == "copysign":
        assert (np.signbit(found) == np.signbit(OTHER)).all()


@pytest.mark.parametrize("name", ["log10", "native_log10"])
def test_logarithms_to_ten(name: str) -> None:
    x = np.array([1.0, 10.0, 1000.0, 0.01, 2.0], np.float32)
    found = computed(f"%r = OpExtInst %f32 %opencl {name} %x", "f32", {"x": x})
    assert np.allclose(found, np.log10(x.astype(np.float64)), rtol=1e-6, atol=1e-7)


def wrapped(values: list[int], type: str) -> Array:
    """Integers cut to a size."""
    bits = int(type[1:])
    array = np.array([v % (1 << bits) for v in values], np.uint64).astype(f"u{bits // 8}")
    return array.view(f"{type[0]}{bits // 8}")


CL_INTS: dict[str, tuple[str, Callable[[int, int, int], int]]] = {
    # name: types it is tried with, and what it is
    "s_mad24": ("i32", lambda x, y, z: x * y + z),
    "u_mad24": ("u32", lambda x, y, z: x * y + z),
    "bitselect": ("u16 u32 u64", lambda x, y, z: x & ~z | y & z),
    "select": ("i8 i32 i64", lambda x, y, z: y if z else x),
    "s_mad_hi": ("i32", lambda x, y, z: (x * y >> 32) + z),
    "u_mad_hi": ("u32", lambda x, y, z: (x * y >> 32) + z),
    "s_abs_diff": ("i8 i16 i32", lambda x, y, z: abs(x - y)),
    "u_abs_diff": ("u8 u16 u32", lambda x, y, z: abs(x - y)),
    "ctz": ("u8 u16 u32 u64", lambda x, y, z: (x & -x).bit_length() - 1),
    "clz": ("u8 u16 u32 u64", lambda x, y, z: -x.bit_length()),
    "popcount": ("u8 u16 u32 u64", lambda x, y, z: x.bit_count()),
    "u_abs": ("u32", lambda x, y, z: x),
    "s_mad_sat": ("i8 i16 i32", lambda x, y, z: x * y + z),
    "u_mad_sat": ("u8 u16 u32", lambda x, y, z: x * y + z),
}


@pytest.mark.parametrize(
    ("name", "type"), [(name, type) for name, row in CL_INTS.items() for type in row[0].split()]
)
def test_functions_of_integers(name: str, type: str) -> None:
    bits = int(type[1:])
    one = integers(type)
    given = {"x": one, "y": np.roll(one, 3), "z": np.roll(one, 7)}
    count = 1 if name in ("ctz", "clz", "popcount", "u_abs") else 2 if "diff" in name else 3
    operands = " ".join(f"%{given_name}" for given_name in list(given)[:count])
    found = computed(f"%r = OpExtInst %{type} %opencl {name} {operands}", type, given)
    rows = zip(*(values.tolist() for values in given.values()), strict=True)
    wanted = [CL_INTS[name][1](*row) for row in rows]
    if name.endswith("sat"):
        limits = np.iinfo(found.dtype)
        wanted = [min(max(v, int(limits.min)), int(limits.max)) for v in wanted]
    if name == "clz":
        wanted = [bits + v for v in wanted]
    if name == "ctz":
        wanted = [bits if v < 0 else v for v in wanted]
    if name.endswith("mad24"):  # only of numbers of 24 bits is the product there
        low, high = (-1 << 23, 1 << 23) if type[0] == "i" else (0, 1 << 24)
        fit = (given["x"] >= low) & (given["x"] < high) & (given["y"] >= low) & (given["y"] < high)
        assert fit.sum() > 8
        found, wanted = found[fit], [w for w, f in zip(wanted, fit, strict=True) if f]
    assert_same(found, wrapped(wanted, type))


def test_select_of_vectors_reads_sign_bits() -> None:
    condition = np.array([0, 1, -1, -(1 << 31), 5], np.int32)
    x, y = np.arange(5, dtype=np.int32), np.arange(5, dtype=np.int32) + 10
    code = """%v = OpCompositeConstruct %i32x2 %x %y
        %w = OpCompositeConstruct %i32x2 %y %x
        %c = OpCompositeConstruct %i32x2 %z %z
        %s = OpExtInst %i32x2 %opencl select %v %w %c
        %r = OpCompositeExtract %i32 %s 0"""
    found = computed(code, "i32", {"x": x, "y": y, "z": condition})
    assert_same(found, np.where(condition < 0, y, x))


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_nan_of_a_code(bits: int) -> None:
    """A quiet NaN with the code's low bits."""
    x = integers(f"u{bits}")
    found = computed(f"%r = OpExtInst %f{bits} %opencl nan %x", f"f{bits}", {"x": x})
    fraction = {16: 10, 32: 23, 64: 52}[bits]
    quiet = ((1 << bits - 1) - 1) >> (fraction - 1) << (fraction - 1)
    wanted = [quiet | int(v) & (1 << fraction - 1) - 1 for v in x]
    assert found.view(f"u{bits // 8}").tolist() == wanted
    assert np.isnan(found).all()


# -- ways of control ------------------------------------------------------------------------------


def test_a_block_is_a_whole_loop() -> None:
    """It goes back to itself, and that is where it goes on."""
    code = """OpBranch %loop
        %loop = OpLabel
        %i = OpPhi %u32 %n0 %start %next %loop
        %sum = OpPhi %u32 %n0 %start %more %loop
        %next = OpIAdd %u32 %i %n1
        %more = OpIAdd %u32 %sum %next
        %on = OpULessThan %bool %next %k
        OpLoopMerge %done %loop None
        OpBranchConditional %on %loop %done
        %done = OpLabel
        %r = OpCopyObject %u32 %more"""
    k = np.array([1, 5, 0, 9], np.uint32)
    assert computed(code, "u32", {"k": k}).tolist() == [1, 15, 1, 45]


def test_both_ways_of_a_branch_lead_to_one_block() -> None:
    code = """%less = OpFOrdLessThan %bool %x %y
        OpSelectionMerge %after None
        OpBranchConditional %less %same %same
        %same = OpLabel
        OpBranch %after
        %after = OpLabel
        %r = OpPhi %f32 %z %same"""
    assert_same(computed(code, "f32", NUMBERS), NUMBERS["z"])


@pytest.mark.parametrize("size", [2, 3, 4])
def test_determinants_and_inverses(size: int) -> None:
    """Of matrices with few large numbers on the diagonal, as NumPy has them."""
    cells = np.zeros((4, size, size))
    code, names = [], itertools.cycle("xyzzx")
    for column in range(size):
        parts = [next(names) for _ in range(size)]
        for row, name in enumerate(parts):
            cells[:, column, row] = NUMBERS[name]
        cells[:, column, column] += 5 * (column + 2)
        code.append(f"%k{column} = OpConstant %f32 {5 * (column + 2)}")
        code.append(f"%d{column} = OpFAdd %f32 %{parts[column]} %k{column}")
        made = [f"%d{column}" if row == column else f"%{name}" for row, name in enumerate(parts)]
        code.append(f"%v{column} = OpCompositeConstruct %f32x{size} {' '.join(made)}")
    constants = [f"%mat = OpTypeMatrix %f32x{size} {size}"]
    constants += [line for line in code if "OpConstant" in line]
    code = [line for line in code if "OpConstant" not in line]
    code.append(f"%m = OpCompositeConstruct %mat {' '.join(f'%v{i}' for i in range(size))}")
    head, types = "\n".join(code), "\n".join(constants)
    found = computed(f"{head}\n%r = OpExtInst %f32 %glsl Determinant %m", "f32", NUMBERS, types)
    np.testing.assert_allclose(found, np.linalg.det(cells), rtol=1e-4)
    inverse = np.linalg.inv(cells)
    for column, row in itertools.product(range(size), repeat=2):
        text = f"{head}\n%i = OpExtInst %mat %glsl MatrixInverse %m\n"
        text += f"%r = OpCompositeExtract %f32 %i {column} {row}"
        found = computed(text, "f32", NUMBERS, types)
        np.testing.assert_allclose(found, inverse[:, column, row], rtol=1e-3, atol=1e-6)

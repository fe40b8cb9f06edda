"""Rules for conversions, packing and vectors.

Families that differ only in bit size are written as loops, like the opcodes themselves.
"""

from __future__ import annotations

from gallette.compiler.nir.algebraic.options import RuleGroup, RuleText

a, b, c, d = "a", "b", "c", "d"


def _boolean_to_float(n: int) -> list[RuleText]:
    """Use the boolean itself where a value is a boolean converted to 0.0 or 1.0."""
    f = f"b2f{n}"
    return [
        (("feq", (f, a), 0.0), ("inot", a)),
        (("fneu", (f, a), 0.0), a),
        (("feq", (f, a), 1.0), a),
        (("fneu", (f, a), 1.0), ("inot", a)),
        (("flt", 0.0, (f, a)), a),
        (("flt", (f, a), 1.0), ("inot", a)),
        (("fge", 0.0, (f, a)), ("inot", a)),
        (("fge", (f, a), 1.0), a),
        (("flt", ("fneg", (f, a)), 0.0), a),
        (("fge", ("fneg", (f, a)), 0.0), ("inot", a)),
        (("feq", (f, a), (f, b)), ("ieq", a, b)),
        (("fneu", (f, a), (f, b)), ("ixor", a, b)),
        (("fmul", (f, a), (f, b)), (f, ("iand", a, b))),
        (("fmax", (f, a), (f, b)), (f, ("ior", a, b))),
        (("fmin", (f, a), (f, b)), (f, ("iand", a, b))),
        (("fsat", ("fadd", (f, a), (f, b))), (f, ("ior", a, b))),
        (("feq", ("fadd", (f, a), (f, b)), 0.0), ("inot", ("ior", a, b))),
        (("fneu", ("fadd", (f, a), (f, b)), 0.0), ("ior", a, b)),
        (("flt", 0.0, ("fadd", (f, a), (f, b))), ("ior", a, b)),
        (("feq", ("fadd", (f, a), ("fneg", (f, b))), 0.0), ("ieq", a, b)),
        (("fadd", 1.0, ("fneg", (f, a))), (f, ("inot", a))),
        (("~fmul", (f, a), b), ("bcsel", a, b, 0.0)),
        (("bcsel", a, 1.0, 0.0), (f, a), n),
        (("bcsel", a, 0.0, 1.0), (f, ("inot", a)), n),
        (("bcsel", a, (f, b), (f, c)), (f, ("bcsel", a, b, c))),
        (("bcsel", a, (f, b), 0.0), (f, ("iand", a, b))),
        (("bcsel", a, 1.0, (f, b)), (f, ("ior", a, b))),
        (("~flrp", a, b, (f, c)), ("bcsel", c, b, a)),
        (("f2i32", (f, a)), ("b2i32", a)),
        (("f2u32", (f, a)), ("b2i32", a)),
        (("fsign", (f, a)), (f, a)),
        (("~fsqrt", (f, a)), (f, a)),
        (("fmul", (f, a), (f, a)), (f, a)),
    ]


def _boolean_to_int(n: int) -> list[RuleText]:
    f = f"b2i{n}"
    return [
        (("ieq", (f, a), 0), ("inot", a)),
        (("ine", (f, a), 0), a),
        (("ieq", (f, a), 1), a),
        (("ine", (f, a), 1), ("inot", a)),
        (("ilt", 0, (f, a)), a),
        (("ige", (f, a), 1), a),
        (("ieq", (f, a), (f, b)), ("ieq", a, b)),
        (("ine", (f, a), (f, b)), ("ixor", a, b)),
        (("imul", (f, a), (f, b)), (f, ("iand", a, b))),
        (("iand", (f, a), (f, b)), (f, ("iand", a, b))),
        (("ior", (f, a), (f, b)), (f, ("ior", a, b))),
        (("ixor", (f, a), (f, b)), (f, ("ixor", a, b))),
        (("imax", (f, a), (f, b)), (f, ("ior", a, b))),
        (("imin", (f, a), (f, b)), (f, ("iand", a, b))),
        (("ine", ("iadd", (f, a), (f, b)), 0), ("ior", a, b)),
        (("ieq", ("iadd", (f, a), (f, b)), 0), ("inot", ("ior", a, b))),
        (("iand", (f, a), 1), (f, a)),
        (("ine", ("ineg", (f, a)), 0), a),
        (("imul", (f, a), b), ("bcsel", a, b, 0)),
        (("iand", ("ineg", (f, a)), b), ("bcsel", a, b, 0)),
        (("bcsel", a, 1, 0), (f, a), n),
        (("bcsel", a, 0, 1), (f, ("inot", a)), n),
        (("bcsel", a, (f, b), (f, c)), (f, ("bcsel", a, b, c))),
        (("i2f32", (f, a)), ("b2f32", a)),
        (("u2f32", (f, a)), ("b2f32", a)),
    ]


def _finish(rules: list[RuleText]) -> list[RuleText]:
    """A number at the end of a row is the bit size its `bcsel` must have."""
    done: list[RuleText] = []
    for rule in rules:
        if rule[2:] and isinstance(rule[2], int):
            (op, *rest), replace, size = rule
            done.append(((f"{op}@{size}", *rest), replace))
        else:
            done.append(rule)
    return done


FROM_BOOLEAN: list[RuleText] = _finish(
    [r for n in (32, 64) for r in _boolean_to_float(n)]
    + [r for n in (32, 64) for r in _boolean_to_int(n)]
)

BETWEEN_NUMBERS: list[RuleText] = [
    (("f2i32", ("i2f64", "a@32")), a),
    (("f2u32", ("u2f64", "a@32")), a),
    (("f2f32", ("f2f64", "a@32")), a),
    (("f2f16", ("f2f32", "a@16")), a),
    (("f2f32", "a@32"), a),
    (("f2f64", "a@64"), a),
    (("f2f16", "a@16"), a),
    (("i2i32", "a@32"), a),
    (("i2i64", "a@64"), a),
    (("u2u32", "a@32"), a),
    (("u2u64", "a@64"), a),
    (("i2i16", "a@16"), a),
    (("u2u16", "a@16"), a),
    (("i2i32", ("i2i64", "a@32")), a),
    (("u2u32", ("u2u64", "a@32")), a),
    (("i2i32", ("u2u64", "a@32")), a),
    (("u2u32", ("i2i64", "a@32")), a),
    (("i2i16", ("i2i32", "a@16")), a),
    (("u2u16", ("u2u32", "a@16")), a),
    (("i2i64", ("i2i32", "a@16")), ("i2i64", a)),
    (("u2u64", ("u2u32", "a@16")), ("u2u64", a)),
    (("f2i32", ("ftrunc", a)), ("f2i32", a)),
    (("f2u32", ("ftrunc", a)), ("f2u32", a)),
    (("ftrunc", ("i2f32", a)), ("i2f32", a)),
    (("fabs", ("i2f32", ("iabs", a))), ("u2f32", ("iabs", a))),
    (("flt", ("i2f32", "a@16"), ("i2f32", "b@16")), ("ilt", a, b)),
    (("fge", ("i2f32", "a@16"), ("i2f32", "b@16")), ("ige", a, b)),
    (("feq", ("i2f32", "a@16"), ("i2f32", "b@16")), ("ieq", a, b)),
    (("fneu", ("i2f32", "a@16"), ("i2f32", "b@16")), ("ine", a, b)),
    (("feq", ("i2f32", "a@32"), 0.0), ("ieq", a, 0)),
    (("fneu", ("i2f32", "a@32"), 0.0), ("ine", a, 0)),
    (("flt", ("i2f32", "a@32"), 0.0), ("ilt", a, 0)),
    (("fge", ("i2f32", "a@32"), 0.0), ("ige", a, 0)),
    (("flt", ("u2f32", "a@32"), 0.0), False),
    (("fge", ("u2f32", "a@32"), 0.0), True),
    (("fquantize2f16", ("fquantize2f16", a)), ("fquantize2f16", a)),
]

PACKING: list[RuleText] = [
    (("unpack_64_2x32_split_x", ("pack_64_2x32_split", a, b)), a),
    (("unpack_64_2x32_split_y", ("pack_64_2x32_split", a, b)), b),
    (("unpack_32_2x16_split_x", ("pack_32_2x16_split", a, b)), a),
    (("unpack_32_2x16_split_y", ("pack_32_2x16_split", a, b)), b),
    (("pack_64_2x32_split", ("unpack_64_2x32_split_x", a), ("unpack_64_2x32_split_y", a)), a),
    (("pack_32_2x16_split", ("unpack_32_2x16_split_x", a), ("unpack_32_2x16_split_y", a)), a),
    (("unpack_64_2x32", ("pack_64_2x32", a)), a),
    (("pack_64_2x32", ("unpack_64_2x32", a)), a),
    (("unpack_64_4x16", ("pack_64_4x16", a)), a),
    (("pack_64_4x16", ("unpack_64_4x16", a)), a),
    (("unpack_32_4x8", ("pack_32_4x8", a)), a),
    (("pack_32_4x8", ("unpack_32_4x8", a)), a),
    (("unpack_32_2x16", ("pack_32_2x16", a)), a),
    (("pack_32_2x16", ("unpack_32_2x16", a)), a),
    (("unpack_64_2x32_split_x", ("u2u64", "a@32")), a),
    (("unpack_64_2x32_split_y", ("u2u64", "a@32")), 0),
    (("unpack_64_2x32_split_x", ("i2i64", "a@32")), a),
    (("unpack_64_2x32_split_y", ("i2i64", "a@32")), ("ishr", a, 31)),
    (("u2u32", ("pack_64_2x32_split", a, b)), a),
    (("u2u32", ("ushr", "a@64", 32)), ("unpack_64_2x32_split_y", a)),
    (("pack_64_2x32_split", "a@32", 0), ("u2u64", a)),
]

RULES = [
    RuleGroup(
        "from-boolean",
        "A boolean that was turned into a number goes on as a boolean.",
        FROM_BOOLEAN,
    ),
    RuleGroup(
        "between-numbers",
        "Converting there and back changes nothing; two conversions are one.",
        BETWEEN_NUMBERS,
    ),
    RuleGroup(
        "packing",
        "What is packed and unpacked at once need not be.",
        PACKING,
    ),
]

"""Rules that drivers enable: operations they lack, expressed by simpler ones.

Exactness is defined as for other rules. A lowering that rounds differently from the operation has
no `~` if the driver cannot do without it; the automatic check lists those, with a reason.
"""

from __future__ import annotations

from gallette.compiler.nir.algebraic.options import RuleGroup, RuleText

a, b, c, d = "a", "b", "c", "d"

FLOAT: list[RuleText] = [
    (("fdiv", a, b), ("fmul", a, ("frcp", b)), "options.lower_fdiv"),
    (("frsq", a), ("frcp", ("fsqrt", a)), "options.lower_frcp_sqrt"),
    (("fsqrt", a), ("frcp", ("frsq", a)), "options.lower_fsqrt"),
    (("fpow", a, b), ("fexp2", ("fmul", ("flog2", a), b)), "options.lower_fpow"),
    (
        ("fmod", a, b),
        ("fadd", a, ("fneg", ("fmul", b, ("ffloor", ("fdiv", a, b))))),
        "options.lower_fmod",
    ),
    (
        ("frem", a, b),
        ("fadd", a, ("fneg", ("fmul", b, ("ftrunc", ("fdiv", a, b))))),
        "options.lower_frem",
    ),
    (
        ("flrp", a, b, c),
        ("fadd", ("fmul", a, ("fadd", 1.0, ("fneg", c))), ("fmul", b, c)),
        "options.lower_flrp",
    ),
    (("ffma", a, b, c), ("fadd", ("fmul", a, b), c), "options.lower_ffma"),
    (("ffract", a), ("fadd", a, ("fneg", ("ffloor", a))), "options.lower_ffract"),
    (("ffloor", a), ("fadd", a, ("fneg", ("ffract", a))), "options.lower_ffloor"),
    (("fceil", a), ("fneg", ("ffloor", ("fneg", a))), "options.lower_fceil"),
    (
        ("ftrunc", a),
        ("bcsel", ("flt", a, 0.0), ("fceil", a), ("ffloor", a)),
        "options.lower_ftrunc",
    ),
    (("fsat", a), ("fmin", ("fmax", a, 0.0), 1.0), "options.lower_fsat"),
    (
        ("fsign", "a@32"),
        ("fadd", ("b2f32", ("flt", 0.0, a)), ("fneg", ("b2f32", ("flt", a, 0.0)))),
        "options.lower_fsign",
    ),
    (
        ("ldexp", "a@32", b),
        (
            "fmul",
            ("fmul", a, ("ishl", ("iadd", ("imax", ("imin", ("ishr", b, 1), 127), -126), 127), 23)),
            (
                "ishl",
                ("iadd", ("imax", ("imin", ("iadd", b, ("ineg", ("ishr", b, 1))), 127), -126), 127),
                23,
            ),
        ),
        "options.lower_ldexp",
    ),
    (
        ("fdot2", a, b),
        ("fadd", ("fmul", "a.y", "b.y"), ("fmul", "a.x", "b.x")),
        "options.lower_fdot",
    ),
    (
        ("fdot3", a, b),
        ("fadd", ("fadd", ("fmul", "a.z", "b.z"), ("fmul", "a.y", "b.y")), ("fmul", "a.x", "b.x")),
        "options.lower_fdot",
    ),
    (
        ("fdot4", a, b),
        (
            "fadd",
            (
                "fadd",
                ("fadd", ("fmul", "a.w", "b.w"), ("fmul", "a.z", "b.z")),
                ("fmul", "a.y", "b.y"),
            ),
            ("fmul", "a.x", "b.x"),
        ),
        "options.lower_fdot",
    ),
    (
        ("fdph", a, b),
        (
            "fadd",
            ("fadd", ("fadd", "b.w", ("fmul", "a.z", "b.z")), ("fmul", "a.y", "b.y")),
            ("fmul", "a.x", "b.x"),
        ),
        "options.lower_fdph",
    ),
    (("fsum2", a), ("fadd", "a.x", "a.y"), "options.lower_fsum"),
    (("fsum3", a), ("fadd", ("fadd", "a.x", "a.y"), "a.z"), "options.lower_fsum"),
    (("fsum4", a), ("fadd", ("fadd", ("fadd", "a.x", "a.y"), "a.z"), "a.w"), "options.lower_fsum"),
    (("slt@32", a, b), ("b2f32", ("flt", a, b)), "options.lower_slt"),
    (("sge@32", a, b), ("b2f32", ("fge", a, b)), "options.lower_slt"),
    (("seq@32", a, b), ("b2f32", ("feq", a, b)), "options.lower_slt"),
    (("sne@32", a, b), ("b2f32", ("fneu", a, b)), "options.lower_slt"),
]


def _vector_compares() -> list[RuleText]:
    rules: list[RuleText] = []
    for prefix, equal, differs in (("f", "feq", "fneu"), ("i", "ieq", "ine")):
        suffix = {"f": ("fequal", "fnequal"), "i": ("iequal", "inequal")}[prefix]
        for n in (2, 3, 4):
            all_of: tuple[object, ...] = (equal, "a.x", "b.x")
            any_of: tuple[object, ...] = (differs, "a.x", "b.x")
            for lane in "yzw"[: n - 1]:
                all_of = ("iand", all_of, (equal, f"a.{lane}", f"b.{lane}"))
                any_of = ("ior", any_of, (differs, f"a.{lane}", f"b.{lane}"))
            option = "options.lower_vector_compare"
            rules.append(((f"ball_{suffix[0]}{n}", a, b), all_of, option))
            rules.append(((f"bany_{suffix[1]}{n}", a, b), any_of, option))
    return rules


INTEGER: list[RuleText] = [
    (("isign", a), ("imax", ("imin", a, 1), -1), "options.lower_isign"),
    (("iabs", a), ("imax", a, ("ineg", a)), "options.lower_iabs"),
    (
        ("urol", "a@32", b),
        ("ior", ("ishl", a, b), ("ushr", a, ("iadd", 32, ("ineg", ("iand", b, 31))))),
        "options.lower_rotate",
    ),
    (
        ("uror", "a@32", b),
        ("ior", ("ushr", a, b), ("ishl", a, ("iadd", 32, ("ineg", ("iand", b, 31))))),
        "options.lower_rotate",
    ),
    (
        ("uadd_sat", a, b),
        ("bcsel", ("ult", ("iadd", a, b), a), -1, ("iadd", a, b)),
        "options.lower_sat_arithmetic",
    ),
    (
        ("usub_sat", a, b),
        ("bcsel", ("ult", a, b), 0, ("iadd", a, ("ineg", b))),
        "options.lower_sat_arithmetic",
    ),
    (("uhadd", a, b), ("iadd", ("iand", a, b), ("ushr", ("ixor", a, b), 1)), "options.lower_hadd"),
    (("ihadd", a, b), ("iadd", ("iand", a, b), ("ishr", ("ixor", a, b), 1)), "options.lower_hadd"),
    (
        ("urhadd", a, b),
        ("iadd", ("ior", a, b), ("ineg", ("ushr", ("ixor", a, b), 1))),
        "options.lower_hadd",
    ),
    (
        ("irhadd", a, b),
        ("iadd", ("ior", a, b), ("ineg", ("ishr", ("ixor", a, b), 1))),
        "options.lower_hadd",
    ),
    (("uadd_carry@32", a, b), ("b2i32", ("ult", ("iadd", a, b), a)), "options.lower_carry"),
    (("usub_borrow@32", a, b), ("b2i32", ("ult", a, b)), "options.lower_carry"),
    (("find_lsb", "a@32"), ("ufind_msb", ("iand", a, ("ineg", a))), "options.lower_find_lsb"),
    (("imul_2x32_64", a, b), ("imul", ("i2i64", a), ("i2i64", b)), "options.lower_mul_2x32_64"),
    (("umul_2x32_64", a, b), ("imul", ("u2u64", a), ("u2u64", b)), "options.lower_mul_2x32_64"),
    (
        ("umul24", a, b),
        ("imul", ("iand", a, 0xFFFFFF), ("iand", b, 0xFFFFFF)),
        "options.lower_mul24",
    ),
    (
        ("imul24", a, b),
        ("imul", ("ishr", ("ishl", a, 8), 8), ("ishr", ("ishl", b, 8), 8)),
        "options.lower_mul24",
    ),
    (
        ("ubitfield_extract", a, b, c),
        (
            "bcsel",
            ("ieq", c, 0),
            0,
            (
                "ushr",
                ("ishl", a, ("iadd", 32, ("ineg", ("iadd", b, c)))),
                ("iadd", 32, ("ineg", c)),
            ),
        ),
        "options.lower_bitfield_extract",
    ),
    (
        ("ibitfield_extract", a, b, c),
        (
            "bcsel",
            ("ieq", c, 0),
            0,
            (
                "ishr",
                ("ishl", a, ("iadd", 32, ("ineg", ("iadd", b, c)))),
                ("iadd", 32, ("ineg", c)),
            ),
        ),
        "options.lower_bitfield_extract",
    ),
    (
        ("bitfield_insert", a, b, c, d),
        ("ior", ("iand", a, ("inot", ("bfm", d, c))), ("iand", ("ishl", b, c), ("bfm", d, c))),
        "options.lower_bitfield_insert",
    ),
]

PACKS: list[RuleText] = [
    (("pack_half_2x16", a), ("pack_half_2x16_split", "a.x", "a.y"), "options.lower_pack_half"),
    (
        ("unpack_half_2x16", a),
        ("vec2", ("unpack_half_2x16_split_x", a), ("unpack_half_2x16_split_y", a)),
        "options.lower_pack_half",
    ),
    (("pack_64_2x32", a), ("pack_64_2x32_split", "a.x", "a.y"), "options.lower_pack_split"),
    (
        ("unpack_64_2x32", a),
        ("vec2", ("unpack_64_2x32_split_x", a), ("unpack_64_2x32_split_y", a)),
        "options.lower_pack_split",
    ),
    (
        ("pack_64_2x32_split", a, b),
        ("ior", ("u2u64", a), ("ishl", ("u2u64", b), 32)),
        "options.lower_pack_split",
    ),
    (("unpack_64_2x32_split_x", a), ("u2u32", a), "options.lower_pack_split"),
    (
        ("unpack_unorm_2x16", a),
        (
            "vec2",
            ("fdiv", ("u2f32", ("iand", a, 0xFFFF)), 65535.0),
            ("fdiv", ("u2f32", ("ushr", a, 16)), 65535.0),
        ),
        "options.lower_pack_norm",
    ),
    (
        ("unpack_unorm_4x8", a),
        (
            "vec4",
            ("fdiv", ("u2f32", ("iand", a, 0xFF)), 255.0),
            ("fdiv", ("u2f32", ("iand", ("ushr", a, 8), 0xFF)), 255.0),
            ("fdiv", ("u2f32", ("iand", ("ushr", a, 16), 0xFF)), 255.0),
            ("fdiv", ("u2f32", ("ushr", a, 24)), 255.0),
        ),
        "options.lower_pack_norm",
    ),
]

RULES = [
    RuleGroup(
        "lower-float",
        "The driver lacks the operation on floats: it is made of others.",
        FLOAT,
    ),
    RuleGroup(
        "lower-vector-compare",
        "The driver has no comparison of whole vectors: components are compared.",
        _vector_compares(),
    ),
    RuleGroup(
        "lower-integer",
        "The driver lacks the operation on integers: it is made of others.",
        INTEGER,
    ),
    RuleGroup(
        "lower-pack",
        "The driver cannot pack: components are shifted and masked.",
        PACKS,
    ),
]

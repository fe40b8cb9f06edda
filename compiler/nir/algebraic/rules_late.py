"""Late rules, applied once at the end because they undo canonical forms.

Fusing a multiply and an add omits the rounding of the product, so it is inexact. With
`is_used_once` the product is not computed twice when it has other uses; the consequence is that
code which only *observes* the product affects the rounding of the sum.
"""

from __future__ import annotations

from gallette.compiler.nir.algebraic.options import RuleGroup, RuleText

a, b, c, d = "a", "b", "c", "d"

FUSE: list[RuleText] = [
    # Fusing regardless of use counts costs instructions and gains invariance.
    (
        ("~fadd", ("fmul", a, b), c),
        ("ffma", a, b, c),
        "options.fuse_ffma",
        "options.fuse_ffma_shared",
    ),
    (("~fadd", ("fmul(is_used_once)", a, b), c), ("ffma", a, b, c), "options.fuse_ffma"),
    (
        ("~fadd", ("fneg(is_used_once)", ("fmul(is_used_once)", a, b)), c),
        ("ffma", ("fneg", a), b, c),
        "options.fuse_ffma",
    ),
    (("~fsub", ("fmul(is_used_once)", a, b), c), ("ffma", a, b, ("fneg", c)), "options.fuse_ffma"),
    (("~fsub", c, ("fmul(is_used_once)", a, b)), ("ffma", ("fneg", a), b, c), "options.fuse_ffma"),
    (
        ("~fadd", ("fabs(is_used_once)", ("fmul(is_used_once)", a, b)), c),
        ("ffma", ("fabs", a), ("fabs", b), c),
        "options.fuse_ffma",
    ),
    (("~fmul", a, ("fadd(is_used_once)", b, 1.0)), ("ffma", a, b, a), "options.fuse_ffma"),
    (
        ("~fmul", a, ("fadd(is_used_once)", b, -1.0)),
        ("ffma", a, b, ("fneg", a)),
        "options.fuse_ffma",
    ),
    (
        ("~flrp", a, b, c),
        ("ffma", c, b, ("ffma", ("fneg", c), a, a)),
        "options.fuse_ffma",
        "options.lower_flrp",
    ),
]

UNCANONICAL: list[RuleText] = [
    (("fadd", a, ("fneg", b)), ("fsub", a, b), "options.fuse_fsub"),
    (("iadd", a, ("ineg", b)), ("isub", a, b), "options.fuse_fsub"),
    (("fneg", ("fneg", a)), a),
    (("fmul", "a(is_not_const)", -1.0), ("fneg", a)),
    (("fmul", a, 1.0), a),
    (("fadd", a, -0.0), a),
    (("ffma", a, b, -0.0), ("fmul", a, b)),
]

RULES = [
    RuleGroup(
        "fuse",
        "The driver has a multiply-add: a product and a sum are one instruction.",
        FUSE,
    ),
    RuleGroup(
        "uncanonical",
        "What was canonical while optimising has a shorter form in the end.",
        UNCANONICAL,
    ),
]

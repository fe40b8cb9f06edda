"""What shaders do: expressions and statements with places for others.

`$f` is replaced by an expression of a float, `$i`, `$u`, `$b`, `$d` and `$l` by one of an integer,
an unsigned one, a bool, a double and an integer of 64 bits; `$f3` is a vector, `$m3` a matrix;
`$w` an index that means no good; `$k` a small literal; `$c` a component's letter; `$s` statements.
"""

from __future__ import annotations

__all__ = ["EXPRESSIONS", "STATEMENTS"]

_FLOATS = """
$f + $f | $f - $f | $f * $f | $f / $f | -$f | float($i) | float($u) | float($d) | float($l)
sin($f) | cos($f) | tan($f) | asin($f) | acos($f) | atan($f) | atan($f, $f) | sinh($f) | cosh($f)
tanh($f) | asinh($f) | acosh($f) | atanh($f) | pow($f, $f) | exp($f) | log($f) | exp2($f) | log2($f)
sqrt($f) | inversesqrt($f) | abs($f) | sign($f) | floor($f) | trunc($f) | round($f) | roundEven($f)
ceil($f) | fract($f) | mod($f, $f) | min($f, $f) | max($f, $f) | clamp($f, $f, $f) | mix($f, $f, $f)
mix($f, $f, $b) | step($f, $f) | smoothstep($f, $f, $f) | fma($f, $f, $f) | ldexp($f, $i)
intBitsToFloat($i) | uintBitsToFloat($u) | length($f4) | distance($f3, $f3) | dot($f4, $f4)
cross($f3, $f3).z | normalize($f4).x | faceforward($f3, $f3, $f3).y | reflect($f2, $f2).x
refract($f3, $f3, $f).z | determinant($m4) | determinant($m3) | inverse($m4)[$w][$w]
inverse($m2)[1].x | transpose($m4)[2].w | outerProduct($f4, $f4)[$w].y | ($m4 * $f4)[$w]
($f3 * $m3).z | ($m3 * $m3)[1][$w] | matrixCompMult($m2, $m2)[$w].x | $f4[$w] | $m4[$w][$w]
unpackHalf2x16($u).x | unpackUnorm2x16($u).y | unpackSnorm4x8($u).w | unpackUnorm4x8($u)[$w]
$b ? $f : $f | frexp_of($f) | modf_of($f) | radians($f) | degrees($f) | float($b) | exp2($f2).y
"""
_INTEGERS = """
$i + $i | $i - $i | $i * $i | $i / $i | $i % $i | -$i | ~$i | $i & $i | $i |($i) | $i ^ $i
$i << $i | $i >> $i | int($f) | int($u) | int($d) | int($l) | floatBitsToInt($f) | abs($i)
sign($i) | min($i, $i) | max($i, $i) | clamp($i, $i, $i) | bitfieldExtract($i, $i, $i)
bitCount($i) | bitfieldInsert($i, $i, $i, $i) | bitfieldReverse($i) | findLSB($i) | findMSB($i)
high_product($i, $i) | $b ? $i : $i | int($b) | int(packHalf2x16($f2)) | mix($i, $i, $b)
$i4[$w]
"""
_UNSIGNED = """
$u + $u | $u - $u | $u * $u | $u / $u | $u % $u | ~$u | $u & $u | $u ^ $u | $u << $i | $u >> $u
uint($f) | uint($i) | uint($d) | uint($l) | floatBitsToUint($f) | min($u, $u) | $u4[$w]
bitfieldExtract($u, $i, $i) | uint(findMSB($u)) | packUnorm2x16($f2) | packSnorm4x8($f4)
packUnorm4x8($f4) | packHalf2x16($f2) | uint(bitCount($u)) | carry_of($u, $u) | borrow_of($u, $u)
packSnorm2x16($f2) | unpackDouble2x32($d)[$w & 1] | bitfieldInsert($u, $u, $i, $i)
"""
_BOOLS = """
$f < $f | $f == $f | $f != $f | $i >= $i | $i == $i | $u > $u | isnan($f) | isinf($f) | !$b
$b && $b | $b || $b | $b ^^ $b | any(lessThan($f3, $f3)) | all(equal($i2, $i2)) | $d < $d | $l > $l
any(not(greaterThanEqual($u3, $u3))) | $f4 == $f4 | $m2 != $m2 | bool($i) | bool($f)
"""
_DOUBLES = """
$d + $d | $d - $d | $d * $d | $d / $d | -$d | double($f) | double($i) | double($u) | double($l)
sqrt($d) | inversesqrt($d) | abs($d) | floor($d) | trunc($d) | roundEven($d) | fract($d)
mod($d, $d) | min($d, $d) | clamp($d, $d, $d) | mix($d, $d, $d) | step($d, $d) | sign($d)
smoothstep($d, $d, $d) | fma($d, $d, $d) | ldexp($d, $i) | packDouble2x32($u2) | dot($d3, $d3)
length($d2) | $d3[$w & 1] | normalize($d3).z | $b ? $d : $d | cross($d3, $d3).x | ceil($d)
int64BitsToDouble($l)
"""
_LONGS = """
$l + $l | $l - $l | $l * $l | $l / $l | $l % $l | -$l | ~$l | $l & $l | $l ^ $l | $l << $i
$l >> $i | int64_t($i) | int64_t($u) | int64_t($f) | int64_t($d) | doubleBitsToInt64($d)
packInt2x32($i2) | min($l, $l) | abs($l) | sign($l) | $b ? $l : $l
int64_t(packUint2x32($u2))
"""


def _split(text: str) -> tuple[str, ...]:
    return tuple(e.strip() for line in text.strip().splitlines() for e in line.split(" | "))


EXPRESSIONS = {
    "f": _split(_FLOATS),
    "i": _split(_INTEGERS),
    "u": _split(_UNSIGNED),
    "b": _split(_BOOLS),
    "d": _split(_DOUBLES),
    "l": _split(_LONGS),
}
"""By type. (A bar between blanks parts them.)"""

_ANY = "vcegfk"  # vertex, control, evaluation, geometry, fragment, kernel

STATEMENTS: tuple[tuple[str, int, str], ...] = (
    (_ANY, 6, "f += $f4;"),
    (_ANY, 3, "n += $i4;"),
    (_ANY, 2, "f.$c += $f; n.$c ^= $i;"),
    (_ANY, 2, "f[$w] = $f;"),
    (_ANY, 1, "n[$w] += $i;"),
    (_ANY, 1, "f = $m4 * f;"),
    (_ANY, 1, "{ double d = $d; f.x += float(d); n.y += int(d); }"),
    (
        _ANY,
        1,
        "{ int64_t l = $l; n.x += int(l >> 32); uint64_t v = uint64_t(l) % uint64_t($l); "
        "n.y += int(v); }",
    ),
    # Arrays of their own.
    (
        _ANY,
        3,
        "{ float a[$n]; for (int q = 0; q < a.length(); q++) a[q] = $f; a[$w] = $f; "
        "f.x += a[$w]; }",
    ),
    (
        _ANY,
        1,
        "{ ivec3 a[3][4]; for (int q = 0; q < 12; q++) a[q / 4][q % 4] = $i3; "
        "a[$w][$w] = $i3; a[$w][$w][$w] = $i; n.xyz += a[$w][$w]; }",
    ),
    (_ANY, 1, "{ mat4 a[2]; a[0] = $m4; a[1] = $m4; a[$w][$w][$w] = $f; f += a[$w][$w]; }"),
    (
        _ANY,
        1,
        "{ Part a[3]; for (int q = 0; q < 3; q++) a[q] = Part($f3, $i, float[2]($f, $f)); "
        "a[$w].c[$w] = $f; Part b = a[$w]; f.y += b.c[$w] + b.a[$w]; if (a[0] == a[$w]) n.x++; }",
    ),
    (_ANY, 1, "{ const float t[5] = float[](1.0, -2.0, 3.5, 0.0, 9.0); f.z += t[$w]; }"),
    (
        _ANY,
        1,
        "{ double a[4]; for (int q = 0; q < 4; q++) a[q] = $d; a[$w] = $d; f.w += float(a[$w]); }",
    ),
    (
        _ANY,
        1,
        "{ float a[4] = float[4]($f, $f, $f, $f); f.x += chosen(a, $i); "
        "change(f, n); shift(a, $w, $f); f.y += a[$w]; }",
    ),
    # Ways through.
    (_ANY, 2, "if ($b) { $s } else { $s }"),
    (_ANY, 2, "for (int q = 0; q < ($i & 7); q++) { $s if ($b) continue; $s if ($b) break; }"),
    (_ANY, 1, "{ int q = $i & 15; while (q-- > 0) { $s if ($b) break; } }"),
    (_ANY, 1, "{ int q = 0; do { $s } while (++q < ($i & 3) && $b); }"),
    (_ANY, 1, "switch ($i & 3) { case 0: $s case 1: $s break; case 2: break; default: $s }"),
    (_ANY, 1, "if ($b) { f = vec4($f); if ($b) return_early }"),
    (_ANY, 1, "for (int q = 0, z = $i; q < 3; q++, z += $i) f[q] += float(z % 7);"),
    # Uniforms of their own.
    (_ANY, 2, "f += u_floats[$w]; n += u_ints[$w];"),
    (_ANY, 1, "f.x += u_matrices[$w][$w][$w];"),
    (_ANY, 1, "f.y += float(u_doubles[$w].y);"),
    (_ANY, 1, "n.z += int(u_long);"),
    # Votes and ballots.
    (
        "vfk",
        1,
        "#ARB_shader_group_vote\nif (anyInvocationARB($b)) n.x++; "
        "if (allInvocationsEqualARB($b)) n.y++;",
    ),
    (
        "vfk",
        1,
        "#ARB_shader_ballot\nn.x += int(ballotARB($b)); f.x += "
        "readInvocationARB($f, $u); f.y += readFirstInvocationARB($f);",
    ),
    ("vfk", 1, "#ARB_shader_clock\nn.x += int(clock2x32ARB().x);"),
    ("f", 1, "if ($b) discard;"),
    ("f", 1, "#EXT_demote_to_helper_invocation\nif ($b) demote; if (helperInvocationEXT()) n.x++;"),
    ("f", 2, "f += vec4(dFdx($f), dFdy($f), fwidth($f), dFdxFine($f2).y);"),
    ("f", 1, "f += dFdyCoarse($f4) * fwidthFine($f);"),
    ("c", 1, "barrier();"),
    (
        "k",
        2,
        "barrier(); memoryBarrierShared(); s_ints[$w] = $i; s_floats[$w][$w] = $f; barrier(); "
        "n.x += s_ints[$w]; f.x += s_floats[$w].$c;",
    ),
    (
        "k",
        1,
        "atomicAdd(s_ints[$w], $i); n.x += atomicCompSwap(s_ints[$w], $i, $i); "
        "n.y += atomicMax(s_ints[$w], $i); atomicXor(s_ints[$w], $i);",
    ),
    (
        "k",
        1,
        "s_parts[$w].c[$w] = $f; s_matrix[$w][$w] = $f; s_doubles[$w] = $d; "
        "f.y += s_parts[$w].a.y + float(s_doubles[$w]);",
    ),
    ("k", 1, "groupMemoryBarrier(); n.x += int(gl_LocalInvocationIndex * gl_NumWorkGroups.y);"),
)
"""In which stages, how often, and what. A line that begins with # names an extension."""

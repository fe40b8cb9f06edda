"""Depth and stencil tests, and the words of the buffer that they leave.

Depth is compared as codes: unsigned integers in the order of depths, as the buffer stores them. A
float depth is its own bit pattern (depths are never negative).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def
from gallette.pipe.enums import CompareFunc, StencilOp
from gallette.pipe.state import StencilState

from .filtering import compare
from .formats import codes
from .routine import Routine, routine


@lazy_dataclass(frozen=True)
class DepthKey:
    """The depth and stencil buffer, and the tests against it."""

    word: int  # bits loaded and stored
    step: int  # bits from pixel to pixel
    bits: int  # of depth; 0: none
    shift: int
    is_float: bool
    stencil_shift: int
    func: CompareFunc | None  # None: depth is not tested
    write: bool
    stencil: tuple[StencilState, StencilState] | None  # without masks

    @property
    def writes(self) -> bool:
        """Whether a test may change the buffer."""
        return self.write or self.stencil is not None


def without_masks(face: StencilState) -> StencilState:
    """What of a face's state decides the code of its test."""
    return replace(face, valuemask=0xFF, writemask=0xFF) if face.enabled else StencilState()


def mask_word(face: StencilState) -> int:
    """A face's masks above the bits of its reference: what its test is given. Programs set many
    masks, and code for each would cost more than to read them.
    """
    return (face.valuemask & 0xFF) << 8 | (face.writemask & 0xFF) << 16


@cache
def depth_code(bits: int, is_float: bool) -> Routine:
    """A depth as a code, clamped to 0..1; NaN is 0."""

    def build(b: Builder, z: Def) -> list[Def]:
        if is_float:
            return [b.fsat(z)]
        if bits <= 22:
            return [codes(b, z, bits)]
        top = float((1 << bits) - 1)
        if bits <= 24:
            return [b.f2i32(b.fround_even(b.fmul(b.fsat(z), b.imm_float(top))))]
        wide = b.fmul(b.f2f64(b.fsat(z)), b.imm_float(top, 64))
        return [b.u2u32(b.fadd(wide, b.imm_float(1.5 * (1 << 52), 64)))]

    return routine(f"depth code of {bits} bits", {"z": (1, 32)}, build, any_conversion=True)


@lru_cache(256)
def tested(key: DepthKey) -> Routine:
    """Whether a covered sample passes, the word of the buffer after the tests, and whether to store
    it. Words of less than 32 bits are given in 32; faces are references with `mask_word`s.
    """
    size = max(32, key.word)
    given = {
        "covered": (1, 1),
        "words": (1, size),
        "code": (1, 32),
        "front": (1, 1),
        "front_face": (1, 32),
        "back_face": (1, 32),
    }

    def build(b: Builder, *given: Def) -> list[Def]:
        return _tested(b, key, *given)

    return routine("depth and stencil", given, build)


def _tested(
    b: Builder,
    key: DepthKey,
    covered: Def,
    words: Def,
    code: Def,
    front: Def,
    front_face: Def,
    back_face: Def,
) -> list[Def]:
    passing, new, changed = covered, words, b.imm_bool(False)
    deep: Def | None = None
    if key.func is not None:
        held = _field(b, words, key.shift, key.bits)
        deep = compare(b, key.func, code, held, "u")
        passing = b.iand(passing, deep)
    if key.stencil is not None:
        old = _field(b, words, key.stencil_shift, 8)
        one, other = key.stencil
        ok, value = _stencil(b, one, old, front_face, deep)
        if other.enabled:
            back_ok, back_value = _stencil(b, other, old, back_face, deep)
            ok, value = b.bcsel(front, ok, back_ok), b.bcsel(front, value, back_value)
        passing = b.iand(passing, ok)
        new, changed = _replaced(b, words, value, key.stencil_shift, 8), covered
    if key.func is not None and key.write:
        new = b.bcsel(passing, _replaced(b, new, code, key.shift, key.bits), new)
        changed = passing if key.stencil is None else changed
    return [passing, new, changed]


def _field(b: Builder, words: Def, shift: int, bits: int) -> Def:
    """Some bits of a word, in 32 bits."""
    if shift:
        words = b.ushr(words, b.imm_int(shift))
    if words.bit_size == 64:
        words = b.u2u32(words)
    return b.iand(words, b.imm_int((1 << bits) - 1)) if bits < 32 else words


def _replaced(b: Builder, words: Def, value: Def, shift: int, bits: int) -> Def:
    """A word with some bits replaced."""
    size = words.bit_size
    if size == 64:
        value = b.u2u64(value)
    if shift:
        value = b.ishl(value, b.imm_int(shift))
    kept = ~(((1 << bits) - 1) << shift) & ((1 << size) - 1)
    return b.ior(b.iand(words, b.imm_int(kept, size)), value) if kept else value


@lru_cache(256)
def stencil_test(face: StencilState, deep: bool) -> Routine:
    """Whether a sample passes one face's stencil test, and its new stencil value. The reference is
    given with the face's `mask_word`; `deep` says that there is a depth test, whose result is a
    parameter.
    """

    def build(b: Builder, old: Def, word: Def, passed: Def | None = None) -> Sequence[Def]:
        return _stencil(b, face, old, word, passed)

    given = {"stencil": (1, 32), "face": (1, 32)}
    return routine("stencil", given | ({"in_depth": (1, 1)} if deep else {}), build)


def _stencil(
    b: Builder, face: StencilState, old: Def, word: Def, deep: Def | None
) -> tuple[Def, Def]:
    reference, read, written = (_field(b, word, shift, 8) for shift in (0, 8, 16))
    ok = compare(b, face.func, b.iand(reference, read), b.iand(old, read), "u")
    passed = _operated(b, face.zpass_op, old, reference)
    if deep is not None:
        passed = b.bcsel(deep, passed, _operated(b, face.zfail_op, old, reference))
    value = b.bcsel(ok, passed, _operated(b, face.fail_op, old, reference))
    return ok, b.ixor(old, b.iand(b.ixor(old, value), written))


def _operated(b: Builder, op: StencilOp, old: Def, reference: Def) -> Def:
    one, most = b.imm_int(1), b.imm_int(0xFF)
    if op is StencilOp.KEEP:
        return old
    if op is StencilOp.ZERO:
        return b.imm_int(0)
    if op is StencilOp.REPLACE:
        return reference
    if op is StencilOp.INCR:
        return b.umin(b.iadd(old, one), most)
    if op is StencilOp.DECR:
        return b.isub(b.umax(old, one), one)
    if op is StencilOp.INCR_WRAP:
        return b.iand(b.iadd(old, one), most)
    if op is StencilOp.DECR_WRAP:
        return b.iand(b.isub(old, one), most)
    return b.ixor(old, most)

"""Gathers texels by index and decodes them, by format."""

from __future__ import annotations

from gallette.drivers.common.fixed.formats import viewed
from gallette.drivers.common.fixed.routine import Routine

from ..llvm.text import Builder
from ..llvm.values import V
from .routines import inlined
from .texture_keys import ImageKey

Words = dict[int, V]
"""The gathered 32-bit words of texels, by number."""


def decode(b: Builder, key: ImageKey, texels: V, index: V, depths: bool) -> list[V]:
    """Components of the texels at `index`; with `depths`, only the first one, before the view's
    swizzle.
    """
    return decoded(b, key, gather_words(b, key, texels, index, depths), depths)


def decoded(b: Builder, key: ImageKey, words: Words, depths: bool) -> list[V]:
    """Components of texels whose words have been gathered."""
    w = next(iter(words.values())).w
    routine = _viewed(key, depths)
    found = inlined(b, routine, [words.get(n) for n in range(len(routine.inputs))])
    whole = key.format.is_pure_integer or key.stencil
    return [b.spread(v.as_int() if whole else v.as_float(), w) for v in found]


def _viewed(key: ImageKey, depths: bool) -> Routine:
    return viewed(key.format, (0, "0", "0", "1") if depths else key.swizzle, key.stencil)


def _gather(b: Builder, texels: V, index: V, t: str, align: int = 0) -> V:
    every = b.lanes("i1", [True] * index.w)
    return b.gather(b.at(texels, index, t), every, t, align)


def gather_word(b: Builder, texels: V, index: V, size: int, number: int = 0) -> V:
    """Gather 32 bits of texels of `size` bytes, the `number`th word of each.

    Machines gather nothing shorter. For shorter texels the upper bits belong to the next one;
    storage has spare bytes after its last texel.
    """
    if size % 4 == 0:
        words = size // 4
        return _gather(b, texels, index * words + number if words > 1 else index, "i32")
    every = b.lanes("i1", [True] * index.w)
    if size in (1, 2):
        places = b.at(texels, index, f"i{size * 8}")
    else:
        places = b.at(texels, index.to("i64") * size + 4 * number, "i8")
    return b.gather(places, every, "i32", 1)


def gather_pair(b: Builder, texels: V, first: V, second: V, size: int) -> tuple[V, V]:
    """The words of two texels of at most 4 bytes, of which the second is usually next to the first.

    One gather fetches both then; if some lane wraps around, another gather follows.
    """
    if size == 4:
        every = b.lanes("i1", [True] * first.w)
        low, high = _halves(b, b.gather(b.at(texels, first, "i32"), every, "i64", 4))
    else:
        low = gather_word(b, texels, first, size)
        high = low.lshr(8 * size)
    found = b.var("i32", high.w, high)
    stray = second.ne(first + 1)
    with b.when(b.any(stray)):
        found.update(stray, gather_word(b, texels, second, size))
    return low, found.get()


def _halves(b: Builder, value: V) -> tuple[V, V]:
    """The lower and upper 32 bits of every lane."""
    parts = b.regroup(value, "i32", 2 * value.w)
    return b.shuffle(parts, range(0, 2 * value.w, 2)), b.shuffle(parts, range(1, 2 * value.w, 2))


def gather_words(b: Builder, key: ImageKey, texels: V, index: V, depths: bool) -> Words:
    """The words of the texels that `decoded` reads, two at a time where possible."""
    size = key.format.block_bytes
    words: Words = {}
    needed = _viewed(key, depths).read or (0,)
    for number in needed:
        if number in words:
            continue
        if size % 8 == 0 and number % 2 == 0 and number + 1 in needed:
            every = b.lanes("i1", [True] * index.w)
            at = index * (size // 8) + number // 2 if size > 8 else index
            both = b.gather(b.at(texels, at, "i64"), every, "i64")
            words[number], words[number + 1] = _halves(b, both)
        else:
            words[number] = gather_word(b, texels, index, size, number)
    return words

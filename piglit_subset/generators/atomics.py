"""Atomic operations on storage buffers, shared memory, images and counters.

All invocations of a group operate on one word. Where the operation commutes the end is known; an
exchange or a comparison leaves what some invocation wrote, and what the others saw adds up.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce

from gallette.piglit_subset.generators.common import Test, main

LANES = 16
# Name -> first value, meaning, the operand of invocation i, and that in GLSL.
_OPS: dict[str, tuple[int, Callable[[int, int], int], Callable[[int], int], str]] = {
    "Add": (7, operator.add, lambda i: 3 * i + 1, "3 * i + 1"),
    "Min": (900, min, lambda i: 40 + (i * 7 + 3) % 16, "40 + (i * 7 + 3) % 16"),
    "Max": (5, max, lambda i: 40 + (i * 7 + 3) % 16, "40 + (i * 7 + 3) % 16"),
    "And": (0xFFFF, operator.and_, lambda i: 0xFFFF ^ (1 << i & 0x5555),
            "0xFFFF ^ (1 << i & 0x5555)"),
    "Or": (0x10000, operator.or_, lambda i: 1 << i & 0x3333, "1 << i & 0x3333"),
    "Xor": (0x0FF0, operator.xor, lambda i: 1 << (i % 5), "1 << (i % 5)"),
}  # fmt: skip


def tests() -> Iterator[Test]:
    for place in ("buffer", "shared", "image"):
        for scalar in ("uint", "int"):
            word = _word(place, scalar)
            for op in _OPS:
                yield _commuting(word, op)
            yield _exchange(word)
            yield _compare(word)
    yield from _counters()


@dataclass(frozen=True, slots=True)
class _Word:
    """What invocations operate on: how it is declared, set, operated on and read."""

    place: str
    scalar: str
    store: str
    prefix: str
    read: str
    declaration: str = ""
    setup: tuple[str, ...] = ()
    need: str = ""

    def call(self, op: str, operands: str) -> str:
        return f"{self.prefix.format(op=op)}{operands})"


def _word(place: str, scalar: str) -> _Word:
    if place == "buffer":
        store = f"word = {scalar}({{first}})"
        return _Word(place, scalar, store, "atomic{op}(word, ", "word")
    if place == "shared":
        store, declaration = f"mine = {scalar}({{first}})", f"shared {scalar} mine;"
        return _Word(place, scalar, store, "atomic{op}(mine, ", "mine", declaration)
    letter, code = ("u", "UI") if scalar == "uint" else ("i", "I")
    return _Word(
        place,
        scalar,
        f"imageStore(picture, ivec2(0), {letter}vec4({{first}}))",
        "imageAtomic{op}(picture, ivec2(0), ",
        "imageLoad(picture, ivec2(0)).x",
        f"layout(r32{code.lower()}, binding = 0) uniform {letter}image2D picture;",
        (f"texture integer 0 (1, 1) (0, 0) GL_R32{code}", f"image texture 0 GL_R32{code}"),
        "GL_ARB_shader_image_load_store",
    )


def _computed(need: str, shader: list[str], commands: list[str]) -> str:
    return "\n".join(
        [
            *("[require]", "GL >= 4.3", "GLSL >= 4.30", "GL_ARB_compute_shader"),
            *("GL_ARB_shader_storage_buffer_object", *filter(None, [need]), ""),
            *("[compute shader]", "#version 430", f"layout(local_size_x = {LANES}) in;"),
            *(*shader, "", "[test]", *commands),
        ]
    )


def _test(
    word: _Word, op: str, purpose: str, first: int, call: str, probes: list[str],
    each: tuple[str, ...] = (), last: tuple[str, ...] = (),
) -> Test:  # fmt: skip
    """Every invocation calls and does `each`; the first one does `last` when all have."""
    shader = [
        *filter(None, [word.declaration]),
        f"layout(std430, binding = 0) buffer Out "
        f"{{ {word.scalar} word; {word.scalar} seen; uint count; }};",
        *main(
            "int i = int(gl_LocalInvocationIndex);",
            *("if (i == 0)", f"\t{word.store.format(first=first)};"),
            *("memoryBarrier();", "barrier();"),
            *(f"{word.scalar} old = {call};", *each),
            *("memoryBarrier();", "barrier();"),
            *("if (i == 0)", f"\tword = {word.read};", *last),
        ),
    ]
    body = _computed(word.need, shader, [*word.setup, "ssbo 0 16", "compute 1 1 1", *probes])
    name = f"{word.place}-{op.lower()}-{word.scalar}"
    return f"glsl-4.30/atomics/{name}", f"{purpose} ({word.place}, {word.scalar}).", body


def _commuting(word: _Word, op: str) -> Test:
    first, meaning, operand, text = _OPS[op]
    end = reduce(meaning, map(operand, range(LANES)), first)
    call, probe = word.call(op, f"{word.scalar}({text})"), f"probe ssbo {word.scalar} 0 0 == {end}"
    return _test(word, op, f"{LANES} invocations {op.lower()} into one word", first, call, [probe])


def _exchange(word: _Word) -> Test:
    """Everything written, and the first value, is seen by somebody or is there at the end."""
    call = word.call("Exchange", f"{word.scalar}(i + 1)")
    probe = f"probe ssbo uint 0 8 == {100 + sum(range(1, LANES + 1))}"
    last = ("if (i == 0)", "\tcount = uint(word + seen);")
    purpose = f"What {LANES} exchanges see and leave adds up"
    each = ("atomicAdd(seen, old);",)
    return _test(word, "Exchange", purpose, 100, call, [probe], each, last)


def _compare(word: _Word) -> Test:
    """Only one invocation finds the word as it was."""
    scalar = word.scalar
    call = word.call("CompSwap", f"{scalar}(3), {scalar}(50 + i)")
    probes = ["probe ssbo uint 0 8 == 1", f"probe ssbo {scalar} 0 0 >= 50"]
    probes += [f"probe ssbo {scalar} 0 0 < {50 + LANES}"]
    each = (f"if (old == {scalar}(3)) atomicAdd(count, 1u);",)
    purpose = f"Of {LANES} comparing exchanges one succeeds"
    return _test(word, "CompSwap", purpose, 3, call, probes, each)


def _counters() -> Iterator[Test]:
    for name, function, end, total in (
        ("increment", "atomicCounterIncrement", 20 + LANES, sum(20 + i for i in range(LANES))),
        ("decrement", "atomicCounterDecrement", 20 - LANES, sum(19 - i for i in range(LANES))),
        ("read", "atomicCounter", 20, 20 * LANES),
    ):
        shader = ["layout(binding = 0, offset = 0) uniform atomic_uint counter;"]
        shader += ["layout(std430, binding = 0) buffer Out { uint sum; };"]
        shader += main(f"atomicAdd(sum, {function}(counter));")
        commands = ["atomic counters 1", "atomic counter 0 0 20", "ssbo 0 16", "compute 1 1 1"]
        commands += [f"probe atomic counter 0 == {end}", f"probe ssbo uint 0 0 == {total}"]
        purpose = f"{LANES} invocations {name} a counter; what they see adds up."
        body = _computed("GL_ARB_shader_atomic_counters", shader, commands)
        yield f"glsl-4.30/atomics/counter-{name}", purpose, body

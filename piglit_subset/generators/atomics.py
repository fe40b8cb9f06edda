"""Atomic operations on storage buffers, shared memory, images and counters.

All invocations of a group operate on one word. Where the operation commutes the end is known; an
exchange or a comparison leaves what some invocation wrote, and what the others saw adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

LANES = 16
_OPS: dict[str, tuple[int, Callable[[int, int], int], Callable[[int], int]]] = {
    # name -> first value, meaning, operand of invocation i
    "Add": (7, lambda a, b: a + b, lambda i: 3 * i + 1),
    "Min": (900, min, lambda i: 40 + (i * 7 + 3) % 16),
    "Max": (5, max, lambda i: 40 + (i * 7 + 3) % 16),
    "And": (0xFFFF, lambda a, b: a & b, lambda i: 0xFFFF ^ (1 << i & 0x5555)),
    "Or": (0x10000, lambda a, b: a | b, lambda i: 1 << i & 0x3333),
    "Xor": (0x0FF0, lambda a, b: a ^ b, lambda i: 1 << (i % 5)),
}
_OPERANDS = {
    "Add": "3 * i + 1",
    "Min": "40 + (i * 7 + 3) % 16",
    "Max": "40 + (i * 7 + 3) % 16",
    "And": "0xFFFF ^ (1 << i & 0x5555)",
    "Or": "1 << i & 0x3333",
    "Xor": "1 << (i % 5)",
}
_REQUIRE = """[require]
GL >= 4.3
GLSL >= 4.30
GL_ARB_compute_shader
GL_ARB_shader_storage_buffer_object
"""


def tests() -> Iterator[tuple[str, str, str]]:
    for place in ("buffer", "shared", "image"):
        for scalar in ("uint", "int"):
            for op in _OPS:
                yield _commuting(place, scalar, op)
            yield _exchange(place, scalar)
            yield _compare(place, scalar)
    yield from _counters()


def _where(place: str, scalar: str) -> tuple[str, str, str, list[str]]:
    """Declarations, how an operation begins, how the word is read, and commands before."""
    if place == "buffer":
        return "", "atomic{op}(word, ", "word", []
    if place == "shared":
        return f"shared {scalar} mine;", "atomic{op}(mine, ", "mine", []
    letter = "u" if scalar == "uint" else "i"
    code = "UI" if scalar == "uint" else "I"
    form = code.lower()
    declaration = f"layout(r32{form}, binding = 0) uniform {letter}image2D picture;"
    setup = [f"texture integer 0 (1, 1) (0, 0) GL_R32{code}", f"image texture 0 GL_R32{code}"]
    return (
        declaration,
        "imageAtomic{op}(picture, ivec2(0), ",
        "imageLoad(picture, ivec2(0)).x",
        setup,
    )


def _shader(place: str, scalar: str, first: int, call: str, extra: str = "") -> list[str]:
    declaration, _, read, _ = _where(place, scalar)
    start = {
        "buffer": f"word = {scalar}({first})",
        "shared": f"mine = {scalar}({first})",
        "image": f"imageStore(picture, ivec2(0), {'u' if scalar == 'uint' else 'i'}vec4({first}))",
    }[place]
    return [
        "[compute shader]",
        "#version 430",
        f"layout(local_size_x = {LANES}) in;",
        *filter(None, [declaration]),
        f"layout(std430, binding = 0) buffer Out {{ {scalar} word; {scalar} seen; uint count; }};",
        "",
        "void main()",
        "{",
        "\tint i = int(gl_LocalInvocationIndex);",
        "\tif (i == 0)",
        f"\t\t{start};",
        "\tmemoryBarrier();",
        "\tbarrier();",
        f"\t{scalar} old = {call};",
        *([f"\t{extra}"] if extra else []),
        "\tmemoryBarrier();",
        "\tbarrier();",
        "\tif (i == 0)",
        f"\t\tword = {read};",
        "}",
        "",
    ]


def _test(place: str, scalar: str, shader: list[str], probes: list[str]) -> str:
    setup = _where(place, scalar)[3]
    need = ["GL_ARB_shader_image_load_store"] if place == "image" else []
    body = [_REQUIRE.rstrip(), *need, "", *shader, "[test]", *setup, "ssbo 0 16", "compute 1 1 1"]
    return "\n".join([*body, *probes])


def _place(place: str, scalar: str, op: str) -> str:
    return f"glsl-4.30/atomics/{place}-{op.lower()}-{scalar}"


def _commuting(place: str, scalar: str, op: str) -> tuple[str, str, str]:
    first, meaning, operand = _OPS[op]
    end = reduce(meaning, map(operand, range(LANES)), first)
    call = _where(place, scalar)[1].format(op=op) + f"{scalar}({_OPERANDS[op]}))"
    shader = _shader(place, scalar, first, call)
    purpose = f"{LANES} invocations {op.lower()} into one word ({place}, {scalar})."
    return (
        _place(place, scalar, op),
        purpose,
        _test(place, scalar, shader, [f"probe ssbo {scalar} 0 0 == {end}"]),
    )


def _exchange(place: str, scalar: str) -> tuple[str, str, str]:
    """Everything written, and the first value, is seen by somebody or is there at the end."""
    call = _where(place, scalar)[1].format(op="Exchange") + f"{scalar}(i + 1))"
    shader = _shader(place, scalar, 100, call, "atomicAdd(seen, old);")
    shader[shader.index("}") - 1] += "\n\tif (i == 0)\n\t\tcount = uint(word + seen);"
    total = 100 + sum(range(1, LANES + 1))
    return (
        _place(place, scalar, "Exchange"),
        f"What {LANES} exchanges see and leave adds up ({place}, {scalar}).",
        _test(place, scalar, shader, [f"probe ssbo uint 0 8 == {total}"]),
    )


def _compare(place: str, scalar: str) -> tuple[str, str, str]:
    """Only one invocation finds the word as it was."""
    prefix = _where(place, scalar)[1].format(op="CompSwap")
    call = f"{prefix}{scalar}(3), {scalar}(50 + i))"
    shader = _shader(place, scalar, 3, call, f"if (old == {scalar}(3)) atomicAdd(count, 1u);")
    probes = [
        "probe ssbo uint 0 8 == 1",
        f"probe ssbo {scalar} 0 0 >= 50",
        f"probe ssbo {scalar} 0 0 < {50 + LANES}",
    ]
    return (
        _place(place, scalar, "CompSwap"),
        f"Of {LANES} comparing exchanges one succeeds ({place}, {scalar}).",
        _test(place, scalar, shader, probes),
    )


def _counters() -> Iterator[tuple[str, str, str]]:
    for name, call, end, seen in (
        ("increment", "atomicCounterIncrement(counter)", 20 + LANES, lambda i: 20 + i),
        ("decrement", "atomicCounterDecrement(counter)", 20 - LANES, lambda i: 19 - i),
        ("read", "atomicCounter(counter)", 20, lambda i: 20),
    ):
        total = sum(seen(i) for i in range(LANES))
        body = [
            _REQUIRE.rstrip(),
            "GL_ARB_shader_atomic_counters",
            "",
            "[compute shader]",
            "#version 430",
            f"layout(local_size_x = {LANES}) in;",
            "layout(binding = 0, offset = 0) uniform atomic_uint counter;",
            "layout(std430, binding = 0) buffer Out { uint sum; };",
            "",
            "void main()",
            "{",
            f"\tatomicAdd(sum, {call});",
            "}",
            "",
            "[test]",
            "atomic counters 1",
            "atomic counter 0 0 20",
            "ssbo 0 16",
            "compute 1 1 1",
            f"probe atomic counter 0 == {end}",
            f"probe ssbo uint 0 0 == {total}",
        ]
        purpose = f"{LANES} invocations {name} a counter; what they see adds up."
        yield f"glsl-4.30/atomics/counter-{name}", purpose, "\n".join(body)

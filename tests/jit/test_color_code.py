"""Texels in machine code: packed, unpacked, blended, combined, as the codecs and NumPy do it.

Every case of a test is a function of one module, so that LLVM is asked once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.output.blend import BYTES, FLOATS, blend, logic_op
from gallette.drivers.jit.llvm.engine import compile_module
from gallette.drivers.jit.llvm.text import Builder
from gallette.drivers.jit.llvm.values import V
from gallette.drivers.jit.shader.color_code import new_texels, new_words, unpacked
from gallette.drivers.jit.shader.tile_keys import ColorKey, can_store, is_wide
from gallette.pipe.codecs import pack_planes, unpack_planes
from gallette.pipe.codecs.srgb import encode_tables
from gallette.pipe.enums import BlendFactor, BlendFunc, LogicOp
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.state import RenderTargetBlend

Array = npt.NDArray[Any]
W = 16
NONE = RenderTargetBlend()
STORED = [
    f
    for f in FORMATS.values()
    if can_store(f) and not is_wide(f) and f.name[0] not in "ZS" and "64" not in f.name
]
FLOATS_GIVEN = np.array(
    [0.0, np.nan, 1.0, -1.0, 0.5, 0.25, 0.7, 0.0031308, 1e-9, 1.5, -7.0, 65504.0, 1e9, -1e9, 0.9999,
     np.inf], np.float32
)  # fmt: skip
WHOLE = np.array(
    [0, 1, 2, 3, 127, 128, 255, 256, 32767, 32768, 65535, 65536, -1, -2, -32769, 2**31 - 1]
).astype(np.int32)


@dataclass
class Case:
    """One function: what it stores of colours, and of what was there."""

    key: ColorKey
    wanted: Callable[[Sequence[Array], Sequence[Array], Sequence[Array], Array], Array]
    what: str = ""


def colours(format: Format, seed: int = 0) -> list[Array]:
    """Four channels of each lane, at first the awkward ones."""
    given = WHOLE if format.is_pure_integer else FLOATS_GIVEN
    if "UINT" in format.name:
        given = given.view(np.uint32)
    return [np.roll(given, 5 * k + 3 * seed) for k in range(4)]


def texels_there(format: Format) -> Array:
    random = np.random.default_rng(format.block_bytes)
    low, high = random.integers(0, 1 << 32, (2, W), np.uint64)
    return (low | high << np.uint64(32)).astype(f"u{format.block_bytes}")


def ran(cases: Sequence[Case]) -> None:
    """Compile all, run each, and compare."""
    b = Builder()
    for n, case in enumerate(cases):
        arguments = [("ptr", name) for name in ("c", "s", "k", "d", "o", "g", "t")]
        c, s, k, d, o, guesses, thresholds = b.begin(f"case{n}", arguments)

        def rows(pointer: V) -> list[V]:
            return [b.load(b.at(pointer, W * i, "float"), "float", W) for i in range(4)]

        t = f"i{8 * case.key.format.block_bytes}"
        curve = (guesses, thresholds) if case.key.format.is_srgb else None
        stored = new_texels(b, case.key, rows(c), rows(s), rows(k), b.load(d, t, W), curve)
        b.store(o, b.spread(stored, W))
        b.end()
    names = tuple(f"case{n}" for n in range(len(cases)))
    code = compile_module(b.text(), names, None)
    tables = [np.ascontiguousarray(table) for table in encode_tables()]
    for name, case in zip(names, cases, strict=True):
        format = case.key.format
        planes = [colours(format, seed) for seed in range(3)]
        if case.key.blends:  # what is no number may become any
            planes = [[np.where(np.isnan(p), np.float32(0.3), p) for p in some] for some in planes]
        given = [np.stack(rows).view(np.uint32) for rows in planes]
        there = texels_there(format)
        found = np.zeros_like(there)
        places = [*given, there, found, *tables]
        function = code.function(name, *[ctypes.c_void_p] * 7)
        function(*[array.ctypes.data for array in places])
        wanted = case.wanted(*planes, there).astype(there.dtype)
        wrong = np.flatnonzero(found != wanted)
        assert not wrong.size, (format.name, case.what, found[wrong], wanted[wrong])


def packed(format: Format, planes: Sequence[Array]) -> Array:
    raw = pack_planes(format, planes)
    return raw if raw.ndim == 1 else raw.view(f"u{format.block_bytes}")[:, 0]


def test_every_format_is_packed_as_by_its_codec() -> None:
    def wanted(format: Format) -> Callable[..., Array]:
        return lambda color, second, constant, there: packed(format, color)

    ran([Case(ColorKey(f, NONE, False, None, None), wanted(f)) for f in STORED])


def test_every_format_is_unpacked_as_by_its_codec() -> None:
    formats = [f for f in STORED if not f.is_pure_integer]
    b = Builder()
    for n, format in enumerate(formats):
        d, o = b.begin(f"read{n}", [("ptr", "d"), ("ptr", "o")])
        found = unpacked(b, format, b.load(d, f"i{8 * format.block_bytes}", W))
        for k, plane in enumerate(found):
            b.store(b.at(o, W * k, "float"), plane)
        b.end()
    names = tuple(f"read{n}" for n in range(len(formats)))
    code = compile_module(b.text(), names, None)
    for name, format in zip(names, formats, strict=True):
        there = texels_there(format)
        result = np.zeros((4, W), np.float32)
        code.function(name, ctypes.c_void_p, ctypes.c_void_p)(there.ctypes.data, result.ctypes.data)
        wanted = [np.broadcast_to(p, W).astype(np.float32) for p in unpack_planes(format, there)]
        same = (result == np.stack(wanted)) | (np.isnan(result) & np.isnan(np.stack(wanted)))
        assert same.all(), (format.name, result[~same], np.stack(wanted)[~same])


@np.errstate(invalid="ignore", over="ignore")
def _blended(key: ColorKey, color: Any, second: Any, constant: Any, there: Array) -> Array:
    """By the engine that the interpreting drivers have."""
    format = key.format
    bytes8 = format.is_array and not format.is_srgb and format.is_normalized
    bytes8 = bytes8 and all(c.bits == 8 and c.type == "UNORM" for c in format.channels)
    held = [np.broadcast_to(p, W).astype(np.float32) for p in unpack_planes(format, there)]
    if bytes8:
        rows = [
            [np.rint(np.clip(p, 0, 1) * np.float32(255)).astype(np.uint16) for p in planes]
            for planes in (color, second, constant)
        ]
        held8 = [np.rint(p * 255).astype(np.uint16) for p in held]
        found = blend(key.blend, rows[0], held8, rows[2], rows[1], BYTES)
        total = np.zeros(W, there.dtype)
        for channel in format.channels:
            plane = {"R": 0, "G": 1, "B": 2, "A": 3, "L": 0, "I": 0}.get(channel.name)
            part = np.uint16(255) if plane is None else found[plane]
            total |= np.broadcast_to(part, W).astype(there.dtype) << there.dtype.type(channel.shift)
        return total
    if format.is_normalized:
        low = -1.0 if "SNORM" in format.name else 0.0
        color, second, constant = (
            [np.clip(p, np.float32(low), np.float32(1)) for p in planes]
            for planes in (color, second, constant)
        )
    return packed(format, blend(key.blend, color, held, constant, second, FLOATS))


def test_blending_is_that_of_the_interpreting_drivers() -> None:
    """Every factor on either side, every function, in bytes, in floats, with a curve."""
    functions = [func for func in BlendFunc if not func.is_advanced]
    cases = []
    names = ("R8G8B8A8_UNORM", "B5G6R5_UNORM", "L8_UNORM", "R8G8_SNORM", "A8_UNORM",
             "R8G8B8A8_SRGB", "R8G8B8X8_UNORM", "R10G10B10A2_UNORM")  # fmt: skip
    pairs = list(product(BlendFactor, BlendFactor))
    for number, (source, target) in enumerate(pairs[::3]):
        one, other = functions[number % 5], functions[number // 5 % 5]
        state = RenderTargetBlend(True, one, source, target, other, target, source)
        key = ColorKey(FORMATS[names[number % len(names)]], state, True, None, None)
        cases.append(Case(key, partial(_blended, key), str(state)))
    ran(cases)


def test_logic_operations_and_masks() -> None:
    cases = []
    for op in LogicOp:
        for name in ("R8G8B8A8_UNORM", "R16_UINT", "B5G6R5_UNORM"):
            format = FORMATS[name]

            def combined(
                color: Any, second: Any, constant: Any, there: Array, op: LogicOp = op,
                format: Format = format,
            ) -> Array:  # fmt: skip
                return logic_op(op, packed(format, color).astype(there.dtype), there)

            cases.append(Case(ColorKey(format, NONE, False, op, None), combined, op.name))
    for name, mask in (("R8G8B8A8_UNORM", 0xFF00FF00), ("B5G6R5_UNORM", 0x07E0)):
        format = FORMATS[name]

        def masked(
            color: Any, second: Any, constant: Any, there: Array, mask: int = mask,
            format: Format = format,
        ) -> Array:  # fmt: skip
            new = packed(format, color).astype(there.dtype)
            return new & there.dtype.type(mask) | there & ~there.dtype.type(mask)

        cases.append(Case(ColorKey(format, NONE, False, None, mask), masked, "masked"))
    ran(cases)


def test_texels_of_four_words() -> None:
    """Blended as floats, combined and masked word by word."""
    add = RenderTargetBlend(
        True, BlendFunc.ADD, BlendFactor.SRC_ALPHA, BlendFactor.ONE, BlendFunc.MAX
    )
    mask = 0xFFFFFFFF << 96 | 0xFFFF << 32
    keys = [
        ColorKey(FORMATS["R32G32B32A32_FLOAT"], add, True, None, None),
        ColorKey(FORMATS["R32G32B32A32_UINT"], NONE, False, LogicOp.XOR, None),
        ColorKey(FORMATS["R32G32B32A32_UINT"], NONE, False, None, mask),
        ColorKey(FORMATS["R32G32B32A32_UINT"], NONE, False, LogicOp.NAND, mask),
    ]
    b = Builder()
    for n, key in enumerate(keys):
        c, d, o = b.begin(f"wide{n}", [("ptr", name) for name in "cdo"])
        color, held = ([b.load(b.at(p, W * i, "i32"), "i32", W) for i in range(4)] for p in (c, d))
        for i, word in enumerate(new_words(b, key, color, color, color, held)):
            b.store(b.at(o, W * i, "i32"), b.spread(word, W))
        b.end()
    names = tuple(f"wide{n}" for n in range(len(keys)))
    code = compile_module(b.text(), names, None)
    random = np.random.default_rng(5)
    color, there = random.random((2, 4, W)).astype(np.float32)
    c, d = color.view(np.uint32), there.view(np.uint32)
    masks = np.array([[mask >> 32 * i & 0xFFFFFFFF] for i in range(4)], np.uint32)
    blended = np.stack([color * color[3] + there, np.maximum(color, there)])
    wanted = [
        np.concatenate([blended[0, :3], blended[1, 3:]]).astype(np.float32).view(np.uint32),
        c ^ d,
        c & masks | d & ~masks,
        ~(c & d) & masks | d & ~masks,
    ]
    for name, right in zip(names, wanted, strict=True):
        found = np.zeros((4, W), np.uint32)
        function = code.function(name, *[ctypes.c_void_p] * 3)
        function(c.ctypes.data, d.ctypes.data, found.ctypes.data)
        assert found.tolist() == right.tolist(), name

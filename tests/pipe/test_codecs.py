"""Pixel codecs: round trips over random bits, and independent scalar oracles."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gallette.pipe.codecs import (
    clear_texel,
    linear_to_srgb8,
    pack,
    pack_depth,
    pack_stencil,
    srgb8_to_linear,
    texel_bytes,
    texel_layout,
    texels,
    unpack,
    unpack_depth,
    unpack_planes,
    unpack_stencil,
)
from gallette.pipe.formats import FORMATS, Format

PLAIN = [f for f in FORMATS.values() if f.is_color and not f.is_compressed]
DEPTH = [f for f in FORMATS.values() if f.has_depth]
STENCIL = [f for f in FORMATS.values() if f.has_stencil]


def random_bytes(format: Format, count: int = 4096) -> np.ndarray[Any, np.dtype[np.uint8]]:
    rng = np.random.default_rng(len(format.name) * 7919 + format.block_bytes)
    return rng.integers(0, 256, (2, count * format.block_bytes), np.uint8)


def holds_exactly(format: Format) -> bool:
    """Can float32 (or a 32-bit integer) hold every value of the format?"""
    bits = max(c.bits for c in format.channels)
    if format.is_float:
        return bits <= 32
    return bits <= (32 if format.is_pure_integer else 24)


@pytest.mark.parametrize("format", PLAIN, ids=repr)
def test_unpacked_values_survive_a_round_trip(format: Format) -> None:
    data = random_bytes(format)
    with np.errstate(over="ignore"):
        values = unpack(format, data)
    assert values.shape == (2, 4096, 4)
    assert values.dtype == format.rgba_dtype
    if not holds_exactly(format):
        return
    again = unpack(format, pack(format, values))
    np.testing.assert_array_equal(values, again)


@pytest.mark.parametrize(
    "format",
    [f for f in PLAIN if f.codec == "plain" and holds_exactly(f)],
    ids=repr,
)
def test_canonical_bits_survive_a_round_trip(format: Format) -> None:
    data = random_bytes(format)
    bits = pack(format, unpack(format, data))
    expected = pack(format, unpack(format, bits))
    np.testing.assert_array_equal(bits, expected)
    kinds = {c.type for c in format.channels}
    if kinds <= {"UNORM", "UINT", "SINT", "USCALED", "SSCALED"} and all(
        c.name != "X" for c in format.channels
    ):
        np.testing.assert_array_equal(bits, data)


def scalar_oracle(format: Format, raw: bytes) -> list[float]:
    """One texel decoded with Python integers, straight from the channel list."""
    word = int.from_bytes(raw, "little")
    found: dict[str, float] = {}
    for c in format.channels:
        bits = (word >> c.shift) & ((1 << c.bits) - 1)
        signed = bits - (1 << c.bits) if bits >> (c.bits - 1) else bits
        value: float
        if c.type == "FLOAT":
            code = {16: "e", 32: "f", 64: "d"}[c.bits]
            value = struct.unpack(f"<{code}", bits.to_bytes(c.bits // 8, "little"))[0]
        elif c.type == "UNORM":
            value = bits / ((1 << c.bits) - 1)
            if format.is_srgb and c.name != "A":
                value = value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        elif c.type == "SNORM":
            value = max(signed / ((1 << (c.bits - 1)) - 1), -1.0)
        elif c.type == "FIXED":
            value = signed / 65536
        elif c.type in ("UINT", "USCALED"):
            value = bits
        else:
            value = signed
        found[c.name] = value
    for letter in "LI":
        if letter in found:
            for name in "RGB" if letter == "L" else "RGBA":
                found[name] = found[letter]
    return [found.get(n, 1.0 if n == "A" else 0.0) for n in "RGBA"]


@pytest.mark.parametrize("format", [f for f in PLAIN if f.codec == "plain"], ids=repr)
def test_unpack_agrees_with_a_scalar_reading_of_the_table(format: Format) -> None:
    data = random_bytes(format, 64)[0]
    with np.errstate(over="ignore"):
        values = unpack(format, data)
    for i in range(64):
        raw = data[i * format.block_bytes : (i + 1) * format.block_bytes].tobytes()
        for got, want in zip(values[i], scalar_oracle(format, raw), strict=True):
            if math.isnan(want):
                assert np.isnan(got)
            elif format.is_pure_integer:
                assert int(got) & 0xFFFFFFFF == int(want) & 0xFFFFFFFF
            elif abs(want) > 3.5e38:
                assert np.isinf(got)
            else:
                assert float(got) == pytest.approx(want, rel=2e-7, abs=1e-44)


def test_normalised_channels_round_to_nearest_even_and_clamp() -> None:
    format = FORMATS["R8_UNORM"]
    values = [0.5 / 255, 1.5 / 255, 0.4999 / 255, 254.51 / 255, 2.0, -1.0, math.nan]
    rgba = np.zeros((len(values), 4), np.float32)
    rgba[:, 0] = values
    got = pack(format, rgba).tolist()
    assert got[2:] == [0, 255, 255, 0, 0]
    assert got[0] in (0, 1)
    snorm = pack(FORMATS["R8_SNORM"], np.full((1, 4), -1.0, np.float32)).view(np.int8)
    assert snorm.tolist() == [-127]


def test_srgb_encoding_is_the_nearest_code() -> None:
    linear = np.linspace(-0.1, 1.1, 200_001).astype(np.float32)
    exact = np.clip(linear.astype(np.float64), 0, 1)
    curve = np.where(exact <= 0.0031308, exact * 12.92, 1.055 * exact ** (1 / 2.4) - 0.055)
    error = np.abs(linear_to_srgb8(linear) - curve * 255)
    assert error.max() < 0.5005


def test_srgb_codes_survive_a_round_trip() -> None:
    codes = np.arange(256)
    np.testing.assert_array_equal(linear_to_srgb8(srgb8_to_linear(codes)), codes)


@given(st.floats(width=32), st.floats(width=32), st.floats(width=32))
def test_small_floats_truncate_towards_zero(r: float, g: float, b: float) -> None:
    format = FORMATS["R11G11B10_FLOAT"]
    got = unpack(format, pack(format, np.array([[r, g, b, 1.0]], np.float32)))[0]
    for value, result, mantissa in zip((r, g, b), got, (6, 6, 5), strict=False):
        if math.isnan(value):
            assert np.isnan(result)
        elif value == math.inf:
            assert np.isinf(result)
        elif value <= 0:
            assert result == 0
        else:
            top = (2 - 2.0**-mantissa) * 2**15
            clamped = min(value, top)
            step = 2.0 ** (max(math.frexp(clamped)[1] - 1, -14) - mantissa)
            assert 0 <= clamped - float(result) < step


@given(st.tuples(*[st.floats(0, 65408, width=32)] * 3))
def test_shared_exponent_error_is_at_most_half_a_step(color: tuple[float, float, float]) -> None:
    format = FORMATS["R9G9B9E5_FLOAT"]
    got = unpack(format, pack(format, np.array([[*color, 1.0]], np.float32)))[0]
    largest = max(color)
    step = 2.0 ** (max(math.frexp(largest)[1], -15) - 9) if largest else 2.0**-24
    for value, result in zip(color, got, strict=False):
        assert abs(value - float(result)) <= step * (1.0 if largest * 512 > 511 else 0.5) * 1.01


@pytest.mark.parametrize("format", DEPTH, ids=repr)
def test_depth_survives_a_round_trip_and_keeps_stencil(format: Format) -> None:
    raw = texels(format, random_bytes(format, 512)[0])
    depth = unpack_depth(format, raw)
    if "FLOAT" in format.name:
        raw, depth = raw[~np.isnan(depth)], depth[~np.isnan(depth)]
    written = pack_depth(format, raw, depth)
    if "Z32_UNORM" in format.name:  # more bits than a float32 has
        np.testing.assert_allclose(unpack_depth(format, written), depth, rtol=0, atol=2.0**-23)
    else:
        np.testing.assert_array_equal(unpack_depth(format, written), depth)
        np.testing.assert_array_equal(written, raw)
    if format.has_stencil:
        cleared = pack_depth(format, raw, np.zeros_like(depth))
        np.testing.assert_array_equal(unpack_stencil(format, cleared), unpack_stencil(format, raw))


@pytest.mark.parametrize("format", STENCIL, ids=repr)
def test_stencil_is_written_keeping_depth(format: Format) -> None:
    raw = texels(format, random_bytes(format, 512)[0])
    values = np.arange(512).astype(np.uint8)
    written = pack_stencil(format, raw, values)
    np.testing.assert_array_equal(unpack_stencil(format, written), values)
    if format.has_depth:
        np.testing.assert_array_equal(
            unpack_depth(format, written).view(np.uint32), unpack_depth(format, raw).view(np.uint32)
        )


def test_depth_codes_are_nearest_and_reach_both_ends() -> None:
    format = FORMATS["Z24X8_UNORM"]
    raw = pack_depth(format, np.zeros(4, np.uint32), np.array([0.0, 1.0, 0.5, 7.0], np.float32))
    assert raw.tolist() == [0, 0xFFFFFF, 0x800000, 0xFFFFFF]


def test_clear_texels_hold_the_clear_value() -> None:
    raw = clear_texel(FORMATS["R8G8B8A8_UNORM"], (1.0, 0.0, 0.5, 1.0))
    assert int(raw) == 0xFF8000FF
    raw = clear_texel(FORMATS["Z24_UNORM_S8_UINT"], depth=1.0, stencil=0x1AB)
    assert int(raw) == 0xABFFFFFF
    raw = clear_texel(FORMATS["R32G32B32A32_FLOAT"], (1.0, 2.0, 3.0, 4.0))
    assert texel_bytes(FORMATS["R32G32B32A32_FLOAT"], raw[None]).view(np.float32).tolist() == [
        1.0,
        2.0,
        3.0,
        4.0,
    ]


def test_a_channel_of_a_packed_format_sits_where_the_name_says() -> None:
    rgba = np.array([[1.0, 0.0, 0.0, 0.0]], np.float32)
    assert pack(FORMATS["B5G6R5_UNORM"], rgba).view(np.uint16)[0] == 0xF800
    assert pack(FORMATS["R10G10B10A2_UNORM"], rgba).view(np.uint32)[0] == 0x3FF
    assert pack(FORMATS["B8G8R8A8_UNORM"], rgba).tolist() == [0, 0, 255, 0]


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_texels_are_the_bytes_however_they_lie(format: Format) -> None:
    """Whole words, as many as they take; of what has gaps a copy."""
    size = format.block_bytes
    data = np.random.default_rng(size).integers(0, 256, (3, 4 * size), np.uint8)
    found = texels(format, data)
    word, count = texel_layout(format)
    assert word.itemsize * count == size
    assert found.shape == ((3, 4) if count == 1 else (3, 4, count))
    assert found.tobytes() == data.tobytes()
    assert (texel_bytes(format, found) == data).all()
    spread = np.zeros((3, 8 * size), np.uint8)[:, ::2]
    spread[:] = data
    assert (texels(format, spread) == found).all()
    turned = np.ascontiguousarray(data.T).T
    assert (texel_bytes(format, texels(format, turned)[:, 1:]) == data[:, size:]).all()


def test_fixed_point_numbers_have_sixteen_bits_behind_the_point() -> None:
    format = FORMATS["R32_FIXED"]
    values = [0.0, 1.5, -1.0, 2.0**-16, 2.0**-17 * 3, -32768.0, -40000.0, 32767.5, 32768.0, 1e9]
    raw = pack(format, np.repeat(np.array(values)[:, None], 4, axis=1))
    wanted = [0, 98304, -65536, 1, 2, -(2**31), -(2**31), 2147450880, 2**31 - 1, 2**31 - 1]
    assert raw.view(np.int32).ravel().tolist() == wanted
    back = unpack(format, raw)
    assert back[..., 0].ravel().tolist()[:4] == [0.0, 1.5, -1.0, 2.0**-16]


def test_integer_formats_clamp() -> None:
    rgba = np.array([[300, 5, 0, 0]], np.uint32)
    assert pack(FORMATS["R8_UINT"], rgba).tolist() == [255]
    rgba_signed = np.array([[-300, 5, 0, 0]], np.int32)
    assert pack(FORMATS["R8_SINT"], rgba_signed).view(np.int8).tolist() == [-128]


@pytest.mark.parametrize(
    ("format", "value", "code"),
    [("R5G5B5A1_UNORM", 0.5, 1 << 15), ("R4G4B4A4_UNORM", 1 / 30, 1 << 12)],
)
def test_clears_round_half_a_step_up(format: str, value: float, code: int) -> None:
    texel = clear_texel(FORMATS[format], (0.0, 0.0, 0.0, value))
    assert int(texel) == code


@pytest.mark.parametrize("many", [5, 2000])
def test_half_floats_are_what_they_are_however_many(many: int) -> None:
    format = FORMATS["R16G16_FLOAT"]
    bits = np.concatenate([np.arange(1 << 16), [0x7C00, 0xFC00, 0x8000]]).astype(np.uint16)
    expected = bits.view(np.float16).astype(np.float32)
    for start in range(0, len(bits), many):
        some = bits[start : start + many]
        both = np.stack([some, some[::-1]], 1).view(np.uint32)[:, 0]
        red, green, *_ = unpack_planes(format, both)
        np.testing.assert_array_equal(red, expected[start : start + many])
        np.testing.assert_array_equal(np.signbit(red), np.signbit(expected[start : start + many]))
        np.testing.assert_array_equal(green, red[::-1])

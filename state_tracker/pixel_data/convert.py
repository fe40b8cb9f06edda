"""Conversion of pixels between client memory and pipe formats, both ways, vectorised.

Client pixels become an array `[depth, height, width, 4]` of RGBA (float32, or int64 for integer
formats), or planes of depth and stencil; `pipe.codecs` converts these from and to pipe formats. If
both formats have identical bits in identical order, bytes are copied instead.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.pipe import codecs
from gallette.pipe.formats import FORMATS, Format
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.pixel_data.pixels import (
    COMPONENTS,
    INTEGER_FORMATS,
    PACKED_TYPES,
    PLAIN_TYPES,
)
from gallette.state_tracker.texturing.texture_formats import linear_format

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

_KINDS = {"u": "UINT", "i": "SINT", "f": "FLOAT"}


@lru_cache(maxsize=256)
def same_bits(format: int, type: int) -> str:
    """The name of the pipe format with exactly these client bits, "" if there is none."""
    letters = COMPONENTS[format]
    if type in PACKED_TYPES:
        packed = PACKED_TYPES[type]
        if format == GL.DEPTH_STENCIL or packed.word == "u8":
            return "Z32_FLOAT_S8X24_UINT" if packed.word == "u8" else ""
        if type == GL.UNSIGNED_INT_10F_11F_11F_REV:
            return "R11G11B10_FLOAT" if format == GL.RGB else ""
        if type == GL.UNSIGNED_INT_5_9_9_9_REV:
            return "R9G9B9E5_FLOAT" if format == GL.RGB else ""
        order = list(zip(letters, packed.bits, strict=False))
        if not packed.low_first:
            order.reverse()
        kind = "UINT" if format in INTEGER_FORMATS else "UNORM"
        name = "".join(f"{c}{b}" for c, b in order) + "_" + kind
    else:
        word = PLAIN_TYPES[type]
        bits, kind = int(word[1]) * 8, _KINDS[word[0]]
        if kind != "FLOAT" and format not in INTEGER_FORMATS and letters != "S":
            kind = kind[0] + "NORM" if kind[0] == "S" else "UNORM"
        name = "".join(f"{c}{bits}" for c in letters) + "_" + kind
    return name if name in FORMATS and type != GL.FIXED else ""


_QUIETLY = np.errstate(all="ignore")
"""NaNs and values out of range become arbitrary numbers: no need for NumPy's warnings."""


def _normalize(values: Array, bits: int, signed: bool) -> Array:
    if signed:
        return np.maximum(values / np.float64((1 << (bits - 1)) - 1), -1.0)
    return values / np.float64((1 << bits) - 1)


def _components(format: int, type: int, pixels: Bytes) -> list[Array]:
    """One array per component in the format's order: float64, or int64 for integer formats."""
    keep = format in INTEGER_FORMATS or format in (GL.STENCIL_INDEX, GL.COLOR_INDEX)
    if type in PACKED_TYPES:
        packed = PACKED_TYPES[type]
        word = pixels.view(f"<{packed.word}")[..., 0]
        planes = []
        for bits, shift in zip(packed.bits, packed.shifts, strict=True):
            raw = (word >> word.dtype.type(shift)) & word.dtype.type((1 << bits) - 1)
            if packed.word == "u8" and bits == 32:
                planes.append(raw.astype(np.uint32).view(np.float32).astype(np.float64))
            elif keep or (format == GL.DEPTH_STENCIL and bits == 8):
                planes.append(raw.astype(np.int64))
            else:
                planes.append(_normalize(raw, bits, False))
        return planes
    name = PLAIN_TYPES[type]
    values = pixels.view(f"<{name}")
    if type == GL.FIXED:
        return [values[..., i] / 65536.0 for i in range(values.shape[-1])]
    planes = []
    for i in range(values.shape[-1]):
        plane = values[..., i]
        if name[0] == "f":
            planes.append(plane.astype(np.int64 if keep else np.float64))
        elif keep:
            planes.append(plane.astype(np.int64))
        else:
            planes.append(_normalize(plane, int(name[1]) * 8, name[0] == "i"))
    return planes


@_QUIETLY
def decode_client(format: int, type: int, pixels: Bytes) -> Array:
    """Client pixels `[..., width, pixel bytes]` as RGBA `[..., width, 4]`.

    Depth and stencil become (depth, stencil, 0, 1): float64 except for pure integer formats.
    """
    if type == GL.UNSIGNED_INT_10F_11F_11F_REV or type == GL.UNSIGNED_INT_5_9_9_9_REV:
        flat = pixels.reshape(*pixels.shape[:-2], -1)
        return codecs.unpack(FORMATS[same_bits(GL.RGB, type)], flat)
    letters, planes = COMPONENTS[format], _components(format, type, pixels)
    integer = planes[0].dtype.kind == "i" and format != GL.STENCIL_INDEX
    out = np.zeros((*planes[0].shape, 4), np.int64 if integer else np.float64)
    out[..., 3] = 1
    for letter, plane in zip(letters, planes, strict=False):
        if letter == "L":
            out[..., :3] = plane[..., None]
        elif letter == "I":
            out[...] = plane[..., None]
        else:
            out[..., {"R": 0, "G": 1, "B": 2, "A": 3, "Z": 0, "S": 1, "C": 0}[letter]] = plane
    return out


def as_bytes(format: int, type: int, pixels: Bytes) -> Bytes | None:
    """Client pixels `[..., width, pixel bytes]` as the four bytes of R8G8B8A8_UNORM; None if these
    would be other numbers.
    """
    moves = _moves(FORMATS["R8G8B8A8_UNORM"], format, type, "RGBA")
    return None if moves is None else _moved(moves, type, pixels).reshape(*pixels.shape[:-1], 4)


@lru_cache(maxsize=256)
def _moves(target: Format, format: int, type: int, base: str) -> list[int] | None:
    """For each channel of a pipe format, the number of the client's component that has the same
    bits, counted from 2; or the value that all pixels have: 0, 1 or the greatest. None if bits are
    converted.

    They are found by conversion of a pixel whose components are 2, 3, 4 and 5.
    """
    linear = linear_format(target)
    word, letters = _component(type), COMPONENTS[format]
    bits = int(word[1]) * 8
    kept = format in INTEGER_FORMATS or word in ("f2", "f4")
    kind = _KINDS[word[0]] if kept else {"u1": "UNORM", "u2": "UNORM"}.get(word, "")
    kinds = {(channel.type, channel.bits) for channel in linear.channels if channel.name != "X"}
    if not linear.is_array or kinds != {(kind, bits)} or not {*letters} <= {*"RGBALI"}:
        return None
    pixel = np.arange(2, len(letters) + 2, dtype=f"<{word}").view(np.uint8)[None, None, None]
    found = pack_values(target, format, decode_client(format, type, pixel), base)
    moves: list[int] = found.reshape(-1).view(word).astype(np.int64).tolist()
    return moves


def _component(type: int) -> str:
    """The NumPy type of a client's components; "f0", which no channel has, if there is none."""
    if type in (GL.UNSIGNED_INT_8_8_8_8, GL.UNSIGNED_INT_8_8_8_8_REV):
        return "u1"
    return "f0" if type == GL.FIXED else PLAIN_TYPES.get(type, "f0")


def _moved(moves: list[int], type: int, pixels: Bytes) -> Bytes:
    """The components of client pixels as channels of a pipe format."""
    values = pixels.view(f"<{_component(type)}")
    out = np.empty((*values.shape[:-1], len(moves)), values.dtype)
    components = range(2, values.shape[-1] + 2)
    for channel, source in enumerate(moves):
        out[..., channel] = values[..., source - 2] if source in components else source
    return out.view(np.uint8).reshape(*pixels.shape[:-2], -1)


@_QUIETLY
def to_pipe(target: Format, format: int, type: int, pixels: Bytes, base: str = "") -> Bytes:
    """Client pixels `[d, h, w, pixel bytes]` as rows `[d, h, row bytes]` of a pipe format.

    `base` gives the channels of the texture: others get their defaults, whatever was passed.
    """
    linear = linear_format(target)
    limited = target.has_depth and target.is_float  # equal bits may stand for other depths
    if same_bits(format, type) == linear.name and not limited:
        return pixels.reshape(*pixels.shape[:-2], -1)
    if _is_turned(target, format, type):
        words = pixels.view("<u4")[..., 0]
        return (words >> np.uint32(8) | words << np.uint32(24)).view(np.uint8)
    moves = _moves(target, format, type, base)
    if moves is not None:
        return _moved(moves, type, pixels)
    return pack_values(target, format, decode_client(format, type, pixels), base)


@_QUIETLY
def pack_values(target: Format, format: int, rgba: Array, base: str = "") -> Bytes:
    """Decoded pixels as rows of a pipe format, for `to_pipe`."""
    linear = linear_format(target)
    if target.is_depth_stencil:
        return _pack_depth_stencil(target, rgba, format)
    if base and "A" not in base and base != "I":
        rgba[..., 3] = 1
    if linear.is_compressed and base == "LA":  # stored as red and green
        rgba[..., 1] = rgba[..., 3]
    if linear.is_pure_integer:
        info = np.iinfo(linear.rgba_dtype)
        rgba = np.clip(rgba, info.min, info.max)
    return codecs.pack(linear, rgba.astype(linear.rgba_dtype))


def _pack_depth_stencil(target: Format, values: Array, format: int) -> Bytes:
    word, _ = codecs.texel_layout(target)
    raw: Array = np.zeros(values.shape[:-1], word)
    if target.has_depth and format != GL.STENCIL_INDEX:
        channel = next(c for c in target.channels if c.name == "Z")
        inside = np.fmin(np.fmax(values[..., 0], 0.0), 1.0)  # a NaN becomes 0
        if channel.type == "FLOAT":
            raw = codecs.pack_depth(target, raw, inside.astype(np.float32))
        else:  # in double precision: float32 cannot hold 32-bit depth
            top = (1 << channel.bits) - 1
            bits = np.rint(inside * top).astype(raw.dtype)
            raw |= bits << raw.dtype.type(channel.shift)
    if target.has_stencil and format in (GL.STENCIL_INDEX, GL.DEPTH_STENCIL):
        raw = codecs.pack_stencil(target, raw, values[..., 1].astype(np.int64))
    return codecs.texel_bytes(target, raw)


@_QUIETLY
def from_pipe(source: Format, rows: Bytes) -> Array:
    """Rows of a pipe format as RGBA (or depth, stencil, 0, 1), without sRGB decoding."""
    linear = linear_format(source)
    if not linear.is_depth_stencil:
        return codecs.unpack(linear, rows)
    raw = codecs.texels(linear, rows)
    out = np.zeros((*raw.shape, 4), np.float64)
    out[..., 3] = 1
    if linear.has_depth:
        out[..., 0] = _depth(linear, raw)
    if linear.has_stencil:
        out[..., 1] = codecs.unpack_stencil(linear, raw)
    return out


def _depth(format: Format, raw: Array) -> Array:
    """The depth of texels, in double precision where it has a fixed point."""
    channel = next(c for c in format.channels if c.name == "Z")
    if channel.type == "FLOAT":
        return codecs.unpack_depth(format, raw)
    top, word = (1 << channel.bits) - 1, raw.dtype.type
    return np.asarray(((raw >> word(channel.shift)) & word(top)) / np.float64(top))


def _is_turned(stored: Format, format: int, type: int) -> bool:
    """Whether pixels of a client format are texels whose 32 bits are rotated by eight."""
    both = format == GL.DEPTH_STENCIL and type == GL.UNSIGNED_INT_24_8
    return both and stored.name == "Z24_UNORM_S8_UINT"


def client_depth_stencil(source: Format, format: int, type: int, rows: Bytes) -> Bytes:
    """Rows of a format of depth, stencil or both as client pixels of one or both of them."""
    raw = codecs.texels(source, rows)
    if _is_turned(source, format, type):
        return (raw << np.uint32(8) | raw >> np.uint32(24))[..., None].view(np.uint8)
    letters = COMPONENTS[format]
    read = {"Z": _depth, "S": codecs.unpack_stencil}
    return _encode(type, letters, [read[letter](source, raw) for letter in letters], False)


def _quantize(values: Array, name: str) -> Array:
    """Floats as fractions of a plain client type's range."""
    bits, kind = int(name[1]) * 8, name[0]
    values = values.astype(np.float64)
    if kind == "i":
        top = (1 << (bits - 1)) - 1
        values = np.where(values == values, values, 0.0)  # NaN becomes 0
        return np.asarray(np.rint(np.fmax(np.fmin(values, 1.0), -1.0) * top), f"<{name}")
    top = (1 << bits) - 1
    return np.asarray(np.rint(np.fmin(np.fmax(values, 0.0), 1.0) * top), f"<{name}")


def _plane(rgba: Array, letter: str, luminance_sum: bool) -> Array:
    if letter == "L" and luminance_sum:
        return rgba[..., 0] + rgba[..., 1] + rgba[..., 2]
    index = {"R": 0, "G": 1, "B": 2, "A": 3, "L": 0, "I": 0, "Z": 0, "S": 1, "C": 0}[letter]
    return np.asarray(rgba[..., index])


@_QUIETLY
def encode_client(format: int, type: int, rgba: Array, luminance_sum: bool = False) -> Bytes:
    """RGBA (or depth, stencil) `[..., width, 4]` as client pixels `[..., width, pixel bytes]`."""
    letters = COMPONENTS[format]
    if type == GL.UNSIGNED_INT_10F_11F_11F_REV or type == GL.UNSIGNED_INT_5_9_9_9_REV:
        packed_format = FORMATS[same_bits(GL.RGB, type)]
        rows = codecs.pack(packed_format, rgba.astype(np.float32))
        return rows.reshape(*rgba.shape[:-1], 4)
    planes = [_plane(rgba, c, luminance_sum) for c in letters]
    return _encode(type, letters, planes, rgba.dtype.kind in "iu")


@_QUIETLY
def _encode(type: int, letters: str, planes: list[Array], keep: bool) -> Bytes:
    """The components of pixels, each an array, as client pixels; `keep` if these are integers."""
    if type in PACKED_TYPES:
        return _encode_packed(type, planes, keep)
    name = PLAIN_TYPES[type]
    if not keep and name[0] != "f" and type != GL.FIXED and "S" not in letters:
        return _quantize(np.stack(planes, -1), name).view(np.uint8)
    out = np.empty((*planes[0].shape, len(planes)), f"<{name}")
    for i, (letter, plane) in enumerate(zip(letters, planes, strict=True)):
        if name[0] == "f":
            out[..., i] = plane
        elif keep or letter == "S":
            limits = np.iinfo(name)
            wide = plane.astype(np.int64)
            if letter == "S":  # indices are masked (table 18.6), numbers are clamped
                out[..., i] = wide & limits.max
            else:
                out[..., i] = np.clip(wide, limits.min, limits.max)
        else:
            out[..., i] = np.rint(plane * 65536.0)  # GL_FIXED
    return out.view(np.uint8)


def _encode_packed(type: int, planes: list[Array], keep: bool) -> Bytes:
    packed = PACKED_TYPES[type]
    word: Array = np.zeros(planes[0].shape, f"<{packed.word}")
    for plane, bits, shift in zip(planes, packed.bits, packed.shifts, strict=False):
        if packed.word == "u8" and bits == 32:
            raw = np.ascontiguousarray(plane, np.float32).view(np.uint32).astype(word.dtype)
        else:
            top = (1 << bits) - 1
            stencil = bits == 8 and type in (
                GL.UNSIGNED_INT_24_8,
                GL.FLOAT_32_UNSIGNED_INT_24_8_REV,
            )
            if keep or stencil:
                raw = np.clip(plane.astype(np.int64), 0, top).astype(word.dtype)
            else:
                fraction = np.clip(np.nan_to_num(plane.astype(np.float64)), 0.0, 1.0)
                raw = np.rint(fraction * codecs.unorm_scale(bits)).astype(word.dtype)
        word |= raw << word.dtype.type(shift)
    return word[..., None].view(np.uint8)

"""Numbers and strings as literals of the text form.

Floats are decimal with enough digits to be exact; values without a decimal spelling (infinities,
NaNs, denormals) and all 16-bit floats are hexadecimal floats such as `0x1.8p+128`.
"""

from __future__ import annotations

import re
import struct

from gallette.compiler.spirv.operands import NumberType

_FORMATS = {32: ("<f", "<I", ".9g", 8, 23), 64: ("<d", "<Q", ".17g", 11, 52)}
_HALF = (5, 10)


def quote(text: str) -> str:
    """A string literal with quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def format_number(bits: int, type: NumberType) -> str:
    """The literal of a number from its raw bits."""
    if not type.is_float:
        if type.signed:
            width = max(type.width, 1)
            bits &= (1 << width) - 1
            if bits >> (width - 1):
                bits -= 1 << width
        return str(bits)
    if type.width not in _FORMATS:
        return _hex_float(bits & 0xFFFF, *_HALF)
    float_code, int_code, digits, exponent_bits, fraction_bits = _FORMATS[type.width]
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = bits & (1 << fraction_bits) - 1
    if exponent == (1 << exponent_bits) - 1 or (exponent == 0 and fraction):
        return _hex_float(bits, exponent_bits, fraction_bits)
    value = struct.unpack(float_code, struct.pack(int_code, bits))[0]
    return format(value, digits)


def _hex_float(bits: int, exponent_bits: int, fraction_bits: int) -> str:
    sign = "-" if bits >> (exponent_bits + fraction_bits) & 1 else ""
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = bits & (1 << fraction_bits) - 1
    bias = (1 << exponent_bits - 1) - 1
    if exponent == 0 and fraction == 0:
        return f"{sign}0x0p+0"
    if exponent == 0:
        shift = fraction_bits - fraction.bit_length() + 1
        fraction = fraction << shift & (1 << fraction_bits) - 1
        exponent = 1 - shift
    nibbles = (fraction_bits + 3) // 4
    digits = f"{fraction << (nibbles * 4 - fraction_bits):0{nibbles}x}".rstrip("0")
    return f"{sign}0x1{'.' + digits if digits else ''}p{exponent - bias:+d}"


_HEX_FLOAT = re.compile(r"([-+]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([-+]?\d{1,5})")
_INTEGER = re.compile(r"-?(0[xX][0-9a-fA-F]{1,16}|\d{1,20})")
_DECIMAL = re.compile(r"[-+]?(\d{1,400}\.?\d{0,400}|\.\d{1,400})([eE][-+]?\d{1,5})?")


def parse_number(text: str, type: NumberType) -> int | None:
    """The raw bits of a literal; None if it is not a number of that type."""
    if not type.is_float:
        return _parse_integer(text, type)
    exponent_bits, fraction_bits = _HALF if type.width not in _FORMATS else _FORMATS[type.width][3:]
    match = _HEX_FLOAT.fullmatch(text)
    if match is not None and (match[2] or match[3]):
        return _parse_hex(match, exponent_bits, fraction_bits)
    if not _DECIMAL.fullmatch(text):
        return None
    code = {16: "<e", 32: "<f", 64: "<d"}[type.width if type.width in _FORMATS else 16]
    try:
        return int.from_bytes(struct.pack(code, float(text)), "little")
    except OverflowError:
        return None


def _parse_integer(text: str, type: NumberType) -> int | None:
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text, 0) if "x" in text.lower() else int(text)
    width = type.width
    lowest = -(1 << (width - 1)) if type.signed else 0
    hexadecimal = "x" in text.lower()
    highest = (1 << width) - 1 if hexadecimal or not type.signed else (1 << (width - 1)) - 1
    if not lowest <= value <= highest:
        return None
    bits = value & (1 << width) - 1
    if type.signed and width < 32 and bits >> (width - 1):
        bits |= 0xFFFFFFFF & ~((1 << width) - 1)  # narrow signed literals are sign-extended
    return bits


def _parse_hex(match: re.Match[str], exponent_bits: int, fraction_bits: int) -> int | None:
    sign = int(match[1] == "-") << (exponent_bits + fraction_bits)
    digits = match[3] or ""
    if len(match[2]) + len(digits) > 32:
        return None
    mantissa = int((match[2] or "0") + digits, 16)
    bias = (1 << exponent_bits - 1) - 1
    if mantissa == 0:
        return sign
    exponent = int(match[4]) - 4 * len(digits) + mantissa.bit_length() - 1
    shift = fraction_bits - (mantissa.bit_length() - 1)
    if exponent < 1 - bias:
        shift -= 1 - bias - exponent
        biased = 0
    else:
        biased = exponent + bias
    fraction = mantissa << shift if shift >= 0 else mantissa >> -shift
    if biased >= 1 << exponent_bits:
        return None
    return sign | biased << fraction_bits | fraction & (1 << fraction_bits) - 1

"""Shaders as bytes, for a disk cache or another process.

The bytes are a header (magic, format version, checksum) and the compressed text of the shader: the
text is complete and exact, so the IR has only one description to maintain. `deserialize` rejects
damaged or foreign data with an `InputError`; a cache treats that as a miss.
"""

from __future__ import annotations

import zlib

from gallette.compiler.errors import InputError
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

MAGIC = b"GNIR"
FORMAT_VERSION = 1
_HEADER = len(MAGIC) + 2 + 4
# A cached shader this large is damaged, or an attack on its reader's memory.
_MAX_TEXT = 1 << 28


def serialize(shader: Shader) -> bytes:
    """A self-contained description of `shader`; its reference count is not part of it."""
    body = zlib.compress(print_shader(shader).encode(), 1)
    return b"".join(
        (MAGIC, FORMAT_VERSION.to_bytes(2, "little"), zlib.crc32(body).to_bytes(4, "little"), body)
    )


def deserialize(data: bytes) -> Shader:
    """A new shader with one reference, equal to the one that was serialised."""
    if data[: len(MAGIC)] != MAGIC or len(data) <= _HEADER:
        raise InputError("not a serialised shader")
    version = int.from_bytes(data[4:6], "little")
    if version != FORMAT_VERSION:
        raise InputError(f"serialised shader of version {version}, expected {FORMAT_VERSION}")
    body = data[_HEADER:]
    if zlib.crc32(body) != int.from_bytes(data[6:10], "little"):
        raise InputError("damaged serialised shader: the check sum is wrong")
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(body, _MAX_TEXT)
    except zlib.error as error:
        raise InputError(f"damaged serialised shader: {error}") from None
    if not unpacker.eof:
        raise InputError("damaged serialised shader: it is incomplete or far too large")
    return parse(text.decode(), "<serialised>", check=False)

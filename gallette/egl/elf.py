"""A writer of ELF shared libraries: exported functions that jump through a table.

It has only the parts that linkers read: two segments (code and read-only data; table and dynamic
section), a symbol table with its hash, relocations, and the few sections that a program is linked
by. There are no symbol versions.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from gallette.egl.machine import IMPORTS, Code, assemble

TABLE_SYMBOL = "gallette_table"
"""The exported table: the addresses of `BEFORE_SLOTS`, then the slots."""
BEFORE_SLOTS = ("first", "zero", "one")
"""The resolver, and functions that answer 0 and 1."""

# machine number; relocation types: relative, address of an imported symbol
_MACHINES = {"x86_64": (62, 8, 6), "aarch64": (183, 1027, 1025)}
_PAGE = 0x10000  # as large as any system's
_FUNC, _OBJECT = 0x12, 0x11  # global symbols


def _hash(name: bytes) -> int:
    """The hash of the System V ABI."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


def _hash_table(names: Sequence[bytes]) -> bytes:
    buckets = [0] * max(1, len(names) // 2)
    chains = [0] * len(names)
    for index, name in enumerate(names):
        if index:
            slot = _hash(name) % len(buckets)
            chains[index], buckets[slot] = buckets[slot], index
    words = [len(buckets), len(names), *buckets, *chains]
    return struct.pack(f"<{len(words)}I", *words)


class _Strings:
    """A string table."""

    def __init__(self) -> None:
        self.data = bytearray(b"\0")

    def add(self, text: bytes) -> int:
        at = len(self.data)
        self.data += text + b"\0"
        return at


def _aligned(data: bytearray, to: int) -> None:
    data += b"\0" * (-len(data) % to)


def shared_library(
    architecture: str, soname: str, functions: Sequence[str], texts: Mapping[str, bytes]
) -> bytes:
    """The bytes of a library that exports `functions`; `texts` are the strings its code needs."""
    machine, relative, imported = _MACHINES[architecture]
    exports = [f.encode() for f in functions]
    names = [b"", *(n.encode() for n in IMPORTS), TABLE_SYMBOL.encode(), *exports]
    strings = _Strings()
    name_offsets = [0] + [strings.add(n) for n in names[1:]]
    soname_at, libc_at = strings.add(soname.encode()), strings.add(b"libc.so.6")

    # Sizes are known before addresses: assemble once for the size of the code.
    code_size = len(assemble(architecture, 0, {}, len(exports)).data)
    relocations = len(exports) + len(BEFORE_SLOTS) + len(IMPORTS)
    head = bytearray(b"\0" * (64 + 4 * 56))
    places: dict[str, int] = {}
    for name, size in (
        ("hash", len(_hash_table(names))),
        ("dynsym", 24 * len(names)),
        ("dynstr", len(strings.data)),
        ("rela", 24 * relocations),
        ("code", code_size),
        *((f"text_{k}", len(v)) for k, v in texts.items()),
    ):
        _aligned(head, 16)
        places[name] = len(head)
        head += b"\0" * size
    data = -(-len(head) // _PAGE) * _PAGE
    places["dynamic"] = data
    places["table"] = data + 16 * 16
    at = places["table"] + 8 * len(BEFORE_SLOTS)
    for i in range(len(exports)):
        places[f"slot{i}"] = at
        at += 8
    for name in IMPORTS:
        places[f"got_{name}"] = at
        at += 8
    places["once"] = at
    end = at + 16
    outside = {**places, "length_failed": len(texts.get("failed", b""))}
    code = assemble(architecture, places["code"], outside, len(exports))
    body = code.finish()

    def put(name: str, content: bytes) -> None:
        head[places[name] : places[name] + len(content)] = content

    put("hash", _hash_table(names))
    put("dynsym", _symbols(names, name_offsets, places, code))
    put("dynstr", bytes(strings.data))
    put("rela", _relocations(places, code, len(exports), relative, imported))
    put("code", body)
    for key, text in texts.items():
        put(f"text_{key}", text)
    dynamic = (
        (1, libc_at), (14, soname_at), (4, places["hash"]), (5, places["dynstr"]),
        (6, places["dynsym"]), (10, len(strings.data)), (11, 24), (7, places["rela"]),
        (8, 24 * relocations), (9, 24), (0x6FFFFFFB, 8), (0, 0),
    )  # fmt: skip
    tail = b"".join(struct.pack("<QQ", *entry) for entry in dynamic)
    tail += b"\0" * (end - data - len(tail))
    sections = _sections(places, end, len(body), len(names), len(strings.data), 16 * len(dynamic))
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, machine, 1, 0, 64, end, 0, 64, 56, 4,
        64, _SECTIONS, _SECTIONS - 1,
    )  # fmt: skip
    segments = (
        (1, 5, 0, len(head), _PAGE),
        (1, 6, data, end - data, _PAGE),
        (2, 6, data, 16 * len(dynamic), 8),
        (0x6474E551, 6, 0, 0, 16),  # the stack needs no execution
    )
    for kind, flags, start, size, align in segments:
        header += struct.pack("<IIQQQQQQ", kind, flags, start, start, start, size, size, align)
    head[: len(header)] = header
    return bytes(head) + b"\0" * (data - len(head)) + tail + sections


_SECTIONS = 6


def _sections(
    places: Mapping[str, int], at: int, code: int, symbols: int, strings: int, dynamic: int
) -> bytes:
    """The section headers, for a file in which they begin at `at`, and the sections' names."""
    names = _Strings()
    code_at, symbols_at, strings_at = (places[n] for n in ("code", "dynsym", "dynstr"))
    # name, type, flags, address, size, section of the strings, first global symbol, size of a row
    rows = [
        (b".text", 1, 6, code_at, code, 0, 0, 0),  # every exported symbol claims to be in here
        (b".dynsym", 11, 2, symbols_at, 24 * symbols, 3, 1, 24),
        (b".dynstr", 3, 2, strings_at, strings, 0, 0, 0),
        (b".dynamic", 6, 3, places["dynamic"], dynamic, 3, 0, 16),
        (b".shstrtab", 3, 0, 0, 0, 0, 0, 0),
    ]
    packed = struct.pack("<IIQQQQIIQQ", *[0] * 10)
    for name, kind, flags, start, size, link, info, row in rows:
        name_at, place = names.add(name), start
        if not start:
            start, place, size = 0, at + 64 * _SECTIONS, len(names.data)
        packed += struct.pack(
            "<IIQQQQIIQQ", name_at, kind, flags, start, place, size, link, info, 8, row
        )
    assert len(packed) == 64 * _SECTIONS
    return packed + bytes(names.data)


def _symbols(
    names: Sequence[bytes], offsets: Sequence[int], places: Mapping[str, int], code: Code
) -> bytes:
    first = 2 + len(IMPORTS)
    rows = [struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)]
    for index in range(1, len(names)):
        if index < first - 1:
            row = (offsets[index], _FUNC, 0, 0, 0, 0)
        elif index == first - 1:
            size = 8 * (len(BEFORE_SLOTS) + len(names) - first)
            row = (offsets[index], _OBJECT, 0, 1, places["table"], size)
        else:
            row = (offsets[index], _FUNC, 0, 1, code.labels[f"stub{index - first}"], 16)
        rows.append(struct.pack("<IBBHQQ", *row))
    return b"".join(rows)


def _relocations(
    places: Mapping[str, int], code: Code, count: int, relative: int, imported: int
) -> bytes:
    table, words = places["table"], [*BEFORE_SLOTS, *(f"lazy{i}" for i in range(count))]
    rows = [(table + 8 * i, relative, code.labels[word]) for i, word in enumerate(words)]
    rows += [(places[f"got_{n}"], (i + 1) << 32 | imported, 0) for i, n in enumerate(IMPORTS)]
    return b"".join(struct.pack("<QQq", *row) for row in rows)

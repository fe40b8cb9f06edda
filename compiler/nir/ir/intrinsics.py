"""The intrinsic table: every operation that is neither arithmetic nor a texture lookup.

The rows are in `intrinsics.txt`: name, sources as NAME:COMPONENTS, the result as COMPONENTSxBITS,
compile-time indices, flags, and a description. The printer, parser, validator, builder and the
reference page all read this table; `SystemValue` is made from it.

**Flags** are properties that passes rely on: `can_eliminate` (no side effect), `can_reorder` (no
dependence on anything but the sources), `pure` (both: equal sources mean equal results),
`convergent` (must not be moved into divergent control flow), `uniform` (equal in every lane if the
sources are), `fence` (earlier writes become visible to other lanes), `ends` (lanes write nothing
after it), `float` (the system value is a float), `system` (a value that hardware provides to a
shader).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.text_tables import table_rows

# The kind of each index (how it is spelled in text) and its default.
INDICES: dict[str, tuple[str, Any]] = {
    "base": ("int", 0),
    "component": ("int", 0),
    "write_mask": ("mask", 0),
    "location": ("slot", -1),
    "num_slots": ("int", 1),
    "dual_source": ("int", 0),
    "invariant": ("bool", False),
    "align_mul": ("int", 4),
    "align_offset": ("int", 0),
    "range_base": ("int", 0),
    "range": ("int", 0),
    "block": ("int", 0),
    "interp": ("name", "smooth"),
    "access": ("int", 0),
    "dim": ("name", "2D"),
    "is_array": ("bool", False),
    "format": ("name", "none"),
    "dest_type": ("name", "float32"),
    "src_type": ("name", "float32"),
    "atomic_op": ("name", "iadd"),
    "ucp_id": ("int", 0),
    "param": ("int", 0),
    "table": ("name", "none"),
    "stream": ("int", 0),
    "num_components": ("int", 1),
    "bit_size": ("int", 32),
    "num_array_elems": ("int", 0),
    "execution_scope": ("name", "none"),
    "memory_scope": ("name", "none"),
    "modes": ("modes", 0),
    "reduction_op": ("name", "iadd"),
    "cluster_size": ("int", 0),
    "scan": ("name", "reduce"),
    "swizzle_mask": ("int", 0),
}

ATOMIC_OPS = (
    "iadd", "imin", "umin", "imax", "umax", "iand", "ior", "ixor", "xchg", "fadd", "fmin", "fmax",
    "inc_wrap", "dec_wrap",
)  # fmt: skip


@lazy_dataclass(frozen=True)
class IntrinsicInfo:
    """One row of the table: `srcs` are (name, components) with 0 components for "as many as
    needed".
    """

    name: str
    srcs: tuple[tuple[str, int], ...]
    dest: int | None
    indices: tuple[str, ...]
    flags: frozenset[str]
    doc: str
    dest_bits: int
    defaults: dict[str, Any]
    # The flags, and what follows from them, as attributes because every pass reads them often.
    has_dest: bool
    can_eliminate: bool
    can_reorder: bool
    is_pure: bool
    """equal sources mean equal results, without side effects"""
    convergent: bool
    is_uniform: bool
    is_fence: bool
    ends_lanes: bool
    is_float: bool

    def src_index(self, name: str) -> int:
        for i, (n, _) in enumerate(self.srcs):
            if n == name:
                return i
        raise KeyError(name)


INTRINSICS: dict[str, IntrinsicInfo] = {}
SYSTEM_VALUES: list[str] = []
"""names of system values, which `load_NAME` loads, in the order of their numbers"""


def _add(
    name: str,
    srcs: tuple[tuple[str, int], ...],
    dest: int | None,
    bits: int,
    indices: tuple[str, ...],
    flags: frozenset[str],
    doc: str,
) -> None:
    INTRINSICS[name] = IntrinsicInfo(
        name,
        srcs,
        dest,
        indices,
        flags,
        doc,
        bits,
        {n: INDICES[n][1] for n in indices},
        has_dest=dest is not None,
        can_eliminate="can_eliminate" in flags,
        can_reorder="can_reorder" in flags,
        is_pure={"can_eliminate", "can_reorder"} <= flags,
        convergent="convergent" in flags,
        is_uniform="uniform" in flags,
        is_fence="fence" in flags,
        ends_lanes="ends" in flags,
        is_float="float" in flags,
    )


def _components(text: str) -> int:
    return 0 if text == "*" else int(text)


def _read() -> None:
    groups = {"pure": "can_eliminate can_reorder"}
    for line in table_rows(Path(__file__).with_name("intrinsics.txt")):
        if line.startswith("$"):
            group, _, members = line.partition(" = ")
            groups[group] = members
        else:
            name, srcs, dest, *lists, doc = (part.strip() for part in line.split("|"))
            pairs = (src.split(":") for src in srcs.split())
            count, _, bits = dest.partition("x")
            indices, flags = (
                " ".join(groups.get(word, word) for word in each.split()).split() for each in lists
            )
            if "system" in flags:
                SYSTEM_VALUES.append(name.removeprefix("load_"))
                flags.remove("system")
            _add(
                name,
                tuple((src, _components(n)) for src, n in pairs),
                None if count == "-" else _components(count),
                int(bits or 0),
                tuple(indices),
                frozenset(flags),
                doc,
            )


def _add_derefs() -> None:
    """Add variants in which an image or a counter is a deref, which exist until functions are
    inlined.
    """
    for row in list(INTRINSICS.values()):
        kind, _, what = row.name.partition("_")
        if kind == "image":
            name, number, indices = f"image_deref_{what}", "index", row.indices
            doc = f"{row.doc[:-1]} named by a deref."
        elif kind == "atomic":
            name, number = row.name.replace("atomic_counter", "deref_counter"), "offset"
            indices = tuple(i for i in row.indices if i == "atomic_op")
            doc = f"{row.doc[:-1]}; the counter is named by a deref."
        else:
            continue
        srcs = tuple(("deref" if src == number else src, n) for src, n in row.srcs)
        _add(name, srcs, row.dest, row.dest_bits, indices, row.flags, doc)


_read()
_add_derefs()

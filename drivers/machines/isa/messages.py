"""Messages to the shared units, and the fields of their descriptors.

A descriptor has 32 bits. Each unit's fields are one row here, which packing, unpacking, the
simulator and the disassembler read.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.intrinsics import ATOMIC_OPS

Place = tuple[int, int, int]
"""Slot, component, table of an output."""

LIVE_FLAG = 2
"""The flag of pixels that exist and are not discarded."""

Fields = tuple[tuple[str, int], ...]


def _units(text: str) -> dict[str, tuple[int, Fields]]:
    """Latency and fields by unit."""
    found = {}
    for name, latency, *fields in (line.split() for line in text.strip().splitlines()):
        pairs = (field.split(":") for field in fields)
        found[name] = (int(latency), tuple((field, int(bits)) for field, bits in pairs))
    return found


UNITS = _units("""
input 24 kind:4 slot:8 component:2 count:3 where:2 straight:1 corner:6 wide:1
sampler 120 op:4 texture:6 coords:3 params:8 dynamic:1 channel:2 integer:1 offsets:2 extent:2
constant 40 block:6 dynamic:1 count:4 size:2 whole:1
memory 80 op:3 space:2 buffer:6 dynamic:1 count:5 size:2 atomic:4 live:1
image 100 op:3 image:6 dynamic:1 coords:3 sample:1 count:3 atomic:4 live:1
urb 16 op:3 slot:8 component:2 mask:4 table:1 stream:2 wide:1 offset:1 slots:7
render 10 slot:8 mask:4 dual:1 op:2 half:1
scratch 30 op:1 slot:12 count:5
gateway 20 op:2
""")
"""Each unit's latency, and the fields of its descriptor.

`input` is attributes, varyings and system values. The `params` of the sampler say which parameters
follow the coordinates. `constant` reads uniform blocks: one address per channel or, with `whole`,
32 bytes for all of them. `memory` is storage buffers, workgroup memory and a channel's own. The
`urb` has the outputs of stages before the rasterizer, `scratch` spilled registers as they are:
`slot` registers behind the thread's first.
"""


TEX_OPS = (
    *("tex", "txb", "txl", "txd", "txf", "txf_ms", "txs", "lod", "tg4"),
    *("query_levels", "texture_samples"),
)
PARAMS = ("lod", "bias", "comparator", "ddx", "offset", "ms_index", "min_lod")
"""Parameters by their bit in `params` (ddx stands for both derivatives)."""

KINDS = (
    *("attribute", "flat", "smooth", "at", "corner", "corner_at", "patch", "system", "helper"),
    *("own", "patch_at", "target", "at_sample"),
)
WHERE = ("pixel", "centroid", "sample")
MEMORY_OPS = ("load", "store", "atomic", "swap", "size")
SPACES = ("buffer", "shared", "scratch")
IMAGE_OPS = ("load", "store", "atomic", "swap", "size", "samples")
URB_OPS = ("write", "read", "emit", "cut", "peer")
RENDER_OPS = ("write", "end")
ATOMICS = ATOMIC_OPS


def pack(unit: str, **fields: int) -> int:
    """Pack a descriptor; fields that are not named are zero."""
    desc = at = 0
    for name, bits in UNITS[unit][1]:
        value = fields.pop(name, 0)
        if not 0 <= value < 1 << bits:
            raise ValueError(f"{unit} message: {name} is {value}, but has {bits} bits")
        desc |= value << at
        at += bits
    if fields:
        raise ValueError(f"{unit} message has no {', '.join(fields)}")
    return desc


def unpack(unit: str, desc: int) -> dict[str, int]:
    """Unpack every field of a descriptor."""
    found = {}
    for name, bits in UNITS[unit][1]:
        found[name] = desc & (1 << bits) - 1
        desc >>= bits
    return found


def latency_of(unit: str) -> int:
    """The cycles until an idle unit replies."""
    return UNITS[unit][0]


def only_reads(unit: str, desc: int) -> bool:
    """Whether a message changes nothing outside the thread, so that it is dead if its reply is
    unused.
    """
    if unit in ("sampler", "input", "constant"):
        return True
    fields = unpack(unit, desc)
    if unit == "memory":
        return MEMORY_OPS[fields["op"]] in ("load", "size")
    if unit == "image":
        return IMAGE_OPS[fields["op"]] in ("load", "size", "samples")
    if unit == "scratch":
        return bool(fields["op"])
    return unit == "urb" and URB_OPS[fields["op"]] in ("read", "peer")


def sees_live_pixels(unit: str, desc: int) -> bool:
    """Whether a message depends on which pixels are still alive."""
    if unit == "input":  # component 0: a helper from the start; component 1: a helper now
        fields = unpack(unit, desc)
        return KINDS[fields["kind"]] == "helper" and bool(fields["component"])
    return unit in ("memory", "image", "urb")


def describe(unit: str, desc: int) -> str:
    """A descriptor as text: only fields that are not zero."""
    return " ".join(f"{name}={value}" for name, value in unpack(unit, desc).items() if value)

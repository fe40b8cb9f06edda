"""Memory outside of the invocation: storage buffers, workgroup memory, counters, images.

Stores and atomics are executed in lane order, one lane after the other, so results do not depend on
how lanes are grouped. Offsets outside a buffer read as zero and are not written. Images that no
code is compiled for are accessed by the shared image units, through callbacks.
"""

from __future__ import annotations

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Intrinsic, Src
from gallette.compiler.nir.ir.types import Dim, image_coordinates

from ..llvm.values import V
from .emitter import INTRINSICS, Emitter
from .images import on_bound_image
from .intrinsics import element, range_of, read
from .layout import Words

ATOMIC_BUFFERS = 16
"""Shader buffer slots below are storage blocks; atomic counter buffer n is this plus n."""

_MOST_BUFFERS = 32


def _named(e: Emitter, instr: Intrinsic, name: str) -> list[V]:
    return [v.as_int() for v in e.values(instr.srcs[instr.info.src_index(name)])]


def _offset(instr: Intrinsic) -> Src:
    return instr.srcs[instr.info.src_index("offset")]


@lazy_dataclass(frozen=True)
class _Range:
    """A bound range of memory."""

    base: V
    length: V


def _buffer(e: Emitter, instr: Intrinsic) -> _Range:
    src = instr.srcs[instr.info.src_index("block")]
    return _Range(*range_of(e, Words.BUFFERS, _MOST_BUFFERS, e.value(src).as_int(), e.number(src)))


def _shared(e: Emitter, instr: Intrinsic) -> _Range:
    return _Range(e.word(Words.SHARED, "ptr"), e.word(Words.SHARED_SIZE))


def _counter(e: Emitter, instr: Intrinsic) -> _Range:
    number = ATOMIC_BUFFERS + instr["base"]
    if number >= _MOST_BUFFERS:
        raise GalletteError(f"jit has no atomic counter buffer {instr['base']}")
    at = Words.BUFFERS + 2 * number
    return _Range(e.word(at, "ptr"), e.word(at + 1))


def _load(e: Emitter, instr: Intrinsic, where: _Range) -> None:
    """Load consecutive elements from a byte offset."""
    bits = instr.result.bit_size
    offset = _offset(instr)
    found = [
        e.wide(read(e, where.base, where.length, offset, i * bits // 8, f"i{bits}", bits // 8))
        for i in range(instr.result.num_components)
    ]
    e.define(instr.result, found)


def _store(e: Emitter, instr: Intrinsic, where: _Range) -> None:
    e.effects = True
    b = e.b
    values = _named(e, instr, "value")
    offset = _offset(instr)
    writers = e.writers()
    bits = values[0].bits
    size = bits // 8
    # By lane and not by component: the last lane wins, whatever the components.
    wide = [e.wide(v) for v in values]
    for i, value in enumerate(wide):
        if instr["write_mask"] >> i & 1:
            place, inside = element(e, where.base, where.length, offset, i * size, size)
            b.scatter(e.wide(place), writers & inside, value)


def _atomic(e: Emitter, instr: Intrinsic, where: _Range, op: str, swap: bool) -> None:
    """Execute an atomic one lane after the other."""
    e.effects = True
    size = instr.result.bit_size // 8
    data = e.wide(_named(e, instr, "data")[0])
    compare = e.wide(_named(e, instr, "compare")[0]) if swap else None
    places, inside = element(e, where.base, where.length, _offset(instr), 0, size)
    mask = e.writers() & inside
    e.define(instr.result, [in_lane_order(e, op, e.wide(places), mask, data, compare)])


def in_lane_order(e: Emitter, op: str, places: V, mask: V, data: V, compare: V | None) -> V:
    """Execute atomics at the lanes' addresses, one lane after the other; returns the old values."""
    b, t = e.b, data.t
    result = b.var(t, e.w, 0)
    left = b.var(f"i{e.w}", 0, b.bitmask(mask))
    with b.forever() as done:
        bits = left.get()
        go = b.block()
        b.branch(bits.ne(0), go, done)
        b.place(go)
        lane = b.flagged("cttz", bits, True)
        left.set(bits & (bits - 1))
        index = lane.to("i32", False)
        address = b.extract(places, index)
        value = b.extract(data, index)
        old = b.load(address, t)
        if compare is not None:
            new = b.select(old.eq(b.extract(compare, index)), value, old)
        else:
            new = _combined(e, op, old, value)
        b.store(address, new)
        result.set(b.insert(result.get(), old, index))
    return result.get()


def _combined(e: Emitter, op: str, old: V, value: V) -> V:
    b = e.b
    if op == "iadd":
        return old + value
    if op in ("imin", "umin", "imax", "umax"):
        return b.math({"i": "s", "u": "u"}[op[0]] + op[1:], old, value)
    if op == "iand":
        return old & value
    if op == "ior":
        return old | value
    if op == "ixor":
        return old ^ value
    if op == "xchg":
        return value
    if op == "fadd":
        return (old.as_float() + value.as_float()).as_int()
    if op in ("fmin", "fmax"):
        name = "minnum" if op == "fmin" else "maxnum"
        return (b.math(name, old.as_float(), value.as_float()) + 0.0).as_int()
    if op == "inc_wrap":
        return b.select(old.uge(value), b.const(old.t, 0), old + 1)
    if op == "dec_wrap":
        return b.select(old.eq(0) | old.ugt(value), value, old - 1)
    raise GalletteError(f"jit has no atomic {op}")


def _buffer_size(e: Emitter, instr: Intrinsic) -> None:
    e.define(instr.result, [_buffer(e, instr).length.to("i32")])


# -- images --------------------------------------------------------------------------------------


@lazy_dataclass(frozen=True)
class ImageSite:
    """A callback for an image: its operation, and the layout of its arguments."""

    name: str  # image_load, image_store, image_atomic, image_atomic_swap, image_size, image_samples
    address: int  # components of the coordinates
    sample: bool  # a sample number follows them
    op: str
    results: int
    bits: int = 32


def _image(e: Emitter, instr: Intrinsic) -> None:
    own = _natively(e, instr)
    if own is not None:
        if instr.dest is not None:
            e.define(instr.result, e.agreed(instr.result, own[: instr.result.num_components]))
        return
    args = [_named(e, instr, "index")[0]]
    address, sample, op = 0, False, ""
    if instr.name not in ("image_size", "image_samples"):
        address = image_coordinates(instr["dim"], instr["is_array"])
        args += _named(e, instr, "coord")[:address]
        sample = Dim(instr["dim"]) is Dim.MS
        if sample:
            args.append(_named(e, instr, "sample")[0])
    if instr.name == "image_store":
        args += _named(e, instr, "value")
    elif instr.name.startswith("image_atomic"):
        op = instr["atomic_op"]
        args.append(_named(e, instr, "data")[0])
        if instr.name == "image_atomic_swap":
            args.append(_named(e, instr, "compare")[0])
    if instr.name not in ("image_load", "image_size", "image_samples"):
        e.effects = True
    count = instr.result.num_components if instr.dest is not None else 0
    site = ImageSite(instr.name, address, sample, op, count)
    found = e.stage.call_out(e, site, args, count, "i32")
    if instr.dest is not None:
        e.define(instr.result, e.agreed(instr.result, found))


def _natively(e: Emitter, instr: Intrinsic) -> list[V] | None:
    """Compiled code for the bound image, if its number is constant."""
    index = e.number(instr.srcs[instr.info.src_index("index")])
    if index is not None and e.stage.named_images is not None:
        e.stage.named_images.add(index)
    if not e.stage.images or (instr.dest is not None and instr.result.bit_size != 32):
        return None
    coords: list[V] = []
    if instr.name not in ("image_size", "image_samples"):
        if Dim(instr["dim"]) is Dim.MS:
            return None
        address = image_coordinates(instr["dim"], instr["is_array"])
        coords = _named(e, instr, "coord")[:address]
    data: list[V] = []
    if instr.name == "image_store":
        data = _named(e, instr, "value")
        if any(value.bits != 32 for value in data):
            return None
    elif instr.name.startswith("image_atomic"):
        data = _named(e, instr, "data")[:1]
        if instr.name == "image_atomic_swap":
            data += _named(e, instr, "compare")[:1]
    return on_bound_image(e, instr, index, coords, data)


def _register() -> None:
    for kind, make in (("ssbo", _buffer), ("shared", _shared)):
        INTRINSICS[f"load_{kind}"] = lambda e, i, make=make: _load(e, i, make(e, i))  # type: ignore[misc]
        INTRINSICS[f"store_{kind}"] = lambda e, i, make=make: _store(e, i, make(e, i))  # type: ignore[misc]
        INTRINSICS[f"{kind}_atomic"] = lambda e, i, make=make: _atomic(  # type: ignore[misc]
            e, i, make(e, i), i["atomic_op"], False
        )
        INTRINSICS[f"{kind}_atomic_swap"] = lambda e, i, make=make: _atomic(  # type: ignore[misc]
            e, i, make(e, i), "xchg", True
        )
    INTRINSICS["atomic_counter"] = lambda e, i: _atomic(e, i, _counter(e, i), i["atomic_op"], False)
    INTRINSICS["atomic_counter_swap"] = lambda e, i: _atomic(e, i, _counter(e, i), "xchg", True)
    INTRINSICS["atomic_counter_read"] = lambda e, i: _load(e, i, _counter(e, i))
    INTRINSICS["get_ssbo_size"] = _buffer_size
    for name in ("load", "store", "atomic", "atomic_swap", "size", "samples"):
        INTRINSICS[f"image_{name}"] = _image


_register()

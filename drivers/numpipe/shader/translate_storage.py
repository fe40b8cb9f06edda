"""Intrinsics on memory outside of the invocation: storage buffers, images, atomics.

Each becomes one operation with all components, which calls a function of `runtime_storage`.
Operations keep their program order, because none is merged, moved or removed unless it only reads
and its result is unused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Intrinsic
from gallette.compiler.nir.ir.types import Dim, image_coordinates

from .lane_ir import LaneValue
from .translate_values import ValueTranslator

if TYPE_CHECKING:
    from .translate_memory import MemoryTranslator

ATOMIC_BUFFERS = 16
"""Shader buffer slots below are storage blocks; atomic counter buffer n is this plus n."""


@lazy_dataclass(frozen=True)
class StorageOp:
    """The parameters of a storage operation besides its sources.

    The sources are the buffer or image index, then `address` components (a byte offset, or image
    coordinates), then values; the last value of a compare-and-exchange is the comparand.
    """

    call: str  # the function of `runtime_storage`
    address: int
    writes: bool
    bits: int = 32
    mask: int = 0  # components that are stored
    atomic: str = ""
    swap: bool = False
    sample: bool = False  # the last component of the address is a sample index
    shared: bool = False  # in the workgroup's memory


class StorageTranslator(ValueTranslator):
    """Adds storage operations."""

    def storage(
        self, instr: Intrinsic, op: StorageOp, srcs: list[LaneValue], results: int = 0
    ) -> None:
        values = self.results(instr.result) if results else []
        what = "storage_write" if op.writes else "storage_read"
        self.emit(what, op, values, srcs)

    def named(self, instr: Intrinsic, name: str) -> list[LaneValue]:
        return self.whole(instr.srcs[instr.info.src_index(name)])

    # -- storage buffers -----------------------------------------------------------------------

    def load_ssbo(self, instr: Intrinsic) -> None:
        srcs = [self.named(instr, "block")[0], self.named(instr, "offset")[0]]
        op = StorageOp("ssbo_load", 1, False, instr.result.bit_size)
        self.storage(instr, op, srcs, instr.result.num_components)

    def store_ssbo(self, instr: Intrinsic) -> None:
        values = self.named(instr, "value")
        srcs = [self.named(instr, "block")[0], self.named(instr, "offset")[0], *values]
        op = StorageOp("ssbo_store", 1, True, values[0].bits, instr["write_mask"])
        self.storage(instr, op, srcs)

    def ssbo_atomic(self, instr: Intrinsic) -> None:
        swap = instr.name.endswith("_swap")
        srcs = [self.named(instr, name)[0] for name in ("block", "offset", "data")]
        if swap:
            srcs.append(self.named(instr, "compare")[0])
        bits = instr.result.bit_size
        op = StorageOp("ssbo_atomic", 1, True, bits, atomic=instr["atomic_op"], swap=swap)
        self.storage(instr, op, srcs, 1)

    def ssbo_size(self, instr: Intrinsic) -> None:
        self.storage(instr, StorageOp("ssbo_size", 0, False), self.named(instr, "block"), 1)

    # -- atomic counters -----------------------------------------------------------------------

    def counter(self, instr: Intrinsic) -> None:
        buffer = self.constant(ATOMIC_BUFFERS + instr["base"], 32)
        srcs = [buffer, self.named(instr, "offset")[0]]
        if instr.name == "atomic_counter_read":
            self.storage(instr, StorageOp("ssbo_load", 1, False), srcs, 1)
            return
        swap = instr.name.endswith("_swap")
        srcs.append(self.named(instr, "data")[0])
        if swap:
            srcs.append(self.named(instr, "compare")[0])
        kind = "xchg" if swap else instr["atomic_op"]
        self.storage(instr, StorageOp("ssbo_atomic", 1, True, atomic=kind, swap=swap), srcs, 1)

    # -- images --------------------------------------------------------------------------------

    def image_sources(self, instr: Intrinsic) -> tuple[list[LaneValue], int, bool]:
        """The index and address of an image operation, and the number of address components."""
        dims = image_coordinates(instr["dim"], instr["is_array"])
        address = self.named(instr, "coord")[:dims]
        sample = Dim(instr["dim"]) is Dim.MS
        if sample:
            address.append(self.named(instr, "sample")[0])
        return [self.named(instr, "index")[0], *address], len(address), sample

    def image_load(self, instr: Intrinsic) -> None:
        srcs, address, sample = self.image_sources(instr)
        op = StorageOp("image_load", address, False, instr.result.bit_size, sample=sample)
        self.storage(instr, op, srcs, instr.result.num_components)

    def image_store(self, instr: Intrinsic) -> None:
        srcs, address, sample = self.image_sources(instr)
        values = self.named(instr, "value")
        op = StorageOp("image_store", address, True, values[0].bits, sample=sample)
        self.storage(instr, op, [*srcs, *values])

    def image_atomic(self, instr: Intrinsic) -> None:
        srcs, address, sample = self.image_sources(instr)
        swap = instr.name.endswith("_swap")
        srcs.append(self.named(instr, "data")[0])
        if swap:
            srcs.append(self.named(instr, "compare")[0])
        op = StorageOp(
            "image_atomic", address, True, atomic=instr["atomic_op"], swap=swap, sample=sample
        )
        self.storage(instr, op, srcs, 1)

    def image_size(self, instr: Intrinsic) -> None:
        index = self.named(instr, "index")[:1]
        results = instr.result.num_components
        self.storage(instr, StorageOp("image_size", 0, False), index, results)

    def image_samples(self, instr: Intrinsic) -> None:
        index = self.named(instr, "index")[:1]
        self.storage(instr, StorageOp("image_samples", 0, False), index, 1)


_T = StorageTranslator
STORAGE_INTRINSICS: dict[str, Callable[[MemoryTranslator, Intrinsic], None]] = {
    "load_ssbo": _T.load_ssbo,
    "store_ssbo": _T.store_ssbo,
    "ssbo_atomic": _T.ssbo_atomic,
    "ssbo_atomic_swap": _T.ssbo_atomic,
    "get_ssbo_size": _T.ssbo_size,
    "atomic_counter": _T.counter,
    "atomic_counter_read": _T.counter,
    "atomic_counter_swap": _T.counter,
    "image_load": _T.image_load,
    "image_store": _T.image_store,
    "image_atomic": _T.image_atomic,
    "image_atomic_swap": _T.image_atomic,
    "image_size": _T.image_size,
    "image_samples": _T.image_samples,
}

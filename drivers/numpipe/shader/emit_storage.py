"""Storage buffers, images and atomics in the generated code: one call per operation.

    t3 = ssbo_load(state, s1, v4, n, u4, 2)

Writes are executed for active lanes only: not for passengers of a divergent region, not for
discarded lanes, and not for helpers.
"""

from __future__ import annotations

from .emit_memory import MemoryEmitter
from .lane_ir import LaneValue, Op
from .translate_shared import SharedLoad
from .translate_storage import StorageOp


class StorageEmitter(MemoryEmitter):
    """Adds storage operations."""

    def op_storage_read(self, op: Op) -> None:
        data: StorageOp = op.data
        index, address, _ = self.storage_sources(op)
        tag = self.tag()
        kind = f"u{data.bits // 8}"
        lanes = op.dsts[0].varying
        count = self.scope.count if lanes else "1"
        self.line(
            f"t{tag} = {data.call}({self.memory(data)}, {index}, {address}, {count}, "
            f"{kind}, {len(op.dsts)}{', sample=True' if data.sample else ''})"
        )
        for i, dst in enumerate(op.dsts):
            if dst.used and lanes:
                self.fresh(op, dst, f"t{tag}[{i}].view({dst.kind})", owned=False)
            elif dst.used:
                self.scalar(dst, f"uniform(t{tag}[{i}], {dst.kind})")

    def op_storage_write(self, op: Op) -> None:
        data: StorageOp = op.data
        index, address, values = self.storage_sources(op)
        scope = self.scope
        alive = "alive" if self.program.uses_discard else "None"
        helper = "helper" if self.program.stage == "fragment" else "None"
        tag = self.tag()
        self.line(
            f"w{tag} = writers({scope.live or None}, {alive}, {helper}, {scope.lanes}, "
            f"{scope.count})"
        )
        kind = f"u{data.bits // 8}"
        texts = [self.read(v, self.storage_kind(v, kind)) for v in values]
        if data.atomic:
            extra = f"{data.atomic!r}, {self.tuple_of(texts)}, {data.swap}"
        else:
            extra = self.tuple_of(
                [t if not data.mask or data.mask >> i & 1 else "None" for i, t in enumerate(texts)]
            )
        call = (
            f"{data.call}({self.memory(data)}, {index}, {address}, {scope.count}, {kind}, w{tag}, "
            f"{extra}{', sample=True' if data.sample else ''})"
        )
        used = [dst for dst in op.dsts if dst.used]
        if not used:
            self.line(call)
        else:
            self.fresh(op, used[0], f"{call}.view({used[0].kind})", owned=False)

    def memory(self, data: StorageOp) -> str:
        """The memory that the operation accesses: the resources, or the workgroups' memory."""
        return f"shared(lanes, {self.scope.lanes}, count)" if data.shared else "state"

    def storage_kind(self, value: LaneValue, kind: str) -> str:
        """The dtype in which values are passed: raw bits, floats included."""
        return kind if value.bits > 1 else "b1"

    def storage_sources(self, op: Op) -> tuple[str, str, list[LaneValue]]:
        data: StorageOp = op.data
        index = self.read(op.srcs[0], "i4", lanes=False)
        address = self.tuple_of([self.read(s, "i4") for s in op.srcs[1 : 1 + data.address]])
        return index, address, op.srcs[1 + data.address :]

    # -- workgroup memory ----------------------------------------------------------------------

    def op_shared_index(self, op: Op) -> None:
        at, low, high = op.dsts
        scope, tag = self.scope, self.tag()
        offset = self.read(op.srcs[0], "i4", lanes=op.srcs[0].varying)
        self.line(
            f"t{tag}, {self.uniform_name(low)}, {self.uniform_name(high)} = "
            f"shared_index(lanes, {scope.lanes}, {offset}, {scope.count}, {op.data})"
        )
        self.fresh(op, at, f"t{tag}", owned=False)

    def op_shared_load(self, op: Op) -> None:
        data: SharedLoad = op.data
        scope, tag = self.scope, self.tag()
        place = ", ".join([self.read(op.srcs[0]), *map(self.uniform_name, op.srcs[1:3])])
        further = str(data.further) if len(op.srcs) < 4 else self.read(op.srcs[3], "i4", False)
        self.line(
            f"t{tag} = shared_load(lanes, {scope.lanes}, ({place}), {further}, {scope.count}, "
            f"{data.size}, {len(op.dsts)})"
        )
        for i, dst in enumerate(op.dsts):
            if dst.used:
                self.fresh(op, dst, f"t{tag}[{i}].view({dst.kind})")

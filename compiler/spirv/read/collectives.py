"""Collective operations of a workgroup or a subgroup: votes, reductions, scans,
broadcasts, copies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.types import UINT
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv import tables
from gallette.compiler.spirv.grammar import name_of
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.arithmetic import does
from gallette.compiler.spirv.read.kernel_pointers import cast, deref_at, element

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

_OPS = {name: nir for nir, name in tables.REDUCTIONS.items()}
_OPS |= {name.replace("Bitwise", "Logical"): nir for name, nir in _OPS.items()}
_SCANS = {name: nir for nir, name in tables.SCANS.items()}
_LATE = ("Bit", "Log", "IMu", "FMu")  # those that an extension added later
_GROUP = {
    f"OpGroup{name}{'KHR' if name.startswith(_LATE) else ''}": op for name, op in _OPS.items()
}
_SUBGROUP = {f"OpGroupNonUniform{name}": op for name, op in _OPS.items()}


def _of_workgroup(r: FunctionReader, i: Instruction, at: int) -> bool:
    """Whether an instruction's scope is the workgroup; otherwise it is a subgroup."""
    scope = name_of("Scope", r.d.integer(i.words[at], i))
    if scope not in ("Workgroup", "Subgroup"):
        raise i.error(f"scope {scope} is not supported")
    return scope == "Workgroup"


def _combined(r: FunctionReader, value: Def, op: str, scan: str) -> Def:
    b = r.b
    parts = [
        b.intrinsic("workgroup_reduce", [part], bit_size=part.bit_size, reduction_op=op, scan=scan)
        for part in b.channels(value)
    ]
    return b.vec(parts)


@does(*_GROUP, *_SUBGROUP)
def _reduce(r: FunctionReader, i: Instruction) -> None:
    value, kind = r.ssa(i.words[4]), name_of("GroupOperation", i.words[3])
    op = _GROUP.get(i.name) or _SUBGROUP[i.name]
    cluster = 0
    if kind == "ClusteredReduce" and i.name in _SUBGROUP and len(i.words) > 5:
        kind, cluster = "Reduce", r.d.integer(i.words[5], i)
    scan = _SCANS.get(kind)
    if scan is None:
        raise i.error("expected a reduction or a scan")
    if _of_workgroup(r, i, 2):
        value = _combined(r, value, op, scan)
    else:
        value = r.b.intrinsic(
            "reduce",
            [value],
            num_components=value.num_components,
            bit_size=value.bit_size,
            reduction_op=op,
            scan=scan,
            cluster_size=cluster,
        )
    r.values[i.words[1]] = value


@does("OpGroupAll", "OpGroupAny")
def _vote(r: FunctionReader, i: Instruction) -> None:
    value = r.ssa(i.words[3])
    if _of_workgroup(r, i, 2):
        op = "iand" if i.name == "OpGroupAll" else "ior"
        value = r.b.ine(_combined(r, r.b.b2i32(value), op, "reduce"), r.b.imm_int(0))
    else:
        value = r.b.intrinsic("vote_all" if i.name == "OpGroupAll" else "vote_any", [value])
    r.values[i.words[1]] = value


@does("OpGroupBroadcast")
def _broadcast(r: FunctionReader, i: Instruction) -> None:
    """Broadcast from the invocation with one, two or three local coordinates."""
    b, value = r.b, r.ssa(i.words[3])
    if _of_workgroup(r, i, 2):
        size = b.intrinsic("load_workgroup_size")
        number, row = b.imm_int(0), b.imm_int(1)
        for axis, at in enumerate(b.channels(r.ssa(i.words[4]))):
            number = b.iadd(number, b.imul(b.u2u32(at), row))
            row = b.imul(row, b.channel(size, axis))
        parts = [
            b.intrinsic("workgroup_broadcast", [part, number], bit_size=part.bit_size)
            for part in b.channels(value)
        ]
        value = b.vec(parts)
    else:
        lane = b.u2u32(r.ssa(i.words[4]))
        value = b.intrinsic(
            "read_invocation",
            [value, lane],
            num_components=value.num_components,
            bit_size=value.bit_size,
        )
    r.values[i.words[1]] = value


@does("OpGroupAsyncCopy")
def _copy(r: FunctionReader, i: Instruction) -> None:
    """Copy each invocation's share; the event is the barrier of `OpGroupWaitEvents`."""
    b, w = r.b, i.words
    target, source = r.place(w[3]), r.place(w[4])
    ends = [
        cast(b, deref.result, Mode(deref.modes), place.type)
        for place, deref in ((p, deref_at(r, p)) for p in (target, source))
    ]
    count, stride = b.u2u32(r.ssa(w[5])), b.u2u32(r.ssa(w[6]))
    to_local = ends[0].modes == Mode.SHARED
    x, y, z = b.channels(b.intrinsic("load_workgroup_size"))
    var = r.impl.add_local("copied", UINT)
    place = b.deref_var(var)
    b.store_deref(place, b.intrinsic("load_local_invocation_index"))
    b.push_loop()
    at = b.load_deref(b.deref_var(var))
    b.break_if(b.uge(at, count))
    far = b.imul(at, stride)
    here, there = (at, far) if to_local else (far, at)
    pair = (element(b, ends[0], b.u2u64(here)), element(b, ends[1], b.u2u64(there)))
    b.copy_deref(*pair)
    b.store_deref(b.deref_var(var), b.iadd(at, b.imul(x, b.imul(y, z))))
    b.pop_loop()
    r.values[w[1]] = b.imm_int(0)


@does("OpGroupWaitEvents")
def _wait(r: FunctionReader, i: Instruction) -> None:
    r.b.intrinsic("barrier", execution_scope="workgroup", memory_scope="workgroup")

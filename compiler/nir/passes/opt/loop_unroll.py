"""Short loops are unrolled."""

from __future__ import annotations

from gallette.compiler.nir.analysis.loops import LoopInfo, analyse_loop
from gallette.compiler.nir.ir.cf import (
    Block,
    Body,
    Loop,
    blocks_in,
    next_block,
    place_of,
    prev_block,
    walk,
)
from gallette.compiler.nir.ir.cf_editing import drop_body, splice
from gallette.compiler.nir.ir.copying import Remap, clone_body
from gallette.compiler.nir.ir.instrs import Deref, Phi
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import const_int, impls_with_branches
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("loop_unroll", preserves=Metadata.NONE)
def loop_unroll(
    shader: Shader, *, max_instrs: int = 256, max_trips: int = 32, indirect_instrs: int = 1024
) -> bool:
    """Repeat the body of a loop with a known trip count, and remove the loop.

    Indices and conditions inside then fold to constants. A loop is unrolled if the result has at
    most `max_instrs` instructions (`indirect_instrs` if a counter indexes a variable) and
    `max_trips` iterations, and it has one exit and no `continue`. Runs on SSA code.
    """
    progress = False
    for impl in impls_with_branches(shader):
        loops = [n for n in walk(impl.body) if isinstance(n, Loop)]
        for loop in reversed(loops):
            info = analyse_loop(loop, max_trips)
            if _worthwhile(loop, info, max_instrs, max_trips, indirect_instrs):
                _unroll(impl, loop, info)
                impl.invalidate()
                progress = True
    return progress


def _worthwhile(
    loop: Loop, info: LoopInfo, max_instrs: int, max_trips: int, indirect_instrs: int
) -> bool:
    if info.trip_count is None or info.has_other_exits or len(info.terminators) != 1:
        return False
    if info.trip_count > max_trips or info.nested_loops:
        return False
    limit = indirect_instrs if _indexes_variables(loop) else max_instrs
    return info.instr_count * max(info.trip_count, 1) <= limit


def _indexes_variables(loop: Loop) -> bool:
    for block in blocks_in(loop.body):
        for instr in block.instrs():
            if (
                isinstance(instr, Deref)
                and instr.form == "array"
                and const_int(instr.srcs[1].value) is None
            ):
                return True
    return False


def _unroll(impl: FunctionImpl, loop: Loop, info: LoopInfo) -> None:
    assert info.exiting is not None
    assert info.trip_count is not None
    exiting = info.exiting.node
    at = loop.body.index(exiting)
    stay = exiting.else_body if info.exiting.breaks_on else exiting.then_body
    leave = exiting.then_body if info.exiting.breaks_on else exiting.else_body
    head: Body = loop.body[:at]
    tail: Body = loop.body[at + 1 :]
    before, after = prev_block(loop), next_block(loop)
    phis = _take_header_phis(loop)
    current = {phi.result: phi.src_for(before).value for phi in phis}
    _dissolve(tail)
    out: Body = []
    out.append(Block(loop.parent, out))
    remap = Remap()
    for _ in range(info.trip_count):
        remap = Remap()
        remap.values.update(current)
        for part in (head, stay, tail):
            _emit(part, out, loop, remap)
        current = {phi.result: remap.value(phi.src_for(loop.last).value) for phi in phis}
    remap = Remap()
    remap.values.update(current)
    _emit(head, out, loop, remap)
    _rewrite_outside(loop, phis, remap)
    leaving = leave[0]
    assert isinstance(leaving, Block)
    for phi in list(after.phis()):
        phi.replace_by(remap.value(phi.src_for(leaving).value))
    _put(impl, loop, phis, out, before, after)


def _take_header_phis(loop: Loop) -> list[Phi]:
    """Unlink the header's phis (their uses remain until the body is deleted)."""
    phis = list(loop.first.phis())
    for phi in phis:
        phi.unlink()
    return phis


def _dissolve(tail: Body) -> None:
    """Keep only the staying branch as source of phis after the exit."""
    first = tail[0]
    assert isinstance(first, Block)
    for phi in list(first.phis()):
        phi.replace_by(phi.srcs[0].value)


def _emit(part: Body, out: Body, loop: Loop, remap: Remap) -> None:
    """Append a copy of `part` to the unrolled code."""
    copy = clone_body(part, loop.parent, remap)
    remap.finish_phis()
    end = out[-1]
    assert isinstance(end, Block)
    splice(end, copy, None)


def _rewrite_outside(loop: Loop, phis: list[Phi], remap: Remap) -> None:
    """Make uses after the loop read the values of the last, partial iteration."""
    inside = set(blocks_in(loop.body))
    values: list[Def] = [phi.result for phi in phis]
    for block in inside:
        values.extend(i.dest for i in block.instrs() if i.dest is not None)
    inner_phis = set(phis)
    for value in values:
        for src in list(value.uses):
            home = src.home
            if home not in inside and src.parent not in inner_phis and home is not None:
                src.rewrite(remap.value(value))


def _put(
    impl: FunctionImpl, loop: Loop, phis: list[Phi], out: Body, before: Block, after: Block
) -> None:
    """Replace the loop by the unrolled code."""
    drop_body(loop.body)
    for phi in phis:
        phi.remove()
    del loop.owner[place_of(loop)]
    splice(before, out, after)

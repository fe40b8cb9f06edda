"""Filling triangles of several states, in order: what `fill` does for draws that wait together.

Every program has its own tile function and block of words. All of them share the lists of
triangles of each tile, which are in drawing order, whosever they are; `shader.mixing` goes through
them. So nobody can tell that draws of a state were taken together, and there are no rounds.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.draw.together import Offered
from gallette.drivers.common.threads import thread_count
from gallette.drivers.common.work import FRAGMENT

from .blocks import WORTH_THREADS, area, begin_block, complete_block, grid, lists, set_up
from .fill import TileFunction, listen, run_threads, tile_function_for, touches_nothing
from .llvm.engine import compile_module
from .shader.layout import MixWords, Record, TileWords
from .shader.mixing import mixing_text

if TYPE_CHECKING:
    from .program import BoundJit

__all__ = ["fill_together"]

Array = npt.NDArray[Any]


@dataclass(slots=True)
class _Job:
    """A program joined with what it reads, its tile function, and the block that is called with."""

    bound: BoundJit
    function: TileFunction
    block: Array


@dataclass(slots=True)
class _Part:
    """Triangles of one state, and the jobs that shade them: by number, from `first` on."""

    offered: Offered
    jobs: list[_Job]
    first: int

    def owners(self, identity: Array) -> Array:
        """Which job each triangle is for."""
        several = self.offered.shader.several
        if several is None:
            return np.full(len(identity), self.first, np.int32)
        return several.which.take(identity).astype(np.int32) + np.int32(self.first)


def fill_together(offered: Sequence[Offered]) -> bool:
    """Fill triangles of several states; False, with nothing done, if there is no code for it."""
    keep: list[Any] = []
    parts = _parts(offered, keep)
    if parts is None:
        return False
    jobs = [job for part in parts for job in part.jobs]
    if not jobs:
        return True
    across, down = grid([part.offered.context.target for part in parts])
    room = sum(len(part.offered.batch.corners) for part in parts)
    records = np.empty((room, Record.SIZE), np.int32)
    starts = np.zeros(across * down + 1, np.int32)
    count = 0
    numbers, owners = [], []
    for part in parts:
        each, job = part.offered, part.jobs[0]
        kept = set_up(
            job.bound, job.block, each.engine, each.context, each.batch, records[count:], starts,
            across,
        )  # fmt: skip
        if kept is None:
            return False
        identity = records[count : count + kept, Record.IDENTITY]
        numbers.append(each.draws.take(identity))
        owners.append(part.owners(identity))
        count += kept
    if not count:
        return True
    order = np.argsort(np.concatenate(numbers), kind="stable")
    records = records.take(order, axis=0)
    owner = np.concatenate(owners).take(order)
    first, block = parts[0].offered, jobs[0].block
    block[TileWords.RECORDS] = records.ctypes.data
    block[TileWords.TRIANGLES] = count
    items = lists(jobs[0].bound, block, first.engine, first.context, starts)
    counters = np.zeros(4, np.int64)
    for part in parts:
        for job in part.jobs:
            each = part.offered
            complete_block(
                job.bound, job.function, job.block, each.engine, each.context, each.vertices, keep
            )
            job.block[TileWords.RECORDS] = records.ctypes.data
            job.block[TileWords.ACROSS] = across
            job.block[TileWords.RESULTS] = counters.ctypes.data
    words = np.zeros(MixWords.SIZE, np.uint64)
    words[MixWords.TILES] = across * down
    words[MixWords.NEXT] = counters.ctypes.data + 16
    words[MixWords.STARTS] = starts.ctypes.data
    words[MixWords.ITEMS] = items.ctypes.data
    words[MixWords.OWNERS] = owner.ctypes.data
    worth = area(records, count) >= WORTH_THREADS and across * down > 1
    _run(jobs, words, owner, thread_count() if worth else 1)
    counted = first.engine.counters
    counted.samples_passed += int(counters[0])
    counted.fs_invocations += int(counters[1])
    jobs[0].bound.resources.work.spend(FRAGMENT * int(counters[1]))
    return True


def _parts(offered: Sequence[Offered], keep: list[Any]) -> list[_Part] | None:
    """What there is to draw, with a job for every program; None if one has no code for it."""
    parts: list[_Part] = []
    number = 0
    for each in offered:
        if touches_nothing(each.engine):
            continue
        several = each.shader.several
        programs: Sequence[Any] = (each.shader.program,) if several is None else several.programs
        jobs = []
        for bound in programs:
            function = tile_function_for(bound, each.engine, each.context, each.vertices)
            if function is None or function.key.effects:
                return None
            block = begin_block(bound, function, each.context, each.vertices, keep)
            jobs.append(_Job(bound, function, block))
        parts.append(_Part(each, jobs, number))
        number += len(jobs)
    return parts


@functools.cache
def _mixed(cache: Any) -> Any:
    code = compile_module(mixing_text(), ("mixed",), cache)
    return code.function("mixed", ctypes.c_void_p)


def _run(jobs: list[_Job], words: Array, owner: Array, threads: int) -> None:
    """Go through the tiles; each thread has blocks of its own."""
    call = _mixed(jobs[0].bound.program.cache)
    functions = np.array([job.function.call.address for job in jobs], np.uint64)
    keep: list[Any] = []
    failures: list[BaseException] = []
    every: list[Array] = []
    for _ in range(threads):
        mine, own = [job.block.copy() for job in jobs], words.copy()
        for job, block in zip(jobs, mine, strict=True):
            listen(job.bound, job.function, block, failures, keep)
        addresses = np.array([block.ctypes.data for block in mine], np.uint64)
        scratch = np.zeros(4, np.int32)
        own[MixWords.BLOCKS] = addresses.ctypes.data
        own[MixWords.FUNCTIONS] = functions.ctypes.data
        own[MixWords.SCRATCH] = scratch.ctypes.data
        keep += [*mine, addresses, scratch]
        every.append(own)
    start = time.perf_counter()
    run_threads(call, every, failures)
    seconds = time.perf_counter() - start
    shares = np.bincount(owner, minlength=len(jobs)) * (seconds / len(owner))
    for job, share in zip(jobs, shares.tolist(), strict=True):
        job.function.call.charge(share)

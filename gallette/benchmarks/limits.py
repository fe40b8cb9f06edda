"""The machine's bound of a benchmark: a time that no driver can beat, and how far each one is from
it.

A frame must move bytes and do arithmetic, and the slower of both is the bound:

* bytes: each byte of an attachment, texture, vertex or index buffer that a frame uses counts once,
  because a cache may hold it from then on; a draw uses no more of a resource than its invocations
  can reach. They are divided by the measured speed of copies in memory.
* floating-point operations: those of the shaders' NIR that every invocation executes. Of an `if`
  the cheaper side counts, of a loop as many iterations as numpipe has run, and a multiply-add
  counts as two. They are divided by the measured speed of a product of matrices.

numpipe draws the frame that is counted, one draw after the other: it does not shade the fragments
that others of the same draw hide, so these do not count.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.cf import Block, Body, If, Node, walk
from gallette.compiler.nir.ir.instrs import Alu, Tex
from gallette.compiler.nir.ir.modes import Stage
from gallette.piglit_subset.environment import child_command, child_environment
from gallette.pipe.enums import Target
from gallette.pipe.taps import PipeCall, tap, untap

_MATRIX, _BYTES, _SECONDS = 768, 1 << 25, 0.25
_INVOCATIONS = {
    Stage.VERTEX: "vs_invocations",
    Stage.TESS_CTRL: "hs_invocations",
    Stage.TESS_EVAL: "ds_invocations",
    Stage.GEOMETRY: "gs_invocations",
    Stage.FRAGMENT: "fs_invocations",
    Stage.COMPUTE: "cs_invocations",
}


@lazy_dataclass(frozen=True)
class Rates:
    """What the machine does in a second."""

    bytes: float
    operations: float


@lazy_dataclass(frozen=True)
class FrameWork:
    """What a frame must do."""

    bytes: int
    operations: int
    pixels: int  # fragments shaded

    def seconds(self, rates: Rates) -> float:
        """The bound."""
        return max(self.bytes / rates.bytes, self.operations / rates.operations)


def operations(body: Body, loops: list[int]) -> int:
    """The floating-point operations that each execution of a body includes; those of an iteration
    of each loop in it are appended to `loops`.
    """
    total = 0
    for node in body:
        if isinstance(node, Block):
            total += sum(_operations(each) for each in node.instrs() if isinstance(each, Alu))
        elif isinstance(node, If):
            sides = node.then_body, node.else_body
            counts = [operations(side, loops) for side in sides]
            # A side that leaves the loop or the shader is executed once.
            stays = [n for n, side in zip(counts, sides, strict=True) if not _leaves(side[-1])]
            total += min(stays, default=0)
        else:
            loops.append(operations(node.body, loops))
    return total


def _leaves(last: Node) -> bool:
    return isinstance(last, Block) and last.jump is not None


def _operations(instr: Alu) -> int:
    op = instr.op
    floats = any(each.base == "float" for each in (*op.input_types, op.output_type))
    if not floats or op.is_free or op.is_copy or op.is_conversion:
        return 0
    elements = instr.dest.num_components if op.per_component else max(*op.input_sizes, 1)
    return elements * max(1, op.num_inputs - 1)


def frame_work(pipes: Sequence[Any], frame: Callable[[], Any]) -> FrameWork:
    """Draw a frame on these contexts of numpipe, and count."""
    counted = [_Work(pipe) for pipe in pipes]
    for each in counted:
        for name, function in each.taps.items():
            tap(each.pipe, [name], function)
    try:
        frame()
    finally:
        for each in counted:
            for name, function in each.taps.items():
                untap(each.pipe, [name], function)
    used = {key: size for each in counted for key, size in each.used.items()}
    total, pixels = (sum(getattr(c, what) for c in counted) for what in ("operations", "pixels"))
    return FrameWork(sum(used.values()), total, pixels)


class _Work:
    """The work of one context in a frame."""

    def __init__(self, pipe: Any) -> None:
        self.pipe = pipe
        self.used: dict[tuple[Any, int], int] = {}  # bytes, by resource and level
        self.operations = self.pixels = 0
        self.taps = {"draw_vbo": self._draw, "launch_grid": self._draw, "clear": self._clear}

    def _use(self, resource: Any, level: int, size: int) -> None:
        key = resource, level
        whole = resource.desc.width
        if resource.desc.target is not Target.BUFFER:
            whole = resource.storage[level].nbytes
        self.used[key] = min(whole, self.used.get(key, 0) + size)

    def _draw(self, call: PipeCall) -> None:
        pipe = self.pipe
        pipe.execute_deferred()
        before, rounds = pipe.counters.snapshot(), pipe.work.rounds
        call.run()
        pipe.execute_deferred()
        after, rounds = pipe.counters.snapshot(), pipe.work.rounds - rounds
        loops: list[int] = []
        for stage, name in _INVOCATIONS.items():
            count = getattr(after, name) - getattr(before, name)
            handle = pipe.bound.shaders.get(stage)
            if count and handle is not None:
                variant = next(reversed(handle.variants.values()))  # in order of last use
                body = variant.shader.entry.body
                self.operations += count * operations(body, loops)
                self._textures(stage, body, count)
        # How often each loop ran is not known, only how often all of them did.
        self.operations += rounds * min(loops, default=0)
        if call.name == "draw_vbo":
            shaded = after.fs_invocations - before.fs_invocations
            self.pixels += shaded
            self._vertices(call.arguments["info"], after.vs_invocations - before.vs_invocations)
            self._attachments(shaded)

    def _textures(self, stage: Stage, body: Body, count: int) -> None:
        blocks = (each for each in walk(body) if isinstance(each, Block))
        found = (each for block in blocks for each in block.instrs() if isinstance(each, Tex))
        for unit in {each.texture_index for each in found}:
            view = self.pipe.bound.stages[stage].view(unit)
            if view is not None:
                self._use(view.resource, view.first_level, count * view.format.block_bytes)

    def _vertices(self, info: Any, count: int) -> None:
        if info.index_buffer is not None:
            self._use(info.index_buffer, 0, info.count * info.index_size)
        for element in self.pipe.bound.elements.state:
            buffer = self.pipe.bound.vertex_buffers[element.buffer_index]
            if buffer is not None and not element.instance_divisor:
                self._use(buffer.buffer, 0, count * element.src_format.block_bytes)

    def _attachments(self, pixels: int) -> None:
        framebuffer = self.pipe.bound.framebuffer
        for each in (*framebuffer.cbufs, framebuffer.zsbuf):
            if each is not None:
                self._use(each.resource, each.level, pixels * each.format.block_bytes)

    def _clear(self, call: PipeCall) -> None:
        call.run()
        if call.arguments["scissor"] is None:
            framebuffer = self.pipe.bound.framebuffer
            self._attachments(framebuffer.width * framebuffer.height)


def machine_rates() -> tuple[Rates, Rates]:
    """Measure one thread of this machine, and all, in a process of its own: libraries of linear
    algebra read when they are loaded that each thread here has a product of its own.
    """
    environment = child_environment("numpipe", jobs=2)
    command = child_command("gallette.benchmarks.limits")
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    one, every = (Rates(**rates) for rates in json.loads(found.stdout))
    return one, every


def _measured(threads: int) -> Rates:
    a = np.full((_MATRIX, _MATRIX), 0.5, np.float32)
    products = [np.empty_like(a) for _ in range(threads)]
    parts = [(np.empty(_BYTES, np.uint8), np.ones(_BYTES, np.uint8)) for _ in range(threads)]
    copied = _shortest([partial(np.copyto, to, source) for to, source in parts])
    multiplied = _shortest([partial(np.matmul, a, a, out=product) for product in products])
    # A copy reads and writes each byte.
    return Rates(threads * 2 * _BYTES / copied, threads * 2 * _MATRIX**3 / multiplied)


def _shortest(tasks: Sequence[Callable[[], Any]]) -> float:
    """The shortest time in which threads do these tasks, of those that fit into a quarter of a
    second.
    """
    times: list[float] = []
    until = time.perf_counter() + _SECONDS
    while len(times) < 3 or time.perf_counter() < until:
        threads = [threading.Thread(target=task) for task in tasks]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        times.append(time.perf_counter() - start)
    return min(times)


def bounds(names: Sequence[str], scenes: str = "") -> dict[str, FrameWork]:
    """What a frame of each benchmark must do; benchmarks that fail are left out."""
    from .sides import Side

    side = Side("numpipe", scenes)
    side.start()
    try:
        found = {}
        for name in names:
            side.request(name)
            answer = side.request(f"limits {name}")
            if "limits" in answer:
                found[name] = FrameWork(**answer["limits"])
        return found
    finally:
        side.close()


if __name__ == "__main__":
    print(json.dumps([asdict(_measured(threads)) for threads in (1, os.cpu_count() or 1)]))

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
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from gallette.compiler.nir.ir.cf import Block, Body, If, Node, walk
from gallette.compiler.nir.ir.instrs import Alu, Tex
from gallette.compiler.nir.ir.modes import Stage
from gallette.piglit_subset.environment import child_command, child_environment
from gallette.pipe.taps import PipeCall, tap, untap

__all__ = ["FrameWork", "Rates", "bounds", "frame_work", "machine_rates", "operations"]

_MATRIX, _BYTES, _SECONDS = 768, 1 << 25, 0.25
_INVOCATIONS = {
    Stage.VERTEX: "vs_invocations",
    Stage.TESS_CTRL: "hs_invocations",
    Stage.TESS_EVAL: "ds_invocations",
    Stage.GEOMETRY: "gs_invocations",
    Stage.FRAGMENT: "fs_invocations",
    Stage.COMPUTE: "cs_invocations",
}


@dataclass(frozen=True, slots=True)
class Rates:
    """What the machine does in a second."""

    bytes: float
    operations: float


@dataclass(frozen=True, slots=True)
class FrameWork:
    """What a frame must do."""

    bytes: int
    operations: int

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


def frame_work(pipe: Any, frame: Callable[[], Any]) -> FrameWork:
    """Draw a frame on this context of numpipe, and count."""
    used: dict[tuple[int, int], int] = {}  # bytes, by resource and level
    total = 0

    def use(resource: Any, level: int, size: int) -> None:
        key = id(resource), level
        whole = resource.storage[level].nbytes if resource.desc.height else resource.desc.width
        used[key] = min(whole, used.get(key, 0) + size)

    def attachments(pixels: int) -> None:
        framebuffer = pipe.bound.framebuffer
        for each in (*framebuffer.cbufs, framebuffer.zsbuf):
            if each is not None:
                use(each.resource, each.level, pixels * each.format.block_bytes)

    def draw(call: PipeCall) -> None:
        nonlocal total
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
                total += count * operations(body, loops)
                textures(stage, body, count)
        total += rounds * min(loops, default=0)  # which loop ran how often is not known
        if call.name == "draw_vbo":
            vertices(call.arguments["info"], after.vs_invocations - before.vs_invocations)
            attachments(after.fs_invocations - before.fs_invocations)

    def textures(stage: Stage, body: Body, count: int) -> None:
        blocks = (each for each in walk(body) if isinstance(each, Block))
        found = (each for block in blocks for each in block.instrs() if isinstance(each, Tex))
        units = {each.texture_index for each in found}
        for unit in units:
            view = pipe.bound.stages[stage].view(unit)
            if view is not None:
                use(view.resource, view.first_level, count * view.format.block_bytes)

    def vertices(info: Any, count: int) -> None:
        if info.index_buffer is not None:
            use(info.index_buffer, 0, info.count * info.index_size)
        for element in pipe.bound.elements.state:
            buffer = pipe.bound.vertex_buffers[element.buffer_index]
            if buffer is not None and not element.instance_divisor:
                use(buffer.buffer, 0, count * element.src_format.block_bytes)

    def clear(call: PipeCall) -> None:
        call.run()
        if call.arguments["scissor"] is None:
            attachments(pipe.bound.framebuffer.width * pipe.bound.framebuffer.height)

    taps = (("draw_vbo", draw), ("launch_grid", draw), ("clear", clear))
    for name, function in taps:
        tap(pipe, [name], function)
    try:
        frame()
    finally:
        for name, function in taps:
            untap(pipe, [name], function)
    return FrameWork(sum(used.values()), total)


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
    """What a frame of each benchmark must do; captures and scenes, which create contexts of their
    own, and benchmarks that fail are left out.
    """
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

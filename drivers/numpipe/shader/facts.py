"""Facts about a program, from the pruned lane program, so that dead inputs do not count."""

from __future__ import annotations

from gallette.compiler.nir.ir import Shader
from gallette.drivers.common.program import (
    InputUse,
    ProgramFacts,
    lanes_with_room,
    textures_from,
)

from .lane_ir import LaneProgram, LoopOp, Op
from .walking import walk

CACHE_BYTES = 3072 * 1024
"""The memory that a chunk's values may take. By experiment: beyond an L2 cache fewer calls still
pay.
"""

_STEP = 1 << 12


def chunk_lanes(arrays: int, shrinks: bool) -> int:
    """Lanes per chunk for a program with at most `arrays` arrays at a time.

    A divergent loop runs its last iterations on few lanes, where calls cost more than elements, so
    larger chunks pay despite cache misses.
    """
    lanes = CACHE_BYTES // (4 * (arrays + 4)) * (4 if shrinks else 1)
    return max(2 * _STEP, min(16 * _STEP, lanes // _STEP * _STEP))


_WHERE = {"at_offset": "at", "at_sample": "at"}


def gather_facts(shader: Shader, program: LaneProgram, arrays: int) -> ProgramFacts:
    """All facts the draw code asks for before it runs the program of a shader, which uses `arrays`
    arrays.
    """
    inputs: set[InputUse] = set()
    outputs: set[tuple[int, int]] = set()
    system: set[str] = set()
    textures: set[int] = set()
    implicit: set[int] = set()
    derivatives = discard = shrinks = effects = False
    for item, _ in walk(program.root):
        if isinstance(item, LoopOp):
            shrinks |= item.divergent
        if not isinstance(item, Op):
            continue
        if item.what == "input":
            slot, component, mode, where = item.data
            inputs.add(InputUse(slot, component, mode, _WHERE.get(where, str(where))))
        elif item.what == "input_indirect":
            (slot, component, mode, where), count = item.data
            for i in range(count):
                inputs.add(InputUse(slot + i, component, mode, _WHERE.get(where, where)))
        elif item.what == "corner_at":
            slot, component = item.data
            inputs.add(InputUse(slot, component, "corner", "any"))
        elif item.what == "output":
            slot, component, _dual = item.data
            outputs.add((slot, component))
        elif item.what == "output_indirect":
            (slot, component, _dual), count = item.data
            outputs.update((slot + i, component) for i in range(count))
        elif item.what == "system":
            system.add(item.data[0])
        elif item.what == "row_of_primitive":
            system.add("primitive_id")
        elif item.what == "tex":
            instr, layout = item.data
            dynamic = any(kind == "texture_offset" for kind, _ in layout)
            units = textures_from(instr.texture_index) if dynamic else (instr.texture_index,)
            textures.update(units)
            if instr.info.implicit_lod:
                implicit.update(units)
            derivatives |= instr.op == "lod"  # the level itself is the result
        elif item.what == "alu":
            derivatives |= item.data.is_derivative and item.dsts[0].varying
        elif item.what == "discard":
            discard = True
        elif item.what == "storage_write":
            effects = True
    numbers = sum(array.rows for array in program.arrays.values() if array.varying)
    lanes = lanes_with_room(chunk_lanes(arrays, shrinks), numbers)
    return ProgramFacts.of(
        shader,
        inputs,
        outputs,
        system,
        textures,
        implicit,
        derivatives=derivatives,
        discards=discard,
        effects=effects,
        lanes=lanes,
    )

"""Compiled shaders as the shared draw room wants them (`drivers.common.program`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Shader
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.common.lanes import (
    ComputeLanes,
    ControlLanes,
    EvaluationLanes,
    FragmentLanes,
    GeometryLanes,
    ShaderResources,
    VertexLanes,
)
from gallette.drivers.common.program import (
    Emission,
    FragmentOutputs,
    InputUse,
    Outputs,
    ProgramFacts,
)

from .backend.code import ConstantSlot
from .compile import BackendOptions, Compiled, compile_shader
from .machine.launch import LIVE_FLAG, Launch

__all__ = ["BoundSimd", "Counters", "SimdProgram", "compile_program"]

Array = npt.NDArray[Any]
PLANE = 1 << 20
"""Constant slots of this block and above are user clip planes."""


@dataclass(slots=True)
class Counters:
    """What the machine has done since it was made."""

    launches: int = 0
    threads: int = 0
    cycles: int = 0
    instructions: int = 0
    visits: dict[str, int] = field(default_factory=dict)


def compile_program(
    shader: Shader, options: BackendOptions, counters: Counters, *, flat_colors: bool = False
) -> SimdProgram:
    """Machine code for an optimised shader (which is only read)."""
    return SimdProgram(shader, compile_shader(shader, options, flat_colors), counters)


class SimdProgram:
    """The `Program` of the shared draw room."""

    def __init__(self, shader: Shader, compiled: Compiled, counters: Counters) -> None:
        self.compiled = compiled
        self.counters = counters
        self.name = shader.name
        self.facts = _facts(shader, compiled)
        self.places = tuple(place for place, _ in compiled.executable.places)
        self._cycles = np.array(compiled.block_cycles, np.int64)
        sizes = [stop - start for start, stop in compiled.executable.blocks]
        self._sizes = np.array(sizes, np.int64)

    @property
    def code(self) -> str:
        """The program as people read it."""
        from .explaining import listing

        return listing(self.compiled)

    def bind(self, resources: ShaderResources) -> BoundSimd:
        """Fix the resources of a draw."""
        return BoundSimd(self, resources)

    def count(self, launch: Launch) -> None:
        """Account for a launch that has ended."""
        counters = self.counters
        counters.launches += 1
        counters.threads += launch.threads
        counters.cycles += int(launch.visits @ self._cycles)
        counters.instructions += int(launch.visits @ self._sizes)


def _facts(shader: Shader, compiled: Compiled) -> ProgramFacts:
    found = compiled.selector
    fragment = shader.stage.value == "fragment"
    outputs: dict[int, int] = {}
    for slot, component, _ in found.outputs if fragment else found.places:
        outputs[slot] = outputs.get(slot, 0) | 1 << component
    width = compiled.executable.registers
    lanes = max(4096, min(32768, 1 << (1 << 20) // (4 * (width + 8)).bit_length()))
    system = found.system_values
    return ProgramFacts(
        stage=shader.stage.value,
        inputs=frozenset(InputUse(*use) for use in found.inputs),
        outputs=outputs,
        system_values=frozenset(system),
        textures=frozenset(found.textures),
        implicit_lod=frozenset(found.implicit) if fragment else frozenset(),
        uses_derivatives=found.derivatives and fragment,
        uses_discard=found.discards,
        writes_depth=fragment and FragResult.DEPTH in outputs,
        writes_stencil=fragment and FragResult.STENCIL in outputs,
        writes_sample_mask=fragment and FragResult.SAMPLE_MASK in outputs,
        has_side_effects=found.effects,
        early_fragment_tests=shader.info.early_fragment_tests,
        uses_sample_shading="sample_id" in system or any(u[3] == "sample" for u in found.inputs),
        chunk_lanes=lanes,
    )


class BoundSimd:
    """The `BoundProgram`: a program joined with the resources of one draw."""

    def __init__(self, program: SimdProgram, resources: ShaderResources) -> None:
        self.program = program
        self.resources = resources
        self.constants = _constants(program.compiled.code.constants, resources)

    def vertex(self, lanes: VertexLanes) -> Outputs:
        """Run one chunk of vertices."""
        return self._run(lanes).outputs_of(0)

    def evaluate(self, lanes: EvaluationLanes) -> Outputs:
        """Run one chunk of tessellated vertices."""
        return self._run(lanes).outputs_of(0)

    def control(self, lanes: ControlLanes) -> tuple[Outputs, Outputs]:
        """Run one chunk of control invocations: (per-vertex outputs, outputs of whole patches)."""
        launch = self._run(lanes)
        size = self.program.compiled.executable.patch_size
        whole: Outputs = {
            slot: [None if v is None else np.ascontiguousarray(v[::size]) for v in row]
            for slot, row in launch.outputs_of(1).items()
        }
        return launch.outputs_of(0), whole

    def geometry(self, lanes: GeometryLanes) -> list[Emission]:
        """Run one chunk of primitives."""
        return self._run(lanes).events

    def compute(self, lanes: ComputeLanes) -> None:
        """Run whole workgroups."""
        self._run(lanes)

    def fragment(self, lanes: FragmentLanes) -> FragmentOutputs:
        """Run one chunk of fragments."""
        launch = self._run(lanes, lanes.helper, lanes.quads)
        alive = None
        if self.program.facts.uses_discard:
            alive = launch.by_lane(launch.root.flags[LIVE_FLAG]).copy()
            if lanes.helper is not None:
                alive |= lanes.helper  # whoever was a helper from the start was not discarded
        return FragmentOutputs(launch.outputs_of(0), alive, launch.outputs_of(1))

    def _run(self, lanes: Any, helper: Array | None = None, quads: bool = False) -> Launch:
        executable = self.program.compiled.executable
        launch = Launch(executable, self.resources, self.constants, lanes, helper, quads)
        if launch.count:
            for place, bits in executable.places:
                launch.output(place, bits)
            executable.start(launch)
        self.program.count(launch)
        return launch


def _constants(slots: list[ConstantSlot], resources: ShaderResources) -> Array:
    """The bytes of the constant registers."""
    words = np.zeros(-(-len(slots) // 8) * 8, np.uint32)
    for at, slot in enumerate(slots):
        if slot.block < 0:
            words[at] = slot.value & 0xFFFFFFFF
        elif slot.block >= PLANE:
            plane = slot.block - PLANE
            planes = resources.clip_planes
            value = planes[plane][slot.value // 4] if plane < len(planes) else 0.0
            words[at] = np.float32(value).view(np.uint32)
        elif slot.block < len(resources.constants):
            data = resources.constants[slot.block]
            if data is not None and 0 <= slot.value <= data.size - 4:
                words[at] = int.from_bytes(data[slot.value : slot.value + 4].tobytes(), "little")
    return words.view(np.uint8)

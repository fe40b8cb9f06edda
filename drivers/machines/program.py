"""Machine code of a shader as a program of the shared draw code (`drivers.common.program`)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Shader, Stage
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
    BoundProgram,
    Emission,
    FragmentOutputs,
    InputUse,
    Outputs,
    ProgramFacts,
    lanes_with_room,
)
from gallette.drivers.common.variants.compiler import LoweringOptions, VariantCompiler

from .compiled import Compiled
from .constants import constant_bytes
from .isa.messages import LIVE_FLAG
from .selection.core import MessageSelector
from .simulator.launch import Launch

Array = npt.NDArray[Any]
Key = TypeVar("Key")
Made = TypeVar("Made", bound=Compiled[Any, Any, Any])
CHUNK = 1 << 15
"""Lanes of a launch: enough to amortise what Python spends on an instruction."""


@lazy_dataclass()
class Counters:
    """The counts of a machine since it was created."""

    launches: int = 0
    threads: int = 0
    cycles: int = 0
    instructions: int = 0


class MachineProgram(Generic[Made]):
    """Implements `Program` of the shared draw code."""

    def __init__(
        self,
        shader: Shader,
        compiled: Made,
        counters: Counters,
    ) -> None:
        self.compiled = compiled
        self.lines = [0, *compiled.lines]  # source lines of a listing, which begins with a summary
        self.executable = executable = compiled.executable
        self.constants = compiled.code.constants
        self.counters = counters
        self.name = shader.name
        lanes = lanes_with_room(CHUNK, executable.private // 4)
        self.facts = _facts(shader, compiled.selector, lanes)
        self.places = tuple(place for place, _ in executable.places)
        self._cycles = np.array(compiled.block_cycles, np.int64)
        self._sizes = np.array([stop - start for start, stop in executable.blocks], np.int64)

    @property
    def code(self) -> str:
        """The program as text."""
        return self.compiled.listing()

    def bind(self, resources: ShaderResources) -> BoundMachine:
        """Bind the resources of a draw."""
        return BoundMachine(self, resources)

    def count(self, launch: Launch) -> None:
        """Add a finished launch to the counters."""
        counters = self.counters
        counters.launches += 1
        counters.threads += launch.threads
        counters.cycles += int(launch.visits @ self._cycles)
        counters.instructions += int(launch.visits @ self._sizes)


def _facts(shader: Shader, found: MessageSelector, lanes: int) -> ProgramFacts:
    fragment = shader.stage is Stage.FRAGMENT
    written = found.results if fragment else found.places
    return ProgramFacts.of(
        shader,
        [InputUse(*use) for use in found.inputs],
        [(slot, component) for slot, component, _ in written],
        found.system_values,
        found.textures,
        found.implicit,
        derivatives=found.derivatives and fragment,
        discards=found.discards,
        effects=found.effects,
        lanes=lanes,
    )


class MachineCompiler(VariantCompiler[Key, MachineProgram[Made]], Generic[Key, Made]):
    """Compiles NIR to programs of a machine."""

    def __init__(self, options: LoweringOptions | None = None) -> None:
        super().__init__(options)
        self.counters = Counters()

    @abstractmethod
    def compiled(self, shader: Shader, key: Key | None = None) -> Made:
        """Run the back end on a lowered shader, which is not changed."""

    def generate(self, shader: Shader, key: Key) -> MachineProgram[Made]:
        return MachineProgram(shader, self.compiled(shader, key), self.counters)

    def measure(self, shader: Shader) -> dict[str, int]:
        return self.compiled(shader).measures()


class BoundMachine(BoundProgram):
    """A program with the resources of one draw."""

    watched = True  # it counts what its fragments take

    def __init__(self, program: MachineProgram[Any], resources: ShaderResources) -> None:
        self.program = program
        self.resources = resources
        self.constants = constant_bytes(program.constants, resources)

    def vertex(self, lanes: VertexLanes) -> Outputs:
        """Run one chunk of vertices."""
        return self._run(lanes).outputs_of(0)

    def evaluate(self, lanes: EvaluationLanes) -> Outputs:
        """Run one chunk of tessellated vertices."""
        return self._run(lanes).outputs_of(0)

    def control(self, lanes: ControlLanes) -> tuple[Outputs, Outputs]:
        """Run one chunk of control invocations: (per-vertex outputs, per-patch outputs)."""
        launch = self._run(lanes)
        size = self.program.executable.patch_size
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
                alive |= lanes.helper  # lanes that began as helpers were not discarded
        return FragmentOutputs(launch.outputs_of(0), alive, launch.outputs_of(1))

    def _run(self, lanes: Any, helper: Array | None = None, quads: bool = False) -> Launch:
        executable = self.program.executable
        launch = Launch(executable, self.resources, self.constants, lanes, helper, quads)
        if launch.count:
            for place, bits in executable.places:
                launch.output(place, bits)
            executable.start(launch)
        self.program.count(launch)
        return launch

"""Programs: generated source compiled, joined with resources, and run chunk by chunk.

`compile_program` is the entry point. Code is identified by its source: shaders with the same text
share one code object.
"""

from __future__ import annotations

import functools
import marshal
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Shader
from gallette.compiler.nir.ir.opcodes import OPCODES
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
    Outputs,
    ProgramFacts,
)

from . import runtime, runtime_shared, runtime_storage
from .analyse import analyse
from .deep_code import compile_text
from .emit import Emitter
from .emit_base import KINDS, OPERATION
from .facts import gather_facts
from .translate import translate

_RUNTIME: dict[str, Any] = {
    name: getattr(module, name)
    for module in (runtime, runtime_shared, runtime_storage)
    for name in module.__all__
}
_NUMPY: dict[str, Any] = {
    "copyto": np.copyto,
    "count_nonzero": np.count_nonzero,
    "empty": np.empty,
    "greater": np.greater,
    "logical_and": np.logical_and,
    "logical_not": np.logical_not,
    "ones": np.ones,
    "putmask": np.putmask,
    "zeros": np.zeros,
}


@functools.lru_cache(maxsize=1024)
def _code_object(source: str, stage: str) -> Any:
    """The code object of a text, which contains no names from the application."""
    return compile_text(source, f"<numpipe {stage}>")


def compile_program(shader: Shader, *, flat_colors: bool = False) -> CompiledShader:
    """Generate and compile code for an optimised shader (which is not changed)."""
    return _finished(_generate(shader, flat_colors))


def pack(program: CompiledShader) -> bytes:
    """A program as bytes for another process; empty if it refers to a function that no module
    names.

    The implementation of an opcode may be such a function, but is found by the opcode's name.
    """
    made = program.made
    plain = {n: value for n, value in made.globals.items() if not n.startswith(OPERATION)}
    opcodes = [n for n in made.globals if n.startswith(OPERATION)]
    try:
        parts = (replace(made, globals=plain, code=None), opcodes, marshal.dumps(made.code))
        return pickle.dumps(parts, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        return b""


def unpack(data: bytes) -> CompiledShader:
    """The program of packed bytes, which must be the user's own (see `compiler/disk_cache.py`): it
    is code.
    """
    made, opcodes, code = pickle.loads(data)
    for name in opcodes:
        made.globals[name] = OPCODES[name.removeprefix(OPERATION)].semantics
    made.code = marshal.loads(code)
    return _finished(made)


def _finished(made: _Made) -> CompiledShader:
    namespace = {**_RUNTIME, **_NUMPY, **KINDS, **made.globals}
    exec(made.code, namespace)
    return CompiledShader(made, namespace["run"])


@lazy_dataclass()
class _Made:
    """The results of code generation, before any context uses them."""

    facts: ProgramFacts
    places: tuple[tuple[int, int, int], ...]
    source: str
    views: list[tuple[int, str, int]]
    globals: dict[str, Any]
    name: str
    code: Any = None
    lines: list[int] = field(default_factory=list)  # by line of `source`: the shader's line


def _generate(shader: Shader, flat_colors: bool) -> _Made:
    lane_program = translate(shader, flat_colors=flat_colors)
    analyse(lane_program)
    emitter = Emitter(lane_program)
    source = emitter.run()
    views = [(block, kind, least) for (block, kind), least in emitter.views.items()]
    facts = gather_facts(shader, lane_program, emitter.file.most)
    places = tuple(sorted(lane_program.output_arrays))
    code = _code_object(source, shader.stage.value)
    made = _Made(facts, places, source, views, emitter.globals, shader.name, code)
    made.lines = emitter.sources
    return made


class CompiledShader:
    """Implements `Program` of the shared draw code."""

    __slots__ = ("code", "facts", "lines", "made", "name", "places", "run", "views")

    def __init__(self, made: _Made, run: Callable[..., Any]):
        self.made = made
        self.facts = made.facts
        self.places = made.places  # (slot, component, 0) of an emitted vertex's values, in order
        self.code = made.source
        self.lines = made.lines
        self.run = run
        self.views = made.views
        self.name = made.name

    def bind(self, resources: ShaderResources) -> BoundShader:
        """Bind the resources of a draw."""
        return BoundShader(self, resources)

    def views_of(self, resources: ShaderResources) -> tuple[Any, ...]:
        """Views of the constant blocks, as the code reads them."""
        views = []
        constants = resources.constants
        for block, kind, least in self.views:
            if block < 0:
                views.append([_view(b, kind, 0) for b in constants])
            else:
                inside = block < len(constants)
                views.append(_view(constants[block] if inside else None, kind, least))
        return tuple(views)


def _view(block: npt.NDArray[np.uint8] | None, kind: str, least: int) -> Any:
    """A view of a block with one dtype, padded with zeros up to the highest constant offset."""
    dtype = KINDS[kind]
    size = int(kind[1:])
    if block is None:
        return np.zeros(least, dtype)
    usable = block.size // size
    view = block[: usable * size].view(dtype)
    if usable < least:
        longer = np.zeros(least, dtype)
        longer[:usable] = view
        return longer
    return view


class BoundShader(BoundProgram):
    """A shader with the resources of one draw."""

    __slots__ = ("_views", "program", "run", "spend", "state")

    rebinds = True

    def __init__(self, program: CompiledShader, resources: ShaderResources):
        self.program = program
        self.run = program.run
        self.spend = resources.work.round
        self.state = resources
        self._views: tuple[Any, ...] | None = None

    @property
    def views(self) -> tuple[Any, ...]:
        """Views of the constant blocks, made when the code runs."""
        if self._views is None:
            self._views = self.program.views_of(self.state)
        return self._views

    def rebind(self) -> None:
        """Update the views after the constant blocks were replaced."""
        self._views = None

    def vertex(self, lanes: VertexLanes) -> Outputs:
        """Run one chunk of vertices. (The caller suppresses NumPy's floating-point warnings.)"""
        outputs: Outputs = self.run(
            lanes, lanes.count, self.views, self.state, self.spend, None, False
        )[0]
        return outputs

    def geometry(self, lanes: GeometryLanes) -> list[Emission]:
        """Run one chunk of primitives."""
        with np.errstate(all="ignore"):
            events: list[Emission] = self.run(
                lanes, lanes.count, self.views, self.state, self.spend, None, False
            )
        return events

    def control(self, lanes: ControlLanes) -> tuple[Outputs, Outputs]:
        """Run one chunk of control invocations: (per-vertex outputs, per-patch outputs)."""
        with np.errstate(all="ignore"):
            outputs, _, patches = self.run(
                lanes, lanes.count, self.views, self.state, self.spend, None, False
            )
        return outputs, patches

    def compute(self, lanes: ComputeLanes) -> None:
        """Run whole workgroups."""
        with np.errstate(all="ignore"):
            self.run(lanes, lanes.count, self.views, self.state, self.spend, None, False)

    def evaluate(self, lanes: EvaluationLanes) -> Outputs:
        """Run one chunk of tessellated vertices."""
        with np.errstate(all="ignore"):
            outputs: Outputs = self.run(
                lanes, lanes.count, self.views, self.state, self.spend, None, False
            )[0]
        return outputs

    def fragment(self, lanes: FragmentLanes) -> FragmentOutputs:
        """Run one chunk of fragments."""
        outputs, alive, dual = self.run(
            lanes, lanes.count, self.views, self.state, self.spend, lanes.helper, lanes.quads
        )
        return FragmentOutputs(outputs, alive, dual)

"""`spirv_to_nir`: translates one entry point of a module to a NIR shader.

The result is like that of the GLSL front end: variables and derefs, calls, variables instead of
phis. `pipeline.FRONT_END` and later passes bring it into the form that drivers take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from gallette.compiler.errors import GalletteError
from gallette.compiler.function_table import FunctionTable
from gallette.compiler.gc_pause import gc_paused
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Function, Shader
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Parameter
from gallette.compiler.spirv.emit import (
    DEPTH_LAYOUTS,
    INPUT_PRIMITIVES,
    OUTPUT_PRIMITIVES,
    TESS_PRIMITIVES,
    TESS_SPACINGS,
)
from gallette.compiler.spirv.module import Instruction, Module, SpirvError
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.function import FunctionReader
from gallette.compiler.spirv.read.model import EntryPoint, FunctionCode, SpvType
from gallette.compiler.spirv.read.pointers import DerefPlace, Place, Value
from gallette.compiler.spirv.read.variables import Variables
from gallette.compiler.spirv.tables import MODELS

R = TypeVar("R", bound="ModuleReader")

_STAGES = {model: stage for stage, model in MODELS.items()}


class ModuleReader:
    """Translates an entry point and the functions it calls."""

    prints = False
    """whether `printed` writes to a buffer"""

    def __init__(self, d: Declarations, shader: Shader, entry: EntryPoint) -> None:
        self.d = d
        self.shader = shader
        self.entry = entry
        self.variables = Variables(d, shader, entry)
        self.functions: dict[int, Function] = {}
        self.pending: list[tuple[FunctionCode, Function]] = []

    def printed(self, r: FunctionReader, words: Sequence[Def]) -> None:
        """Store a kernel's `printf` for the host; kernels override this."""
        raise AssertionError("only kernels print")

    @classmethod
    def scratch(cls, d: Declarations, shader: Shader) -> ModuleReader:
        """A reader for a single operation on constants."""
        return cls(d, shader, EntryPoint("GLCompute", 0, "", ()))

    def run(self) -> None:
        code = self.d.functions.get(self.entry.function)
        if code is None:
            raise SpirvError(f"the entry point {self.entry.name!r} is no function")
        main = self.function(code)
        main.is_entry = True
        while self.pending:
            waiting, function = self.pending.pop()
            if not waiting.blocks:
                raise SpirvError(f"function {function.name} has no code")
            FunctionReader(self, waiting, function).run()
        self._initial_outputs()

    def function(self, code: FunctionCode) -> Function:
        """The NIR function of a function of the module."""
        known = self.functions.get(code.id)
        if known is not None:
            return known
        name = self.d.names.get(code.id) or f"function_{code.id}"
        function = self.shader.add_function(name)
        if code.returns.kind != "void":
            function.params.append(Parameter("result", code.returns.nir, is_deref=True))
        for n, (id, type) in enumerate(code.params):
            text = self.d.names.get(id) or f"p{n}"
            function.params.append(self._parameter(text, type))
        self.functions[code.id] = function
        self.pending.append((code, function))
        return function

    def _parameter(self, name: str, type: SpvType) -> Parameter:
        if type.kind == "pointer":
            return Parameter(name, type.inner.nir, is_deref=True)
        if type.nir.is_vector_or_scalar:
            nir = type.nir
            return Parameter(name, nir, False, nir.components, nir.bit_size)
        return Parameter(name, type.nir, is_deref=True)

    def _initial_outputs(self) -> None:
        """Set facts from the execution modes."""
        _read_modes(self)

    # Kernels override these.

    def global_place(self, r: FunctionReader, id: int) -> Value:
        """The value of a global variable in a function."""
        return self.variables.place(id)

    def entry_parameters(self, r: FunctionReader) -> bool:
        """Assign the parameters of the entry point; false if it may not have any."""
        return False

    def pointer_parameter(self, r: FunctionReader, type: SpvType, at: int) -> Place:
        return DerefPlace(type.inner, r.b.deref_param(at))

    def local_type(self, type: SpvType) -> Type:
        """The NIR type of a local variable."""
        return type.nir

    def from_memory(self, r: FunctionReader, type: SpvType, value: Value) -> Value:
        return value

    def to_memory(self, r: FunctionReader, value: Value) -> Value:
        if isinstance(value, Place):
            raise SpirvError("pointers cannot be stored in logical addressing")
        return value

    def select_pointer(
        self, r: FunctionReader, i: Instruction, condition: Def, then: Value, other: Value
    ) -> Value:
        raise i.error("pointers cannot be chosen in logical addressing")

    def cast_pointer(self, r: FunctionReader, i: Instruction, value: Value) -> Value:
        raise i.error("pointers cannot be cast in logical addressing")


def _read_modes(m: ModuleReader) -> None:
    info, modes, stage = m.shader.info, m.entry.modes, m.shader.stage

    def one_of(table: Mapping[str, str], default: str = "") -> str:
        return next((name for name, mode in table.items() if mode in modes), default)

    def number(mode: str, default: int = 0) -> int:
        words = modes.get(mode, ())
        return words[0] if words else default

    if stage is Stage.FRAGMENT:
        info.early_fragment_tests = "EarlyFragmentTests" in modes
        info.post_depth_coverage = "PostDepthCoverage" in modes
        info.interlocks = any("Interlock" in mode for mode in modes)
        info.depth_layout = one_of(DEPTH_LAYOUTS)
        info.color_is_dual_source = any(v.index for v in m.shader.variables)
    elif stage is Stage.GEOMETRY:
        info.input_primitive = one_of(INPUT_PRIMITIVES)
        info.output_primitive = one_of(OUTPUT_PRIMITIVES)
        info.vertices_out = number("OutputVertices")
        info.invocations = number("Invocations", 1)
        if not info.input_primitive or not info.output_primitive:
            raise SpirvError("a geometry shader names its input and output primitives")
    elif stage is Stage.TESS_CTRL:
        info.vertices_out = number("OutputVertices")
    if stage in (Stage.TESS_CTRL, Stage.TESS_EVAL):
        info.tess_primitive = one_of(TESS_PRIMITIVES)
        info.tess_spacing = one_of(TESS_SPACINGS, "equal_spacing")
        info.tess_ccw = "VertexOrderCw" not in modes
        info.tess_point_mode = "PointMode" in modes
        if stage is Stage.TESS_CTRL:
            info.tess_primitive = ""
    elif stage in (Stage.COMPUTE, Stage.KERNEL):
        info.workgroup_size = _workgroup_size(m)
        info.workgroup_size_variable = info.workgroup_size == (0, 0, 0)
    info.has_transform_feedback = "Xfb" in modes


def _workgroup_size(m: ModuleReader) -> tuple[int, int, int]:
    d = m.d
    size: tuple[int, ...] = (0, 0, 0)
    if d.workgroup_size:
        size = d.constants[d.workgroup_size].data
    elif "LocalSizeId" in m.entry.modes:
        ids = m.entry.modes["LocalSizeId"]
        if not all(id in d.constants for id in ids):
            raise SpirvError("a local size is of constants")
        size = tuple(d.constants[id].data[0] for id in ids)
    elif "LocalSize" in m.entry.modes:
        size = m.entry.modes["LocalSize"]
    if len(size) != 3:
        raise SpirvError("a local size has three numbers")
    return (int(size[0]), int(size[1]), int(size[2]))


_READERS = FunctionTable[str, type[ModuleReader]]()
"""Readers of entry points of certain execution models."""
reads = _READERS.entry


def entry_points(module: Module | Declarations) -> list[tuple[Stage, str]]:
    """The stage and name of each entry point."""
    found = []
    d = module if isinstance(module, Declarations) else Declarations(module)
    for entry in d.entries:
        if entry.model in _STAGES:
            found.append((_STAGES[entry.model], entry.name))
    return found


def spirv_to_nir(
    module: Module | Declarations,
    stage: Stage | None = None,
    entry: str | None = None,
    specialize: Mapping[int, int] | None = None,
) -> Shader:
    """Translate one entry point; its only reference belongs to the caller.

    Without `stage` and `entry` it is the module's first entry point. `specialize` maps `SpecId`s of
    specialisation constants to raw bits. For a module with many entry points, its declarations can
    be read once and passed instead.
    """
    return read_entry(module, stage, entry, specialize)[0]


@gc_paused
def read_entry(
    module: Module | Declarations,
    stage: Stage | None = None,
    entry: str | None = None,
    specialize: Mapping[int, int] | None = None,
) -> tuple[Shader, list[tuple[str, Type, int, int]]]:
    """The shader, and the atomic counters it uses: name, type, binding, offset."""
    try:
        shader, counters = _translate(module, stage, entry, specialize)
    except RecursionError:
        raise SpirvError("the module is nested too deeply") from None
    try:
        # Errors that the handlers do not detect are found here at the latest: types that do not
        # fit, values that do not dominate their uses.
        validate(shader)
    except GalletteError as error:
        shader.unref()
        first = str(error).partition("\n")[0]
        raise SpirvError(f"the module contradicts itself ({first})") from None
    return shader, counters


def _translate(
    module: Module | Declarations,
    stage: Stage | None,
    entry: str | None,
    specialize: Mapping[int, int] | None,
) -> tuple[Shader, list[tuple[str, Type, int, int]]]:
    if isinstance(module, Declarations) and not specialize:
        d = module
    else:
        whole = module.module if isinstance(module, Declarations) else module
        d = Declarations(whole, specialize)
    if specialize:
        unknown = set(specialize) - set(d.spec_ids)
        if unknown:
            raise SpirvError(f"no specialisation constant has number {min(unknown)}")
    chosen = None
    for candidate in d.entries:
        if stage is not None and candidate.model != MODELS.get(stage):
            continue
        if entry is None or candidate.name == entry:
            chosen = candidate
            break
    if chosen is None:
        what = f"{stage.value} " if stage is not None else ""
        raise SpirvError(f"there is no {what}entry point {entry or ''}".rstrip())
    if chosen.model not in _STAGES:
        raise SpirvError(f"execution model {chosen.model} is not supported")
    shader = Shader(_STAGES[chosen.model], chosen.name)
    try:
        reader = _READERS.get(chosen.model, ModuleReader)(d, shader, chosen)
        reader.run()
    except BaseException:
        shader.unref()
        raise
    return shader, reader.variables.counters

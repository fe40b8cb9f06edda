"""`spirv_to_nir`: translates one entry point of a module to a NIR shader.

The result is like that of the GLSL front end: variables and derefs, calls, variables instead of
phis. `pipeline.FRONT_END` and later passes bring it into the form that drivers take.
"""

from __future__ import annotations

from collections.abc import Mapping

from gallette.compiler.errors import GalletteError
from gallette.compiler.gc_pause import gc_paused
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.spirv.module import Module, SpirvError
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.kernels import KernelReader
from gallette.compiler.spirv.read.module_reader import ModuleReader
from gallette.compiler.work_limits import allow_nesting

__all__ = ["entry_points", "read_entry", "spirv_to_nir"]

_STAGES = {
    "Vertex": Stage.VERTEX,
    "TessellationControl": Stage.TESS_CTRL,
    "TessellationEvaluation": Stage.TESS_EVAL,
    "Geometry": Stage.GEOMETRY,
    "Fragment": Stage.FRAGMENT,
    "GLCompute": Stage.COMPUTE,
    "Kernel": Stage.KERNEL,
}
_MODELS = {stage: model for model, stage in _STAGES.items()}


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
    allow_nesting()
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
        if stage is not None and candidate.model != _MODELS.get(stage):
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
        kind = KernelReader if chosen.model == "Kernel" else ModuleReader
        reader = kind(d, shader, chosen)
        reader.run()
    except BaseException:
        shader.unref()
        raise
    return shader, reader.variables.counters

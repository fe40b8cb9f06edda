"""`emit`: one lowered stage as a `Program`."""

from __future__ import annotations

from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.spirv.emit import _MODELS, _modes
from gallette.compiler.spirv.emit.builder import ModuleBuilder
from gallette.compiler.spirv.emit.types import Types
from gallette.compiler.spirv.emit.values import Values
from gallette.compiler.spirv.grammar import value_of
from gallette.compiler.spirv.module import words_of

from . import inputs, memory, textures  # their handlers register themselves
from .code import DriverCode
from .interface import DriverInterface
from .options import EmitOptions
from .outputs import flush_fragment, flush_vertex
from .program import Program
from .system import PUSHED

__all__ = ["emit"]

_REGISTERED = (inputs, memory, textures)
_VERTICES = (Stage.VERTEX, Stage.TESS_EVAL)


def emit(shader: Shader, options: EmitOptions) -> Program:
    """Translate a shader in driver form: one function, slots for inputs and outputs."""
    b = ModuleBuilder()
    stage = shader.stage
    b.capability("Shader")
    if stage is Stage.GEOMETRY:
        b.capability("Geometry")
    elif stage in (Stage.TESS_CTRL, Stage.TESS_EVAL):
        b.capability("Tessellation")
    b.put("memory_model", "OpMemoryModel", 0, value_of("MemoryModel", "GLSL450"))
    types = Types(b)
    interface = DriverInterface(b, types, shader)
    main = b.id()
    code = DriverCode(Values(b, types), interface, stage, options)
    if stage in _VERTICES:
        code.flush = lambda c: flush_vertex(c)
    elif stage is Stage.FRAGMENT:
        code.flush = lambda c: flush_fragment(c)
    code.function(shader.entry, b.type("OpTypeFunction", b.void()), main)
    b.put(
        "entry",
        "OpEntryPoint",
        value_of("ExecutionModel", _MODELS[stage]),
        main,
        *words_of("main"),
        *interface.used,
    )
    if stage is Stage.COMPUTE:
        b.mode(main, "LocalSize", *(options.block or shader.info.workgroup_size))
    else:
        _modes(b, shader, main)
    if stage is Stage.FRAGMENT and ("Output", -1, "FragStencilRefEXT") in interface.slots:
        b.mode(main, "StencilRefReplacingEXT")
    found = [(storage, slot) for storage, slot, _ in interface.slots if slot >= 0]
    outputs = sorted({s for storage, s in found if storage == "Output"})
    return Program.of(
        stage,
        b.module(),
        interface.marks,
        bindings=dict(interface.bindings),
        inputs=tuple(sorted({s for storage, s in found if (storage == "Input" and s < 64)
                             or (stage is not Stage.VERTEX and storage == "Input")})),
        outputs=tuple(outputs) if stage is not Stage.FRAGMENT else (),
        wide_inputs=frozenset(interface.wide),
        doubles=frozenset(interface.doubles),
        writes_memory=interface.writes_memory,
        pushes_first=("pushed", PUSHED["first_vertex"]) in b.known,
    )  # fmt: skip

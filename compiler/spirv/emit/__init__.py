"""NIR to SPIR-V: `nir_to_spirv`."""

from __future__ import annotations

from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.spirv.emit.builder import ModuleBuilder
from gallette.compiler.spirv.emit.code import Code
from gallette.compiler.spirv.emit.interface import Interface
from gallette.compiler.spirv.emit.types import Types
from gallette.compiler.spirv.emit.values import Values
from gallette.compiler.spirv.grammar import value_of
from gallette.compiler.spirv.module import Module, SpirvError, words_of
from gallette.compiler.spirv.tables import MODELS

__all__ = ["nir_to_spirv", "write_module"]

_CAPABILITIES = {
    Stage.GEOMETRY: ("Geometry",),
    Stage.TESS_CTRL: ("Tessellation",),
    Stage.TESS_EVAL: ("Tessellation",),
}
INPUT_PRIMITIVES = {
    "points": "InputPoints",
    "lines": "InputLines",
    "lines_adjacency": "InputLinesAdjacency",
    "triangles": "Triangles",
    "triangles_adjacency": "InputTrianglesAdjacency",
}
OUTPUT_PRIMITIVES = {
    "points": "OutputPoints",
    "line_strip": "OutputLineStrip",
    "triangle_strip": "OutputTriangleStrip",
}
TESS_PRIMITIVES = {"triangles": "Triangles", "quads": "Quads", "isolines": "Isolines"}
TESS_SPACINGS = {
    "equal_spacing": "SpacingEqual",
    "fractional_even_spacing": "SpacingFractionalEven",
    "fractional_odd_spacing": "SpacingFractionalOdd",
}
DEPTH_LAYOUTS = {"greater": "DepthGreater", "less": "DepthLess", "unchanged": "DepthUnchanged"}


def nir_to_spirv(shader: Shader, file: str = "") -> Module:
    """One stage as a Vulkan-style module; its instructions have lines of the source `file`.

    The shader is one function in SSA form whose interface is variables and derefs: the output of
    `pipeline.FRONT_END` and `optimize`, before slots and offsets replace the variables.
    """
    b = ModuleBuilder()
    source = [value_of("SourceLanguage", "GLSL"), 460]
    if any(instr.loc for instr in instrs_of(shader.entry)):
        b.file = b.id()
        b.put("string", "OpString", b.file, *words_of(file or shader.name or "shader"))
        source.append(b.file)
    b.put("source", "OpSource", *source)
    return write_module(b, Interface(b, Types(b), shader), shader.entry_function.name)


def write_module(b: ModuleBuilder, interface: Interface, name: str) -> Module:
    """The module of an interface's shader, with an entry point of that name."""
    shader = interface.shader
    if shader.stage is Stage.KERNEL:
        raise SpirvError(f"a {shader.stage.value} is no stage of Vulkan's")
    b.capability("Shader", *_CAPABILITIES.get(shader.stage, ()))
    b.put("memory_model", "OpMemoryModel", 0, value_of("MemoryModel", "GLSL450"))
    main = b.id()
    b.name(main, name)
    code = Code(Values(b, interface.types), interface, shader.stage)
    code.function(shader.entry, b.type("OpTypeFunction", b.void()), main)
    words = value_of("ExecutionModel", MODELS[shader.stage]), main, *words_of(name), *interface.used
    b.put("entry", "OpEntryPoint", *words)
    _modes(b, shader, main)
    return b.module()


def _modes(b: ModuleBuilder, shader: Shader, main: int) -> None:
    info = shader.info
    if shader.stage is Stage.FRAGMENT:
        b.mode(main, "OriginUpperLeft")
        if info.early_fragment_tests:
            b.mode(main, "EarlyFragmentTests")
        if info.post_depth_coverage:
            b.capability("SampleMaskPostDepthCoverage")
            b.mode(main, "PostDepthCoverage")
        if info.interlocks:
            b.capability("FragmentShaderPixelInterlockEXT")
            b.mode(main, "PixelInterlockOrderedEXT")
        builtin = value_of("BuiltIn", "FragDepth")
        decorations = b.sections["decoration"]
        if any(i.name == "OpDecorate" and i.words[1:] == (11, builtin) for i in decorations):
            b.mode(main, "DepthReplacing")
            if info.depth_layout in DEPTH_LAYOUTS:
                b.mode(main, DEPTH_LAYOUTS[info.depth_layout])
        if "StencilExportEXT" in b.capabilities:
            b.mode(main, "StencilRefReplacingEXT")
    elif shader.stage is Stage.GEOMETRY:
        b.mode(main, INPUT_PRIMITIVES[info.input_primitive])
        b.mode(main, OUTPUT_PRIMITIVES[info.output_primitive])
        b.mode(main, "OutputVertices", info.vertices_out)
        b.mode(main, "Invocations", info.invocations)
    elif shader.stage is Stage.TESS_CTRL:
        b.mode(main, "OutputVertices", info.vertices_out)
    elif shader.stage is Stage.TESS_EVAL:
        b.mode(main, TESS_PRIMITIVES[info.tess_primitive])
        b.mode(main, TESS_SPACINGS[info.tess_spacing])
        b.mode(main, "VertexOrderCcw" if info.tess_ccw else "VertexOrderCw")
        if info.tess_point_mode:
            b.mode(main, "PointMode")
    elif shader.stage is Stage.COMPUTE:
        b.mode(main, "LocalSize", *info.workgroup_size)
    if "TransformFeedback" in b.capabilities:
        b.mode(main, "Xfb")

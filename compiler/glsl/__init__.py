"""The GLSL front end and linker: `compile_shader`, `link_program`.

Source goes through `preprocessor`, `lexer`, `parser` (syntax tree), `checker` (checked tree,
`hir`); `link` joins shaders and stages, and `lower` builds NIR.
"""

from gallette.compiler.glsl.api import CompiledShader, CompileOptions, compile_shader, link_program
from gallette.compiler.glsl.cached import compile_cached, link_cached
from gallette.compiler.glsl.diagnostics import Diagnostic
from gallette.compiler.glsl.language import EXTENSIONS
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.program import (
    AtomicBuffer,
    Attribute,
    FragOutput,
    LinkedProgram,
    LinkOptions,
    SubroutineUniform,
    Uniform,
    UniformBlock,
    Varying,
    vertex_elements,
)

__all__ = [
    "EXTENSIONS",
    "AtomicBuffer",
    "Attribute",
    "CompileOptions",
    "CompiledShader",
    "Diagnostic",
    "FragOutput",
    "Limits",
    "LinkOptions",
    "LinkedProgram",
    "SubroutineUniform",
    "Uniform",
    "UniformBlock",
    "Varying",
    "compile_cached",
    "compile_shader",
    "link_cached",
    "link_program",
    "vertex_elements",
]

"""Copies of whole shaders, under the ownership rule.

A shader is reference-counted (see `ownership`). Code that needs to modify one calls
`mutable(shader)`; code that needs a second one calls `clone_shader`.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.copying import Remap, clone_body
from gallette.compiler.nir.ir.ownership import COUNTERS
from gallette.compiler.nir.ir.shader import Function, FunctionImpl, Shader


def clone_shader(shader: Shader) -> Shader:
    """An independent copy, with one reference that belongs to the caller."""
    shared = shader.shared_copy()
    if shared is not None:
        COUNTERS.created -= 1
        COUNTERS.cloned += 1
        COUNTERS.cloned_instrs += shared.count_instrs()
        return shared
    new = copy_shader(shader)
    COUNTERS.created -= 1
    COUNTERS.cloned += 1
    COUNTERS.cloned_instrs += new.count_instrs()
    return new


def copy_shader(shader: Shader) -> Shader:
    """A new shader with the same code, counted as newly created."""
    new = Shader(shader.stage, shader.name)
    new.label = shader.label
    new.info = shader.info.copy()
    remap = Remap()
    new.variables = [remap.variable(var) for var in shader.variables]
    for function in shader.functions:
        params = [parameter.copy() for parameter in function.params]
        twin = Function(function.name, params, None, function.is_entry)
        remap.functions[function] = twin
        new.functions.append(twin)
    for impl in shader.impls():
        copy = FunctionImpl(new, remap.functions[impl.function])
        copy.locals = [remap.variable(var) for var in impl.locals]
        copy.body = clone_body(impl.body, copy, remap)
        remap.finish_phis()
    return new


def mutable(shader: Shader) -> Shader:
    """A shader that is safe to modify, in exchange for the caller's reference.

    It is the shader itself if that is the only reference, otherwise a clone.
    """
    if shader.refcount == 1:
        return shader
    clone = clone_shader(shader)
    shader.unref()
    return clone

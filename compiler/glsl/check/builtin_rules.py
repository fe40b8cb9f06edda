"""Requirements of some built-in functions on their arguments, besides their types."""

from __future__ import annotations

from gallette.compiler.glsl.builtins.functions import Overload
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import Checker, constant_value
from gallette.compiler.glsl.check.lvalues import memory_of
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.qualifiers import IMAGE_FORMATS, ONE_WORD
from gallette.compiler.nir.ir.types import IVEC2, Base

_COMPUTED_OFFSETS = "400 es320 ARB_gpu_shader5 EXT_gpu_shader5 OES_gpu_shader5"


def check_texture_offset(c: Checker, o: Overload, args: list[hir.Expr], node: s.Call) -> None:
    """Check that texel offsets are constant and within limits (newer gathers allow others)."""
    gather = "Gather" in o.name
    if o.name == "textureGatherOffset" and not c.lang.has(_COMPUTED_OFFSETS):
        for (_, type_), arg, written in zip(o.params, args, node.args, strict=True):
            if type_ is IVEC2 and constant_value(arg) is None:
                raise c.abort("the texel offset must be a constant expression", written)
    for (_, type_), arg, written in zip(o.params, args, node.args, strict=True):
        if gather or "Offset" not in o.name or type_.base is not Base.INT:
            continue
        if o.name.startswith("texelFetch") and written is not node.args[-1]:
            continue
        value = constant_value(arg)
        if value is None:
            raise c.abort("the texel offset must be a constant expression", written)
        low, high = c.limits.min_program_texel_offset, c.limits.max_program_texel_offset
        if any(not low <= x <= high for x in value):
            raise c.abort(f"the texel offset must lie between {low} and {high}", written)


def check_special(c: Checker, o: Overload, args: list[hir.Expr], node: s.Call) -> None:
    name = o.name
    if name == "barrier" and c.stage == "tess_ctrl":
        if c.function is None or c.function.name != "main":
            raise c.abort("barrier() must be called from main()", node)
        if c.control_depth:
            raise c.abort("barrier() cannot be inside control flow", node)
        if c.returned:
            raise c.abort("barrier() cannot follow a return statement", node)
    if name.startswith("interpolateAt"):
        check_interpolant(c, args[0], node)
    if not args or name.startswith("atomicCounter"):
        return
    if name in ("EmitStreamVertex", "EndStreamPrimitive"):
        # The linker checks which streams exist.
        stream = c.integer_constant(args[0], "the stream")
        c.shader.layout.setdefault("streams", set()).add(stream)
        return
    root = args[0]
    while isinstance(root, (hir.IndexRef, hir.FieldRef, hir.Swizzle)):
        root = root.base
    if not isinstance(root, hir.VarRef):
        if name.startswith("atomic"):
            raise c.abort(f"'{name}' needs a buffer or shared variable", node.args[0])
        return
    var = root.var
    memory = memory_of(c, args[0])
    if name.startswith("atomic"):
        if var.quals.storage not in ("buffer", "shared"):
            raise c.abort(f"'{name}' needs a buffer or shared variable", node.args[0])
    elif name.startswith("image") and name not in ("imageSize", "imageSamples"):
        reads = name != "imageStore"
        writes = name != "imageLoad"
        if reads and "writeonly" in memory:
            raise c.abort(f"'{name}' reads an image declared writeonly", node.args[0])
        if writes and "readonly" in memory:
            raise c.abort(f"'{name}' writes an image declared readonly", node.args[0])
        if name.startswith("imageAtomic") and not var.quals.flags & IMAGE_FORMATS <= ONE_WORD:
            raise c.abort(f"'{name}' needs an image of format r32i, r32ui or r32f", node.args[0])


def check_interpolant(c: Checker, arg: hir.Expr, node: s.Call) -> None:
    at = arg
    while isinstance(at, (hir.IndexRef, hir.FieldRef, hir.Swizzle)):
        if isinstance(at, hir.Swizzle) and not c.lang.has("440"):
            raise c.abort("the interpolant cannot be swizzled", node.args[0])
        at = at.base
    if not isinstance(at, hir.VarRef) or at.var.quals.storage != "in" or at.var.kind == "param":
        raise c.abort("the interpolant must be a fragment shader input", node.args[0])

"""Calls: overload resolution, built-in functions, constructors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from gallette.compiler.glsl.builtins.functions import Overload, overloads
from gallette.compiler.glsl.check import fold, hir
from gallette.compiler.glsl.check.base import FunctionSet, constant_value
from gallette.compiler.glsl.check.constructors import ConstructorChecker
from gallette.compiler.glsl.check.conversions import can_convert, conversion_rank
from gallette.compiler.glsl.diagnostics import Abort
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type

__all__ = ["CallChecker"]

_Params = Sequence[tuple[str, Type]]


class CallChecker(ConstructorChecker):
    """Everything written `name(args)`."""

    @abstractmethod
    def lvalue(self, expr: hir.Expr, node: s.Expr, how: str) -> None:
        """Insist that something can be written."""

    @abstractmethod
    def warn_uninitialized(self, var: hir.Variable, node: s.Expr) -> None:
        """Say that a variable is read before anything was written to it."""

    @abstractmethod
    def resolve_type(self, ref: s.TypeRef) -> Type:
        """The type a type reference means."""

    # -- choosing an overload ----------------------------------------------------------------

    def _matches(self, params: _Params, args: list[hir.Expr]) -> bool | None:
        """True exact, False with conversions, None not at all."""
        if len(params) != len(args):
            return None
        exact = True
        for (direction, type_), arg in zip(params, args, strict=True):
            if arg.type is type_:
                continue
            if (
                type_.is_array
                and type_.length == 0
                and arg.type.is_array
                and arg.type.element is type_.element
            ):
                continue
            exact = False
            forward = direction in ("in", "const", "inout")
            if forward and not can_convert(arg.type, type_, self.lang):
                return None
            if direction in ("out", "inout") and not can_convert(type_, arg.type, self.lang):
                return None
        return exact

    def _better(self, a: _Params, b: _Params, args: list[hir.Expr]) -> bool:
        """Is `a` a better match than `b`: better somewhere, worse nowhere?"""
        better = False
        for (direction, pa), (_, pb), arg in zip(a, b, args, strict=True):
            if direction == "out":
                ra, rb = conversion_rank(pa, arg.type), conversion_rank(pb, arg.type)
            else:
                ra, rb = conversion_rank(arg.type, pa), conversion_rank(arg.type, pb)
            if ra > rb:
                return False
            better = better or ra < rb
        return better

    def choose(
        self, candidates: list[tuple[_Params, object]], args: list[hir.Expr]
    ) -> object | str | None:
        """The chosen candidate, None if none fits, or a message when several do."""
        loose: list[tuple[_Params, object]] = []
        for params, candidate in candidates:
            match = self._matches(params, args)
            if match:
                return candidate
            if match is not None:
                loose.append((params, candidate))
        if not loose:
            return None
        if len(loose) == 1:
            return loose[0][1]
        if self.lang.has(
            "400 ARB_gpu_shader5 ARB_gpu_shader_fp64 MESA_shader_integer_functions "
            "EXT_shader_implicit_conversions ARB_gpu_shader_int64"
        ):
            for params, candidate in loose:
                if all(
                    other is candidate or self._better(params, other_params, args)
                    for other_params, other in loose
                ):
                    return candidate
        return "ambiguous"

    # -- calls -------------------------------------------------------------------------------

    def call(self, node: s.Call) -> hir.Expr:
        if isinstance(node.callee, s.Member):
            return self.method(node, node.callee)
        if isinstance(node.callee, s.TypeRef):
            type_ = self.resolve_type(node.callee)
            return self.construct(type_, node)
        if isinstance(node.callee, s.Index):
            return self.call_element(node, node.callee)
        name = node.callee.name
        symbol = self.find_function(name)
        if isinstance(symbol, Type):
            return self.construct(symbol, node)
        # Arguments may turn out to be `out` parameters, which are not read.
        self.quiet += 1
        args = [self.expr(a) for a in node.args]
        self.quiet -= 1
        if isinstance(symbol, hir.Variable):
            if symbol.type is t.ERROR:
                raise Abort
            if symbol.type.without_array.base is Base.SUBROUTINE:
                return self.call_subroutine(symbol, args, node)
            raise self.abort(f"'{name}' is a variable, not a function", node.callee)
        user = symbol.functions if isinstance(symbol, FunctionSet) else []
        candidates: list[tuple[_Params, object]] = [
            ([(p.quals.storage or "in", p.type) for p in f.params], f) for f in user
        ]
        builtins: tuple[Overload, ...] = ()
        if not user or self.lang.es:
            builtins = overloads(name, self.lang)
            candidates += [(o.params, o) for o in builtins]
        chosen = self.choose(candidates, args)
        if isinstance(chosen, hir.Function):
            return self.call_user(chosen, args, node)
        if isinstance(chosen, Overload):
            return self.call_builtin(chosen, args, node)
        raise self.no_match(name, args, node, user, builtins, ambiguous=chosen is not None)

    def call_element(self, node: s.Call, callee: s.Index) -> hir.Expr:
        """`subroutines[i](...)`"""
        symbol = self.find(callee.base.name) if isinstance(callee.base, s.Name) else None
        index = self.expr(callee.index)
        if (
            not isinstance(symbol, hir.Variable)
            or symbol.type.without_array.base is not Base.SUBROUTINE
            or not index.type.is_scalar
            or not index.type.is_integer
        ):
            raise self.abort("only an element of an array of subroutines can be called", callee)
        return self.call_subroutine(symbol, [self.expr(a) for a in node.args], node, index)

    def find_function(self, name: str) -> object:
        """A function or type name; variables hide functions declared outside their scope."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def no_match(
        self,
        name: str,
        args: list[hir.Expr],
        node: s.Call,
        user: list[hir.Function],
        builtins: tuple[Overload, ...],
        ambiguous: bool,
    ) -> Abort:
        shown = f"{name}({', '.join(str(a.type) for a in args)})"
        known: list[hir.Function | Overload] = [*user, *builtins]
        if ambiguous:
            return self.abort(f"call of '{shown}' is ambiguous", node)
        if known:
            by_count = [k for k in known if len(k.params) == len(args)] or known
            given = [a.type for a in args]

            def similarity(candidate: hir.Function | Overload) -> int:
                types = [p.type if isinstance(p, hir.Variable) else p[1] for p in candidate.params]
                return sum(a is b for a, b in zip(types, given, strict=False))

            by_count.sort(key=similarity, reverse=True)
            listed = "; ".join(str(k) for k in by_count[:4])
            more = f"; and {len(by_count) - 4} more" if len(by_count) > 4 else ""
            return self.abort(f"no overload fits '{shown}'", node, f"candidates: {listed}{more}")
        return self.abort(
            f"function '{name}' is not declared", node.callee, self.suggest(name, functions=True)
        )

    def pass_arguments(
        self, params: _Params, args: list[hir.Expr], node: s.Call, name: str
    ) -> list[hir.Expr]:
        """Convert `in` arguments, insist on l-values for the others."""
        out: list[hir.Expr] = []
        for (direction, type_), arg, written in zip(params, args, node.args, strict=True):
            if direction in ("out", "inout"):
                self.lvalue(arg, written, f"{direction} argument of '{name}'")
                out.append(arg)
            else:
                if isinstance(written, s.Name) and isinstance(arg, hir.VarRef):
                    if arg.var.kind == "local" and not arg.var.written:
                        self.warn_uninitialized(arg.var, written)
                if direction == "const" and constant_value(arg) is None:
                    raise self.abort(f"this argument of '{name}' must be constant", written)
                same = arg.type is type_ or type_.is_array
                out.append(arg if same else self.convert(arg, type_))
        return out

    def call_user(self, f: hir.Function, args: list[hir.Expr], node: s.Call) -> hir.Expr:
        params = [(p.quals.storage or "in", p.type) for p in f.params]
        values = self.pass_arguments(params, args, node, f.name)
        for param, arg in zip(f.params, args, strict=True):
            self.check_memory_argument(param, arg)
        if self.function is not None:
            self.function.calls.append((f, node.loc, node.end))
        else:
            self.pending_calls.append(f)
        return hir.Call(f.result, node.loc, node.end, f, values)

    pending_calls: list[hir.Function]

    def check_memory_argument(self, param: hir.Variable, arg: hir.Expr) -> None:
        """A memory qualifier of the argument may not be lost on the way."""
        if not param.type.without_array.is_image:
            return
        at = arg
        while isinstance(at, (hir.IndexRef, hir.FieldRef)):
            at = at.base
        if isinstance(at, hir.VarRef):
            lost = at.var.quals.memory - param.quals.memory - {"restrict"}
            if lost:
                raise self.abort(f"argument has '{min(lost)}', the parameter does not", arg)

    def call_subroutine(
        self, var: hir.Variable, args: list[hir.Expr], node: s.Call, index: hir.Expr | None = None
    ) -> hir.Expr:
        self.use(var)
        prototype = self.shader.subroutine_types[var.type.without_array.name]
        params = [(p.quals.storage or "in", p.type) for p in prototype.params]
        if self._matches(params, args) is None:
            raise self.no_match(var.name, args, node, [prototype], (), ambiguous=False)
        values = self.pass_arguments(params, args, node, var.name)
        target: hir.Expr = hir.VarRef(var.type, node.loc, node.end, var)
        if index is not None:
            target = hir.IndexRef(var.type.without_array, node.loc, node.end, target, index)
        return hir.SubroutineCall(prototype.result, node.loc, node.end, target, prototype, values)

    def call_builtin(self, o: Overload, args: list[hir.Expr], node: s.Call) -> hir.Expr:
        name = o.name
        if name.startswith(("atomic", "image", "inter")) or o.result is t.VOID:
            self.check_special(o, args, node)
        values = self.pass_arguments(o.params, args, node, name)
        if self.function is not None:
            self.function.uses.add(name)
        if name == "ftransform":
            for needed in ("gl_ModelViewProjectionMatrix", "gl_Vertex"):
                var = self.find(needed)
                assert isinstance(var, hir.Variable)
                self.use(var)
        call = hir.BuiltinCall(o.result, node.loc, node.end, name, o.params, values)
        constants = [constant_value(v) for v in values]
        known = [c for c in constants if c is not None]
        if known and len(known) == len(values):
            folded = fold.builtin(call, known)
            if folded is not None:
                return hir.Const(o.result, node.loc, node.end, folded)
        if "Offset" in name or name.startswith("textureGather"):
            self.check_texture_offset(o, values, node)
        return call

    def check_texture_offset(self, o: Overload, args: list[hir.Expr], node: s.Call) -> None:
        """Texel offsets are constant and within limits (gathers may compute theirs)."""
        gather = "Gather" in o.name
        for (_, type_), arg, written in zip(o.params, args, node.args, strict=True):
            if gather or "Offset" not in o.name or type_.base is not Base.INT:
                continue
            if o.name.startswith("texelFetch") and written is not node.args[-1]:
                continue
            value = constant_value(arg)
            if value is None:
                raise self.abort("the texel offset must be a constant expression", written)
            low, high = self.limits.min_program_texel_offset, self.limits.max_program_texel_offset
            if any(not low <= x <= high for x in value):
                raise self.abort(f"the texel offset must lie between {low} and {high}", written)

    def check_special(self, o: Overload, args: list[hir.Expr], node: s.Call) -> None:
        name = o.name
        if name == "barrier" and self.stage == "tess_ctrl":
            if self.function is None or self.function.name != "main":
                raise self.abort("barrier() must be called from main()", node)
            if self.control_depth:
                raise self.abort("barrier() cannot be inside control flow", node)
            if self.returned:
                raise self.abort("barrier() cannot follow a return statement", node)
        if name.startswith("interpolateAt"):
            self.check_interpolant(args[0], node)
        if not args or name.startswith("atomicCounter"):
            return
        if name in ("EmitStreamVertex", "EndStreamPrimitive"):
            # Which streams exist is a question for the linker.
            stream = self.integer_constant(args[0], "the stream")
            self.shader.layout.setdefault("streams", set()).add(stream)
            return
        root = args[0]
        while isinstance(root, (hir.IndexRef, hir.FieldRef, hir.Swizzle)):
            root = root.base
        if not isinstance(root, hir.VarRef):
            if name.startswith("atomic"):
                raise self.abort(f"'{name}' needs a buffer or shared variable", node.args[0])
            return
        var = root.var
        memory = self.memory_of(args[0])
        if name.startswith("atomic"):
            if var.quals.storage not in ("buffer", "shared"):
                raise self.abort(f"'{name}' needs a buffer or shared variable", node.args[0])
        elif name.startswith("image") and name not in ("imageSize", "imageSamples"):
            reads = name != "imageStore"
            writes = name != "imageLoad"
            if reads and "writeonly" in memory:
                raise self.abort(f"'{name}' reads an image declared writeonly", node.args[0])
            if writes and "readonly" in memory:
                raise self.abort(f"'{name}' writes an image declared readonly", node.args[0])

    control_depth: int
    returned: bool

    def memory_of(self, expr: hir.Expr) -> frozenset[str]:
        """Memory qualifiers that hold for an access path."""
        found: frozenset[str] = frozenset()
        while True:
            if isinstance(expr, hir.FieldRef):
                if isinstance(expr.base.type, Type) and expr.base.type.is_interface:
                    root: hir.Expr = expr.base
                    while isinstance(root, hir.IndexRef):
                        root = root.base
                    if isinstance(root, hir.VarRef) and root.var.block is not None:
                        found |= root.var.block.member_quals[expr.index].memory
                expr = expr.base
            elif isinstance(expr, (hir.IndexRef, hir.Swizzle)):
                expr = expr.base
            elif isinstance(expr, hir.VarRef):
                return found | expr.var.quals.memory
            else:
                return found

    def check_interpolant(self, arg: hir.Expr, node: s.Call) -> None:
        at = arg
        while isinstance(at, (hir.IndexRef, hir.FieldRef, hir.Swizzle)):
            if isinstance(at, hir.Swizzle) and not self.lang.has("440 es320"):
                raise self.abort("the interpolant cannot be swizzled", node.args[0])
            at = at.base
        if not isinstance(at, hir.VarRef) or at.var.quals.storage != "in" or at.var.kind == "param":
            raise self.abort("the interpolant must be a fragment shader input", node.args[0])

    # -- methods -----------------------------------------------------------------------------

    def method(self, node: s.Call, callee: s.Member) -> hir.Expr:
        base = callee.base
        if callee.name != "length":
            raise self.abort(
                f"there is no method '{callee.name}'", callee, "the only one is length()"
            )
        if node.args:
            raise self.abort("length() takes no arguments", node)
        self.quiet += 1  # asking for a length reads nothing
        value = self.expr(base)
        self.quiet -= 1
        type_ = value.type
        if type_.is_array:
            self.need("120 es300", "length()", callee)
            if type_.length:
                return hir.Const(t.INT, node.loc, node.end, (type_.length,))
            if self.is_runtime_array(value) or self.is_per_vertex_input(value):
                return hir.Length(t.INT, node.loc, node.end, value)
            if self.lang.has("430 es310 ARB_shader_storage_buffer_object"):
                return hir.Length(t.INT, node.loc, node.end, value)
            raise self.abort("length() of an array without a size", callee)
        if type_.is_vector or type_.is_matrix:
            self.need("420 ARB_shading_language_420pack", "length() of vectors", callee)
            return hir.Const(t.INT, node.loc, node.end, (type_.indexed_length(),))
        raise self.abort(f"'{type_}' has no length", callee)

    def is_runtime_array(self, expr: hir.Expr) -> bool:
        """Is it the unsized array at the end of a storage block?"""
        if isinstance(expr, hir.VarRef):
            return expr.var.quals.storage == "buffer"
        if isinstance(expr, hir.FieldRef):
            root = expr.base
            while isinstance(root, hir.IndexRef):
                root = root.base
            return isinstance(root, hir.VarRef) and root.var.quals.storage == "buffer"
        return False

    def is_per_vertex_input(self, expr: hir.Expr) -> bool:
        """Arrays of geometry inputs and tessellation outputs get their size from a layout."""
        return (
            isinstance(expr, hir.VarRef)
            and expr.var.kind == "global"
            and (
                (self.stage in ("geometry", "tess_ctrl") and expr.var.quals.storage == "in")
                or (self.stage == "tess_ctrl" and expr.var.quals.storage == "out")
                or (self.stage == "tess_eval" and expr.var.quals.storage == "in")
            )
        )

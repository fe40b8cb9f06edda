"""Expressions: names, operators, members, subscripts, assignment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gallette.compiler.glsl.check import fold, hir
from gallette.compiler.glsl.check.base import FunctionSet, constant_value
from gallette.compiler.glsl.check.calls import CallChecker
from gallette.compiler.glsl.check.conversions import (
    can_convert,
    common_base,
    operator_type,
    shape_with,
)
from gallette.compiler.glsl.diagnostics import Abort, did_you_mean
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type

__all__ = ["ExpressionChecker"]

_SWIZZLES = ("xyzw", "rgba", "stpq")
_BITWISE = frozenset(("&", "|", "^", "<<", ">>", "%", "~"))


class ExpressionChecker(CallChecker):
    """Checks every kind of expression node."""

    _dispatch: dict[type[s.Expr], Callable[[Any, Any], hir.Expr]]

    def expr(self, node: s.Expr) -> hir.Expr:
        return self._dispatch[type(node)](self, node)

    # -- leaves ------------------------------------------------------------------------------

    def literal(self, node: s.Literal) -> hir.Expr:
        type_ = _LITERALS[node.kind]
        value = fold.round_to(type_.base, node.value)
        return hir.Const(type_, node.loc, node.end, (value,))

    def name(self, node: s.Name) -> hir.Expr:
        symbol = self.find(node.name)
        if isinstance(symbol, hir.Variable):
            if symbol.type is t.ERROR:
                raise Abort
            self.use(symbol)
            if symbol.kind == "local" and not symbol.written and not self.quiet:
                self.warn_uninitialized(symbol, node)
            value = symbol.const_value
            if value is not None and not symbol.type.is_aggregate:
                return hir.Const(symbol.type, node.loc, node.end, value)
            return hir.VarRef(symbol.type, node.loc, node.end, symbol)
        if isinstance(symbol, FunctionSet):
            raise self.abort(f"function '{node.name}' is used without a call", node)
        if isinstance(symbol, Type):
            raise self.abort(f"type '{node.name}' is used as a value", node)
        hint = self.suggest(node.name)
        if node.name.startswith("gl_"):
            raise self.abort(
                f"'{node.name}' is not a built-in variable of {self.lang.name} "
                f"{self.stage.replace('_', ' ')} shaders",
                node,
                hint,
            )
        raise self.abort(f"'{node.name}' is not declared", node, hint)

    def warn_uninitialized(self, var: hir.Variable, node: s.Expr) -> None:
        """A local that nothing has written to yet is read; said once per variable."""
        if var.quals.storage == "const" or var.const_value is not None:
            return
        self.warn(f"'{var.name}' is read before it is written", node)
        var.written = True

    def init_list(self, node: s.InitList) -> hir.Expr:
        raise self.abort("an initializer list can only initialize a variable", node)

    def type_as_value(self, node: s.TypeRef) -> hir.Expr:
        raise self.abort(f"type '{node.name}' is used as a value", node)

    # -- operators ---------------------------------------------------------------------------

    def unary(self, node: s.Unary) -> hir.Expr:
        operand = self.expr(node.operand)
        op, type_ = node.op, operand.type
        if op in ("++", "--", "p++", "p--"):
            return self.step(node, operand)
        if op == "!":
            if type_ is not t.BOOL:
                raise self.abort(
                    f"'!' needs a bool, not '{type_}'",
                    node,
                    "use not() for vectors" if type_.is_boolean and type_.is_vector else "",
                )
        elif op == "~":
            self.need("130 es300 EXT_gpu_shader4", "operator '~'", node)
            if not type_.is_integer:
                raise self.abort(f"'~' needs an integer, not '{type_}'", node)
        elif not type_.is_numeric or type_.is_boolean:
            raise self.abort(f"'{op}' cannot be applied to '{type_}'", node)
        if op == "+":
            return operand
        if isinstance(operand, hir.Const):
            value = fold.unary(op, type_, operand.value)
            return hir.Const(type_, node.loc, node.end, value)
        return hir.Unary(type_, node.loc, node.end, op, operand)

    def step(self, node: s.Unary, operand: hir.Expr) -> hir.Expr:
        type_ = operand.type
        op = node.op.removeprefix("p")
        if not type_.is_numeric or type_.is_boolean:
            raise self.abort(f"'{op}' cannot be applied to '{type_}'", node)
        self.lvalue(operand, node.operand, f"'{op}'")
        return hir.Step(type_, node.loc, node.end, op[0], node.op[0] == "p", operand)

    def binary(self, node: s.Binary) -> hir.Expr:
        # Long chains lean to the left; walking that spine in a loop keeps them off the stack.
        spine = [node]
        while isinstance(spine[-1].left, s.Binary):
            spine.append(spine[-1].left)
        left = self.expr(spine[-1].left)
        for link in reversed(spine):
            left = self.apply(link, left, self.expr(link.right))
        return left

    def apply(self, node: s.Binary, left: hir.Expr, right: hir.Expr) -> hir.Expr:
        op = node.op
        if op in ("&&", "||", "^^"):
            return self.logical(node, left, right)
        if op in ("==", "!="):
            return self.equality(node, left, right)
        if op in _BITWISE:
            self.need("130 es300 EXT_gpu_shader4", f"operator '{op}'", node)
        return self.arithmetic(op, left, right, node)

    def arithmetic(self, op: str, left: hir.Expr, right: hir.Expr, node: s.Expr) -> hir.Expr:
        found = operator_type(op, left.type, right.type, self.lang)
        if isinstance(found, str):
            raise self.abort(f"'{left.type} {op} {right.type}' is not possible", node, found)
        result, base_left, base_right = found
        left = self.convert(left, shape_with(left.type, base_left))
        right = self.convert(right, shape_with(right.type, base_right))
        if isinstance(left, hir.Const) and isinstance(right, hir.Const):
            if op in ("/", "%") and result.is_integer and 0 in right.value:
                self.warn("integer division by zero", node)
            value = fold.binary(op, result, left.type, left.value, right.type, right.value)
            return hir.Const(result, node.loc, node.end, value)
        return hir.Binary(result, node.loc, node.end, op, left, right)

    def logical(self, node: s.Binary, left: hir.Expr, right: hir.Expr) -> hir.Expr:
        for side in (left, right):
            if side.type is not t.BOOL:
                raise self.abort(f"'{node.op}' needs bool operands, not '{side.type}'", side)
        if isinstance(left, hir.Const) and isinstance(right, hir.Const):
            a, b = left.value[0], right.value[0]
            value = (a and b) if node.op == "&&" else (a or b) if node.op == "||" else a != b
            return hir.Const(t.BOOL, node.loc, node.end, (value,))
        return hir.Logical(t.BOOL, node.loc, node.end, node.op, left, right)

    def equality(self, node: s.Binary, left: hir.Expr, right: hir.Expr) -> hir.Expr:
        a, b = left.type, right.type
        if a is not b:
            base = common_base(a, b, self.lang) if a.is_numeric and b.is_numeric else None
            if base is None or (a.rows, a.columns) != (b.rows, b.columns):
                raise self.abort(f"'{a} {node.op} {b}' is not possible", node)
            left, right = (
                self.convert(left, shape_with(a, base)),
                self.convert(right, shape_with(b, base)),
            )
        elif a.contains_opaque() or a is t.VOID:
            raise self.abort(f"values of type '{a}' cannot be compared", node)
        elif a.without_array is not a:
            self.need("120 es300", "comparing arrays", node)
            if a.is_unsized_array:
                raise self.abort("arrays without a size cannot be compared", node)
        va, vb = constant_value(left), constant_value(right)
        if va is not None and vb is not None:
            same = fold.equal(left.type, va, vb)
            return hir.Const(t.BOOL, node.loc, node.end, (same == (node.op == "=="),))
        return hir.Binary(t.BOOL, node.loc, node.end, node.op, left, right)

    def conditional(self, node: s.Conditional) -> hir.Expr:
        condition = self.expr(node.condition)
        if condition.type is not t.BOOL:
            raise self.abort(f"the condition is '{condition.type}', not bool", node.condition)
        then, otherwise = self.expr(node.then), self.expr(node.otherwise)
        a, b = then.type, otherwise.type
        if a is not b:
            if can_convert(a, b, self.lang):
                then = self.convert(then, b)
            elif can_convert(b, a, self.lang):
                otherwise = self.convert(otherwise, a)
            else:
                raise self.abort(f"the branches have different types '{a}' and '{b}'", node)
        type_ = then.type
        if type_.is_array:
            self.need("120 es300", "selecting between arrays", node)
        if type_.contains_opaque() and not self.lang.has("ARB_bindless_texture"):
            raise self.abort(f"'?:' cannot select between values of type '{type_}'", node)
        if isinstance(condition, hir.Const):
            chosen = then if condition.value[0] else otherwise
            if constant_value(then) is not None and constant_value(otherwise) is not None:
                value = constant_value(chosen)
                assert value is not None
                return hir.Const(type_, node.loc, node.end, value)
        return hir.Select(type_, node.loc, node.end, condition, then, otherwise)

    def comma(self, node: s.Comma) -> hir.Expr:
        items = [self.expr(item) for item in node.items]
        return hir.Comma(items[-1].type, node.loc, node.end, items)

    # -- assignment --------------------------------------------------------------------------

    def assign(self, node: s.Assign) -> hir.Expr:
        value = self.expr(node.value)
        self.quiet += node.op == "="
        target = self.expr(node.target)
        self.quiet -= node.op == "="
        self.lvalue(target, node.target, "the left side of an assignment")
        type_ = target.type
        op = node.op[:-1]
        if not op:
            if type_.is_array:
                self.need("120 es300", "assigning whole arrays", node)
                if type_.is_unsized_array:
                    raise self.abort("an array without a size cannot be assigned", node.target)
            value = self.coerce(value, type_, "assignment")
            return hir.Assign(type_, node.loc, node.end, "", target, value)
        if op in _BITWISE:
            self.need("130 es300 EXT_gpu_shader4", f"operator '{node.op}'", node)
        found = operator_type(op, type_, value.type, self.lang)
        if isinstance(found, str):
            raise self.abort(f"'{type_} {node.op} {value.type}' is not possible", node, found)
        result, base_left, base_right = found
        if result is not type_ or base_left is not type_.base:
            raise self.abort(
                f"'{type_} {node.op} {value.type}' gives '{result}', which is not '{type_}'", node
            )
        value = self.convert(value, shape_with(value.type, base_right))
        return hir.Assign(type_, node.loc, node.end, op, target, value)

    def lvalue(self, expr: hir.Expr, node: s.Expr, how: str) -> None:
        if isinstance(expr, hir.VarRef):
            self.writable(expr.var, node, how)
        elif isinstance(expr, (hir.FieldRef, hir.IndexRef)):
            if isinstance(expr, hir.FieldRef) and "readonly" in self.memory_of(expr):
                raise self.abort(f"{how} is readonly", node)
            inner = node.base if isinstance(node, (s.Index, s.Member)) else node
            self.lvalue(expr.base, inner, how)
        elif isinstance(expr, hir.Swizzle):
            if len(set(expr.components)) < len(expr.components):
                raise self.abort(f"{how} repeats a swizzle component", node)
            self.lvalue(expr.base, node.base if isinstance(node, s.Member) else node, how)
        else:
            shown = ""
            root = node
            while isinstance(root, (s.Index, s.Member)):
                root = root.base
            if isinstance(expr, hir.Const) and isinstance(root, s.Name):
                shown = f": '{root.name}' is constant"
            raise self.abort(f"{how} must be a variable{shown}", node)
        if isinstance(expr, hir.VarRef) and expr.type.contains_opaque():
            opaque = expr.type.without_array
            bindless = self.lang.has("ARB_bindless_texture") and (
                opaque.is_sampler or opaque.is_image or opaque.is_struct
            )
            if not bindless or expr.var.quals.storage == "uniform":
                raise self.abort(f"variables of type '{expr.type}' cannot be written", node)

    def writable(self, var: hir.Variable, node: s.Expr, how: str) -> None:
        storage = var.quals.storage
        reason = ""
        if storage == "const" or var.const_value is not None:
            reason = "constant"
        elif storage == "uniform":
            reason = "a uniform"
        elif storage == "in" and var.kind != "param":
            reason = "a shader input"
        elif "readonly" in var.quals.memory and storage == "buffer":
            reason = "readonly"
        elif var.kind == "param" and var.read_only:
            reason = "a constant parameter"
        if reason:
            raise self.abort(f"{how} cannot be '{var.name}': it is {reason}", node)
        var.written = True

    # -- parts -------------------------------------------------------------------------------

    def member(self, node: s.Member) -> hir.Expr:
        base = self.expr(node.base)
        type_ = base.type
        if type_.is_struct:
            index = type_.field_index(node.name)
            if index < 0:
                names = [f.name for f in type_.fields]
                raise self.log.abort(
                    f"'{type_}' has no member '{node.name}'",
                    node.name_loc,
                    node.name_loc + len(node.name),
                    did_you_mean(node.name, names) or f"members: {', '.join(names[:8])}",
                )
            value = constant_value(base)
            field_type = type_.fields[index].type
            if value is not None:
                return hir.Const(field_type, node.loc, node.end, value[index])
            if type_.is_interface:
                self.check_block_member(base, index, node)
            return hir.FieldRef(field_type, node.loc, node.end, base, index)
        if type_.is_vector or type_.is_scalar:
            return self.swizzle(node, base)
        if type_.is_array and node.name == "length":
            raise self.abort("length is a method", node, "write length()")
        raise self.abort(f"'{type_}' has no members", node)

    def check_block_member(self, base: hir.Expr, index: int, node: s.Member) -> None:
        """A member access of an arrayed block needs the block index first."""
        if isinstance(base, hir.VarRef) and base.type.is_array:
            raise self.abort("an array of blocks needs an index", node)

    def swizzle(self, node: s.Member, base: hir.Expr) -> hir.Expr:
        type_, name = base.type, node.name
        end = node.name_loc + len(name)
        for letters in _SWIZZLES:
            if all(c in letters for c in name):
                break
        else:
            known = all(any(c in letters for letters in _SWIZZLES) for c in name)
            hint = "a swizzle takes letters of one of xyzw, rgba, stpq" if known else ""
            raise self.log.abort(f"'{type_}' has no member '{name}'", node.name_loc, end, hint)
        if type_.is_scalar:
            self.need("420 ARB_shading_language_420pack", "swizzling a scalar", node)
        if len(name) > 4:
            raise self.log.abort("a swizzle has at most 4 components", node.name_loc, end)
        components = tuple(letters.index(c) for c in name)
        for c in components:
            if c >= type_.rows:
                raise self.log.abort(
                    f"'{type_}' has no component '{letters[c]}'", node.name_loc, end
                )
        result = t.vec(type_.base, len(name))
        if isinstance(base, hir.Const):
            value = tuple(base.value[c] for c in components)
            return hir.Const(result, node.loc, node.end, value)
        if isinstance(base, hir.Swizzle):
            components = tuple(base.components[c] for c in components)
            return hir.Swizzle(result, node.loc, node.end, base.base, components)
        return hir.Swizzle(result, node.loc, node.end, base, components)

    def index(self, node: s.Index) -> hir.Expr:
        base = self.expr(node.base)
        quiet, self.quiet = self.quiet, 0
        index = self.expr(node.index)
        self.quiet = quiet
        type_ = base.type
        if not (type_.is_array or type_.is_matrix or type_.is_vector):
            raise self.abort(f"'{type_}' cannot be subscripted", node.base)
        if not index.type.is_scalar or index.type.base not in (Base.INT, Base.UINT):
            raise self.abort(f"the index is '{index.type}', not an integer", node.index)
        value = constant_value(index)
        if value is not None:
            self.check_constant_index(base, int(value[0]), node)
            whole = constant_value(base)
            if whole is not None:
                return hir.Const(
                    type_.indexed().plain,
                    node.loc,
                    node.end,
                    self.part(type_, whole, int(value[0])),
                )
            if type_.is_vector:
                component = int(value[0])
                whole_vector: hir.Expr = base
                if isinstance(base, hir.Swizzle):
                    whole_vector, component = base.base, base.components[component]
                scalar = t.scalar(type_.base)
                return hir.Swizzle(scalar, node.loc, node.end, whole_vector, (component,))
        else:
            self.check_dynamic_index(base, node)
        result = type_.element if type_.element is not None else type_.indexed()
        return hir.IndexRef(result, node.loc, node.end, base, index)

    def part(self, type_: Type, whole: hir.Value, i: int) -> hir.Value:
        if type_.is_array:
            return tuple(whole[i])
        if type_.is_matrix:
            return whole[i * type_.rows : (i + 1) * type_.rows]
        return whole[i : i + 1]

    def check_constant_index(self, base: hir.Expr, i: int, node: s.Index) -> None:
        length = base.type.indexed_length()
        if i < 0:
            raise self.abort(f"the index {i} is negative", node.index)
        if base.type.is_unsized_array:
            root = base
            if isinstance(root, hir.VarRef):
                root.var.max_index = max(root.var.max_index, i)
                builtin_limit = {
                    "gl_TexCoord": self.limits.max_texture_coords,
                    "gl_ClipDistance": self.limits.max_clip_distances,
                    "gl_CullDistance": self.limits.max_cull_distances,
                }.get(root.var.name if root.var.builtin else "")
                if builtin_limit is not None and i >= builtin_limit:
                    raise self.abort(
                        f"the index {i} is out of bounds: at most {builtin_limit}", node
                    )
            elif isinstance(root, hir.FieldRef):
                self.note_member_index(root, i)
        elif i >= length:
            raise self.abort(
                f"the index {i} is out of bounds for '{base.type}'",
                node.index,
                f"valid indices are 0 to {length - 1}",
            )

    def note_member_index(self, ref: hir.FieldRef, i: int) -> None:
        """An implicitly sized member of a named block remembers its largest index."""
        root = ref.base
        while isinstance(root, hir.IndexRef):
            root = root.base
        if isinstance(root, hir.VarRef) and root.var.block is not None:
            quals = root.var.block.member_quals[ref.index]
            quals.layout["#max_index"] = max(quals.layout.get("#max_index", -1), i)

    def check_dynamic_index(self, base: hir.Expr, node: s.Index) -> None:
        type_ = base.type
        element = type_.without_array
        if type_.is_unsized_array and not (
            self.is_runtime_array(base) or self.is_per_vertex_input(base)
        ):
            whole = isinstance(base, hir.VarRef) and base.var.builtin == "block"
            if not whole:
                raise self.abort("an array without a size can only be indexed by constants", node)
        if isinstance(base, hir.VarRef):
            base.var.dynamic_index = True
        if not type_.is_array:
            return
        if element.is_sampler and not self.lang.has(
            "110-120 es100-es100 400 ARB_gpu_shader5 es320 EXT_gpu_shader5 OES_gpu_shader5 "
            "ARB_bindless_texture"
        ):
            raise self.abort(
                f"arrays of samplers need constant indices in {self.lang.name}", node.index
            )
        if element.is_interface and isinstance(base, hir.VarRef):
            storage = base.var.quals.storage
            if storage in ("uniform", "buffer") and not self.lang.has(
                "400 ARB_gpu_shader5 es320 EXT_gpu_shader5 OES_gpu_shader5"
            ):
                raise self.abort(
                    f"arrays of blocks need constant indices in {self.lang.name}", node.index
                )
        if self.lang.es and self.stage == "fragment" and isinstance(base, hir.VarRef):
            if base.var.quals.storage == "out" and base.var.kind == "global":
                raise self.abort("output arrays need constant indices", node.index)


_LITERALS = {
    "int": t.INT,
    "uint": t.UINT,
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "bool": t.BOOL,
    "int64_t": t.INT64,
    "uint64_t": t.UINT64,
}

ExpressionChecker._dispatch = {
    s.Literal: ExpressionChecker.literal,
    s.Name: ExpressionChecker.name,
    s.InitList: ExpressionChecker.init_list,
    s.TypeRef: ExpressionChecker.type_as_value,
    s.Unary: ExpressionChecker.unary,
    s.Binary: ExpressionChecker.binary,
    s.Conditional: ExpressionChecker.conditional,
    s.Comma: ExpressionChecker.comma,
    s.Assign: ExpressionChecker.assign,
    s.Member: ExpressionChecker.member,
    s.Index: ExpressionChecker.index,
    s.Call: ExpressionChecker.call,
}

"""Lowering of expressions to values, in source order from left to right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower import operators
from gallette.compiler.glsl.lower.places import PlaceLowering
from gallette.compiler.glsl.lower.values import Value, constant, convert, store
from gallette.compiler.nir.ir import IDENTITY, Def, Deref, Mode
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type


class ExpressionLowering(PlaceLowering):
    """Values, places and operators."""

    _dispatch: dict[type[hir.Expr], Callable[[Any, Any], Value]]

    def value(self, e: hir.Expr) -> Value:
        """Lower any expression to a value."""
        if e.type.holds_opaque and e.__class__ in _PATHS:
            if e.type.has_handle:
                return self.handle_value(e)
            if self.has_separate_opaques(e):
                return self.gathered(e)
        return self._dispatch[e.__class__](self, e)

    def handle_value(self, e: hir.Expr) -> Value:
        place = self.try_place(e)
        return self._dispatch[type(e)](self, e) if place is None else self.handle(place)

    def gathered(self, e: hir.Expr) -> Value:
        """An array or structure with samplers bound to units, part by part."""
        if not e.type.is_aggregate:
            return self.value(e)
        if e.type.is_struct:
            fields = [f.type for f in e.type.fields]
            return [
                self.gathered(hir.FieldRef(kind, e.loc, e.end, e, i))
                for i, kind in enumerate(fields)
            ]
        element = e.type.element
        assert element is not None
        numbers = [hir.Const(t.INT, e.loc, e.end, (i,)) for i in range(e.type.length)]
        return [self.gathered(hir.IndexRef(element, e.loc, e.end, e, at)) for at in numbers]

    # -- order -------------------------------------------------------------------------------

    def in_order(self, exprs: Sequence[hir.Expr]) -> list[Value]:
        """Lower several expressions, so that later ones cannot change the values of
        earlier ones.
        """
        values = []
        for i, e in enumerate(exprs, 1):
            values.append(self.preserved(self.value(e), e.type, exprs[i:]))
        return values

    def preserved(self, value: Value, type_: Type, later: Sequence[hir.Expr]) -> Value:
        """A value that `later` expressions cannot change: variables they may write are copied."""
        if isinstance(value, Deref) and any(_has_effects(x) for x in later):
            return self.spill(value.type if type_.is_unsized_array else type_, value)
        return value

    # -- reading -----------------------------------------------------------------------------

    def const(self, e: hir.Const) -> Value:
        if e.type.is_array:
            return self.constant_array(e.type, e.value)
        return constant(self.b, e.type, e.value)

    def constant_array(self, type_: Type, value: hir.Value) -> Deref:
        """A constant array as a read-only variable, for dynamic indexing."""
        return self.variable(self.constant_variable(type_, value))

    def var_ref(self, e: hir.VarRef) -> Value:
        var = e.var
        if var in self.values:
            return self.values[var]
        if var.builtin:
            special = self.read_special(var)
            if special is not None:
                return special
        deref = self.deref_of(var)
        value = self.read(deref)
        if value.__class__ is Def and not deref.modes & Mode.FUNCTION_TEMP and deref.var:
            value.names = ((var.name, IDENTITY[value.num_components], 0),)
        return value

    def field_ref(self, e: hir.FieldRef) -> Value:
        place = self.try_place(e)
        if place is not None:
            return self.read_place(place)
        base = self.value(e.base)
        if isinstance(base, Deref):
            return self.read(self.b.deref_struct(base, e.index))
        return base[e.index]

    def index_ref(self, e: hir.IndexRef) -> Value:
        special = self.read_special_index(e)
        if special is not None:
            return special
        place = self.try_place(e)
        if place is not None:
            return self.read_place(place)
        base = self.value(e.base)
        index = self.scalar(e.index)
        if isinstance(base, Deref):
            return self.read(self.b.deref_array(base, index))
        known = e.index.value[0] if isinstance(e.index, hir.Const) else None
        if isinstance(base, list):
            if known is not None:
                return base[known]
            temp = self.spill(e.base.type, base)
            return self.read(self.b.deref_array(temp, index))
        return self.b.component(base, index)

    def swizzle(self, e: hir.Swizzle) -> Value:
        base = self.scalar(e.base)
        return self.b.swizzle(base, e.components)

    def length(self, e: hir.Length) -> Value:
        place = self.try_place(e.base)
        assert place is not None
        if place.deref.modes & Mode.SSBO:
            return self.b.intrinsic("deref_buffer_array_length", [place.deref.result])
        return self.b.imm_int(place.deref.type.length)

    # -- operators ---------------------------------------------------------------------------

    def unary(self, e: hir.Unary) -> Value:
        return operators.negate(self.b, e.op, e.type, self.loaded(self.value(e.operand)))

    def binary(self, e: hir.Binary) -> Value:
        spine = [e]
        while isinstance(spine[-1].left, hir.Binary):
            spine.append(spine[-1].left)
        value = self.value(spine[-1].left)
        for link in reversed(spine):
            value = self.preserved(value, link.left.type, [link.right])
            right = self.value(link.right)
            value = operators.binary(self.b, link.op, link.left.type, value, link.right.type, right)
        return value

    def logical(self, e: hir.Logical) -> Value:
        b = self.b
        left = self.scalar(e.left)
        if e.op == "^^":
            return b.ine(left, self.scalar(e.right))
        if self.is_cheap(e.right):
            right = self.scalar(e.right)
            return b.iand(left, right) if e.op == "&&" else b.ior(left, right)
        b.push_if(left if e.op == "&&" else b.inot(left))
        right = self.scalar(e.right)
        b.pop_if()
        return b.if_phi(right, left)

    def select(self, e: hir.Select) -> Value:
        b = self.b
        condition = self.scalar(e.condition)
        if not e.type.is_aggregate and self.is_cheap(e.then) and self.is_cheap(e.otherwise):
            then = self.loaded(self.value(e.then))
            otherwise = self.loaded(self.value(e.otherwise))
            return operators.map2(lambda x, y: b.bcsel(condition, x, y), then, otherwise)
        if not e.type.is_aggregate:
            b.push_if(condition)
            then = self.loaded(self.value(e.then))
            b.push_else()
            otherwise = self.loaded(self.value(e.otherwise))
            b.pop_if()
            return operators.map2(b.if_phi, then, otherwise)
        temp = self.temporary("selected", e.type)
        b.push_if(condition)
        store(b, b.deref_var(temp), self.value(e.then))
        b.push_else()
        store(b, b.deref_var(temp), self.value(e.otherwise))
        b.pop_if()
        return self.read(b.deref_var(temp))

    def is_cheap(self, e: hir.Expr) -> bool:
        """Whether evaluation has no side effects, calls or texture reads, so that it may be
        speculative.
        """
        stack = [e]
        budget = 24
        while stack:
            x = stack.pop()
            budget -= 1
            if budget < 0:
                return False
            match x:
                case hir.Const() | hir.VarRef():
                    continue
                case hir.FieldRef() | hir.Swizzle():
                    stack.append(x.base)
                case hir.IndexRef():
                    stack += (x.base, x.index)
                case hir.Unary() | hir.Convert():
                    stack.append(x.operand)
                case hir.Binary() | hir.Logical():
                    stack += (x.left, x.right)
                case hir.Select():
                    stack += (x.condition, x.then, x.otherwise)
                case hir.Construct():
                    stack += x.args
                case hir.BuiltinCall() if x.name in _CHEAP:
                    stack += x.args
                case _:
                    return False
        return True

    def comma(self, e: hir.Comma) -> Value:
        value: Value = None
        for item in e.items:
            value = self.value(item)
        return value

    # -- conversion and construction ---------------------------------------------------------

    def convert_expr(self, e: hir.Convert) -> Value:
        value = self.loaded(self.value(e.operand))
        source = e.operand.type
        if source.has_handle or e.type.has_handle:
            if e.type is t.UINT64:
                return self.b.pack_64_2x32(value)
            return self.b.unpack_64_2x32(value) if source is t.UINT64 else value
        if isinstance(value, list):
            return [convert(self.b, column, source, e.type) for column in value]
        return convert(self.b, value, source, e.type)

    def construct(self, e: hir.Construct) -> Value:
        values = self.in_order(e.args)
        if e.type.is_aggregate:
            # Load a member from its variable now, since the variable may change later.
            return [self.loaded(value) for value in values]
        return operators.construct(self.b, e.type, [a.type for a in e.args], values)


_CHEAP = frozenset(
    [
        "abs",
        "sign",
        "floor",
        "ceil",
        "fract",
        "min",
        "max",
        "clamp",
        "mix",
        "step",
        "mod",
        "dot",
        "length",
        "sqrt",
        "radians",
        "degrees",
        "lessThan",
        "lessThanEqual",
        "greaterThan",
        "greaterThanEqual",
        "equal",
        "notEqual",
        "any",
        "all",
        "not",
        "floatBitsToInt",
        "floatBitsToUint",
        "intBitsToFloat",
        "uintBitsToFloat",
    ]
)


_PATHS = frozenset((hir.VarRef, hir.FieldRef, hir.IndexRef))
"""Expressions that are access paths of variables."""


def _has_effects(e: hir.Expr) -> bool:
    """Whether evaluation may write a variable."""
    return any(isinstance(x, _EFFECTS) for x in hir.walk(e))


_EFFECTS = (hir.Assign, hir.Step, hir.Call, hir.SubroutineCall, hir.BuiltinCall)

ExpressionLowering._dispatch = {
    hir.Const: ExpressionLowering.const,
    hir.VarRef: ExpressionLowering.var_ref,
    hir.FieldRef: ExpressionLowering.field_ref,
    hir.IndexRef: ExpressionLowering.index_ref,
    hir.Swizzle: ExpressionLowering.swizzle,
    hir.Unary: ExpressionLowering.unary,
    hir.Step: ExpressionLowering.step,
    hir.Binary: ExpressionLowering.binary,
    hir.Logical: ExpressionLowering.logical,
    hir.Select: ExpressionLowering.select,
    hir.Assign: ExpressionLowering.assign,
    hir.Comma: ExpressionLowering.comma,
    hir.Construct: ExpressionLowering.construct,
    hir.Convert: ExpressionLowering.convert_expr,
    hir.Length: ExpressionLowering.length,
}

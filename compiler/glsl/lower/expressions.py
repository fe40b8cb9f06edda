"""Lowering of expressions.

Evaluation order follows the source. Matrix products are sums of columns taken from the left
(`c0*x + c1*y + c2*z + c3*w`), row-vector products are dots: the order other implementations use, so
that pixels agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower.context import Lowering, Place
from gallette.compiler.glsl.lower.values import Value, constant, convert, load, store
from gallette.compiler.nir.ir import Def, Deref, Mode, Stage
from gallette.compiler.nir.ir.types import Base, Type

__all__ = ["ExpressionLowering"]

_FLOAT = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_INT = {
    "+": "iadd",
    "-": "isub",
    "*": "imul",
    "/": "idiv",
    "%": "irem",
    "&": "iand",
    "|": "ior",
    "^": "ixor",
    "<<": "ishl",
    ">>": "ishr",
}
_UINT = {**_INT, "/": "udiv", "%": "umod", ">>": "ushr"}
_COMPARE = {"<": ("lt", False), ">": ("lt", True), "<=": ("ge", True), ">=": ("ge", False)}


class ExpressionLowering(Lowering):
    """Values, places and operators."""

    _dispatch: dict[type[hir.Expr], Callable[[Any, Any], Value]]

    def value(self, e: hir.Expr) -> Value:
        """Lower any expression to a value."""
        return self._dispatch[type(e)](self, e)

    def scalar(self, e: hir.Expr) -> Def:
        value = self.value(e)
        assert isinstance(value, Def)
        return value

    def loaded(self, value: Value) -> Value:
        """Spelt out: no deref left at the top."""
        return load(self.b, value) if isinstance(value, Deref) else value

    # -- reading -----------------------------------------------------------------------------

    def const(self, e: hir.Const) -> Value:
        if e.type.is_array:
            return self.constant_array(e.type, e.value)
        return constant(self.b, e.type, e.value)

    def constant_array(self, type_: Type, value: hir.Value) -> Deref:
        """A constant array lives in a read-only variable, for dynamic indexing."""
        var = self.constant_variable(type_, value)
        return self.b.deref_var(var)

    def var_ref(self, e: hir.VarRef) -> Value:
        special = self.read_special(e.var)
        if special is not None:
            return special
        return self.read(self.deref_of(e.var))

    def read(self, deref: Deref) -> Value:
        """A vector is loaded at once; what is larger stays where it is until needed."""
        if deref.type.is_vector_or_scalar:
            return self.load_vector(deref)
        if deref.type.is_matrix:
            return load(self.b, deref)
        return deref

    def load_vector(self, deref: Deref) -> Def:
        return self.b.load_deref(deref, self.access_of(deref))

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
        if self.is_compact(e):
            # Four elements share a slot, so slots cannot be addressed by a dynamic index.
            whole = self.loaded(self.value(e.base))
            copy = self.spill(e.base.type, whole)
            return self.read(self.b.deref_array(copy, self.scalar(e.index)))
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
        return self.select_component(base, index)

    def is_compact(self, e: hir.IndexRef) -> bool:
        """A dynamic index into clip distances or tessellation levels that are not local copies?"""
        if isinstance(e.index, hir.Const) or not e.base.type.is_array:
            return False
        root: hir.Expr = e.base
        name = ""
        if isinstance(root, hir.FieldRef) and root.base.type.is_interface:
            name = root.base.type.fields[root.index].name
        while isinstance(root, (hir.FieldRef, hir.IndexRef)):
            root = root.base
        if not isinstance(root, hir.VarRef):
            return False
        name = name or root.var.name
        shared = root.var.quals.storage == "in" or self.stage is Stage.TESS_CTRL
        return shared and name in _COMPACT

    def select_component(self, vector: Def, index: Def) -> Def:
        b = self.b
        result = b.channel(vector, 0)
        for i in range(1, vector.num_components):
            result = b.bcsel(b.ieq(index, b.imm_int(i)), b.channel(vector, i), result)
        return result

    def swizzle(self, e: hir.Swizzle) -> Value:
        base = self.scalar(e.base)
        return self.b.swizzle(base, e.components)

    def length(self, e: hir.Length) -> Value:
        place = self.try_place(e.base)
        assert place is not None
        if place.deref.modes & Mode.SSBO:
            return self.b.intrinsic("deref_buffer_array_length", [place.deref.result])
        return self.b.imm_int(place.deref.type.length)

    # -- places ------------------------------------------------------------------------------

    def try_place(self, e: hir.Expr) -> Place | None:
        """The memory an expression names, or None for a temporary value."""
        if isinstance(e, hir.VarRef):
            if self.is_special(e.var):
                return None
            return Place(self.deref_of(e.var))
        if isinstance(e, hir.FieldRef):
            member = self.interface_member(e)
            if member is not None:
                return Place(member)
            base = self.try_place(e.base)
            if base is None:
                return None
            return Place(self.b.deref_struct(base.deref, e.index))
        if isinstance(e, hir.IndexRef):
            base = self.try_place(e.base)
            if base is None:
                return None
            if base.components is not None:
                return self.index_swizzled(base, e)
            return Place(self.b.deref_array(base.deref, self.scalar(e.index)))
        if isinstance(e, hir.Swizzle):
            base = self.try_place(e.base)
            if base is None or base.components is not None:
                return None
            if base.deref.type.is_scalar:
                return base
            return Place(base.deref, e.components)
        return None

    def index_swizzled(self, base: Place, e: hir.IndexRef) -> Place | None:
        """`v.zyx[i]`: with a constant index another component, else a value only."""
        assert base.components is not None
        if isinstance(e.index, hir.Const):
            return Place(base.deref, (base.components[e.index.value[0]],))
        return None

    def place(self, e: hir.Expr) -> Place:
        place = self.try_place(e)
        assert place is not None, "the checker admits only l-values here"
        return place

    def read_place(self, place: Place) -> Value:
        value = self.read(place.deref)
        if place.components is not None:
            return self.b.swizzle(value, place.components)
        return value

    def write_place(self, place: Place, value: Value) -> None:
        if place.components is None:
            if isinstance(value, Def):
                self.b.store_deref(place.deref, value, access=self.access_of(place.deref))
            else:
                store(self.b, place.deref, value)
            return
        width = place.deref.type.components
        parts: list[int] = [0] * width
        mask = 0
        for source, target in enumerate(place.components):
            parts[target] = source
            mask |= 1 << target
        spread = self.b.swizzle(value, parts) if width > 1 else value
        self.b.store_deref(place.deref, spread, mask, self.access_of(place.deref))

    def assign(self, e: hir.Assign) -> Value:
        with self.b.exactly(self.is_precise(e.target)):
            return self.assign_value(e)

    def assign_value(self, e: hir.Assign) -> Value:
        if isinstance(e.target, hir.IndexRef) and self.is_compact(e.target):
            return self.assign_compact(e, e.target)
        if not e.op:
            value = self.value(e.value)
            place = self.place(e.target)
        else:
            right = self.value(e.value)
            place = self.place(e.target)
            left = self.read_place(place)
            value = self.operate(e.op, e.target.type, left, e.value.type, right)
        self.write_place(place, value)
        return value

    def assign_compact(self, e: hir.Assign, target: hir.IndexRef) -> Value:
        """A dynamic index into a compact output: one conditional store per element."""
        b = self.b
        value = self.value(e.value)
        if e.op:
            value = self.operate(e.op, target.type, self.value(target), e.value.type, value)
        index = self.scalar(target.index)
        array = self.place(target.base).deref
        for i in range(array.type.length):
            b.push_if(b.ieq(index, b.imm_int(i)))
            b.store_deref(b.deref_array_imm(array, i), value)
            b.pop_if()
        return value

    def step(self, e: hir.Step) -> Value:
        place = self.place(e.target)
        old = self.loaded(self.read_place(place))
        type_ = e.type
        one = self.one(type_)
        op = _FLOAT[e.op] if type_.is_float else _INT[e.op]
        new = self.map2(lambda x, y: self.b.alu(op, x, y), old, one)
        self.write_place(place, new)
        return old if e.post else new

    def one(self, type_: Type) -> Def:
        if type_.is_float:
            return self.b.imm_float(1.0, type_.bit_size)
        return self.b.imm_int(1, type_.bit_size)

    # -- operators ---------------------------------------------------------------------------

    def map2(self, f: Callable[[Def, Def], Def], a: Value, b: Value) -> Value:
        """Component-wise over columns; a scalar or single Def is repeated."""
        if isinstance(a, list) and isinstance(b, list):
            return [f(x, y) for x, y in zip(a, b, strict=True)]
        if isinstance(a, list):
            return [f(x, b) for x in a]
        if isinstance(b, list):
            return [f(a, y) for y in b]
        return f(a, b)

    def unary(self, e: hir.Unary) -> Value:
        value = self.loaded(self.value(e.operand))
        if e.op == "-":
            op = "fneg" if e.type.is_float else "ineg"
        else:
            op = "inot"
        if isinstance(value, list):
            return [self.b.alu(op, column) for column in value]
        return self.b.alu(op, value)

    def binary(self, e: hir.Binary) -> Value:
        spine = [e]
        while isinstance(spine[-1].left, hir.Binary):
            spine.append(spine[-1].left)
        value = self.value(spine[-1].left)
        for link in reversed(spine):
            right = self.value(link.right)
            value = self.operate(link.op, link.left.type, value, link.right.type, right)
        return value

    def operate(self, op: str, ta: Type, a: Value, tb: Type, c: Value) -> Value:
        b = self.b
        if op in ("==", "!="):
            equal = self.equal(ta, a, c)
            return equal if op == "==" else b.inot(equal)
        a, c = self.loaded(a), self.loaded(c)
        if op in _COMPARE:
            name, swap = _COMPARE[op]
            prefix = "f" if ta.is_float else "i" if ta.is_signed else "u"
            # Exact, so that `!(nan < x)` is not turned into `nan >= x`.
            with b.exactly():
                return b.alu(f"{prefix}{name}", *((c, a) if swap else (a, c)))
        if op == "*" and (ta.is_matrix or tb.is_matrix) and ta.components > 1 and tb.components > 1:
            return self.multiply(ta, a, tb, c)
        if op in ("<<", ">>") and tb.bit_size != 32:
            c = convert(b, c, tb, _UINT32_LIKE[tb.base])
        table = _FLOAT if ta.is_float else _INT if ta.is_signed else _UINT
        name = table[op]
        return self.map2(lambda x, y: b.alu(name, x, y), a, c)

    def multiply(self, ta: Type, a: Value, tb: Type, c: Value) -> Value:
        """Linear-algebra products."""
        if ta.is_vector:
            return self.b.vec([self.b.dot(a, column) for column in c])
        if tb.is_vector:
            return self.transform(a, c)
        return [self.transform(a, column) for column in c]

    def transform(self, columns: list[Def], vector: Def) -> Def:
        b = self.b
        total = b.fmul(columns[0], b.channel(vector, 0))
        for i, column in enumerate(columns[1:], 1):
            total = b.fadd(total, b.fmul(column, b.channel(vector, i)))
        return total

    def equal(self, type_: Type, a: Value, c: Value) -> Def:
        """One boolean: are two values of any type equal?"""
        b = self.b
        if type_.is_vector_or_scalar:
            with b.exactly():
                return b.all_equal(a, c, type_.is_float)
        a, c = self.loaded(a), self.loaded(c)
        if type_.is_matrix:
            kinds = [type_.column_type] * type_.columns
        elif type_.element is not None:
            kinds = [type_.element] * len(a)
        else:
            kinds = [f.type for f in type_.fields]
        total: Def | None = None
        for kind, x, y in zip(kinds, a, c, strict=True):
            part = self.equal(kind, x, y)
            total = part if total is None else b.iand(total, part)
        assert total is not None
        return total

    def logical(self, e: hir.Logical) -> Value:
        b = self.b
        left = self.scalar(e.left)
        if e.op == "^^":
            return b.ine(left, self.scalar(e.right))
        if self.is_cheap(e.right):
            right = self.scalar(e.right)
            return b.iand(left, right) if e.op == "&&" else b.ior(left, right)
        temp = self.b.impl.add_local("logical", e.type)
        b.store_var(temp, left)
        b.push_if(left if e.op == "&&" else b.inot(left))
        b.store_var(temp, self.scalar(e.right))
        b.pop_if()
        return b.load_var(temp)

    def select(self, e: hir.Select) -> Value:
        b = self.b
        condition = self.scalar(e.condition)
        if not e.type.is_aggregate and self.is_cheap(e.then) and self.is_cheap(e.otherwise):
            then, otherwise = self.value(e.then), self.value(e.otherwise)
            return self.map2(lambda x, y: b.bcsel(condition, x, y), then, otherwise)
        temp = b.impl.add_local("selected", e.type)
        b.push_if(condition)
        store(b, b.deref_var(temp), self.value(e.then))
        b.push_else()
        store(b, b.deref_var(temp), self.value(e.otherwise))
        b.pop_if()
        return self.read(b.deref_var(temp))

    def is_cheap(self, e: hir.Expr) -> bool:
        """Free of side effects, calls and texture reads: may be evaluated needlessly."""
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
        if isinstance(value, list):
            return [convert(self.b, column, source, e.type) for column in value]
        return convert(self.b, value, source, e.type)

    def construct(self, e: hir.Construct) -> Value:
        b, type_ = self.b, e.type
        values = [self.value(a) for a in e.args]
        if type_.is_aggregate:
            return [self.settle(value, arg.type) for value, arg in zip(values, e.args, strict=True)]
        first = e.args[0].type
        if len(values) == 1 and first.is_scalar:
            return self.spread(type_, values[0])
        if type_.is_matrix and first.is_matrix:
            return self.resize_matrix(type_, first, values[0])
        parts: list[tuple[Def, int]] = []
        for value, _arg in zip(values, e.args, strict=True):
            columns = value if isinstance(value, list) else [value]
            for column in columns:
                parts += [(column, i) for i in range(column.num_components)]
        scalars = [b.channel(v, i) for v, i in parts[: type_.components]]
        if type_.is_vector:
            return b.vec(scalars)
        rows = type_.rows
        return [b.vec(scalars[i * rows : (i + 1) * rows]) for i in range(type_.columns)]

    def settle(self, value: Value, type_: Type) -> Value:
        """A member that lies in a variable is read now: the variable may change later."""
        return self.loaded(value)

    def spread(self, type_: Type, value: Def) -> Value:
        """One scalar: all components of a vector, the diagonal of a matrix."""
        b = self.b
        if type_.is_vector:
            return b.swizzle(value, (0,) * type_.rows)
        zero = b.imm_zero(1, type_.bit_size)
        return [
            b.vec([value if r == c else zero for r in range(type_.rows)])
            for c in range(type_.columns)
        ]

    def resize_matrix(self, type_: Type, source: Type, value: list[Def]) -> Value:
        b = self.b
        out = []
        for c in range(type_.columns):
            parts = []
            for r in range(type_.rows):
                if c < source.columns and r < source.rows:
                    parts.append(b.channel(value[c], r))
                else:
                    parts.append(b.imm_float(float(c == r), type_.bit_size))
            out.append(b.vec(parts))
        return out


_COMPACT = frozenset(
    ("gl_ClipDistance", "gl_CullDistance", "gl_TessLevelOuter", "gl_TessLevelInner")
)
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

_UINT32_LIKE: dict[Base, Type] = {}


def _fill() -> None:
    from gallette.compiler.nir.ir import types as t

    _UINT32_LIKE[Base.INT64] = t.INT
    _UINT32_LIKE[Base.UINT64] = t.UINT


_fill()

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

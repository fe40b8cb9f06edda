"""Lowering of calls and functions.

The parameters of a NIR function are derefs: of the result first (if any), then one per parameter.
The caller creates a variable for each, copies in, calls, copies out. After inlining these copies
are removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower.context import Frame
from gallette.compiler.glsl.lower.expressions import ExpressionLowering
from gallette.compiler.glsl.lower.math import lower_math
from gallette.compiler.glsl.lower.memory import MemoryLowering
from gallette.compiler.glsl.lower.places import Place
from gallette.compiler.glsl.lower.values import Value, convert, store
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def, FunctionImpl, Mode, Parameter, Variable
from gallette.compiler.nir.ir import Function as NirFunction
from gallette.compiler.nir.ir import types as t


class CallLowering(MemoryLowering):
    """Lowers calls; bodies of called functions are lowered after their callers."""

    def statements(self, body: Sequence[hir.Stmt]) -> bool:
        """Implemented by the statement lowering."""
        raise AssertionError(body)

    def builtin_call(self, e: hir.BuiltinCall) -> Value:
        texture = self.lower_texture(e)
        if texture is not None:
            return texture
        effect = self.lower_effect(e)
        if effect is not None:
            return effect[0]
        places: list[Place] = []
        values: list[Value] = []
        types: list[t.Type] = []
        for (direction, type_), arg in zip(e.params, e.args, strict=True):
            if direction == "out":
                places.append(self.place(arg))
                types.append(type_)
            else:
                values.append(self.loaded(self.value(arg)))
        results = lower_math(self.b, e, values)
        assert results is not None, f"no lowering for built-in '{e.name}'"
        for place, type_, value in zip(places, types, results[1:], strict=True):
            wanted = place.type
            if place.components is None and wanted.base is not type_.base:
                value = self.convert_value(value, type_, wanted)
            self.write_place(place, value)
        return results[0]

    def convert_value(self, value: Value, source: t.Type, target: t.Type) -> Value:
        if isinstance(value, list):
            return [convert(self.b, column, source, target) for column in value]
        return convert(self.b, value, source, target)

    def user_call(self, e: hir.Call) -> Value:
        function = self.facts.bodies.get(e.function.key, e.function)
        return self.call_function(function, e.args, e.type)

    def call_function(
        self, function: hir.Function, args: Sequence[hir.Expr], type_: t.Type
    ) -> Value:
        b = self.b
        nir = self.function_for(function)
        params: list[Def] = []
        result: Variable | None = None
        if type_ is not t.VOID:
            result = self.temporary("result", function.result, precise=function.precise_result)
            params.append(b.deref_var(result).result)
        written: list[tuple[Place, Variable, t.Type, t.Type]] = []
        for param, arg in zip(function.params, args, strict=True):
            if self.by_reference(param):
                params.append(self.place(arg).deref.result)
                continue
            storage = param.quals.storage
            precise = param.quals.precise or (storage != "in" and self.is_precise(arg))
            temp = self.temporary(param.name or "parameter", param.type, precise=precise)
            if storage == "in":
                store(b, b.deref_var(temp), self.value(arg))
            else:
                place = self.place(arg)
                if storage == "inout":
                    value = self.read_place(place)
                    if arg.type is not param.type:
                        value = self.convert_value(self.loaded(value), arg.type, param.type)
                    store(b, b.deref_var(temp), value)
                written.append((place, temp, param.type, arg.type))
            params.append(b.deref_var(temp).result)
        b.call(nir, params)
        for place, temp, source, target in written:
            value = self.read(b.deref_var(temp))
            if source is not target and source.is_numeric:
                value = self.convert_value(self.loaded(value), source, target)
            self.write_place(place, value)
        return self.read(b.deref_var(result)) if result is not None else None

    def by_reference(self, param: hir.Variable) -> bool:
        """Whether a parameter refers to the uniform passed; otherwise it is a value, a handle."""
        element = param.type.without_array
        return element.is_opaque and not (element.has_handle and self.facts.has_handles)

    def subroutine_call(self, e: hir.SubroutineCall) -> Value:
        """Lower a call through a subroutine uniform to a chain of ifs over its functions."""
        b = self.b
        index: Def = self.subroutine_index(e.target)
        root = e.target
        while isinstance(root, hir.IndexRef):
            root = root.base
        assert isinstance(root, hir.VarRef)
        var = self.program_variable(root.var)
        choices = self.facts.subroutine_choices.get(var, [])
        temp = self.temporary("subroutine", e.type) if e.type is not t.VOID else None
        depth = 0
        for number, function in choices:
            last = number == choices[-1][0]
            if not last:
                b.push_if(b.ieq(index, b.imm_int(number)))
            value = self.call_function(function, e.args, e.type)
            if temp is not None:
                store(b, b.deref_var(temp), value)
            if not last:
                b.push_else()
                depth += 1
        for _ in range(depth):
            b.pop_if()
        return self.read(b.deref_var(temp)) if temp is not None else None

    def subroutine_index(self, target: hir.Expr) -> Def:
        """A subroutine uniform's value, which is stored as an integer."""
        place = self.place(target)
        return self.load_vector(place.deref)

    def function_for(self, function: hir.Function) -> NirFunction:
        """The NIR function; the first call plans the lowering of its body."""
        known = self.functions.get(function)
        if known is not None:
            return known
        nir = self.shader.add_function(function.name)
        self.functions[function] = nir
        if function.result is not t.VOID:
            nir.params.append(Parameter("result", t.stored_type(function.result), True))
        for param in function.params:
            type_ = param.type if self.by_reference(param) else t.stored_type(param.type)
            nir.params.append(Parameter(param.name, type_, True))
        self.called.append((function, FunctionImpl(self.shader, nir)))
        return nir

    def lower_called(self) -> None:
        """Lower the bodies of called functions, which may call others."""
        while self.called:
            self.lower_body(*self.called.pop())

    def lower_body(self, function: hir.Function, impl: FunctionImpl) -> None:
        """Lower one function."""
        frame = Frame(Builder(impl).sharing_constants(), precise=function.precise_result)
        first = 0
        if function.result is not t.VOID:
            frame.result = frame.b.deref_param(0)
            first = 1
        outer, self.lines = self.lines, function.lines
        with self.inside(frame):
            self.at(function.loc)
            for i, param in enumerate(function.params, first):
                if self.by_reference(param):
                    load = self.b.load_param(i)
                    self.locals[param] = self.b.deref_cast(load, Mode.UNIFORM, param.type)
                else:
                    self.locals[param] = self.b.deref_param(i)
            self.statements(function.body or [])
        self.lines = outer


ExpressionLowering._dispatch[hir.BuiltinCall] = CallLowering.builtin_call
ExpressionLowering._dispatch[hir.Call] = CallLowering.user_call
ExpressionLowering._dispatch[hir.SubroutineCall] = CallLowering.subroutine_call

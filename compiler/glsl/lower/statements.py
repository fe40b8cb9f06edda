"""Lowering of calls, statements and functions.

A function becomes a NIR function whose parameters are all derefs: the result first (if any), then
one per parameter. The caller makes a variable for each, copies in, calls, copies out. After
inlining the copies dissolve.
"""

from __future__ import annotations

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

__all__ = ["StatementLowering"]


class StatementLowering(MemoryLowering):
    """Calls and statements; `function_for` lowers a function the first time it is called."""

    # -- calls -------------------------------------------------------------------------------

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

    def call_function(self, function: hir.Function, args: list[hir.Expr], type_: t.Type) -> Value:
        b = self.b
        nir = self.function_for(function)
        params: list[Def] = []
        result: Variable | None = None
        if type_ is not t.VOID:
            result = b.impl.add_local("result", function.result)
            result.precise = function.precise_result
            params.append(b.deref_var(result).result)
        written: list[tuple[Place, Variable, t.Type, t.Type]] = []
        for param, arg in zip(function.params, args, strict=True):
            if param.type.without_array.is_opaque:
                params.append(self.place(arg).deref.result)
                continue
            storage = param.quals.storage
            temp = b.impl.add_local(param.name or "parameter", param.type)
            temp.precise = param.quals.precise or (storage != "in" and self.is_precise(arg))
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
                value = self.convert_value(value, source, target)
            self.write_place(place, value)
        return self.read(b.deref_var(result)) if result is not None else None

    def subroutine_call(self, e: hir.SubroutineCall) -> Value:
        """A chain of ifs over the functions the subroutine uniform may name."""
        b = self.b
        index: Def = self.subroutine_index(e.target)
        root = e.target
        while isinstance(root, hir.IndexRef):
            root = root.base
        assert isinstance(root, hir.VarRef)
        var = self.own(root.var)
        choices = self.facts.subroutine_choices.get(var, [])
        temp = b.impl.add_local("subroutine", e.type) if e.type is not t.VOID else None
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
        """The subroutine uniform as the integer it is stored as."""
        place = self.place(target)
        return self.load_vector(place.deref)

    def function_for(self, function: hir.Function) -> NirFunction:
        """The NIR function, lowered when first asked for."""
        known = self.functions.get(function)
        if known is not None:
            return known
        nir = self.shader.add_function(function.name)
        self.functions[function] = nir
        if function.result is not t.VOID:
            nir.params.append(Parameter("result", function.result, True))
        for param in function.params:
            nir.params.append(Parameter(param.name, param.type, True))
        impl = FunctionImpl(self.shader, nir)
        self.lower_body(function, impl)
        return nir

    def lower_body(self, function: hir.Function, impl: FunctionImpl) -> None:
        """Lower one function."""
        frame = Frame(Builder(impl), precise=function.precise_result)
        first = 0
        if function.result is not t.VOID:
            frame.result = frame.b.deref_param(0)
            first = 1
        with self.inside(frame):
            for i, param in enumerate(function.params, first):
                if param.type.without_array.is_opaque:
                    load = self.b.load_param(i)
                    self.locals[param] = self.b.deref_cast(load, Mode.UNIFORM, param.type)
                else:
                    self.locals[param] = self.b.deref_param(i)
            self.statements(function.body or [])

    # -- statements --------------------------------------------------------------------------

    def statements(self, body: list[hir.Stmt]) -> bool:
        """Lower a list; True if control never reaches its end."""
        return any(self.statement(s) for s in body)

    def statement(self, s: hir.Stmt) -> bool:
        match s:
            case hir.Evaluate():
                self.value(s.expr)
            case hir.Declare():
                self.declare(s.var)
            case hir.Compound():
                return self.statements(s.body)
            case hir.If():
                return self.if_statement(s)
            case hir.Loop():
                self.loop(s)
            case hir.Switch():
                return self.switch(s)
            case hir.Jump():
                return self.jump(s.kind)
            case hir.Return():
                return self.return_statement(s)
        return False

    def declare(self, var: hir.Variable) -> None:
        if var.const_value is not None and var.type.is_aggregate:
            self.locals[var] = self.constant_variable(var.type, var.const_value)
            return
        type_ = var.type
        if type_.is_unsized_array and type_.element is not None:
            type_ = t.array(type_.element, max(1, var.max_index + 1))
        local = self.b.impl.add_local(var.name, type_)
        local.precise = var.quals.precise
        self.locals[var] = local
        if self.frame.loops:
            # A variable declared in a loop is new, and undefined, in every iteration.
            self.undefine(local)

    def undefine(self, var: Variable) -> None:
        if var.type.is_vector_or_scalar:
            self.b.store_var(var, self.b.undef(var.type.components, var.type.bit_size))

    def if_statement(self, s: hir.If) -> bool:
        if isinstance(s.condition, hir.Const):
            return self.statements(s.then if s.condition.value[0] else s.otherwise)
        b = self.b
        b.push_if(self.scalar(s.condition))
        ends = self.statements(s.then)
        if s.otherwise:
            b.push_else()
            ends = self.statements(s.otherwise) and ends
        else:
            ends = False
        b.pop_if()
        return ends

    def leave_unless(self, condition: hir.Expr) -> None:
        b = self.b
        if isinstance(condition, hir.Const) and condition.value[0]:
            return
        b.push_if(b.inot(self.scalar(condition)))
        b.jump("break")
        b.pop_if()

    def loop(self, s: hir.Loop) -> None:
        b = self.b
        self.statements(s.init)
        b.push_loop()
        self.frame.loops.append(s)
        self.frame.continue_flags.append(None)
        if s.condition is not None and s.condition_first:
            self.loop_condition(s)
        ended = self.statements(s.body)
        if not ended:
            self.next_iteration(s)
        self.frame.continue_flags.pop()
        self.frame.loops.pop()
        b.pop_loop()

    def loop_condition(self, s: hir.Loop) -> None:
        assert s.condition is not None
        if s.condition_var is None:
            self.leave_unless(s.condition)
            return
        b = self.b
        local = b.impl.add_local(s.condition_var.name, s.condition_var.type)
        self.locals[s.condition_var] = local
        value = self.scalar(s.condition)
        b.store_var(local, value)
        b.push_if(b.inot(value))
        b.jump("break")
        b.pop_if()

    def next_iteration(self, s: hir.Loop) -> None:
        """What runs between the body and the next iteration."""
        if s.step is not None:
            self.value(s.step)
        if s.condition is not None and not s.condition_first:
            self.leave_unless(s.condition)

    def jump(self, kind: str) -> bool:
        b = self.b
        if kind == "discard":
            b.intrinsic("discard")
            if self.facts.needs_helpers:
                return False
            # Nothing later needs this invocation, not even a neighbour's derivative.
            b.jump("return")
            return True
        if kind == "demote":
            b.intrinsic("demote")
            return False
        if kind == "break":
            b.jump("break")
            return True
        # continue: through any switches (which are loops here) to the enclosing loop
        for depth in range(len(self.frame.loops) - 1, -1, -1):
            owner = self.frame.loops[depth]
            if isinstance(owner, hir.Loop):
                break
            flag = self.frame.continue_flags[depth]
            if flag is not None:
                b.store_var(flag, b.imm_bool(True))
        innermost = self.frame.loops[-1]
        if isinstance(innermost, hir.Switch):
            b.jump("break")
            return True
        self.next_iteration(innermost)
        b.jump("continue")
        return True

    def return_statement(self, s: hir.Return) -> bool:
        if s.value is not None:
            with self.b.exactly(self.frame.precise):
                value = self.value(s.value)
            if self.frame.result is not None:
                store(self.b, self.frame.result, value)
        self.b.jump("return")
        return True

    # -- switch ------------------------------------------------------------------------------

    def switch(self, s: hir.Switch) -> bool:
        """A loop that runs once, so that `break` leaves it; `fall` says a label has matched."""
        b = self.b
        selector = self.scalar(s.selector)
        matches: list[Def | None] = []
        any_match: Def | None = None
        for labels, _, _ in s.groups:
            match: Def | None = None
            for label in labels:
                same = b.ieq(selector, self.scalar(label))
                match = same if match is None else b.ior(match, same)
            matches.append(match)
            if match is not None:
                any_match = match if any_match is None else b.ior(any_match, match)
        fall = b.impl.add_local("fall", t.BOOL)
        b.store_var(fall, b.imm_bool(False))
        flag: Variable | None = None
        if self.enclosing_loop() is not None and _continues(s):
            flag = b.impl.add_local("continue_flag", t.BOOL)
            b.store_var(flag, b.imm_bool(False))
        b.push_loop()
        self.frame.loops.append(s)
        self.frame.continue_flags.append(flag)
        ended = False
        for (_, is_default, body), match in zip(s.groups, matches, strict=True):
            condition = match
            if is_default:
                condition = b.imm_bool(True) if any_match is None else b.inot(any_match)
                if match is not None:
                    condition = b.ior(condition, match)
            assert condition is not None
            b.store_var(fall, b.ior(b.load_var(fall), condition))
            b.push_if(b.load_var(fall))
            self.statements(body)
            b.pop_if()
        if not ended:
            b.jump("break")
        self.frame.continue_flags.pop()
        self.frame.loops.pop()
        b.pop_loop()
        if flag is not None:
            b.push_if(b.load_var(flag))
            self.jump("continue")
            b.pop_if()
        return False

    def enclosing_loop(self) -> hir.Loop | None:
        for owner in reversed(self.frame.loops):
            if isinstance(owner, hir.Loop):
                return owner
        return None


def _continues(s: hir.Switch) -> bool:
    """Does a `continue` inside the switch leave it?"""
    stack: list[hir.Stmt] = [x for _, _, body in s.groups for x in body]
    while stack:
        x = stack.pop()
        if isinstance(x, hir.Jump) and x.kind == "continue":
            return True
        if isinstance(x, hir.Compound):
            stack += x.body
        elif isinstance(x, hir.If):
            stack += x.then + x.otherwise
        elif isinstance(x, hir.Switch):
            stack += [y for _, _, body in x.groups for y in body]
    return False


ExpressionLowering._dispatch[hir.BuiltinCall] = StatementLowering.builtin_call
ExpressionLowering._dispatch[hir.Call] = StatementLowering.user_call
ExpressionLowering._dispatch[hir.SubroutineCall] = StatementLowering.subroutine_call

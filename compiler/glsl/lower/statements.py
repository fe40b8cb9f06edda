"""Lowering of statements."""

from __future__ import annotations

from collections.abc import Sequence

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.lower.calls import CallLowering
from gallette.compiler.glsl.lower.values import store
from gallette.compiler.nir.ir import Def, Variable
from gallette.compiler.nir.ir import types as t

_MOST_LEFT = 64
"""The number of discards lowered to jumps, each of which nests the following code in an else. For
further discards, the following code runs with all pixels discarded.
"""


class StatementLowering(CallLowering):
    """Lowers all statements."""

    # -- statements --------------------------------------------------------------------------

    def statements(self, body: Sequence[hir.Stmt]) -> bool:
        """Lower a list of statements; returns whether control never reaches its end."""
        ends = False
        for s in body:
            ends = self.statement(s)
            if ends:
                break
        return ends

    def statement(self, s: hir.Stmt) -> bool:
        if self.lines is not None:
            self.b.loc = self.lines(s.loc)
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
        if self.is_value(var):
            self.values[var] = None  # the next statement assigns it
            return
        type_ = var.type
        if type_.is_unsized_array and type_.element is not None:
            type_ = t.array(type_.element, max(1, var.max_index + 1))
        local = self.temporary(var.name, type_, precise=var.quals.precise)
        self.locals[var] = local
        if self.frame.loops:
            # A variable declared in a loop is undefined at the start of every iteration.
            self.undefine(local)

    def is_value(self, var: hir.Variable) -> bool:
        """Whether a local is never changed, so that it can be another name for its initializer.

        A switch may jump over a declaration in it, so that the value is unknown afterwards; and the
        expressions of a precise variable are found by its stores.
        """
        return (
            var.init is not None
            and not var.changed
            and not var.quals.precise
            and (var.type.is_vector_or_scalar or var.type.is_matrix)
            and not any(isinstance(owner, hir.Switch) for owner in self.frame.loops)
        )

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
        self.at(condition.loc)
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
        local = self.temporary(s.condition_var.name, s.condition_var.type)
        self.locals[s.condition_var] = local
        value = self.scalar(s.condition)
        b.store_var(local, value)
        b.push_if(b.inot(value))
        b.jump("break")
        b.pop_if()

    def next_iteration(self, s: hir.Loop) -> None:
        """Lower what runs between the body and the next iteration."""
        if s.step is not None:
            self.at(s.step.loc)
            self.value(s.step)
        if s.condition is not None and not s.condition_first:
            self.leave_unless(s.condition)

    def jump(self, kind: str) -> bool:
        b = self.b
        if kind == "discard":
            b.intrinsic("discard")
            self.discards += 1
            if self.facts.needs_helpers or self.discards > _MOST_LEFT:
                return False
            # Nothing later needs this invocation, not even a derivative of a neighbour.
            self.leave()
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
            assert self.frame.result is not None
            store(self.b, self.frame.result, value)
        self.leave()
        return True

    def leave(self) -> None:
        """Return from the function."""
        self.b.jump("return")

    # -- switch ------------------------------------------------------------------------------

    def switch(self, s: hir.Switch) -> bool:
        """Lower to a loop that runs once, so that `break` leaves it; `fall` is set when a label
        matches.
        """
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
    """Whether a `continue` inside the switch leaves it."""
    stack: list[hir.Stmt] = [x for _, _, body in s.groups for x in body]
    while stack:
        x = stack.pop()
        if isinstance(x, hir.Jump) and x.kind == "continue":
            return True
        if isinstance(x, hir.Compound):
            stack += x.body
        elif isinstance(x, hir.If):
            stack += [*x.then, *x.otherwise]
        elif isinstance(x, hir.Switch):
            stack += [y for _, _, body in x.groups for y in body]
    return False

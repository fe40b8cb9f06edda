"""Programs that must compute the same: metamorphic rewriting, as GraphicsFuzz does it.

`vary(program, inputs, seed)` applies a few of the rewrites below. Some use what is known about the
uniforms (a condition on them is true, but the compiler cannot see it), some are true by the
language alone. No oracle is needed: the images of a family are equal or something is wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from fuzz.glsl_programs import syntax as s
from fuzz.glsl_programs.syntax import BOOL, INT, Expr, Stmt


class Rewriter:
    """One family member in the making."""

    def __init__(self, program: s.Program, inputs: s.Inputs, seed: int) -> None:
        self.program = program
        self.un = inputs.un
        self.random = random.Random(seed)
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"extra{self.count}"

    def known(self, truth: bool) -> Expr:
        """A condition on uniforms whose outcome only we know."""
        i = self.random.randrange(s.UNIFORMS)
        row = s.Index(s.IVEC4, s.Var(s.array(s.IVEC4, 2), "un"), s.Lit(INT, i // 4))
        number = s.Swizzle(INT, row, "xyzw"[i % 4])
        other = self.un[i] if truth else self.un[i] + self.random.randrange(1, 5)
        return s.Bin(BOOL, "==", number, s.Lit(INT, other))

    def lists(self) -> list[list[Stmt]]:
        return [body for f in self.program.functions for body in s.bodies(f)]

    def somewhere(self) -> tuple[list[Stmt], int] | None:
        """A statement that can be wrapped: no declaration others depend on, no jump to outside."""
        places = [
            (body, i)
            for body in self.lists()
            for i, statement in enumerate(body)
            if not isinstance(statement, (s.Declare, s.Jump, s.Return))
        ]
        return self.random.choice(places) if places else None

    # -- rewrites ----------------------------------------------------------------------------

    def dead_code(self) -> None:
        """Statements of the program, copied to where they never run."""
        lists = self.lists()
        sources = [x for body in lists for x in body if isinstance(x, (s.Run, s.If))]
        target = self.random.choice(lists)
        at = self.random.randrange(len(target) + 1) if target else 0
        dead: list[Stmt] = []
        if sources and self.random.random() < 0.7:
            result = s.Var(s.IVEC4, "result")
            dead.append(s.Run(s.Assign(s.IVEC4, "+", result, s.Lit(INT, 77))))
            shift = s.Built(s.IVEC4, "abs", [result])
            dead.append(s.Run(s.Assign(s.IVEC4, "", result, shift)))
        dead.append(s.Jump("discard"))
        target.insert(at, s.If(self.known(False), dead, []))

    def wrapped(self) -> None:
        """A statement inside a loop of one round, a branch that is taken, or a switch."""
        found = self.somewhere()
        if found is None:
            return
        body, i = found
        inner = body[i]
        free = _free_jumps(inner)
        kind = self.random.choice(["if", "else", "for", "while", "switch", "scope"])
        if free and kind in ("for", "while", "switch"):
            kind = "if"
        if kind == "if":
            body[i] = s.If(self.known(True), [inner], [])
        elif kind == "else":
            body[i] = s.If(self.known(False), [s.Jump("discard")], [inner])
        elif kind == "for":
            count: Expr = s.Lit(INT, 1)
            if self.random.random() < 0.5:
                count = s.Cons(INT, [self.known(True)])
            body[i] = s.For(self.name(), count, [inner])
        elif kind == "while":
            first = self.random.random() < 0.5
            again = self.known(first)
            body[i] = s.Scope([s.While(self.name(), 1, again, [inner], first)])
        elif kind == "switch":
            selector = s.Cons(INT, [self.known(True)])
            groups: list[tuple[list[int], bool, list[Stmt]]] = [
                ([0], False, [s.Jump("discard")]),
                ([1], self.random.random() < 0.5, [s.Scope([inner])]),
            ]
            body[i] = s.Switch(selector, groups)
        else:
            body[i] = s.Scope([inner])

    def identities(self) -> None:
        """Expressions replaced by others of the same value."""

        def change(e: Expr) -> Expr:
            if self.random.random() > 0.12 or id(e) in targets:
                return e
            return self.same(e)

        targets = {
            id(x.target) for x in s.expressions(self.program) if isinstance(x, (s.Assign, s.Step))
        }
        for x in s.expressions(self.program):
            if isinstance(x, (s.Index, s.Member, s.Swizzle)):
                targets.add(id(x.a))
            if isinstance(x, s.Call):
                targets.update(id(a) for a in x.args)
        for f in self.program.functions:
            s.rewrite(f, change)

    def same(self, e: Expr) -> Expr:
        kind = e.type
        if kind.is_aggregate or kind == s.VOID:
            return e
        if kind == BOOL:
            pick = self.random.randrange(3)
            if pick == 0:
                return s.Bin(BOOL, "&&", self.known(True), e)
            if pick == 1:
                return s.Un(BOOL, "!", s.Un(BOOL, "!", e))
            return s.Bin(BOOL, "||", self.known(False), e)
        if kind.base in ("int", "uint"):
            nothing = s.Lit(kind.scalar, 0)
            unknown = s.Cons(kind.scalar, [self.known(False)])
            zero = self.random.choice([nothing, unknown])
            pick = self.random.randrange(4)
            if pick == 0:
                return s.Bin(kind, self.random.choice("+-^|"), e, zero)
            if pick == 1:
                return s.Un(kind, "~", s.Un(kind, "~", e))
            if pick == 2:
                other = s.Type("uint" if kind.base == "int" else "int", kind.size)
                return s.Cons(kind, [s.Cons(other, [e])])
            return s.Cond(kind, self.known(True), e, s.Cons(kind, [s.Lit(kind.scalar, 9)]))
        if kind.base == "float":
            pick = self.random.randrange(3)
            if pick == 0:
                return s.Un(kind, "-", s.Un(kind, "-", e))
            if pick == 1:
                return s.Bin(kind, "*", e, s.Lit(s.FLOAT, 1.0))
            return s.Cond(kind, self.known(True), e, s.Cons(kind, [s.Lit(s.FLOAT, 9.0)]))
        return e

    def renamed(self) -> None:
        """Every identifier becomes another one."""
        kept = {"inp", "outp", "un", "result", "lane", "main"}
        names: dict[str, str] = {}

        def new(old: str) -> str:
            return old if old in kept else names.setdefault(old, f"z{len(names)}_")

        # A node may hang in several places of the tree: each is renamed once.
        for e in {id(x): x for x in s.expressions(self.program)}.values():
            if isinstance(e, (s.Var, s.Call)):
                e.name = new(e.name)
        for f in self.program.functions:
            f.name = new(f.name)
            for p in f.params:
                p.name = new(p.name)
        statements = [*self.program.globals, *(x for body in self.lists() for x in body)]
        for x in {id(x): x for x in statements}.values():
            if isinstance(x, (s.Declare, s.For, s.While)):
                x.name = new(x.name)

    def reordered(self) -> None:
        """Neighbouring statements change places where neither sees the other."""
        for body in self.lists():
            for i in range(len(body) - 1):
                if self.random.random() < 0.5 and _independent(body[i], body[i + 1]):
                    body[i], body[i + 1] = body[i + 1], body[i]

    def outlined(self) -> None:
        """A value goes through a function that returns it, early and from inside a loop."""
        kinds = {e.type for e in s.expressions(self.program) if isinstance(e, s.Bin)}
        scalars = [k for k in sorted(kinds, key=str) if k.size == 1 and not k.is_aggregate]
        if not scalars:
            return
        kind = self.random.choice(scalars)
        name, x = self.name(), s.Var(kind, "x")
        body: list[Stmt] = [
            s.For("k", s.Lit(INT, 3), [s.If(self.known(True), [s.Return(x)], [])]),
            s.Return(s.Cons(kind, [s.Lit(kind, self.random.choice([0, 1]))])),
        ]
        if kind.base == "float":
            body[1] = s.Return(s.Lit(kind, 3.0))
        elif kind.base == "bool":
            body[1] = s.Return(s.Lit(kind, True))

        def change(e: Expr) -> Expr:
            if isinstance(e, s.Bin) and e.type == kind and self.random.random() < 0.3:
                return s.Call(kind, name, [e])
            return e

        for f in self.program.functions:
            s.rewrite(f, change)
        function = s.Function(name, kind, [s.Param("in", kind, "x")], body)
        self.program.functions.insert(0, function)


def _free_jumps(x: Stmt) -> bool:
    """A break or continue that leaves the statement?"""

    def free(body: list[Stmt], breaks: bool, continues: bool) -> bool:
        for y in body:
            match y:
                case s.Jump(kind="break"):
                    if breaks:
                        return True
                case s.Jump(kind="continue"):
                    if continues:
                        return True
                case s.If():
                    if free(y.then, breaks, continues) or free(y.otherwise, breaks, continues):
                        return True
                case s.Scope():
                    if free(y.body, breaks, continues):
                        return True
                case s.Switch():
                    if any(free(g[2], False, continues) for g in y.groups):
                        return True
        return False

    return free([x], True, True)


def _independent(x: Stmt, y: Stmt) -> bool:
    """Two assignments to variables, without calls, of which neither reads what the other writes."""
    found: list[tuple[set[str], str]] = []
    for statement in (x, y):
        if not isinstance(statement, s.Run) or not isinstance(statement.expr, s.Assign):
            return False
        inner = list(s.expressions(statement.expr))
        effects = sum(isinstance(e, (s.Assign, s.Step, s.Call)) for e in inner)
        if effects > 1:
            return False
        place: Expr = statement.expr.target
        while isinstance(place, (s.Index, s.Member, s.Swizzle)):
            place = place.a
        assert isinstance(place, s.Var)
        found.append(({e.name for e in inner if isinstance(e, s.Var)}, place.name))
    (names_x, writes_x), (names_y, writes_y) = found
    return writes_x not in names_y and writes_y not in names_x


REWRITES: tuple[Callable[[Rewriter], None], ...] = (
    Rewriter.dead_code,
    Rewriter.wrapped,
    Rewriter.wrapped,
    Rewriter.identities,
    Rewriter.reordered,
    Rewriter.outlined,
    Rewriter.renamed,
)


def vary(program: s.Program, inputs: s.Inputs, seed: int) -> s.Program:
    """Another member of the program's family."""
    rewriter = Rewriter(program.clone(), inputs, seed)
    for _ in range(rewriter.random.randrange(1, 6)):
        rewriter.random.choice(REWRITES)(rewriter)
    return rewriter.program

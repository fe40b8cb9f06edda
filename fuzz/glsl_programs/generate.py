"""Random programs: structures, globals, functions, and a main that mixes everything.

    program = generate(seed, Style())

A seed and a style always give one program; a test names a found program by its seed.
"""

from __future__ import annotations

import copy
import random

from fuzz.glsl_programs import syntax as s
from fuzz.glsl_programs.scope import Frame, Signature, Style, Variable
from fuzz.glsl_programs.syntax import BOOL, FLOAT, INT, UINT, Expr, Stmt, Type
from fuzz.glsl_programs.values import Values


class Generator(Values):
    """Writes one program."""

    def __init__(self, seed: int, style: Style) -> None:
        super().__init__(seed, style)
        self.count = 0
        self.left = style.statements
        self.structs: list[Type] = []

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def any_type(self, aggregates: bool = True) -> Type:
        r = self.random
        choice = r.random()
        if aggregates and choice < 0.12 and self.structs:
            return r.choice(self.structs)
        if aggregates and choice < 0.3:
            element = self.any_type(aggregates=choice < 0.2)
            return s.array(element, r.choice([2, 3, 4])) if element.element is None else element
        base = r.choice(["int", "int", "int", "uint", "float", "bool"])
        return Type(base, r.choice([1, 1, 1, 2, 3, 4]))

    # -- the program -------------------------------------------------------------------------

    def program(self) -> s.Program:
        r = self.random
        for _ in range(r.choice([0, 1, 1, 2])):
            members = []
            for _ in range(r.randrange(1, 4)):
                kind = self.any_type()
                members.append((self.name("m"), kind))
            self.structs.append(Type(self.name("S"), 1, None, 0, tuple(members)))
        out = s.Program(list(self.structs), [], [])
        for _ in range(r.choice([0, 1, 1, 2])):
            kind = self.any_type()
            # Initialised before the first pixel's main: constants and earlier globals only.
            declared = s.Declare(kind, self.name("g"), self.value(kind, 1, pure=True))
            out.globals.append(declared)
            self.globals.append(Variable(declared.name, kind, True, True))
        self.globals.append(Variable("result", s.IVEC4, True, True))
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            out.functions.append(self.function())
        out.functions.append(self.main())
        return out

    def function(self) -> s.Function:
        r = self.random
        result = s.VOID if self.chance(0.2) else self.any_type()
        params = []
        for _ in range(r.randrange(0, 4)):
            direction = r.choice(["in", "in", "in", "out", "inout"])
            params.append(s.Param(direction, self.any_type(), self.name("p")))
        self.frame = Frame(result)
        self.frame.pure = all(p.direction == "in" for p in params)
        body: list[Stmt] = []
        for p in params:
            if p.direction == "out":
                first = self.value(p.type, 1, pure=True)
                body.append(s.Run(s.Assign(p.type, "", s.Var(p.type, p.name), first)))
            self.frame.scopes[-1].append(Variable(p.name, p.type))
        kept, self.left = self.left, min(self.left, r.randrange(2, 8))
        taken = self.left
        body += self.statements(r.randrange(1, 5))
        self.left = kept - (taken - self.left)
        if result != s.VOID:
            body.append(s.Return(self.value(result)))
        function = s.Function(self.name("f"), result, params, body)
        self.functions.append(Signature(function, self.frame.pure))
        return function

    def main(self) -> s.Function:
        self.frame = Frame(s.VOID)
        zero: Expr = s.Cons(s.IVEC4, [s.Lit(INT, 0)])
        body: list[Stmt] = [s.Run(s.Assign(s.IVEC4, "", s.Var(s.IVEC4, "result"), zero))]
        for _ in range(self.random.randrange(2, 5)):
            body.append(self.declaration())
        self.calls_left = 8
        while self.left > 0:
            body += self.statements(1)
        body += self.checksum()
        return s.Function("main", s.VOID, [], body)

    def checksum(self) -> list[Stmt]:
        """Everything still visible, folded into the colour."""
        leaves: list[Expr] = []
        for v in self.variables():
            if v.name != "result":
                self.leaves(s.Var(v.type, v.name), leaves)
        self.random.shuffle(leaves)
        out: list[Stmt] = []
        for i, e in enumerate(leaves[:20]):
            target = s.Swizzle(INT, s.Var(s.IVEC4, "result"), "xyzw"[i % 4])
            if e.type == FLOAT:
                e = s.Bin(FLOAT, "*", e, s.Lit(FLOAT, 4.0))
            number = e if e.type == INT else s.Cons(INT, [e])
            mixed = s.Bin(INT, "+", s.Bin(INT, "*", target, s.Lit(INT, 31)), number)
            out.append(s.Run(s.Assign(INT, "", target, mixed)))
        return out

    def leaves(self, e: Expr, out: list[Expr]) -> None:
        kind = e.type
        if kind.members:
            for name, member in kind.members:
                self.leaves(s.Member(member, e, name), out)
        elif kind.element is not None:
            for i in range(kind.length):
                self.leaves(s.Index(kind.element, e, s.Lit(INT, i)), out)
        elif kind.size > 1:
            out += [s.Swizzle(kind.scalar, e, c) for c in "xyzw"[: kind.size]]
        else:
            out.append(e)

    # -- statements --------------------------------------------------------------------------

    def statements(self, count: int) -> list[Stmt]:
        out: list[Stmt] = []
        for _ in range(count):
            self.left -= 1
            out.append(self.statement())
        return out

    def nested(self, count: int, *, loop: bool = False, switch: bool = False) -> list[Stmt]:
        """A body in a scope of its own."""
        frame = self.frame
        frame.scopes.append([])
        frame.depth += 1
        frame.loops += loop
        frame.breakable += loop or switch
        body = self.statements(count)
        if (loop or switch or frame.breakable) and self.chance(0.25):
            body.append(self.jump())
        frame.breakable -= loop or switch
        frame.loops -= loop
        frame.depth -= 1
        frame.scopes.pop()
        return body

    def statement(self) -> Stmt:
        r = self.random
        deep = self.frame.depth >= 3
        choice = r.random()
        if choice < 0.15:
            return self.declaration()
        if choice < 0.5 or deep:
            return self.assignment()
        if choice < 0.72:
            return self.branch()
        if choice < 0.86:
            return self.loop()
        if choice < 0.93:
            return self.switch()
        if choice < 0.97:
            return s.If(self.condition(), [self.jump()], [])
        return s.Scope(self.nested(r.randrange(1, 3)))

    def declaration(self) -> Stmt:
        kind = self.any_type()
        out = s.Declare(kind, self.name("v"), self.value(kind))
        self.frame.scopes[-1].append(Variable(out.name, kind))
        return out

    def assignment(self) -> Stmt:
        r = self.random
        if self.functions and self.chance(0.2):
            chosen = r.choice(self.functions)
            call = self.call_of(chosen, 2, pure=not self.style.effects)
            if call is not None:
                places = [
                    p
                    for p in self.writable(chosen.function.result)
                    if not p.steps
                    and p.variable.name not in names(call)
                    and (self.style.effects or not p.variable.is_global)
                ]
                if chosen.function.result != s.VOID and places:
                    target = self.spelt(r.choice(places))
                    self.note_write(target)
                    return s.Run(s.Assign(target.type, "", target, call))
                return s.Run(call)
        if self.chance(0.15):
            self.frame.pure = False
            place = self.buffer("outp")
            return s.Run(s.Assign(INT, r.choice(["", "", "+", "^"]), place, self.value(INT)))
        kinds = [v.type for v in self.variables() if v.writable]
        kind = r.choice(kinds)
        if kind.is_aggregate and self.chance(0.6):
            kind = Type(r.choice(["int", "uint", "float", "bool"]), r.choice([1, 1, 2, 3]))
        elif kind.size > 1 and self.chance(0.4):
            kind = Type(kind.base, r.randrange(1, kind.size + 1))
        places = self.writable(kind)
        if not places:
            return self.declaration()
        target = self.spelt(r.choice(places))
        self.note_write(target)
        if kind in (INT, UINT) and self.chance(0.15):
            return s.Run(s.Step(kind, r.choice("+-"), self.chance(0.5), target))
        ops = {"int": "+-*&|^", "uint": "+-*&|^"}.get(kind.base, "")
        pure = not self.style.effects
        if ops and not kind.is_aggregate and self.chance(0.4):
            # The added value must not change the target: GLSL does not say when that is read.
            return s.Run(s.Assign(kind, r.choice(ops), target, self.value(kind, None, pure=True)))
        return s.Run(s.Assign(kind, "", target, self.value(kind, None, pure)))

    def condition(self) -> Expr:
        """A condition, often one that has been asked before."""
        frame = self.frame
        visible = {v.name for v in self.variables()} | {"lane", "inp", "outp", "un"}
        known = [c for c in frame.conditions if names(c) <= visible]
        if known and self.chance(0.35):
            return copy.deepcopy(self.random.choice(known))
        made = self.boolean(BOOL, 2, pure=not self.style.effects)
        if not any(isinstance(x, (s.Assign, s.Step, s.Call)) for x in s.expressions(made)):
            frame.conditions.append(copy.deepcopy(made))
        return made

    def branch(self) -> Stmt:
        condition = self.condition()
        then = self.nested(self.random.randrange(1, 4))
        otherwise = self.nested(self.random.randrange(1, 3)) if self.chance(0.4) else []
        return s.If(condition, then, otherwise)

    def loop(self) -> Stmt:
        r = self.random
        if self.frame.loops >= 2:
            return self.branch()
        if self.chance(0.65):
            name = self.name("i")
            count: Expr = s.Lit(INT, r.randrange(1, 6))
            if self.chance(0.5):
                count = s.Bin(INT, "&", self.integer(INT, 1, pure=True), s.Lit(INT, 3))
            self.frame.scopes.append([Variable(name, INT, writable=False)])
            body = self.nested(r.randrange(1, 5), loop=True)
            self.frame.scopes.pop()
            return s.For(name, count, body)
        first = self.chance(0.6)
        condition = self.condition()
        name = self.name("w")
        body = self.nested(r.randrange(1, 5), loop=True)
        return s.While(name, r.randrange(1, 6), condition, body, first)

    def switch(self) -> Stmt:
        r = self.random
        selector = s.Bin(INT, "&", self.value(INT, 2), s.Lit(INT, 3))
        labels = r.sample(range(5), r.randrange(1, 5))
        groups: list[tuple[list[int], bool, list[Stmt]]] = []
        where = r.randrange(len(labels) + 2)
        for i in range(len(labels) + 1):
            mine = labels[i : i + 1]
            default = i == where
            if not mine and not default:
                continue
            inner = self.nested(r.randrange(0, 3), switch=True)
            body: list[Stmt] = [s.Scope(inner)] if inner else []
            if self.chance(0.6):
                body.append(s.Jump("break"))
            groups.append((mine, default, body))
        return s.Switch(selector, groups)

    def jump(self) -> Stmt:
        frame = self.frame
        options = ["return"] * 2
        options += ["break"] * 3 * bool(frame.breakable) + ["continue"] * 3 * bool(frame.loops)
        if self.chance(0.15):
            options.append("discard")
        kind = self.random.choice(options)
        if kind == "return":
            return s.Return(None if frame.result == s.VOID else self.value(frame.result, 1))
        if kind == "discard":
            frame.pure = False
        return s.Jump(kind)


def names(e: Expr) -> set[str]:
    """Variables an expression mentions."""
    return {x.name for x in s.expressions(e) if isinstance(x, s.Var)}


def inputs(seed: int) -> s.Inputs:
    """What a program is run on."""
    r = random.Random(seed ^ 0x5EED)

    def number() -> int:
        x = r.choice([r.randrange(8), r.randrange(-64, 64), r.getrandbits(32)])
        return x - (1 << 32) if x >= 1 << 31 else x

    return s.Inputs(
        [number() for _ in range(s.LANES * s.INPUTS)],
        [r.randrange(1, 9) for _ in range(s.UNIFORMS)],
        [r.randrange(16) for _ in range(s.LANES * s.SLOTS)],
    )


def generate(seed: int, style: Style | None = None) -> s.Program:
    """A program."""
    return Generator(seed, style or Style()).program()

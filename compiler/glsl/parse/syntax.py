"""The syntax tree that the parser builds: plain nodes with source locations.

`loc` and `end` are `SourceMap` locations of the first character and of the one past the last.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Node:
    """Base of all nodes."""

    loc: int
    end: int


class Expr(Node):
    """An expression."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Name(Expr):
    name: str


@dataclass(slots=True, eq=False)
class Literal(Expr):
    kind: str
    """type keyword: int, uint, float, double, bool, int64_t, uint64_t"""
    value: int | float | bool


@dataclass(slots=True, eq=False)
class Unary(Expr):
    """`op` is + - ! ~ ++ -- or, after the operand, p++ p--."""

    op: str
    operand: Expr


@dataclass(slots=True, eq=False)
class Binary(Expr):
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Assign(Expr):
    """`op` is "=", "+=", ..."""

    op: str
    target: Expr
    value: Expr


@dataclass(slots=True, eq=False)
class Conditional(Expr):
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(slots=True, eq=False)
class Comma(Expr):
    items: list[Expr]


@dataclass(slots=True, eq=False)
class Index(Expr):
    base: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Member(Expr):
    base: Expr
    name: str
    name_loc: int


@dataclass(slots=True, eq=False)
class TypeRef(Expr):
    """A type as written: keyword or struct name, or a struct definition, and array dimensions."""

    name: str
    struct: StructDef | None
    dims: list[Expr | None]


@dataclass(slots=True, eq=False)
class Call(Expr):
    """A call or constructor; a Member callee is a method, an Index an array of subroutines."""

    callee: Name | TypeRef | Member | Index
    args: list[Expr]


@dataclass(slots=True, eq=False)
class InitList(Expr):
    items: list[Expr]


@dataclass(slots=True, eq=False)
class LayoutId(Node):
    name: str
    value: Expr | None


@dataclass(slots=True, eq=False)
class Qualifiers(Node):
    """Qualifier words in order, layout identifiers, and `subroutine(types)`."""

    words: list[tuple[str, int]] = field(default_factory=list)
    layout: list[LayoutId] = field(default_factory=list)
    subroutine_types: list[Name] | None = None
    layout_groups: int = 0

    def has(self, word: str) -> bool:
        return any(w == word for w, _ in self.words)


@dataclass(slots=True, eq=False)
class Declarator(Node):
    name: str
    dims: list[Expr | None]
    init: Expr | None


class Stmt(Node):
    """A statement or declaration."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Declaration(Stmt):
    """`quals type a, b[2] = ...;`. Without a type: `invariant a, b;` or `layout(...) in;`."""

    quals: Qualifiers
    type: TypeRef | None
    declarators: list[Declarator]


@dataclass(slots=True, eq=False)
class StructDef(Node):
    name: str
    members: list[Declaration]


@dataclass(slots=True, eq=False)
class BlockDecl(Stmt):
    """An interface block."""

    quals: Qualifiers
    name: str
    members: list[Declaration]
    instance: Declarator | None


@dataclass(slots=True, eq=False)
class Param(Node):
    quals: Qualifiers
    type: TypeRef
    name: str
    dims: list[Expr | None]


@dataclass(slots=True, eq=False)
class FunctionDecl(Stmt):
    quals: Qualifiers
    type: TypeRef
    name: str
    name_loc: int
    params: list[Param]
    body: Compound | None


@dataclass(slots=True, eq=False)
class Precision(Stmt):
    precision: str
    type: TypeRef


@dataclass(slots=True, eq=False)
class Compound(Stmt):
    body: list[Stmt]


@dataclass(slots=True, eq=False)
class ExprStmt(Stmt):
    expr: Expr | None


@dataclass(slots=True, eq=False)
class If(Stmt):
    condition: Expr
    then: Stmt
    otherwise: Stmt | None


@dataclass(slots=True, eq=False)
class For(Stmt):
    init: Stmt | None
    condition: Expr | Declaration | None
    step: Expr | None
    body: Stmt


@dataclass(slots=True, eq=False)
class While(Stmt):
    condition: Expr | Declaration
    body: Stmt


@dataclass(slots=True, eq=False)
class DoWhile(Stmt):
    body: Stmt
    condition: Expr


@dataclass(slots=True, eq=False)
class Switch(Stmt):
    selector: Expr
    body: list[Stmt]


@dataclass(slots=True, eq=False)
class Case(Stmt):
    """`value` None is `default`."""

    value: Expr | None


@dataclass(slots=True, eq=False)
class Jump(Stmt):
    """break, continue, return, discard, demote."""

    kind: str
    value: Expr | None


@dataclass(slots=True, eq=False)
class Unit(Node):
    """A whole shader."""

    body: list[Stmt]

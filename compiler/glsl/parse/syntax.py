"""The syntax tree that the parser builds: plain nodes with source locations.

`loc` and `end` are `SourceMap` locations of the first character and of the one past the last.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import field, lazy_dataclass


@lazy_dataclass(eq=False)
class Node:
    """Base of all nodes."""

    loc: int
    end: int


class Expr(Node):
    """An expression."""

    __slots__ = ()


@lazy_dataclass(eq=False)
class Name(Expr):
    name: str


@lazy_dataclass(eq=False)
class Literal(Expr):
    kind: str
    """type keyword: int, uint, float, double, bool, int64_t, uint64_t"""
    value: int | float | bool


@lazy_dataclass(eq=False)
class Unary(Expr):
    """`op` is + - ! ~ ++ -- or, after the operand, p++ p--."""

    op: str
    operand: Expr


@lazy_dataclass(eq=False)
class Binary(Expr):
    op: str
    left: Expr
    right: Expr


@lazy_dataclass(eq=False)
class Assign(Expr):
    """`op` is "=", "+=", ..."""

    op: str
    target: Expr
    value: Expr


@lazy_dataclass(eq=False)
class Conditional(Expr):
    condition: Expr
    then: Expr
    otherwise: Expr


@lazy_dataclass(eq=False)
class Comma(Expr):
    items: list[Expr]


@lazy_dataclass(eq=False)
class Index(Expr):
    base: Expr
    index: Expr


@lazy_dataclass(eq=False)
class Member(Expr):
    base: Expr
    name: str
    name_loc: int


@lazy_dataclass(eq=False)
class TypeRef(Expr):
    """A type as written: keyword or struct name, or a struct definition, and array dimensions."""

    name: str
    struct: StructDef | None
    dims: list[Expr | None]


@lazy_dataclass(eq=False)
class Call(Expr):
    """A call or constructor; a Member callee is a method, an Index an array of subroutines."""

    callee: Name | TypeRef | Member | Index
    args: list[Expr]


@lazy_dataclass(eq=False)
class InitList(Expr):
    items: list[Expr]


@lazy_dataclass(eq=False)
class LayoutId(Node):
    name: str
    value: Expr | None


@lazy_dataclass(eq=False)
class Qualifiers(Node):
    """Qualifier words in order, layout identifiers, and `subroutine(types)`."""

    words: list[tuple[str, int]] = field(default_factory=list)
    layout: list[LayoutId] = field(default_factory=list)
    subroutine_types: list[Name] | None = None
    layout_groups: int = 0

    def has(self, word: str) -> bool:
        return any(w == word for w, _ in self.words)


@lazy_dataclass(eq=False)
class Declarator(Node):
    name: str
    dims: list[Expr | None]
    init: Expr | None


class Stmt(Node):
    """A statement or declaration."""

    __slots__ = ()


@lazy_dataclass(eq=False)
class Declaration(Stmt):
    """`quals type a, b[2] = ...;`. Without a type: `invariant a, b;` or `layout(...) in;`."""

    quals: Qualifiers
    type: TypeRef | None
    declarators: list[Declarator]


@lazy_dataclass(eq=False)
class StructDef(Node):
    name: str
    members: list[Declaration]


@lazy_dataclass(eq=False)
class BlockDecl(Stmt):
    """An interface block."""

    quals: Qualifiers
    name: str
    members: list[Declaration]
    instance: Declarator | None


@lazy_dataclass(eq=False)
class Param(Node):
    quals: Qualifiers
    type: TypeRef
    name: str
    dims: list[Expr | None]


@lazy_dataclass(eq=False)
class FunctionDecl(Stmt):
    quals: Qualifiers
    type: TypeRef
    name: str
    name_loc: int
    params: list[Param]
    body: Compound | None


@lazy_dataclass(eq=False)
class Precision(Stmt):
    precision: str
    type: TypeRef


@lazy_dataclass(eq=False)
class Compound(Stmt):
    body: list[Stmt]


@lazy_dataclass(eq=False)
class ExprStmt(Stmt):
    expr: Expr | None


@lazy_dataclass(eq=False)
class If(Stmt):
    condition: Expr
    then: Stmt
    otherwise: Stmt | None


@lazy_dataclass(eq=False)
class For(Stmt):
    init: Stmt | None
    condition: Expr | Declaration | None
    step: Expr | None
    body: Stmt


@lazy_dataclass(eq=False)
class While(Stmt):
    condition: Expr | Declaration
    body: Stmt


@lazy_dataclass(eq=False)
class DoWhile(Stmt):
    body: Stmt
    condition: Expr


@lazy_dataclass(eq=False)
class Switch(Stmt):
    selector: Expr
    body: list[Stmt]


@lazy_dataclass(eq=False)
class Case(Stmt):
    """`value` None is `default`."""

    value: Expr | None


@lazy_dataclass(eq=False)
class Jump(Stmt):
    """break, continue, return, discard, demote."""

    kind: str
    value: Expr | None


@lazy_dataclass(eq=False)
class Unit(Node):
    """A whole shader."""

    body: list[Stmt]

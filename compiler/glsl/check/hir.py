"""The checked tree: every expression has a type, every name is resolved, every conversion explicit.

The checker builds it from the syntax tree; the linker joins the trees of several shaders and only
then lowers them to NIR, because array sizes and function bodies may come from another shader.

The checker builds declarations incrementally: qualifiers are merged, sizes found, uses recorded.
After that nothing changes the tree, so a shader can be linked with any partners in any order: a
link changes only its own copies of declarations (`link.declarations`).

Constant values are tuples: one number per component for scalars, vectors and matrices (column by
column), one value per element or member for arrays and structs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.types import Type

Value = tuple[Any, ...]
Class = TypeVar("Class", bound=type)
Declaration = TypeVar("Declaration")


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: Class) -> Class:
    """An expression or statement, which is complete when created and immutable.

    The type checker enforces that; at run time plain dataclasses are faster to create than frozen
    ones.
    """
    return lazy_dataclass(eq=False)(cls)


@lazy_dataclass(eq=False)
class Quals:
    """Qualifiers of a variable, block or member after checking."""

    storage: str = ""
    """"", const, in, out, uniform, buffer, shared (attribute and varying are mapped)"""
    interpolation: str = ""
    centroid: bool = False
    sample: bool = False
    patch: bool = False
    invariant: bool = False
    precise: bool = False
    precision: str = ""
    memory: frozenset[str] = frozenset()
    layout: dict[str, int] = field(default_factory=dict)
    """location, component, index, binding, offset, align, xfb_*, stream; -1 when without value"""
    flags: set[str] = field(default_factory=set)
    """layout identifiers without a value: std140, row_major, origin_upper_left, formats, ..."""
    legacy: str = ""
    """attribute or varying, if declared so"""
    max_index: int = -1
    """highest constant index of an implicitly sized member of a block with an instance name"""


@lazy_dataclass(eq=False)
class Variable:
    """A variable of any kind, identified by object identity."""

    name: str
    type: Type
    quals: Quals
    loc: int = 0
    end: int = 0
    kind: str = "local"
    """local, global, param"""
    const_value: Value | None = None
    init: Expr | None = None
    builtin: str = ""
    """slot of a built-in variable, "" for others"""
    block: Block | None = None
    member: int = -1
    """for a member of a block without instance name"""
    used: bool = False
    written: bool = False
    changed: bool = False
    """whether it is written other than by its initializer"""
    read_only: bool = False
    max_index: int = -1
    """highest constant index of an implicitly sized array, or of a uniform array"""
    whole: bool = False
    """whether a uniform array is used other than by constant elements"""
    dynamic_index: bool = False
    explicit_size: bool = False
    redeclared: bool = False


@lazy_dataclass(eq=False)
class Block:
    """An interface block."""

    name: str
    quals: Quals
    type: Type
    instance: Variable | None
    """the instance, or a hidden variable if there is no instance name"""
    instance_name: str
    member_quals: list[Quals]
    members: list[Variable] = field(default_factory=list)
    """one per member if there is no instance name"""
    loc: int = 0
    end: int = 0
    builtin: bool = False


@lazy_dataclass(eq=False)
class Function:
    """A function signature, with its body once defined."""

    name: str
    result: Type
    params: list[Variable]
    loc: int = 0
    end: int = 0
    body: list[Stmt] | None = None
    calls: list[tuple[Function, int, int]] = field(default_factory=list)
    globals: set[Variable] = field(default_factory=set)
    """variables with static storage that the body uses"""
    subroutine_types: list[str] = field(default_factory=list)
    subroutine_index: int = -1
    is_subroutine_type: bool = False
    precise_result: bool = False
    precision: str = ""  # of the result
    uses: set[str] = field(default_factory=set)
    """calls of built-in functions that matter elsewhere: discard, EmitVertex, dFdx, ..."""
    lines: Callable[[int], int] | None = None
    """a location -> the line of the text it was compiled from, counted from 1"""

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.name, *[p.type for p in self.params])

    def __str__(self) -> str:
        params = ", ".join(
            (f"{p.quals.storage} " if p.quals.storage in ("out", "inout") else "") + str(p.type)
            for p in self.params
        )
        return f"{self.result} {self.name}({params})"


def _copier(kind: type[Declaration]) -> Callable[[Declaration], Declaration]:
    """A function that copies attribute by attribute, because every link copies every
    declaration.
    """
    attributes = attrgetter(*(each.name for each in fields(kind)))  # type: ignore[arg-type]
    return lambda old: kind(*attributes(old))


_copy_quals = _copier(Quals)
copy_variable = _copier(Variable)
"""A copy whose parts are shared."""
copy_block = _copier(Block)
"""A copy whose parts are shared."""


def copy_quals(quals: Quals) -> Quals:
    """A copy that shares nothing that can be changed."""
    new = _copy_quals(quals)
    new.layout = dict(quals.layout)
    new.flags = set(quals.flags)
    return new


# -- expressions ------------------------------------------------------------------------------


@node
class Expr:
    type: Type
    loc: int
    end: int


@node
class Const(Expr):
    value: Value


@node
class VarRef(Expr):
    var: Variable


@node
class FieldRef(Expr):
    base: Expr
    index: int


@node
class IndexRef(Expr):
    base: Expr
    index: Expr


@node
class Swizzle(Expr):
    base: Expr
    components: tuple[int, ...]

    @property
    def is_place(self) -> bool:
        """Whether it may be written, if its vector may: no component is repeated."""
        return len(set(self.components)) == len(self.components)


@node
class Unary(Expr):
    """`op` is - ! ~ (unary plus is dropped)."""

    op: str
    operand: Expr


@node
class Step(Expr):
    """++ and --; with `post` the value is the old one."""

    op: str
    post: bool
    target: Expr


@node
class Binary(Expr):
    """Arithmetic, bit, relational and equality operators; operands have a common base type."""

    op: str
    left: Expr
    right: Expr


@node
class Logical(Expr):
    """&& || ^^ on scalars."""

    op: str
    left: Expr
    right: Expr


@node
class Select(Expr):
    condition: Expr
    then: Expr
    otherwise: Expr


@node
class Assign(Expr):
    """`op` is "" for plain assignment; else the operator, and `value` its right operand."""

    op: str
    target: Expr
    value: Expr


@node
class Comma(Expr):
    items: Sequence[Expr]


@node
class Construct(Expr):
    """Vector from components, matrix from components or scalar or matrix, array, struct."""

    args: Sequence[Expr]


@node
class Convert(Expr):
    """Component-wise conversion between base types, same shape."""

    operand: Expr


@node
class Call(Expr):
    function: Function
    args: Sequence[Expr]


@node
class BuiltinCall(Expr):
    name: str
    params: tuple[tuple[str, Type], ...]
    """(in|out|inout, type) of the chosen overload"""
    args: Sequence[Expr]


@node
class SubroutineCall(Expr):
    target: Expr
    prototype: Function
    args: Sequence[Expr]


@node
class Length(Expr):
    """`.length()` of an array whose size is known only at run time or link time."""

    base: Expr


def children(e: Expr) -> Sequence[Expr]:
    """The expressions directly inside one, in source order."""
    match e:
        case FieldRef() | Swizzle() | Length():
            return [e.base]
        case IndexRef():
            return [e.base, e.index]
        case Unary() | Convert():
            return [e.operand]
        case Step():
            return [e.target]
        case Binary() | Logical():
            return [e.left, e.right]
        case Select():
            return [e.condition, e.then, e.otherwise]
        case Assign():
            return [e.target, e.value]
        case Comma():
            return e.items
        case Construct() | Call() | BuiltinCall():
            return e.args
        case SubroutineCall():
            return [e.target, *e.args]
    return []


def walk(e: Expr) -> Iterator[Expr]:
    """An expression and everything inside it, without recursion."""
    stack = [e]
    while stack:
        x = stack.pop()
        yield x
        stack += children(x)


# -- statements -------------------------------------------------------------------------------


@node
class Stmt:
    loc: int


@node
class Declare(Stmt):
    var: Variable


@node
class Evaluate(Stmt):
    expr: Expr


@node
class Compound(Stmt):
    body: Sequence[Stmt]


@node
class If(Stmt):
    condition: Expr
    then: Sequence[Stmt]
    otherwise: Sequence[Stmt]


@node
class Loop(Stmt):
    """for, while and do-while; `condition_first` is False for do-while."""

    init: Sequence[Stmt]
    condition: Expr | None
    condition_var: Variable | None
    step: Expr | None
    body: Sequence[Stmt]
    condition_first: bool


@node
class Switch(Stmt):
    """Groups in order: (labels, is it default, body); a body falls through into the next."""

    selector: Expr
    groups: Sequence[tuple[Sequence[Const], bool, Sequence[Stmt]]]


@node
class Jump(Stmt):
    kind: str


@node
class Return(Stmt):
    value: Expr | None


@lazy_dataclass(eq=False)
class Shader:
    """One checked shader: part of a `CompiledShader`, and the linker's input."""

    stage: str
    globals: list[Variable] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    builtins: dict[str, Variable] = field(default_factory=dict)
    """built-in variables that the shader uses or redeclares, by name"""
    layout: dict[str, Any] = field(default_factory=dict)
    """shader-wide layout: local_size_*, primitives, early_fragment_tests, ..."""
    subroutine_types: dict[str, Function] = field(default_factory=dict)
    precisions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """in GLSL ES: those of the members of each structure"""

"""Structured control flow: blocks, ifs and loops.

A body is a list that starts and ends with a `Block` and in which blocks alternate with `If` and
`Loop` nodes. `Block.predecessors` and `successors` are computed on request (`Metadata.CFG`);
`successors_of` computes those of one block from the structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from gallette.compiler.nir.ir.instrs import Instr, Jump, Phi
from gallette.compiler.nir.ir.values import Def, Src

if TYPE_CHECKING:
    from gallette.compiler.nir.ir.shader import FunctionImpl

Node: TypeAlias = "Block | If | Loop"
Body: TypeAlias = "list[Block | If | Loop]"
Parent: TypeAlias = "If | Loop | FunctionImpl"


class Block:
    """A basic block: phis first, at most one jump last."""

    __slots__ = (
        "children",
        "dom_in",
        "dom_out",
        "first",
        "idom",
        "index",
        "last",
        "live_in",
        "live_out",
        "owner",
        "parent",
        "place",
        "predecessors",
        "successors",
    )

    def __init__(self, parent: Parent, owner: Body):
        self.parent = parent
        self.owner = owner
        self.place = len(owner)  # its index when `place_of` was last called
        self.first: Instr | None = None
        self.last: Instr | None = None
        self.index = -1
        self.predecessors: list[Block] = []
        self.successors: list[Block] = []
        self.idom: Block | None = None
        self.children: list[Block] = []
        self.dom_in = self.dom_out = 0
        self.live_in: frozenset[Def] | set[Def] = frozenset()
        self.live_out: frozenset[Def] | set[Def] = frozenset()

    def instrs(self) -> Iterator[Instr]:
        """The instructions in order; the current one may be removed during iteration."""
        at = self.first
        while at is not None:
            following = at.next
            yield at
            at = following

    def phis(self) -> Iterator[Phi]:
        at = self.first
        while isinstance(at, Phi):
            following = at.next
            yield at
            at = following

    @property
    def jump(self) -> Jump | None:
        """The jump that ends the block, or None."""
        return self.last if isinstance(self.last, Jump) else None

    @property
    def last_phi(self) -> Instr | None:
        at, found = self.first, None
        while at is not None and at.is_phi:
            found, at = at, at.next
        return found

    @property
    def before_jump(self) -> Instr | None:
        """The instruction after which code is appended to the block."""
        return self.last.prev if isinstance(self.last, Jump) else self.last

    def insert_after(self, prev: Instr | None, instr: Instr) -> None:
        """Link `instr` after `prev`, or at the start for None."""
        instr.block = self
        instr.prev = prev
        if prev is None:
            instr.next = self.first
            self.first = instr
        else:
            instr.next = prev.next
            prev.next = instr
        if instr.next is None:
            self.last = instr
        else:
            instr.next.prev = instr

    def append(self, instr: Instr) -> None:
        self.insert_after(self.last, instr)

    @property
    def impl(self) -> FunctionImpl:
        return impl_of(self)

    def dissolve(self) -> None:
        """Drop all references (see `FunctionImpl.dissolve`)."""
        if self.parent.__class__ is If:
            self.parent.condition = None  # type: ignore[assignment]
        self.first = self.last = self.idom = None
        self.owner.clear()
        self.predecessors = self.successors = self.children = []
        self.live_in = self.live_out = frozenset()

    def dominates(self, other: Block) -> bool:
        """Whether every path to `other` goes through this block. (Needs `Metadata.DOMINANCE`.)"""
        return self.dom_in <= other.dom_in and other.dom_out <= self.dom_out

    def __repr__(self) -> str:
        return f"<block {self.index}>"


class If:
    """Runs one of two bodies."""

    __slots__ = (
        "condition",
        "divergent",
        "else_body",
        "owner",
        "parent",
        "place",
        "then_body",
    )
    is_phi = False

    def __init__(self, parent: Parent, owner: Body, condition: Def):
        self.parent = parent
        self.owner = owner
        self.place = len(owner)
        self.condition = Src(condition, self)
        self.then_body: Body = []
        self.else_body: Body = []
        self.then_body.append(Block(self, self.then_body))
        self.else_body.append(Block(self, self.else_body))
        self.divergent = True

    @property
    def block(self) -> Block:
        """The block before it, at whose end the condition is read."""
        return prev_block(self)

    @property
    def then_first(self) -> Block:
        return self.then_body[0]  # type: ignore[return-value]

    @property
    def then_last(self) -> Block:
        return self.then_body[-1]  # type: ignore[return-value]

    @property
    def else_first(self) -> Block:
        return self.else_body[0]  # type: ignore[return-value]

    @property
    def else_last(self) -> Block:
        return self.else_body[-1]  # type: ignore[return-value]


class Loop:
    """Repeats its body until a break, return or halt."""

    __slots__ = ("body", "divergent", "divergent_continue", "owner", "parent", "place")

    def __init__(self, parent: Parent, owner: Body):
        self.parent = parent
        self.owner = owner
        self.place = len(owner)
        self.body: Body = []
        self.body.append(Block(self, self.body))
        self.divergent = self.divergent_continue = True

    @property
    def first(self) -> Block:
        return self.body[0]  # type: ignore[return-value]

    @property
    def last(self) -> Block:
        return self.body[-1]  # type: ignore[return-value]


def impl_of(node: Node) -> FunctionImpl:
    at: Any = node
    while isinstance(at, (Block, If, Loop)):
        at = at.parent
    return at  # type: ignore[no-any-return]


_NEAR = 64


def place_of(node: Node) -> int:
    """The index of a node in its body, which may be long: fast for a node that was looked up before
    and has hardly moved. Raises ValueError for a node that was removed.
    """
    owner, at = node.owner, node.place
    if at < len(owner) and owner[at] is node:
        return at
    try:
        found = owner.index(node, max(0, at - _NEAR), at + _NEAR)
    except ValueError:
        found = owner.index(node)
        for at in range(found + 1, len(owner)):  # the next lookups are likely to be for these
            owner[at].place = at
    node.place = found
    return found


def next_block(node: If | Loop) -> Block:
    """The block after an if or loop."""
    return node.owner[place_of(node) + 1]  # type: ignore[return-value]


def prev_block(node: If | Loop) -> Block:
    """The block before an if or loop."""
    return node.owner[place_of(node) - 1]  # type: ignore[return-value]


def next_node(block: Block) -> If | Loop | None:
    """The if or loop that follows a block in its body."""
    i = place_of(block) + 1
    return block.owner[i] if i < len(block.owner) else None  # type: ignore[return-value]


def enclosing_loop(node: Node) -> Loop | None:
    at: Any = node.parent
    while isinstance(at, If):
        at = at.parent
    return at if isinstance(at, Loop) else None


def successors_of(block: Block) -> list[Block]:
    """The possible successors of `block`, from the structure."""
    jump = block.jump
    if jump is not None:
        if jump.type in ("return", "halt"):
            return []
        loop = enclosing_loop(block)
        assert loop is not None
        return [next_block(loop) if jump.type == "break" else loop.first]
    node = next_node(block)
    if isinstance(node, If):
        return [node.then_first, node.else_first]
    if isinstance(node, Loop):
        return [node.first]
    parent = block.parent
    if isinstance(parent, If):
        return [next_block(parent)]
    if isinstance(parent, Loop):
        return [parent.first]
    return []


def walk(body: Body) -> Iterator[Node]:
    """Every node in source order, a compound node before its contents.

    Bodies may be edited only where the walk has passed; make a list first to edit freely.
    """
    stack: list[Iterator[Node]] = [iter(body)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            continue
        yield node
        if isinstance(node, If):
            stack.append(iter(node.else_body))
            stack.append(iter(node.then_body))
        elif isinstance(node, Loop):
            stack.append(iter(node.body))


def places(body: Body) -> list[tuple[Node, Body, int]]:
    """Every node in source order, with its body and its index there, because looking up the indices
    of all nodes in a long body takes quadratic time.
    """
    found: list[tuple[Node, Body, int]] = []
    stack: list[tuple[Body, int]] = [(body, 0)]
    while stack:
        body, at = stack.pop()
        while at < len(body):
            node = body[at]
            found.append((node, body, at))
            at += 1
            if node.__class__ is If:
                stack += [(body, at), (node.else_body, 0), (node.then_body, 0)]
                break
            if node.__class__ is Loop:
                stack += [(body, at), (node.body, 0)]
                break
    return found


def events(body: Body) -> Iterator[tuple[str, Node]]:
    """Nested code as a flat sequence: ("block", b), ("if", n), ("else", n), ("loop", n), ("end",
    n).

    This serves printers and code generators: indent after if, else and loop, outdent at else and
    end.
    """
    stack: list[tuple[Iterator[Node], If | Loop | None, bool]] = [(iter(body), None, False)]
    while stack:
        nodes, owner, in_then = stack[-1]
        node = next(nodes, None)
        if node is None:
            stack.pop()
            if in_then:
                assert isinstance(owner, If)
                yield "else", owner
                stack.append((iter(owner.else_body), owner, False))
            elif owner is not None:
                yield "end", owner
        elif isinstance(node, Block):
            yield "block", node
        elif isinstance(node, If):
            yield "if", node
            stack.append((iter(node.then_body), node, True))
        else:
            yield "loop", node
            stack.append((iter(node.body), node, False))


def inner_first(body: Body) -> list[If | Loop]:
    """Every if and loop in source order of their ends, so inner ones come before outer ones.

    A pass that merges blocks in this order always appends a short block to a long one.
    """
    return [node for kind, node in events(body) if kind == "end"]  # type: ignore[misc]


def blocks_in(body: Body) -> Iterable[Block]:
    """Every block in source order."""
    if len(body) == 1:  # the usual case
        return (body[0],)  # type: ignore[return-value]
    return _blocks_of_many(body)


def nested_blocks(body: Body) -> Iterator[tuple[Block, int, int]]:
    """Every block, in no order, with the number of ifs and loops around it, and of loops alone."""
    stack: list[tuple[Body, int, int]] = [(body, 0, 0)]
    while stack:
        nodes, depth, loops = stack.pop()
        for node in nodes:
            if isinstance(node, Block):
                yield node, depth, loops
            elif isinstance(node, If):
                stack.append((node.then_body, depth + 1, loops))
                stack.append((node.else_body, depth + 1, loops))
            else:
                stack.append((node.body, depth + 1, loops + 1))


def list_blocks(body: Body) -> list[Block]:
    """Every block in source order, as a list made before the iteration, which is faster than
    `blocks_in`.
    """
    if len(body) == 1:  # the usual case
        return [body[0]]  # type: ignore[list-item]
    found: list[Block] = []
    stack: list[Iterator[Node]] = [iter(body)]
    while stack:
        for node in stack[-1]:
            if node.__class__ is Block:
                found.append(node)
            elif node.__class__ is If:
                stack.append(iter(node.else_body))
                stack.append(iter(node.then_body))
                break
            elif node.__class__ is Loop:
                stack.append(iter(node.body))
                break
        else:
            stack.pop()
    return found


def _blocks_of_many(body: Body) -> Iterator[Block]:
    stack: list[Iterator[Node]] = [iter(body)]
    while stack:
        node = next(stack[-1], None)
        if node.__class__ is Block:
            yield node
        elif node is None:
            stack.pop()
        elif node.__class__ is If:
            stack.append(iter(node.else_body))
            stack.append(iter(node.then_body))
        elif node.__class__ is Loop:
            stack.append(iter(node.body))

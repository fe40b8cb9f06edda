"""Divergence analysis: which values may differ between the lanes that run a shader together.

A uniform value can be computed once for all lanes, and control flow on a uniform condition is a
plain branch. Lanes here are all vertices or fragments of a draw, of any instance and primitive. The
analysis sets `Def.divergent_components` (a bit per component), `If.divergent` (the condition
differs), `Loop.divergent` (lanes may leave in different iterations), `Loop.divergent_continue`
(lanes may begin an iteration by different paths) and `FunctionImpl.divergent_locals`.

A value is uniform if the lanes that compute it *together* agree. After a divergent loop it may
differ all the same, because lanes left in different iterations: every use there counts as
divergent, whatever the definition is. Code generators must distinguish these cases (numpipe renames
such values where they leave the loop). One that cannot uses `analyse_divergence(impl,
everywhere=True)`: then a value with such a use is divergent inside the loop, too.

Values only change from uniform to divergent, so sweeping the code until nothing changes terminates.
At a merge point, a phi is divergent if lanes may come by different paths with different values:
after a divergent if, after a divergent loop, and at the header of a loop with divergent continues.
A loop with divergent continues is itself divergent: those lanes skip every break that follows, even
on a uniform condition. A local variable is uniform if every store to it is, in uniform control
flow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gallette.compiler.nir.ir.cf import (
    Block,
    If,
    Loop,
    Node,
    events,
    place_of,
    walk,
)
from gallette.compiler.nir.ir.instrs import (
    Alu,
    Call,
    Deref,
    Instr,
    Intrinsic,
    Jump,
    LoadConst,
    Phi,
    Tex,
    Undef,
)
from gallette.compiler.nir.ir.metadata import Analysis, Metadata, register
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.ir.variables import Variable

_UNIFORM_MODES = Mode.UNIFORM | Mode.UBO | Mode.CONSTANT | Mode.PUSH_CONST


def analyse_divergence(impl: FunctionImpl, *, everywhere: bool = False) -> None:
    """Set the flags of every value, if and loop (`everywhere`: see the module's docstring)."""
    _Analysis(impl, everywhere).run()
    if everywhere:  # the metadata describes the other setting
        impl.preserve(~Metadata.DIVERGENCE)


class _Analysis:
    """One function's flags during the iteration from "all uniform" to the fixed point."""

    def __init__(self, impl: FunctionImpl, everywhere: bool) -> None:
        self.impl = impl
        self.everywhere = everywhere
        self.varying: set[Variable] = set()  # locals whose contents may differ between lanes
        self.all_vary = False  # after a write through a pointer of unknown target
        self.around: dict[Block, tuple[If | Loop, ...]] = {}
        self.divided = False  # whether any loop is divergent
        self.changed = False
        enclosing: list[If | Loop] = []
        for kind, node in events(impl.body):
            if isinstance(node, Block):
                self.around[node] = tuple(enclosing)
                for instr in node.instrs():
                    if instr.dest is not None:
                        instr.dest.divergent_components = 0
            elif kind in ("if", "loop"):
                node.divergent = False
                if isinstance(node, Loop):
                    node.divergent_continue = False
                enclosing.append(node)
            elif kind == "end":
                enclosing.pop()

    def run(self) -> None:
        self.changed = True
        while self.changed:
            self.changed = False
            for node in walk(self.impl.body):
                if isinstance(node, Block):
                    for instr in node.instrs():
                        self.visit(instr, node)
                elif isinstance(node, If) and not node.divergent and self.read(node.condition):
                    node.divergent = self.changed = True
        if self.all_vary:
            self.varying.update(self.impl.locals)
        self.impl.divergent_locals = frozenset(self.varying)

    def visit(self, instr: Instr, block: Block) -> None:
        dest = instr.dest
        if dest is not None:
            every = (1 << dest.num_components) - 1
            if dest.divergent_components != every:
                found = self.components(instr, block, every) | dest.divergent_components
                if self.everywhere and self.divided and found != every and self.leaves(dest):
                    found = every
                if found != dest.divergent_components:
                    dest.divergent_components = found
                    self.changed = True
        elif isinstance(instr, Jump):
            self.jump(instr, block)
        if isinstance(instr, (Intrinsic, Call)) and not _only_loads(instr):
            self.store(instr, block)

    # -- control flow ----------------------------------------------------------------------------

    def jump(self, jump: Jump, block: Block) -> None:
        """A divergent jump makes the loop that it leaves or continues divergent."""
        divergent = False
        for node in reversed(self.around[block]):
            if isinstance(node, If):
                divergent |= node.divergent
                continue
            if divergent:
                if jump.type == "continue" and not node.divergent_continue:
                    node.divergent_continue = self.changed = True
                if not node.divergent:
                    node.divergent = self.divided = self.changed = True
            if jump.type in ("break", "continue"):
                break

    # -- reading ---------------------------------------------------------------------------------

    def read(self, src: Src) -> int:
        """The components read by a source that differ; bit 0 is the first one."""
        value = src.value
        mask = value.divergent_components
        if self.divided and self.left_divergently(value, src.home):
            return (1 << src.num_components) - 1
        if not src.swizzle or not mask:
            return mask
        return _bits(mask >> c & 1 for c in src.swizzle)

    def left_divergently(self, value: Def, home: Block | None) -> bool:
        """Whether a value read at `home` was defined in a loop that lanes leave in different
        iterations.
        """
        instr = value.instr
        if isinstance(instr, (LoadConst, Undef, Deref)) or instr.block is None:
            return False
        loops = [
            node
            for node in self.around.get(instr.block, ())
            if isinstance(node, Loop) and node.divergent
        ]
        if not loops or home is None:
            return bool(loops)
        around = self.around.get(home, ())
        return any(node not in around for node in loops)

    def leaves(self, value: Def) -> bool:
        return any(self.left_divergently(value, src.home) for src in value.uses)

    # -- instructions ----------------------------------------------------------------------------

    def components(self, instr: Instr, block: Block, every: int) -> int:
        """The components of the result that differ."""
        if isinstance(instr, (LoadConst, Undef)):
            return 0
        if isinstance(instr, Phi):
            return self.phi(instr, block)
        if isinstance(instr, Alu):
            if instr.op.per_component:
                mask = 0
                for src in instr.srcs:
                    mask |= self.read(src)
                return mask & every
            if instr.op.is_vec:
                return _bits(self.read(src) for src in instr.srcs)
            return every if self.differ(instr.srcs) else 0
        if isinstance(instr, Tex):
            # The level of detail depends on neighbours, which may be helpers outside the primitive.
            return every if instr.info.implicit_lod or self.differ(instr.srcs) else 0
        if isinstance(instr, Intrinsic):
            if instr.info.name == "load_deref":
                if self.loads_differing(instr.deref, block):
                    return every
            elif not instr.info.is_uniform:
                return every
        elif not isinstance(instr, Deref):
            return every
        return every if self.differ(instr.srcs) else 0

    def differ(self, srcs: Iterable[Src]) -> bool:
        return any(self.read(src) for src in srcs)

    def phi(self, phi: Phi, block: Block) -> int:
        srcs = phi.phi_srcs
        mask = 0
        for src in srcs:
            mask |= self.read(src)
        before = _node_before(block)
        components = range(phi.result.num_components)
        if isinstance(before, If):
            if before.divergent:
                mask |= _bits(not _same(srcs, i) for i in components)
        elif isinstance(before, Loop):
            if before.divergent:
                mask = (1 << len(components)) - 1
        elif isinstance(block.parent, Loop) and block.parent.divergent_continue:
            # Lanes that enter the loop and lanes that continue never meet at its header.
            round_ = [src for src in srcs if block.parent in self.around.get(src.home, ())]
            others = [src for src in srcs if src.value is not phi.dest]
            mask |= _bits(not (_same(others, i) or _same(round_, i)) for i in components)
        return mask

    # -- local variables -------------------------------------------------------------------------

    def loads_differing(self, deref: Deref | None, block: Block) -> bool:
        """Whether lanes that load from a deref may find different values."""
        if deref is None or deref.modes & ~(_UNIFORM_MODES | Mode.FUNCTION_TEMP):
            return True
        if not deref.modes & Mode.FUNCTION_TEMP:
            return self.place_differs(deref, block)
        var = deref.root_var
        if var is None or self.all_vary or var in self.varying:
            return True
        return self.place_differs(deref, block)

    def place_differs(self, deref: Deref, block: Block) -> bool:
        """Whether an index (or pointer) in a deref differs at `block`."""
        return any(
            self.read(src) or (self.divided and self.left_divergently(src.value, block))
            for step in deref.path()
            for src in step.srcs
        )

    def store(self, instr: Intrinsic | Call, block: Block) -> None:
        """Process a write: all but plain stores may write any value."""
        plain = isinstance(instr, Intrinsic) and instr.info.name in ("store_deref", "copy_deref")
        for src in instr.srcs[:1] if plain else instr.srcs:
            deref = src.value.instr
            if not isinstance(deref, Deref) or not deref.modes & Mode.FUNCTION_TEMP:
                continue
            var = deref.root_var
            if var is None:
                self.changed |= not self.all_vary
                self.all_vary = True
            elif var not in self.varying and (
                not plain
                or any(node.divergent for node in self.around[block])
                or self.differ(instr.srcs)
                or self.place_differs(deref, block)
                or self.copies_differing(instr, block)
            ):
                self.varying.add(var)
                self.changed = True

    def copies_differing(self, copy: Intrinsic | Call, block: Block) -> bool:
        if not isinstance(copy, Intrinsic) or copy.info.name != "copy_deref":
            return False
        source = copy.srcs[1].value.instr
        return self.loads_differing(source if isinstance(source, Deref) else None, block)


def _only_loads(instr: Intrinsic | Call) -> bool:
    return isinstance(instr, Intrinsic) and instr.info.name == "load_deref"


def _bits(flags: Iterable[object]) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _same(srcs: Sequence[Src], component: int) -> bool:
    """Whether all sources are one value; equal constants count as one."""
    first = srcs[0].value if srcs else None
    for src in srcs[1:]:
        if src.value is first:
            continue
        a, b = src.value.instr, first.instr if first is not None else None
        if not isinstance(a, LoadConst) or not isinstance(b, LoadConst):
            return False
        if a.values[component] != b.values[component]:
            return False
    return True


def _node_before(block: Block) -> Node | None:
    i = place_of(block)
    return block.owner[i - 1] if i else None


def describe_divergence(impl: FunctionImpl) -> list[int]:
    values = [i.dest for block in impl.blocks() for i in block.instrs()]
    return [value.divergent_components for value in values if value is not None]


register(Analysis(Metadata.DIVERGENCE, Metadata.CFG, analyse_divergence, describe_divergence))

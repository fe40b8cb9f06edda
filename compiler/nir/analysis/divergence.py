"""Divergence: which values may differ between the lanes that run a shader together.

A uniform value can be computed once for all lanes, and control flow on a uniform condition is a
plain branch. Lanes here are all vertices or fragments of a draw, of any instance and primitive.
The analysis sets `Def.divergent`, `If.divergent` (condition differs) and `Loop.divergent` (lanes
may leave at different iterations).

Values only ever turn from uniform to divergent, so sweeping the code until nothing changes ends.
Two control dependences matter. A phi behind a divergent branch, or fed by divergent continues, is
divergent unless all sources are the same value. A value defined inside a divergent loop and used
behind it differs between lanes even if it is uniform among those still inside; it counts as
divergent everywhere, which is simple and rarely loses anything.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block, If, Loop, Node, events
from gallette.compiler.nir.ir.instrs import (
    Alu,
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
from gallette.compiler.nir.ir.values import Def

_UNIFORM_MODES = Mode.UNIFORM | Mode.UBO | Mode.CONSTANT | Mode.PUSH_CONST


def analyse_divergence(impl: FunctionImpl) -> None:
    """Set the `divergent` flags of every value, if and loop."""
    loops_of = _prepare(impl)
    changed = True
    continues: set[Loop] = set()
    while changed:
        changed = _sweep(impl, continues)
        changed |= _leaving_values(impl, loops_of)


def _prepare(impl: FunctionImpl) -> dict[Block, tuple[Loop, ...]]:
    """Start with everything uniform; find the loops around each block."""
    loops_of: dict[Block, tuple[Loop, ...]] = {}
    around: list[Loop] = []
    for kind, node in events(impl.body):
        if isinstance(node, Block):
            loops_of[node] = tuple(around)
            for instr in node.instrs():
                if instr.dest is not None:
                    instr.dest.divergent = False
        else:
            if kind in ("if", "loop"):
                node.divergent = False
            if isinstance(node, Loop):
                if kind == "loop":
                    around.append(node)
                else:
                    around.pop()
    return loops_of


def _sweep(impl: FunctionImpl, continues: set[Loop]) -> bool:
    changed = False
    enclosing: list[If | Loop] = []
    for kind, node in events(impl.body):
        if isinstance(node, Block):
            for instr in node.instrs():
                dest = instr.dest
                if dest is not None:
                    if not dest.divergent and _is_divergent(instr, node, continues):
                        dest.divergent = True
                        changed = True
                elif isinstance(instr, Jump):
                    changed |= _jump(instr, enclosing, continues)
        elif kind == "if":
            assert isinstance(node, If)
            if node.condition.value.divergent and not node.divergent:
                node.divergent = True
                changed = True
            enclosing.append(node)
        elif kind == "loop":
            enclosing.append(node)
        elif kind == "end":
            enclosing.pop()
    return changed


def _jump(jump: Jump, enclosing: list[If | Loop], continues: set[Loop]) -> bool:
    """A jump under a divergent branch makes the loop it leaves divergent."""
    changed = False
    divergent = False
    for node in reversed(enclosing):
        if isinstance(node, If):
            divergent |= node.divergent
            continue
        if divergent:
            if jump.type == "continue":
                if node not in continues:
                    continues.add(node)
                    changed = True
            elif not node.divergent:
                node.divergent = True
                changed = True
        if jump.type in ("break", "continue"):
            break
    return changed


def _is_divergent(instr: Instr, block: Block, continues: set[Loop]) -> bool:
    if isinstance(instr, (LoadConst, Undef)):
        return False
    if isinstance(instr, Phi):
        return _phi_divergent(instr, block, continues)
    if isinstance(instr, Intrinsic):
        if instr.info.name == "load_deref":
            deref = instr.deref
            if deref is None or not deref.modes & _UNIFORM_MODES or deref.modes & ~_UNIFORM_MODES:
                return True
        elif not instr.info.is_uniform:
            return True
    elif not isinstance(instr, (Alu, Tex, Deref)):
        return True
    return any(src.value.divergent for src in instr.srcs)


def _phi_divergent(phi: Phi, block: Block, continues: set[Loop]) -> bool:
    srcs = phi.phi_srcs
    first = srcs[0].value if srcs else None
    same = True
    for src in srcs:
        if src.value.divergent:
            return True
        if src.value is not first and src.value is not phi.dest:
            same = False
    if same:
        return False
    before = _node_before(block)
    if isinstance(before, If):
        return before.divergent
    if isinstance(before, Loop):
        return before.divergent
    # No node in front: the block heads a loop, and back edges are continues.
    parent = block.parent
    return isinstance(parent, Loop) and parent in continues


def _node_before(block: Block) -> Node | None:
    i = block.owner.index(block)
    return block.owner[i - 1] if i else None


def _leaving_values(impl: FunctionImpl, loops_of: dict[Block, tuple[Loop, ...]]) -> bool:
    """Values that leave a divergent loop differ between lanes."""
    changed = False
    for block, loops in loops_of.items():
        if not any(loop.divergent for loop in loops):
            continue
        for instr in block.instrs():
            dest = instr.dest
            if dest is not None and not dest.divergent and _leaves(dest, loops, loops_of):
                dest.divergent = True
                changed = True
    return changed


def _leaves(value: Def, loops: tuple[Loop, ...], loops_of: dict[Block, tuple[Loop, ...]]) -> bool:
    if isinstance(value.instr, (LoadConst, Undef, Deref)):
        return False
    for src in value.uses:
        user = src.parent
        home = user.block
        assert home is not None
        around = loops_of.get(home, ())
        if any(loop.divergent and loop not in around for loop in loops):
            return True
    return False


def describe_divergence(impl: FunctionImpl) -> list[bool]:
    values = [i.dest for block in impl.blocks() for i in block.instrs()]
    return [value.divergent for value in values if value is not None]


register(Analysis(Metadata.DIVERGENCE, Metadata.CFG, analyse_divergence, describe_divergence))

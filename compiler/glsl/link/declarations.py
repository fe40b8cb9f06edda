"""The program's copies of its shaders' declarations.

Linking determines what compiling leaves open: sizes of implicit arrays, merged types and
qualifiers, locations of block members, which variables are written. These results belong to the
*program*: a compiled shader may be linked again, with other partners, and must be unchanged then.
So each link works on copies of the declarations, and `StageUnit.canonical` maps a declaration to
its copy; expressions and statements are immutable, so they are shared.
"""

from __future__ import annotations

from gallette.compiler.glsl.check import hir


class Declarations:
    """Copies of one shader's declarations, made on first use.

    `alone`: no other shader of the stage can change their qualifiers.
    """

    def __init__(self, alone: bool = False) -> None:
        self.alone = alone
        self.variables: dict[hir.Variable, hir.Variable] = {}
        self.blocks: dict[hir.Block, hir.Block] = {}
        self.quals: dict[hir.Quals, hir.Quals] = {}

    def qualifiers(self, quals: hir.Quals) -> hir.Quals:
        """The copy of qualifiers, which a block and its instance, or a member and its variable,
        share.
        """
        own = self.quals.get(quals)
        if own is None:
            own = self.quals[quals] = hir.copy_quals(quals)
        return own

    def variable(self, var: hir.Variable) -> hir.Variable:
        """The program's copy of a variable, in the program's copy of its block."""
        if var.block is not None:
            self.block(var.block)
        return self.variables.get(var) or self.bare(var)

    def bare(self, var: hir.Variable) -> hir.Variable:
        own = hir.copy_variable(var)
        if not self.alone or var.block is not None:
            own.quals = self.qualifiers(var.quals)
        self.variables[var] = own
        return own

    def block(self, block: hir.Block) -> hir.Block:
        """The program's copy of a block, its instance and its members."""
        known = self.blocks.get(block)
        if known is not None:
            return known
        own = self.blocks[block] = hir.copy_block(block)
        own.quals = self.qualifiers(block.quals)
        own.member_quals = [self.qualifiers(q) for q in block.member_quals]
        own.instance = self.bare(block.instance) if block.instance is not None else None
        own.members = [self.bare(m) for m in block.members]
        for var in (own.instance, *own.members):
            if var is not None:
                var.block = own
        return own

"""SSA values: a `Def` is defined by exactly one instruction, a `Src` is one use of it.

Use lists are always exact: creating a `Src` adds it to `Def.uses`, rewriting or dropping removes
it. `uses` is an insertion-ordered set (a dictionary without values), so iteration is deterministic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from gallette.compiler.nir.ir.cf import Block, If
    from gallette.compiler.nir.ir.instrs import Instr


Name: TypeAlias = "tuple[str, tuple[int, ...], int]"
"""The source-level name of a value: a variable, for each component of the value the variable's
component (-1: none), and the line of the assignment (0: a merge point).
"""

MOST_NAMES = 8


class Def:
    """One SSA value: `num_components` components of `bit_size` bits (1 for booleans)."""

    __slots__ = ("bit_size", "divergent_components", "instr", "names", "num_components", "uses")

    def __init__(self, instr: Instr, num_components: int, bit_size: int):
        self.instr = instr
        self.num_components = num_components
        self.bit_size = bit_size
        self.uses: dict[Src, None] = {}
        self.names: tuple[Name, ...] = ()
        self.divergent_components = (1 << num_components) - 1  # see `analysis.divergence`

    @property
    def divergent(self) -> bool:
        """Whether any component may differ between lanes."""
        return self.divergent_components != 0

    def rewrite_uses(self, new: Def) -> None:
        """Make every use of this value a use of `new`."""
        if new is self:
            return
        if self.names:
            new.take_names(self)
        uses = self.uses
        self.uses = {}
        for src in uses:
            src.value = new
        new.uses.update(uses)

    def call(self, name: str, line: int) -> None:
        """Name this value after a variable of its size, from a line of the source on."""
        entry = (name, tuple(range(self.num_components)), line)
        if entry not in self.names and len(self.names) < MOST_NAMES:
            self.names = (*self.names, entry)

    def take_names(self, other: Def, swizzle: tuple[int, ...] = (), first: int = 0) -> None:
        """Give this value the names of `other`, whose component `first + i` is `swizzle[i]` of this
        value.

        Names are for debuggers. They never keep a value alive, and no pass may depend on them.
        """
        chosen = swizzle or tuple(range(min(self.num_components, other.num_components)))
        kept = list(self.names)
        for name, components, line in other.names:
            ours = [-1] * self.num_components
            for i, c in enumerate(chosen):
                if first + i < len(components):
                    ours[c] = components[first + i]
            entry = (name, tuple(ours), line)
            if any(c >= 0 for c in ours) and entry not in kept:
                kept.append(entry)
        self.names = tuple(kept[:MOST_NAMES])

    def rewrite_uses_after(self, new: Def, instr: Instr) -> None:
        """Make uses after `instr` (in its block, and everywhere else) use `new`.

        `instr` must be in the block that defines this value; uses before it there (and by `instr`
        itself) keep the old value. A phi of the same block reads at the end of a predecessor, so it
        counts as after.
        """
        before: set[Instr] = set()
        at: Instr | None = instr
        while at is not None:
            before.add(at)
            at = at.prev
        for src in list(self.uses):
            parent = src.parent
            if parent in before and not parent.is_phi:
                continue
            src.rewrite(new)

    def __repr__(self) -> str:
        return f"<{self.num_components}x{self.bit_size} of {self.instr.kind}>"


class Src:
    """One use of a value by `parent` (an instruction, or the `If` with this condition).

    `swizzle` selects components and is empty except on sources of `Alu` instructions, where it has
    one entry for each component the instruction reads.
    """

    __slots__ = ("parent", "swizzle", "value")

    def __init__(self, value: Def, parent: Instr | If, swizzle: tuple[int, ...] = ()):
        self.value = value
        self.parent = parent
        self.swizzle = swizzle
        value.uses[self] = None

    def rewrite(self, new: Def) -> None:
        """Use `new` instead (the swizzle remains)."""
        del self.value.uses[self]
        self.value = new
        new.uses[self] = None

    def drop(self) -> None:
        """Remove the use; the source must not be used afterwards."""
        del self.value.uses[self]

    @property
    def home(self) -> Block | None:
        """The block in which the value is read; None if the user is in no block.

        A phi reads at the end of the predecessor, an `If` at the end of the block before it.
        """
        return self.parent.block

    @property
    def num_components(self) -> int:
        return len(self.swizzle) or self.value.num_components

    @property
    def bit_size(self) -> int:
        return self.value.bit_size

    def __repr__(self) -> str:
        swizzle = "." + "".join("xyzwefghijklmnop"[c] for c in self.swizzle) if self.swizzle else ""
        return f"<use of {self.value!r}{swizzle}>"


class PhiSrc(Src):
    """A phi's source: the value from predecessor block `pred`."""

    __slots__ = ("pred",)

    def __init__(self, value: Def, parent: Instr, pred: Block):
        super().__init__(value, parent)
        self.pred = pred

    @property
    def home(self) -> Block:
        return self.pred

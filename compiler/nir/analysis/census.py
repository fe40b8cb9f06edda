"""Census: which kinds of things does a shader hold?

A pass may declare what it looks for (`@nir_pass(..., looks_for=...)`); a sequence of passes skips
those whose things a shader does not have, for the price of one walk after each change.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block, If, walk
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic, Jump
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.shader import Shader


def census(shader: Shader) -> set[str]:
    """What there is: kinds of instructions, intrinsics and jumps by name, `if`, `loop`, `64`,
    forms of derefs (`deref_array`) and the storage they name (`shader_temp`)."""
    found: set[str] = set()
    modes = 0
    for impl in shader.impls():
        for node in walk(impl.body):
            if not isinstance(node, Block):
                found.add("if" if isinstance(node, If) else "loop")
                continue
            at = node.first
            while at is not None:
                if isinstance(at, Intrinsic):
                    found.add(at.info.name)
                elif isinstance(at, Deref):
                    found.add(f"deref_{at.form}")
                    modes |= int(at.modes)
                elif isinstance(at, Jump):
                    found.add(at.type)
                else:
                    found.add(at.kind)
                if at.dest is not None and at.dest.bit_size == 64:
                    found.add("64")
                at = at.next
    found.update(name for bit, name in _MODES if modes & bit)
    return found


_MODES = [(int(mode), mode.text) for mode in Mode if mode is not Mode.ALL]

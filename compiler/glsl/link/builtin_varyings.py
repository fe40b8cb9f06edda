"""Checks that two neighbouring stages agree on the built-in varyings that both declare."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.link.stage_interface import StagePair
from gallette.compiler.nir.ir import Stage


def check_builtin_varyings(interface: StagePair) -> None:
    """Check that both stages redeclare built-in varyings alike."""
    if interface.second.stage is not Stage.FRAGMENT:
        check_per_vertex(interface)
        return
    a, b = interface.first.builtins, interface.second.builtins
    coord, back = a.get("gl_TexCoord"), b.get("gl_TexCoord")
    if coord is not None and back is not None and coord.explicit_size and back.explicit_size:
        if coord.type is not back.type:
            interface.log.error("gl_TexCoord is redeclared with different sizes")
    if interface.second.language.has("es100-es100"):
        for into, out_name in (("gl_FragCoord", "gl_Position"), ("gl_PointCoord", "gl_PointSize")):
            place, source = b.get(into), a.get(out_name)
            if place is not None and place.quals.invariant:
                if source is None or not source.quals.invariant:
                    interface.log.error(f"'{into}' is invariant and '{out_name}' is not")
    for into, outs in (
        ("gl_Color", ("gl_FrontColor", "gl_BackColor")),
        ("gl_SecondaryColor", ("gl_FrontSecondaryColor", "gl_BackSecondaryColor")),
    ):
        color = b.get(into)
        if color is None or not color.used:
            continue
        for name in outs:
            out = a.get(name)
            if out is None or not out.written:
                continue
            x = out.quals.interpolation or ""
            y = color.quals.interpolation or ""
            if x != y and interface.second.language.version < 440:
                interface.log.error(f"'{into}' is '{y}' but '{name}' is '{x}'")


def check_per_vertex(interface: StagePair) -> None:
    """Check that both sides of gl_PerVertex have the same members of the same sizes, if either
    redeclares the block.
    """
    into = interface.second.builtins.get("gl_in")
    if into is None or into.block is None or not into.used:
        return
    mine = _sizes(into.block) if into.redeclared else None
    if interface.first.stage is Stage.TESS_CTRL:
        out = interface.first.builtins.get("gl_out")
        theirs = None
        if out is not None and out.redeclared and out.block is not None:
            theirs = _sizes(out.block)
        used = out is not None and out.used
    else:
        theirs = interface.first.layout.get("per_vertex_out")
        used = any(v.written for v in interface.first.builtins.values())
    if interface.separable and used and (mine is None or theirs is None):
        if not interface.second.language.es:
            interface.log.error("separable programs must redeclare gl_PerVertex in both stages")
    elif used and (mine is None) != (theirs is None):
        interface.log.error("gl_PerVertex is redeclared in one of two stages only")
    elif mine is not None and theirs is not None:
        if mine.keys() != theirs.keys():
            interface.log.error("gl_PerVertex is redeclared with different members in two stages")
        elif any(mine[n] and theirs[n] and mine[n] != theirs[n] for n in mine):
            interface.log.error("gl_PerVertex is redeclared with different sizes in two stages")


def _sizes(block: hir.Block) -> dict[str, int]:
    """The members of a block with the sizes of those that are arrays with one."""
    return {f.name: f.type.length for f in block.type.fields}

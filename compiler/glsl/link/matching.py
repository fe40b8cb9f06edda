"""Matches the outputs of a stage with the inputs of the next, and compares the pairs."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.link.blocks import sized_block
from gallette.compiler.glsl.link.stage import merge_types
from gallette.compiler.glsl.link.stage_interface import (
    InterfaceVariable,
    StageInterface,
    is_per_vertex,
)
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.nir.ir.types import Type

__all__ = ["match_variables"]


def match_variables(interface: StageInterface) -> None:
    assert interface.first is not None
    assert interface.second is not None
    by_name = {p.name: p for p in interface.outputs}
    by_location = {
        (p.explicit, p.var.component, p.var.patch): p for p in interface.outputs if p.explicit >= 0
    }
    blocks = {p.block.name: p.block for p in interface.outputs if p.block is not None}
    checked: set[str] = set()
    for variable in interface.inputs:
        other = None
        if variable.explicit >= 0 and variable.block is None:
            other = by_location.get((variable.explicit, variable.var.component, variable.var.patch))
        else:
            other = by_name.get(variable.name)
            if other is not None and variable.block is None and other.explicit >= 0:
                other = None
        if variable.block is not None and variable.block.name not in checked:
            checked.add(variable.block.name)
            mine = blocks.get(variable.block.name)
            if mine is not None:
                compare_blocks(interface, mine, variable.block)
        if other is None:
            report_unmatched(interface, variable)
            continue
        variable.partner, other.partner = other, variable
        if variable.live and other.quals.layout.get("stream", 0):
            interface.log.error(f"output '{other.label}' is of a stream that is not rasterized")
        if variable.block is None:
            compare_variables(interface, other, variable)


def report_unmatched(interface: StageInterface, variable: InterfaceVariable) -> None:
    assert interface.second is not None
    assert interface.first is not None
    if not variable.live:
        return
    interface.log.error(
        f"input '{variable.label}' of the {interface.second.name} shader is not written by the "
        f"{interface.first.name} shader"
    )


def compare_variables(
    interface: StageInterface, out: InterfaceVariable, into: InterfaceVariable
) -> None:
    assert interface.first is not None
    assert interface.second is not None
    log = interface.log
    a, b = out.shape, into.shape
    if merge_types(a, b) is None and not unsized_match(interface, a, b):
        log.error(
            f"'{into.label}' is '{a}' in the {interface.first.name} shader and '{b}' in the "
            f"{interface.second.name} shader"
        )
        return
    lang = interface.second.language
    compare_qualifiers(interface, out.quals, into.quals, into.label, lang)


def unsized_match(interface: StageInterface, a: Type, b: Type) -> bool:
    return (
        a.element is not None
        and a.element is b.element
        and not (a.length and b.length and a.length != b.length)
    )


def compare_qualifiers(
    interface: StageInterface, a: hir.Quals, b: hir.Quals, label: str, lang: Language
) -> None:
    log = interface.log
    x, y = a.interpolation or "smooth", b.interpolation or "smooth"
    if x != y and (lang.es or lang.version < 440):
        log.error(f"'{label}' is '{x}' in one stage and '{y}' in the next")
    if a.invariant != b.invariant and lang.version < (300 if lang.es else 420):
        log.error(f"'{label}' is invariant in one stage only")
    for word in ("centroid", "sample"):
        if getattr(a, word) != getattr(b, word) and not lang.es and lang.version < 430:
            log.error(f"'{label}' is '{word}' in one stage only")
    if a.patch != b.patch:
        log.error(f"'{label}' is 'patch' in one stage only")


def compare_blocks(interface: StageInterface, out: hir.Block, into: hir.Block) -> None:
    log, name = interface.log, into.name
    a, b = sized_block(out).fields, sized_block(into).fields
    if [f.name for f in a] != [f.name for f in b]:
        log.error(f"block '{name}' has different members in the two stages")
        return
    for f, g, p, q in zip(a, b, out.member_quals, into.member_quals, strict=True):
        if merge_types(f.type, g.type) is None:
            log.error(
                f"member '{f.name}' of block '{name}' is '{f.type}' in one stage and "
                f"'{g.type}' in the next"
            )
            return
        assert interface.second is not None
        compare_qualifiers(interface, p, q, f"{name}.{f.name}", interface.second.language)
        for key in ("location", "component"):
            if p.layout.get(key, -1) != q.layout.get(key, -1):
                log.error(f"member '{f.name}' of block '{name}' has two values of '{key}'")
    assert interface.first is not None
    assert interface.second is not None
    assert out.instance is not None
    assert into.instance is not None
    x = plain_dimensions(interface, interface.first, out)
    y = plain_dimensions(interface, interface.second, into)
    if x != y:
        log.error(f"block '{name}' has different array sizes in the two stages")


def plain_dimensions(interface: StageInterface, unit: StageUnit, block: hir.Block) -> list[int]:
    """The array dimensions of a block, without the per-vertex one."""
    assert block.instance is not None
    dims: list[int] = []
    type_ = block.instance.type
    while type_.element is not None:
        dims.append(type_.length)
        type_ = type_.element
    return dims[1:] if is_per_vertex(unit, block.quals) else dims

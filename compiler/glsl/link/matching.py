"""Matching the outputs of a stage with the inputs of the next, and comparing what matched."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.link.layout import sized_block
from gallette.compiler.glsl.link.ports import Edge, Port, is_per_vertex
from gallette.compiler.glsl.link.stage import merge_types
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.nir.ir.types import Type

__all__ = ["match_ports"]


def match_ports(edge: Edge) -> None:
    assert edge.producer is not None
    assert edge.consumer is not None
    by_name = {p.name: p for p in edge.outputs}
    by_location = {
        (p.explicit, p.component, p.quals.patch): p for p in edge.outputs if p.explicit >= 0
    }
    blocks = {p.block.name: p.block for p in edge.outputs if p.block is not None}
    checked: set[str] = set()
    for port in edge.inputs:
        other = None
        if port.explicit >= 0 and port.block is None:
            other = by_location.get((port.explicit, port.component, port.quals.patch))
            if other is None:
                other = covering_output(edge, port)
        if other is None:
            other = by_name.get(port.name)
            if (
                other is not None
                and port.block is None
                and ((port.explicit >= 0) != (other.explicit >= 0))
            ):
                other = None
        if port.block is not None and port.block.name not in checked:
            checked.add(port.block.name)
            mine = blocks.get(port.block.name)
            if mine is not None:
                compare_blocks(edge, mine, port.block)
        if other is None:
            report_unmatched(edge, port)
            continue
        if port.block is None and port.explicit >= 0 and port.component != other.component:
            report_unmatched(edge, port)
            continue
        port.partner, other.partner = other, port
        if port.live and other.quals.layout.get("stream", 0):
            edge.log.error(f"output '{other.label}' is of a stream that is not rasterized")
        if port.block is None:
            compare_ports(edge, other, port)


def covering_output(edge: Edge, port: Port) -> Port | None:
    """An output array or matrix whose slots contain the input's location."""
    for other in edge.outputs:
        if other.explicit >= 0 and other.quals.patch == port.quals.patch:
            end = other.explicit + other.shape.slots()
            if other.explicit <= port.explicit < end and other.component == port.component:
                return other
    return None


def report_unmatched(edge: Edge, port: Port) -> None:
    assert edge.consumer is not None
    assert edge.producer is not None
    if not port.live:
        return
    edge.log.error(
        f"input '{port.label}' of the {edge.consumer.name} shader is not written by the "
        f"{edge.producer.name} shader"
    )


def compare_ports(edge: Edge, out: Port, into: Port) -> None:
    assert edge.producer is not None
    assert edge.consumer is not None
    log = edge.log
    a, b = out.shape, into.shape
    by_location = into.explicit >= 0 and out.explicit != into.explicit
    if by_location or (
        into.explicit >= 0
        and out.name != into.name
        and a.without_array.base is b.without_array.base
    ):
        return
    if merge_types(a, b) is None and not unsized_match(edge, a, b):
        log.error(
            f"'{into.label}' is '{a}' in the {edge.producer.name} shader and '{b}' in the "
            f"{edge.consumer.name} shader"
        )
        return
    lang = edge.consumer.language
    compare_qualifiers(edge, out.quals, into.quals, into.label, lang)


def unsized_match(edge: Edge, a: Type, b: Type) -> bool:
    return (
        a.element is not None
        and a.element is b.element
        and not (a.length and b.length and a.length != b.length)
    )


def compare_qualifiers(edge: Edge, a: hir.Quals, b: hir.Quals, label: str, lang: Language) -> None:
    log = edge.log
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


def compare_blocks(edge: Edge, out: hir.Block, into: hir.Block) -> None:
    log, name = edge.log, into.name
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
        assert edge.consumer is not None
        compare_qualifiers(edge, p, q, f"{name}.{f.name}", edge.consumer.language)
        for key in ("location", "component"):
            if p.layout.get(key, -1) != q.layout.get(key, -1):
                log.error(f"member '{f.name}' of block '{name}' has two values of '{key}'")
    assert edge.producer is not None
    assert edge.consumer is not None
    assert out.instance is not None
    assert into.instance is not None
    x = plain_dimensions(edge, edge.producer, out)
    y = plain_dimensions(edge, edge.consumer, into)
    if x != y:
        log.error(f"block '{name}' has different array sizes in the two stages")


def plain_dimensions(edge: Edge, unit: StageUnit, block: hir.Block) -> list[int]:
    """Array dimensions of a block without the per-vertex one."""
    assert block.instance is not None
    dims: list[int] = []
    type_ = block.instance.type
    while type_.element is not None:
        dims.append(type_.length)
        type_ = type_.element
    return dims[1:] if is_per_vertex(unit, block.quals) else dims

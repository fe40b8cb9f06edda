"""Links neighbouring stages: matches outputs with inputs by name or location, and compares them
(GLSL 4.60, 4.3.4, 4.3.6 and 4.5; OpenGL 4.6, 7.4.1).
"""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.link.blocks import sized_block
from gallette.compiler.glsl.link.builtin_varyings import check_builtin_varyings
from gallette.compiler.glsl.link.stage import merge_types
from gallette.compiler.glsl.link.stage_interface import (
    InterfaceVariable,
    StageInterface,
    StagePair,
    interface_variables,
    is_per_vertex,
)
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.slots import Interface, assign_slots, check_overlaps
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.types import Type


def link_stages(
    producer: StageUnit | None,
    consumer: StageUnit | None,
    variables: dict[Stage, StageVariables],
    limits: Limits,
    log: LinkLog,
    separable: bool,
    captured: frozenset[str] = frozenset(),
) -> StageInterface:
    """Match two neighbouring stages and create the NIR variables of their interface.

    If one of them is missing, the other one's unmatched interface is laid out all the same.
    `captured` names outputs that transform feedback keeps alive.
    """
    outputs = interface_variables(producer, "out", captured) if producer is not None else []
    inputs = interface_variables(consumer, "in") if consumer is not None else []
    if producer is not None and consumer is not None:
        pair = StagePair(producer, consumer, outputs, inputs, log, separable)
        match_variables(pair)
        check_builtin_varyings(pair)
    interface: StageInterface = Interface(
        producer.stage if producer is not None else None,
        consumer.stage if consumer is not None else None,
        *(outputs, inputs, limits, log, separable),
    )
    if interface.outputs or interface.inputs:
        check_overlaps(interface.outputs, limits, log)
        check_overlaps(interface.inputs, limits, log)
        log.stop_on_error()
        assign_slots(interface)
    if producer is not None:
        _record(variables[producer.stage], interface.outputs)
    if consumer is not None:
        _record(variables[consumer.stage], [port for port in interface.inputs if port.live])
    return interface


def _record(variables: StageVariables, ports: list[InterfaceVariable]) -> None:
    for port in ports:
        if port.member >= 0:
            variables.members[port.declared, port.member] = port.var
        else:
            variables.variables[port.declared] = port.var


def match_variables(interface: StagePair) -> None:
    by_name = {p.name: p for p in interface.outputs}
    by_location = {
        (p.explicit, p.var.component, p.var.patch): p for p in interface.outputs if p.explicit >= 0
    }
    blocks = {p.block.name: p.block for p in interface.outputs if p.block is not None}
    checked: set[str] = set()
    es = interface.second.language.es
    for variable in interface.inputs:
        block = variable.block
        # In ES blocks match by name alone.
        unnamed = block is None or (block.name not in blocks and not es)
        if variable.explicit >= 0 and unnamed:
            key = variable.explicit, variable.var.component, variable.var.patch
            other = by_location.get(key)
            if other is not None and (other.block is None) != (block is None):
                other = None
        else:
            other = by_name.get(variable.name)
            if other is not None and block is None and other.explicit >= 0:
                other = None
        if block is not None and block.name not in checked:
            checked.add(block.name)
            mine = blocks.get(block.name, other.block if other is not None else None)
            if mine is not None:
                compare_blocks(interface, mine, block)
        if other is None:
            report_unmatched(interface, variable)
            continue
        variable.partner, other.partner = other, variable
        if variable.live and other.quals.layout.get("stream", 0):
            interface.log.error(f"output '{other.label}' is of a stream that is not rasterized")
        if variable.block is None:
            compare_variables(interface, other, variable)


def report_unmatched(interface: StagePair, variable: InterfaceVariable) -> None:
    """Before GLSL 4.20, variables without an output are undefined; 1.20 and OpenGL ES have none."""
    if not variable.live:
        return
    language = interface.second.language
    undefined = variable.block is None and not language.es and 130 <= language.version < 420
    report = interface.log.warn if undefined else interface.log.error
    report(
        f"input '{variable.label}' of the {interface.second.name} shader is not written by the "
        f"{interface.first.name} shader"
    )


def compare_variables(
    interface: StagePair, out: InterfaceVariable, into: InterfaceVariable
) -> None:
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


def unsized_match(interface: StagePair, a: Type, b: Type) -> bool:
    return (
        a.element is not None
        and a.element is b.element
        and not (a.length and b.length and a.length != b.length)
    )


def compare_qualifiers(
    interface: StagePair, a: hir.Quals, b: hir.Quals, label: str, lang: Language
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


def compare_blocks(interface: StagePair, out: hir.Block, into: hir.Block) -> None:
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
        compare_qualifiers(interface, p, q, f"{name}.{f.name}", interface.second.language)
        for key in ("location", "component"):
            if p.layout.get(key, -1) != q.layout.get(key, -1):
                log.error(f"member '{f.name}' of block '{name}' has two values of '{key}'")
    assert out.instance is not None
    assert into.instance is not None
    x = plain_dimensions(interface, interface.first, out)
    y = plain_dimensions(interface, interface.second, into)
    if x != y:
        log.error(f"block '{name}' has different array sizes in the two stages")


def plain_dimensions(interface: StagePair, unit: StageUnit, block: hir.Block) -> list[int]:
    """The array dimensions of a block, without the per-vertex one."""
    assert block.instance is not None
    dims: list[int] = []
    type_ = block.instance.type
    while type_.element is not None:
        dims.append(type_.length)
        type_ = type_.element
    return dims[1:] if is_per_vertex(unit.stage, block.quals) else dims

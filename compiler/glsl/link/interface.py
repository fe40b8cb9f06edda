"""Links neighbouring stages: matches outputs with inputs, and assigns their slots."""

from __future__ import annotations

from gallette.compiler.glsl.link.builtin_varyings import check_builtin_varyings
from gallette.compiler.glsl.link.matching import match_variables
from gallette.compiler.glsl.link.stage_interface import (
    InterfaceVariable,
    StageInterface,
    interface_variables,
)
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.slots import assign_slots, check_overlaps
from gallette.compiler.nir.ir import Stage

__all__ = ["link_stages"]


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
    interface = StageInterface(
        producer.stage if producer is not None else None,
        consumer.stage if consumer is not None else None,
        interface_variables(producer, "out", captured) if producer is not None else [],
        interface_variables(consumer, "in") if consumer is not None else [],
        limits,
        log,
        separable,
        first=producer,
        second=consumer,
    )
    if producer is not None and consumer is not None:
        match_variables(interface)
        check_builtin_varyings(interface)
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

"""Links neighbouring stages: matches outputs with inputs, and assigns their slots."""

from __future__ import annotations

from gallette.compiler.glsl.link.builtin_varyings import check_builtin_varyings
from gallette.compiler.glsl.link.matching import match_variables
from gallette.compiler.glsl.link.slots import assign_slots, check_overlaps
from gallette.compiler.glsl.link.stage_interface import StageInterface, interface_variables
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
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
        producer,
        consumer,
        interface_variables(producer, "out", captured) if producer is not None else [],
        interface_variables(consumer, "in") if consumer is not None else [],
        variables,
        limits,
        log,
        separable,
    )
    if producer is not None and consumer is not None:
        match_variables(interface)
        check_builtin_varyings(interface)
    if interface.outputs or interface.inputs:
        check_overlaps(interface, interface.outputs)
        check_overlaps(interface, interface.inputs)
        log.stop_on_error()
        assign_slots(interface)
    return interface

"""The shared units behind `send`: each row of `isa.messages` has a handler here."""

from __future__ import annotations

from collections.abc import Callable

from gallette.drivers.simd.isa.instruction import Instruction
from gallette.drivers.simd.isa.messages import unpack
from gallette.drivers.simd.machine.alu import Step

from .inputs import input_step
from .memory import constant_step, gateway_step, image_step, memory_step, scratch_step
from .outputs import render_step, urb_step
from .port import Port
from .sampler import sampler_step

__all__ = ["send_step"]

_UNITS: dict[str, Callable[[Port], Step]] = {
    "input": input_step,
    "sampler": sampler_step,
    "constant": constant_step,
    "memory": memory_step,
    "image": image_step,
    "urb": urb_step,
    "render": render_step,
    "scratch": scratch_step,
    "gateway": gateway_step,
}


def send_step(instr: Instruction) -> Step:
    """The step of a message."""
    message = instr.message
    assert message is not None
    return _UNITS[message.unit](Port(instr, unpack(message.unit, message.desc)))

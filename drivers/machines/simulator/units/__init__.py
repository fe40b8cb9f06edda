"""The shared units that execute messages: a handler for each row of `messages`."""

from __future__ import annotations

from collections.abc import Callable

from .inputs import input_step
from .memory import constant_step, gateway_step, image_step, memory_step, scratch_step
from .outputs import render_step, urb_step
from .port import Port, Step
from .sampler import sampler_step

__all__ = ["unit_step"]

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


def unit_step(unit: str, port: Port) -> Step:
    """The step that executes a message to a unit."""
    return _UNITS[unit](port)

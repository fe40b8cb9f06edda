"""The noop screen: claims OpenGL 4.6, keeps resources in host memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gallette.drivers.common.caps import EVERYTHING
from gallette.drivers.common.memory.screen import MemoryScreen
from gallette.pipe.caps import Caps
from gallette.pipe.enums import Bind, Target
from gallette.pipe.formats import Format
from gallette.pipe.interface import Context

_CAPS = replace(EVERYTHING, handles=False)


class NoopScreen(MemoryScreen):
    """A screen that claims every capability, because it draws nothing."""

    name = "noop"

    def __init__(self, caps: Caps = _CAPS) -> None:
        super().__init__(caps)

    def describe(self) -> str:
        return "noop (draws nothing)"

    def is_format_supported(self, format: Format, target: Target, samples: int, bind: Bind) -> bool:
        return samples <= self.caps.max_samples

    def context_create(self) -> Context:
        from .context import NoopContext

        context: Context = NoopContext(self)
        return context


def create_screen(**options: Any) -> NoopScreen:
    """Create a noop screen; `caps` replaces its capabilities, to test how a state tracker
    adapts.
    """
    return NoopScreen(**options)

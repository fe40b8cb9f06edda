"""The traced context: every method of the interface, derived from the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.pipe.derived_methods import complete_class
from gallette.pipe.draw_series import Series
from gallette.pipe.interface import Context
from gallette.pipe.state import DrawInfo
from gallette.pipe.variant_log import VariantLog

from .recording import recording
from .writer import TraceWriter

if TYPE_CHECKING:
    from .screen import TraceScreenBase

__all__ = ["TraceContext"]


class TraceContextBase(Context):
    """A context that records every call and forwards it to the inner context."""

    def __init__(self, screen: TraceScreenBase, inner: Context, writer: TraceWriter) -> None:
        self.screen = screen
        self.inner = inner
        self.writer = writer
        self.label = writer.name_new("context", self)

    @property
    def variant_log(self) -> VariantLog:  # type: ignore[override]
        """The inner driver's log."""
        return self.inner.variant_log

    def prepared_draw(self, info: DrawInfo) -> Any:
        """None, so that every draw of a series is made, and recorded, by itself."""
        return None

    def draw_series(self, series: Series) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        """Forward what a driver offers beyond the interface."""
        return getattr(self.inner, name)


TraceContext = complete_class("TraceContext", TraceContextBase, Context, recording, everything=True)

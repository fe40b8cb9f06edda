"""The traced command stream: every method of the interface, derived from the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.pipe.derive import completed
from gallette.pipe.interface import Context
from gallette.pipe.series import Series
from gallette.pipe.state import DrawInfo
from gallette.pipe.variant_log import VariantLog

from .recording import recording
from .writer import TraceWriter

if TYPE_CHECKING:
    from .screen import TraceScreenBase

__all__ = ["TraceContext"]


class TraceContextBase(Context):
    """A context that records every call and makes it on the context inside it."""

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
        """Each draw of a series is recorded, so each is made by itself."""
        return None

    def draw_series(self, series: Series) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        """What a driver offers beyond the interface is its own business."""
        return getattr(self.inner, name)


TraceContext = completed("TraceContext", TraceContextBase, Context, recording, everything=True)

"""State bound to a context, as a plain record. State objects are wrapped in a `Cso`, a handle that
lives as long as the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import Stage
from gallette.pipe.resource import Resource
from gallette.pipe.state import (
    BlendState,
    DepthStencilAlphaState,
    FramebufferState,
    ImageView,
    RasterizerState,
    SamplerState,
    SamplerView,
    ScissorState,
    ShaderBuffer,
    StreamOutputTarget,
    VertexBuffer,
    VertexElement,
    ViewportState,
)

State = TypeVar("State")
Slot = TypeVar("Slot")

COUNTING = 1 << 48
"""Added to the epoch while an occlusion query is active, so that draws are recorded for it."""


class Cso(Generic[State]):
    """The handle of a constant state object."""

    __slots__ = ("state",)

    def __init__(self, state: State) -> None:
        self.state = state


class ConstantBuffer:
    """One constant block: bytes copied by the call, or a range of a buffer (with one reference)."""

    __slots__ = ("_data", "buffer", "offset", "raw")

    def __init__(
        self,
        raw: bytes | None,
        data: npt.NDArray[np.uint8] | None = None,
        buffer: Resource | None = None,
        offset: int = 0,
    ) -> None:
        self.raw = raw  # None: the block is in a buffer
        self.buffer = buffer
        self.offset = offset
        self._data = data

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        """The bytes as an array, made when first read."""
        if self._data is None:
            self._data = np.frombuffer(self.raw or b"", np.uint8)
        return self._data


@lazy_dataclass()
class StageBindings:
    """Bindings of one shader stage; `revision` changes with every binding except constant
    block 0.
    """

    constants: list[ConstantBuffer | None] = field(default_factory=list)
    samplers: list[Cso[SamplerState] | None] = field(default_factory=list)
    views: list[SamplerView | None] = field(default_factory=list)
    images: list[ImageView | None] = field(default_factory=list)
    buffers: list[ShaderBuffer | None] = field(default_factory=list)
    revision: int = 0

    def view(self, index: int) -> SamplerView | None:
        """The sampler view of a slot, or None."""
        return self.views[index] if index < len(self.views) else None

    def sampler(self, index: int) -> SamplerState | None:
        """The sampler state of a slot, or None."""
        cso = self.samplers[index] if index < len(self.samplers) else None
        return None if cso is None else cso.state


@lazy_dataclass(frozen=True)
class Parameter:
    """A row of the table of parameters: how draws depend on one."""

    large: bool = False
    """Keys contain a number that stands for its value."""
    window: bool = False
    """Draws that differ in it can still be merged."""
    in_series: bool = False
    """The state tracker compares it before it draws a series; changes of others change `epoch`."""


def _row(**says: bool) -> dict[str, Parameter]:
    return {"parameter": Parameter(**says)}


@lazy_dataclass()
class Bound:
    """The state that a draw depends on, apart from the draw itself.

    Each parameter is a row; `PARAMETERS` has them all. Keys of draws follow from it.
    """

    blend: Cso[BlendState]
    rasterizer: Cso[RasterizerState]
    depth_stencil_alpha: Cso[DepthStencilAlphaState]
    elements: Cso[tuple[VertexElement, ...]]
    shaders: dict[Any, Any] = field(default_factory=dict)
    stages: dict[Any, StageBindings] = field(default_factory=dict)
    framebuffer: FramebufferState = field(
        default_factory=FramebufferState, metadata=_row(large=True, in_series=True)
    )
    viewports: tuple[ViewportState, ...] = field(
        default=(ViewportState(),), metadata=_row(window=True, in_series=True)
    )
    scissors: tuple[ScissorState, ...] = field(
        default=(ScissorState(),), metadata=_row(window=True, in_series=True)
    )
    blend_color: tuple[float, float, float, float] = field(
        default=(0.0,) * 4, metadata=_row(in_series=True)
    )
    stencil_ref: tuple[int, int] = field(default=(0, 0), metadata=_row(in_series=True))
    sample_mask: int = field(default=0xFFFFFFFF, metadata=_row(in_series=True))
    min_samples: int = field(default=1, metadata=_row(in_series=True))
    sample_locations: tuple[tuple[float, float], ...] = field(
        default=(), metadata=_row(in_series=True)
    )
    clip_planes: tuple[tuple[float, float, float, float], ...] = field(
        default=(), metadata=_row(large=True)
    )
    polygon_stipple: tuple[int, ...] = field(default=(0xFFFFFFFF,) * 32, metadata=_row(large=True))
    vertex_buffers: tuple[VertexBuffer | None, ...] = ()
    stream_targets: tuple[StreamOutputTarget | None, ...] = ()
    counting_samples: int = 0  # active occlusion queries
    revision: int = 0  # changes with every parameter and every state object
    epoch: int = 0  # changes also with bindings that a repeated draw does not check

    def set(self, name: str, value: Any) -> None:
        """Set a parameter."""
        setattr(self, name, value)
        self.revision += 1
        if not PARAMETERS[name].in_series:
            self.epoch += 1

    def count_samples(self, more: int) -> None:
        """Change the number of active occlusion queries.

        Draws depend only on whether one is active, so the epoch returns to its former value when
        the last query ends.
        """
        self.counting_samples += more
        self.epoch += more * COUNTING


PARAMETERS: dict[str, Parameter] = {
    each.name: each.metadata["parameter"] for each in fields(Bound) if each.metadata
}


def store(slots: list[Slot | None], start: int, values: Sequence[Slot | None]) -> None:
    """Put values at `start`, growing the list as needed."""
    missing = start + len(values) - len(slots)
    if missing > 0:
        slots.extend([None] * missing)
    slots[start : start + len(values)] = values


def hold(new: Resource | None, old: Resource | None) -> None:
    """Take a reference to the new resource and release the one to the old."""
    if new is not old:
        if new is not None:
            new.ref()
        if old is not None:
            old.unref()


# -- the resources that draws read and write, by default those of two stages -----------------------

MERGED_STAGES = (Stage.VERTEX, Stage.FRAGMENT)
"""The stages whose constant block 0 may differ between merged draws."""


def resources_of(bound: Bound) -> Iterator[Resource]:
    """Every resource that draws may read or write."""
    yield from pinned_by(bound)
    yield from read_by(bound)


def read_by(bound: Bound, stages: Iterable[Stage] = MERGED_STAGES) -> Iterator[Resource]:
    yield from readable_by(bound, stages)
    yield from sampled_by(bound, stages)


def readable_by(bound: Bound, stages: Iterable[Stage] = MERGED_STAGES) -> Iterator[Resource]:
    """The buffers that draws read, and in whose place a copy can be put."""
    for buffer in bound.vertex_buffers:
        if buffer is not None:
            yield buffer.buffer
    for stage in stages:
        bindings = bound.stages[stage]
        for block in bindings.constants[1:]:
            if block is not None and block.buffer is not None:
                yield block.buffer


def sampled_by(bound: Bound, stages: Iterable[Stage] = MERGED_STAGES) -> Iterator[Resource]:
    """The resources that draws sample in these stages."""
    for stage in stages:
        for view in bound.stages[stage].views:
            if view is not None:
                yield view.resource


def pinned_by(bound: Bound, stages: Iterable[Stage] = MERGED_STAGES) -> Iterator[Resource]:
    """The resources that draws may write."""
    for surface in (*bound.framebuffer.cbufs, bound.framebuffer.zsbuf):
        if surface is not None:
            yield surface.resource
    for stage in stages:
        bindings = bound.stages[stage]
        for image in bindings.images:
            if image is not None:
                yield image.resource
        for storage in bindings.buffers:
            if storage is not None:
                yield storage.buffer

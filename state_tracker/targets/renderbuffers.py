"""Renderbuffer objects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gallette.pipe.enums import Bind, Target
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry, register_for
from gallette.state_tracker.getters import gets
from gallette.state_tracker.object_kinds import objects
from gallette.state_tracker.objects import GLObject, NameTable, swap
from gallette.state_tracker.texturing.image_rules import renderable_format
from gallette.state_tracker.texturing.texture_formats import (
    INTERNAL_FORMATS,
    InternalFormat,
    choose_format,
    sample_count,
)

if TYPE_CHECKING:
    from gallette.pipe.formats import Channel
    from gallette.state_tracker.context import Context


class Renderbuffer(GLObject):
    """A two-dimensional image to render to."""

    kind = "renderbuffer"

    def __init__(self, name: int, internal_format: int = GL.RGBA):
        super().__init__(name)
        self.width = self.height = self.samples = 0
        self.info: InternalFormat = INTERNAL_FORMATS[internal_format]
        self.internal_format = internal_format
        self.resource: Resource | None = None
        self.place = (0, 0)  # level and layer of the resource, for an EGL image
        self.resolved: Renderbuffer | None = None  # of a multisample window: its resolved image

    def destroy(self) -> None:
        if self.resource is not None:
            self.resource.unref()
            self.resource = None
        if self.resolved is not None:
            self.resolved.destroy()
            self.resolved = None


class RenderbufferState:
    """Names, and the bound renderbuffer."""

    def __init__(self, ctx: Context) -> None:
        self.names: NameTable[Renderbuffer] = ctx.group.table("renderbuffer")
        self.bound: Renderbuffer | None = None

    def release_all(self) -> None:
        self.bound = swap(self.bound, None)


def _make(ctx: Context, name: int) -> Renderbuffer:
    return Renderbuffer(name, GL.RGBA4 if ctx.is_es else GL.RGBA)


def _unbind(ctx: Context, found: Renderbuffer) -> None:
    state = ctx.renderbuffers
    if state.bound is found:
        state.bound = swap(found, None)
    ctx.framebuffers.detach(found)


objects(
    "renderbuffer",
    lambda ctx: ctx.renderbuffers.names,
    _unbind,
    _make,
    label=GL.RENDERBUFFER,
)


@entry
def bind_renderbuffer(ctx: Context, target: int, renderbuffer: int) -> None:
    if target != GL.RENDERBUFFER:
        raise invalid_enum(target, "renderbuffer target")
    state = ctx.renderbuffers
    found = None
    if renderbuffer:
        found = state.names.bind(renderbuffer, partial(_make, ctx), ctx.is_core)
    state.bound = swap(state.bound, found)


def _bound(ctx: Context, target: int) -> Renderbuffer:
    if target != GL.RENDERBUFFER:
        raise invalid_enum(target, "renderbuffer target")
    if ctx.renderbuffers.bound is None:
        raise invalid_operation("no renderbuffer is bound")
    return ctx.renderbuffers.bound


def _storage_of_samples(
    ctx: Context, buffer: Renderbuffer, samples: int, internalformat: int, width: int, height: int
) -> None:
    info = renderable_format(ctx, internalformat)
    if width < 0 or height < 0 or max(width, height) > ctx.caps.max_texture_2d_size:
        raise invalid_value(f"a renderbuffer cannot be {width}x{height}")
    if samples < 0:
        raise invalid_value("negative number of samples")
    if samples > ctx.caps.max_samples:
        raise invalid_operation(f"the driver has {ctx.caps.max_samples} samples at most")
    samples = sample_count(ctx.caps, samples)
    bind = Bind.RENDER_TARGET if info.is_color else Bind.DEPTH_STENCIL
    format = choose_format(ctx.screen, info.candidates, Target.TEXTURE_2D, samples, bind)
    if format is None:
        raise invalid_operation(f"the driver cannot store GL_{info.name}")
    if not ctx.screen.is_format_supported(format, Target.TEXTURE_2D, samples, bind):
        bind = Bind.SAMPLER_VIEW  # sampled, not drawn to
    resource = None
    if width and height:
        label = buffer.label or f"renderbuffer {buffer.name}"
        desc = ResourceDesc(
            Target.TEXTURE_2D, format, width, height, samples=samples, bind=bind, label=label
        )
        resource = ctx.screen.resource_create(desc)  # on failure nothing changes
    buffer.destroy()
    buffer.resource, buffer.place = resource, (0, 0)
    buffer.width, buffer.height, buffer.samples = width, height, samples
    buffer.info, buffer.internal_format = info, internalformat
    ctx.group.mark(Dirty.FRAMEBUFFER)


def _storage(
    ctx: Context, buffer: Renderbuffer, internalformat: int, width: int, height: int
) -> None:
    _storage_of_samples(ctx, buffer, 0, internalformat, width, height)


def channel_of(info: InternalFormat, letter: str) -> Channel | None:
    """The channel of the format that stores a component; None if the base format lacks it."""
    format = info.candidates[0]
    if info.is_ycbcr:  # it stores luma and chroma
        return None
    if letter in "RGBA" and info.base in ("R", "RG", "RGB", "RGBA") and letter not in info.base:
        return None
    if format.is_compressed and info.base in ("L", "LA"):  # stored as red, or red and green
        letter = {"L": "R", "A": "G"}.get(letter, "")
    return next((c for c in format.channels if c.name == letter), None)


def channel_bits(info: InternalFormat, letter: str) -> int:
    """Bits of a channel as GL reports them."""
    found = channel_of(info, letter)
    return found.bits if found is not None else 0


def _parameter(ctx: Context, buffer: Renderbuffer, pname: int) -> list[int]:
    values: dict[int, int] = {
        GL.RENDERBUFFER_WIDTH: buffer.width,
        GL.RENDERBUFFER_HEIGHT: buffer.height,
        GL.RENDERBUFFER_INTERNAL_FORMAT: buffer.internal_format,
        GL.RENDERBUFFER_SAMPLES: buffer.samples,
    }
    for name, letter in (
        ("RED", "R"),
        ("GREEN", "G"),
        ("BLUE", "B"),
        ("ALPHA", "A"),
        ("DEPTH", "Z"),
        ("STENCIL", "S"),
    ):
        bits = channel_bits(buffer.info, letter) if buffer.resource is not None else 0
        values[getattr(GL, f"RENDERBUFFER_{name}_SIZE")] = bits
    if pname not in values:
        raise invalid_enum(pname, "renderbuffer parameter")
    return [values[pname]]


def _by_name(ctx: Context, name: int) -> Renderbuffer:
    return ctx.renderbuffers.names.require(name)


register_for(
    _bound,
    {
        "renderbuffer_storage": _storage,
        "renderbuffer_storage_multisample": _storage_of_samples,
        "get_renderbuffer_parameteriv": _parameter,
    },
)
register_for(
    _by_name,
    {
        "named_renderbuffer_storage": _storage,
        "named_renderbuffer_storage_multisample": _storage_of_samples,
        "get_named_renderbuffer_parameteriv": _parameter,
    },
)
gets({"RENDERBUFFER_BINDING": lambda c: c.renderbuffers.bound.name if c.renderbuffers.bound else 0})

"""MESA_framebuffer_flip_y: a framebuffer object whose first row is the last of its images.

All operations on window coordinates must be flipped for such a framebuffer: viewports, scissors,
winding, gl_FragCoord, derivatives, reads and copies. Instead of all of these, the images are
flipped: during a command on the framebuffer the rows of its images are in the order of window
coordinates, and afterwards in their own order again. That costs two copies per command, and nothing
as long as no framebuffer is flipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gallette.pipe.enums import MapFlags
from gallette.pipe.state import Box
from gallette.state_tracker.entry_points.functions import Function

if TYPE_CHECKING:
    from gallette.pipe.resource import Resource
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.targets.framebuffers import Framebuffer

_TOUCHING = re.compile(
    r"(Multi(Mode)?)?Draw(Arrays|Elements|RangeElements|Pixels|TransformFeedback|Tex)\w*"
    r"|Clear|Clear(Buffer|NamedFramebuffer)(i|ui|f|fi)v?|Blit(Named)?Framebuffer\w*"
    r"|Readn?Pixels\w*|Copy(Multi)?Tex(ture)?(Sub)?Image\w*|CopyPixels|Bitmap|Accum"
    r"|End|Rect[dfis]v?|EvalMesh[12]|CallLists?"
)


def touches(function: Function) -> bool:
    """Whether the function may read or write the contents of a framebuffer."""
    return _TOUCHING.fullmatch(function.name) is not None


def flipping(ctx: Context, function: Function, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, with the images of flipped framebuffers turned during the call."""
    named = [i for i, p in enumerate(function.params) if p.name.lower().endswith("framebuffer")]

    def call(*args: Any) -> Any:
        bindings = ctx.framebuffers
        if bindings.turned:  # by an outer command that calls this one
            return method(*args)
        framebuffers = {id(f): f for f in (bindings.draw, bindings.read)}
        for i in named:
            found = bindings.names.get(args[i]) if i < len(args) else None
            if found is not None:
                framebuffers[id(found)] = found
        flipped = [f for f in framebuffers.values() if f.flip_y]
        if not flipped:
            return method(*args)
        with _turned(ctx, flipped):
            return method(*args)

    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


@contextmanager
def _turned(ctx: Context, framebuffers: list[Framebuffer]) -> Iterator[None]:
    images: dict[Any, tuple[Resource, int, int, int, int, int]] = {}
    for framebuffer in framebuffers:
        width, height = framebuffer.size
        for attachment in framebuffer.attachments.values():
            place = attachment.place()
            if place is not None and width and height:
                images[id(place[0]), *place[1:]] = (*place, width, height)
    ctx.framebuffers.turned = True
    try:
        for image in images.values():
            _turn(ctx, *image)
        yield
    finally:
        for image in images.values():
            _turn(ctx, *image)
        ctx.framebuffers.turned = False


def _turn(
    ctx: Context, resource: Resource, level: int, first: int, last: int, width: int, height: int
) -> None:
    """Reverse the rows of some layers."""
    samples = max(1, resource.desc.samples)
    box = Box(0, 0, first * samples, width, height, (last - first + 1) * samples)
    transfer = ctx.pipe.transfer_map(resource, level, MapFlags.READ | MapFlags.WRITE, box)
    transfer.data[...] = transfer.data[:, ::-1].copy()
    ctx.pipe.transfer_unmap(transfer)

"""Reading surfaces and textures of a pipe as pictures, without disturbing the run."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.inspector.frames import Picture
from gallette.pipe import codecs
from gallette.pipe.enums import MapFlags, Target
from gallette.pipe.state import Box

MOST_TEXELS = 1 << 20


def _raw(pipe: Any, resource: Any, level: int, layer: int, width: int, height: int) -> Any:
    transfer = pipe.transfer_map(resource, level, MapFlags.READ, Box(0, 0, layer, width, height, 1))
    data = np.array(transfer.data[0])
    pipe.transfer_unmap(transfer)
    return data


def surface_pictures(
    pipe: Any, resource: Any, format: Any, level: int, layer: int, width: int, height: int
) -> dict[str, Picture]:
    """A level of a resource: `""` a colour picture (bytes or floats), or `depth` and `stencil`."""
    samples = max(1, resource.desc.samples)
    data = _raw(pipe, resource, level, layer * samples, width, height)
    if format.is_depth_stencil:
        raw, found = codecs.texels(format, data), {}
        if format.has_depth:
            depth = np.asarray(codecs.unpack_depth(format, raw), np.float32)
            found["depth"] = depth.reshape(height, width, 1)
        if format.has_stencil:
            stencil = np.asarray(codecs.unpack_stencil(format, raw))
            found["stencil"] = stencil.reshape(height, width, 1).astype(np.uint8)
        return found
    rgba = np.asarray(codecs.unpack(format, data)).reshape(height, width, -1)
    name = format.name
    if rgba.dtype.kind == "f" and "UNORM" in name and "16" not in name and "10" not in name:
        rgba = np.rint(np.clip(rgba, 0, 1) * 255).astype(np.uint8)
    return {"": rgba if rgba.dtype == np.uint8 else rgba.astype(np.float32)}


def attachments_of(pipe: Any, state: Any) -> dict[str, Picture]:
    """Everything a framebuffer has attached, bottom row first."""
    found: dict[str, Picture] = {}
    surfaces = [(f"colour {i}", c) for i, c in enumerate(state.cbufs)] + [("", state.zsbuf)]
    for name, surface in surfaces:
        if surface is None or not (state.width and state.height):
            continue
        pictures = surface_pictures(
            pipe, surface.resource, surface.format, surface.level, surface.first_layer,
            state.width, state.height,
        )  # fmt: skip
        for part, picture in pictures.items():
            found[part or name] = picture
    return found


def read_texture(pipe: Any, view: Any) -> Picture | None:
    """The first level and layer of a sampler view; None if it is not a picture."""
    desc = view.resource.desc
    if view.target is Target.BUFFER or desc.samples > 1:
        return None
    width = max(1, desc.width >> view.first_level)
    height = max(1, desc.height >> view.first_level)
    if width * height > MOST_TEXELS:
        return None
    try:
        pictures = surface_pictures(
            pipe, view.resource, view.format, view.first_level, view.first_layer, width, height
        )
    except Exception:  # compressed formats and the like: the page says so
        return None
    return next(iter(pictures.values()), None)

"""The texels that a call of the pipe may write at the pixel, and their names.

Draws and clears write what the framebuffer has attached, and (draws, launches) images of shaders;
blits, copies, uploads and the rest write a destination, which may be attached too, earlier or
later. All of them are `Surface`s here, by their role in the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gallette.compiler.nir.ir.modes import Stage
from gallette.pipe.enums import ClearFlags, Target
from gallette.pipe.formats import Format
from gallette.pipe.resource import Resource, level_extent
from gallette.pipe.state import Box, ScissorState, Surface

DRAWS = ("draw_vbo", "clear")  # what they write is attached
_MOST_LAYERS = 8  # of a destination that are looked at


def is_attachment(name: str) -> bool:
    """Whether this is the name of a framebuffer's attachment."""
    return name in ("depth", "stencil") or name.startswith("colour ")


class Places:
    """The surfaces of one pixel; resources are numbered in order of appearance."""

    def __init__(self, x: int, y: int) -> None:
        self._x, self._y = x, y
        self._numbers: dict[int, tuple[int, Resource]] = {}

    def label(self, surface: Surface) -> str:
        """The name of a texel's surface: the resource, and which part of it."""
        name = self.resource_label(surface.resource)
        level = f", level {surface.level}" if surface.level else ""
        layer = f", layer {surface.first_layer}" if surface.first_layer else ""
        return name + level + layer

    def resource_label(self, resource: Resource) -> str:
        """The name of a resource; all views of it have the same one."""
        number, _ = self._numbers.setdefault(id(resource), (len(self._numbers) + 1, resource))
        name = resource.label or f"resource {number}"
        same = [n for n, r in self._numbers.values() if (r.label or "") == name]
        if len(same) > 1 and same[0] != number:
            name += f" #{same.index(number) + 1}"
        return f"{name} ({resource.desc.format.name})"

    def of(self, pipe: Any, call: str, given: dict[str, Any]) -> dict[str, Surface]:
        """The surfaces with such a pixel that a call may write."""
        bound = pipe.bound
        if call == "launch_grid":
            return self._images(bound, (Stage.COMPUTE,))
        attached = self._attached(bound.framebuffer)
        if call == "draw_vbo":
            stages = [s for s in bound.stages if s is not Stage.COMPUTE]
            return attached | self._images(bound, stages)
        if call == "clear":
            return attached
        found: dict[str, Surface] = {}
        written = list(self._destination(call, given))
        for surface in written:
            same = [n for n, s in attached.items() if _overlap(s, surface)]
            if same:
                found |= attached  # as the framebuffer calls it, with its other attachments
            elif surface.format.is_depth_stencil:
                found.setdefault("depth", surface)
            else:
                name = "destination" if len(written) == 1 else f"destination {len(found)}"
                found[name] = surface
        return found

    def sampled(self, pipe: Any) -> tuple[str, ...]:
        """The textures that a draw's fragments can read."""
        bindings = pipe.bound.stages.get(Stage.FRAGMENT)
        if bindings is None:
            return ()
        read = [v.resource for v in bindings.views if v is not None]
        read += [i.resource for i in bindings.images if i is not None and i.readable]
        return tuple(dict.fromkeys(self.resource_label(r) for r in read if _is_picture(r)))

    # -- attachments and images ----------------------------------------------------------------

    def _attached(self, framebuffer: Any) -> dict[str, Surface]:
        if not (0 <= self._x < framebuffer.width and 0 <= self._y < framebuffer.height):
            return {}
        found = {f"colour {i}": c for i, c in enumerate(framebuffer.cbufs) if c is not None}
        if framebuffer.zsbuf is not None:
            found["depth"] = framebuffer.zsbuf
        return found

    def _images(self, bound: Any, stages: Any) -> dict[str, Surface]:
        """The writable images, each layer separately."""
        found = {}
        for stage in stages:
            bindings = bound.stages.get(stage)
            for number, view in enumerate(bindings.images if bindings is not None else ()):
                if view is None or not view.writable or not self._inside(view.resource, view.level):
                    continue
                for layer in range(view.first_layer, view.last_layer + 1)[:_MOST_LAYERS]:
                    name = f"image {number}" + (f", layer {layer}" if layer else "")
                    if stage is not Stage.FRAGMENT:
                        name += f" ({stage.value})"
                    found[name] = Surface(view.resource, view.format, view.level, layer, layer)
        return found

    # -- destinations ----------------------------------------------------------------------------

    def _destination(self, call: str, given: dict[str, Any]) -> Iterator[Surface]:
        if call in ("clear_render_target", "clear_depth_stencil"):
            surface: Surface = given["surface"]
            if _in_rect(given["rect"], self._x, self._y):
                yield from self._texels(surface.resource, surface.format, surface.level, surface)
        elif call == "blit":
            info = given["info"]
            box = info.dst_box
            if info.scissor is None or _in_rect(info.scissor, self._x, self._y):
                yield from self._boxed(info.dst, info.dst_format, info.dst_level, box)
        elif call == "resource_copy_region":
            source = given["src_box"]
            box = Box(given["dst_x"], given["dst_y"], given["dst_z"],
                      source.width, source.height, source.depth)  # fmt: skip
            dst = given["dst"]
            yield from self._boxed(dst, dst.desc.format, given["dst_level"], box)
        elif call == "transfer_unmap":
            transfer = given["transfer"]
            resource = transfer.resource
            yield from self._boxed(resource, resource.desc.format, transfer.level, transfer.box)
        elif call == "generate_mipmap":
            for level in range(given["base_level"] + 1, given["last_level"] + 1):
                layers = Surface(given["resource"], given["format"], level,
                                 given["first_layer"], given["last_layer"])  # fmt: skip
                yield from self._texels(layers.resource, layers.format, level, layers)

    def _boxed(self, resource: Resource, format: Format, level: int, box: Box) -> Iterator[Surface]:
        """The layers of a box (which may be flipped) that contain the pixel."""
        x0, x1 = sorted((box.x, box.x + box.width))
        y0, y1 = sorted((box.y, box.y + box.height))
        if x0 <= self._x < x1 and y0 <= self._y < y1:
            z0, z1 = sorted((box.z, box.z + box.depth))
            layers = Surface(resource, format, level, z0, z1 - 1)
            yield from self._texels(resource, format, level, layers)

    def _texels(
        self, resource: Resource, format: Format, level: int, layers: Surface
    ) -> Iterator[Surface]:
        if not self._inside(resource, level):
            return
        for layer in range(layers.first_layer, layers.last_layer + 1)[:_MOST_LAYERS]:
            yield Surface(resource, format, level, layer, layer)

    def _inside(self, resource: Resource, level: int) -> bool:
        """Whether that level has such a pixel, and it can be read by itself."""
        if not _is_picture(resource):
            return False
        width, height, _ = level_extent(resource.desc, level)
        return 0 <= self._x < width and 0 <= self._y < height


def _is_picture(resource: Resource) -> bool:
    desc = resource.desc
    return desc.target is not Target.BUFFER and not desc.format.is_compressed


def _overlap(a: Surface, b: Surface) -> bool:
    return (
        a.resource is b.resource
        and a.level == b.level
        and a.first_layer <= b.last_layer
        and b.first_layer <= a.last_layer
    )


def _in_rect(rect: ScissorState, x: int, y: int) -> bool:
    return rect.minx <= x < rect.maxx and rect.miny <= y < rect.maxy


def in_words(places: Places, call: str, given: dict[str, Any]) -> str:
    """A short description of a call."""
    if call == "draw_vbo":
        info = given["info"]
        instances = f", {info.instance_count} instances" if info.instance_count != 1 else ""
        return f"{info.mode.name.lower()}, {info.count} vertices{instances}"
    if call == "clear":
        flags, parts = given["flags"], []
        if flags & ClearFlags.COLOR:
            parts.append("colour (" + ", ".join(f"{c:.6g}" for c in given["color"]) + ")")
        if flags & ClearFlags.DEPTH:
            parts.append(f"depth {given['depth']:g}")
        if flags & ClearFlags.STENCIL:
            parts.append(f"stencil {given['stencil']}")
        return ", ".join(parts)
    if call == "launch_grid":
        info = given["info"]
        return f"{_by(info.grid)} groups of {_by(info.block)}"
    if call == "blit":
        info = given["info"]
        return f"from {places.resource_label(info.src)} at {_place(info.src_box)}"
    if call == "resource_copy_region":
        return f"from {places.resource_label(given['src'])} at {_place(given['src_box'])}"
    if call == "transfer_unmap":
        return f"an upload at {_place(given['transfer'].box)}"
    return ""


def _by(extent: tuple[int, ...]) -> str:
    return "x".join(map(str, extent))


def _place(box: Box) -> str:
    return f"{box.x},{box.y} ({box.width}x{box.height})"

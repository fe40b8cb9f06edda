"""Texture targets: their shape, pipe target and GL enums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.enums import Target
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value

if TYPE_CHECKING:
    from gallette.pipe.caps import Caps

Triple = tuple[int, int, int]

CUBE_FACES: tuple[int, ...] = tuple(GL.TEXTURE_CUBE_MAP_POSITIVE_X + i for i in range(6))


@lazy_dataclass(frozen=True)
class TargetInfo:
    """One texture target. `dimensions` is the N of glTexImageND (0: no such call)."""

    value: int
    name: str
    pipe: Target
    dimensions: int
    proxy: int
    mipmapped: bool = True
    multisample: bool = False
    layers_axis: int = -1  # which of width, height, depth counts layers

    @property
    def faces(self) -> int:
        return 6 if self.value == GL.TEXTURE_CUBE_MAP else 1

    @property
    def has_layers(self) -> bool:
        """Whether a level consists of several images that can be used separately."""
        return self.layers_axis >= 0 or self.faces > 1 or self.pipe is Target.TEXTURE_3D

    @property
    def only_edges(self) -> bool:
        """Whether only clamping is allowed, without mipmaps."""
        return self.value in (GL.TEXTURE_RECTANGLE, GL.TEXTURE_EXTERNAL_OES)

    @property
    def binding(self) -> str:
        return self.name.replace("TEXTURE_", "TEXTURE_BINDING_", 1)

    def limit(self, caps: Caps) -> int:
        """The maximum size of a level 0 image."""
        if self.pipe is Target.TEXTURE_3D:
            return caps.max_texture_3d_size
        if self.pipe.is_cube:
            return caps.max_texture_cube_size
        return caps.max_texture_2d_size

    def level_extent(self, extent: tuple[int, int, int], level: int) -> tuple[int, int, int]:
        """The size of a level given that of level 0; the number of layers is constant."""
        sizes = list(extent)
        for axis in range(3):
            if axis != self.layers_axis:
                sizes[axis] = max(1, sizes[axis] >> level)
        return sizes[0], sizes[1], sizes[2]

    def pieces(self, at: Triple, extent: Triple) -> Iterator[tuple[int, Triple, Triple]]:
        """The images of a box in calls by name, where the faces of a cube are layers: face, place
        and size of each.
        """
        if self.faces == 1:
            yield 0, at, extent
            return
        for face in range(at[2], at[2] + extent[2]):
            yield face, (at[0], at[1], 0), (extent[0], extent[1], 1)

    def last_level(self, caps: Caps) -> int:
        """The number of the smallest level of an image of the maximum size."""
        return self.limit(caps).bit_length() - 1 if self.mipmapped else 0


def _info(name: str, pipe: Target, dims: int, **more: object) -> TargetInfo:
    proxy = 0 if dims == 0 and not more.get("multisample") else getattr(GL, f"PROXY_{name}", 0)
    return TargetInfo(getattr(GL, name), name, pipe, dims, proxy, **more)  # type: ignore[arg-type]


TARGETS: dict[int, TargetInfo] = {
    info.value: info
    for info in (
        _info("TEXTURE_1D", Target.TEXTURE_1D, 1),
        _info("TEXTURE_2D", Target.TEXTURE_2D, 2),
        _info("TEXTURE_3D", Target.TEXTURE_3D, 3),
        _info("TEXTURE_CUBE_MAP", Target.TEXTURE_CUBE, 2),
        _info("TEXTURE_RECTANGLE", Target.TEXTURE_RECT, 2, mipmapped=False),
        _info("TEXTURE_1D_ARRAY", Target.TEXTURE_1D_ARRAY, 2, layers_axis=1),
        _info("TEXTURE_2D_ARRAY", Target.TEXTURE_2D_ARRAY, 3, layers_axis=2),
        _info("TEXTURE_CUBE_MAP_ARRAY", Target.TEXTURE_CUBE_ARRAY, 3, layers_axis=2),
        # It has no storage of its own, but that of an EGL image (OES_EGL_image_external).
        _info("TEXTURE_EXTERNAL_OES", Target.TEXTURE_2D, 0, mipmapped=False),
        _info("TEXTURE_BUFFER", Target.BUFFER, 0, mipmapped=False),
        _info("TEXTURE_2D_MULTISAMPLE", Target.TEXTURE_2D, 0, mipmapped=False, multisample=True),
        _info(
            "TEXTURE_2D_MULTISAMPLE_ARRAY",
            Target.TEXTURE_2D_ARRAY,
            0,
            mipmapped=False,
            multisample=True,
            layers_axis=2,
        ),
    )
}
DESKTOP_TARGETS = {v: info for v, info in TARGETS.items() if v != GL.TEXTURE_EXTERNAL_OES}
PROXIES: dict[int, TargetInfo] = {info.proxy: info for info in TARGETS.values() if info.proxy}


def texture_target(target: int) -> TargetInfo:
    """The target a texture is bound to; INVALID_ENUM for anything else."""
    found = TARGETS.get(target)
    if found is None:
        raise invalid_enum(target, "texture target")
    return found


def check_level(caps: Caps, info: TargetInfo, level: int) -> None:
    """Check that a texture of that target can have this level."""
    if not 0 <= level <= info.last_level(caps):
        raise invalid_value(f"level {level} of a {info.name}")


def image_target(target: int, dimensions: int) -> tuple[TargetInfo, int, bool]:
    """Texture target, face and "is it a proxy" for the target of an image call."""
    if target in CUBE_FACES:
        info, face, proxy = TARGETS[GL.TEXTURE_CUBE_MAP], CUBE_FACES.index(target), False
    elif target in PROXIES:
        info, face, proxy = PROXIES[target], 0, True
    elif target in TARGETS and target != GL.TEXTURE_CUBE_MAP:
        info, face, proxy = TARGETS[target], 0, False
    else:
        raise invalid_enum(target, "texture image target")
    if dimensions and info.dimensions != dimensions:
        raise invalid_enum(target, f"target of a {dimensions}D image")
    return info, face, proxy

"""Texture units: the textures bound to each target of each, and substitutes for missing ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir.types import Base
from gallette.pipe.enums import MapFlags, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import Box, SamplerView
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.objects import NameTable
from gallette.state_tracker.texturing.sampling import SamplerParams
from gallette.state_tracker.texturing.texture_targets import TARGETS, TargetInfo
from gallette.state_tracker.texturing.textures import TexImage, TextureObject

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_BLACK = {
    Base.FLOAT: ("R8G8B8A8_UNORM", 255),
    Base.INT: ("R8G8B8A8_SINT", 1),
    Base.UINT: ("R8G8B8A8_UINT", 1),
}
"""Format of an incomplete texture, by the type of lookup results, and the alpha of its texels."""


class TextureUnit:
    """The bindings of one texture unit: a texture per target, and an optional sampler object."""

    __slots__ = ("bound", "enabled", "env", "lod_bias", "sampler")

    def __init__(self, defaults: dict[int, TextureObject]):
        self.bound = dict(defaults)
        self.sampler: Any = None
        self.enabled: frozenset[int] = frozenset()  # fixed function: GL_TEXTURE_2D and friends
        self.env: tuple[tuple[int, Any], ...] = ((GL.TEXTURE_ENV_MODE, GL.MODULATE),)  # sorted
        self.lod_bias = 0.0

    def set_env(self, name: int, value: Any) -> None:
        """Set a parameter of the texture environment."""
        self.env = tuple(sorted({**dict(self.env), name: value}.items()))


class TextureState:
    """Texture names, units and the default texture of every target."""

    active: int

    def __init__(self, ctx: Context):
        self.names: NameTable[TextureObject] = ctx.group.table("texture")
        self.defaults = {value: TextureObject(0, info, ctx) for value, info in TARGETS.items()}
        self.units = [
            TextureUnit(self.defaults) for _ in range(ctx.limits.max_combined_texture_units)
        ]
        for texture in self.defaults.values():
            texture.refs += len(self.units)
        self.active = 0
        self.seamless = ctx.profile == "es"  # always, from OpenGL ES 3.0 on
        self.proxies: dict[tuple[int, int], TexImage] = {}
        self._dummies: dict[Any, SamplerView] = {}
        self._plain = SamplerParams()
        self._ctx = ctx

    @property
    def unit(self) -> TextureUnit:
        return self.units[self.active]

    def set_proxy(self, target: TargetInfo, level: int, image: TexImage | None) -> None:
        """Set the proxy state of a level; None if the texture would be too large."""
        if image is None:
            self.proxies.pop((target.value, level), None)
        else:
            self.proxies[target.value, level] = image

    def bind(self, target: int, texture: TextureObject) -> None:
        bound = self.unit.bound
        if bound[target] is not texture:
            texture.retain()
            bound[target].release()
            bound[target] = texture
            self._ctx.dirty |= Dirty.TEXTURES

    def nothing(self, target: Target, numbers: Base) -> tuple[SamplerView, Any]:
        """The view and sampler of an incomplete texture: black everywhere, without borders."""
        return self._dummy(target, numbers), self._plain.state(self._ctx, False, False, False, 0.0)

    def _dummy(self, target: Target, numbers: Base) -> SamplerView:
        """A view of an incomplete texture: (0, 0, 0, 1), in the shader's type of numbers."""
        found = self._dummies.get((target, numbers))
        if found is None:
            found = self._dummies[target, numbers] = self._make_dummy(target, numbers)
        return found

    def _make_dummy(self, target: Target, numbers: Base) -> SamplerView:
        layers = 6 if target.is_cube else 1
        name, one = _BLACK[numbers]
        format = FORMATS[name]
        desc = ResourceDesc(target, format, 4 if target is Target.BUFFER else 1, array_size=layers)
        resource = self._ctx.screen.resource_create(desc)
        width = 4 if target is Target.BUFFER else 1
        pipe, box = self._ctx.pipe, Box(width=width, depth=layers)
        transfer = pipe.transfer_map(resource, 0, MapFlags.WRITE, box)
        transfer.data[..., 3] = one
        pipe.transfer_unmap(transfer)
        size = 4 if target is Target.BUFFER else 0
        return SamplerView(resource, format, target, last_layer=layers - 1, buffer_size=size)

    def release_all(self) -> None:
        for unit in self.units:
            for target, texture in unit.bound.items():
                if texture is not self.defaults[target]:
                    texture.release()
            unit.bound.clear()
            if unit.sampler is not None:
                unit.sampler.release()
                unit.sampler = None
        for texture in self.defaults.values():
            texture.refs = 1  # no unit refers to it any more
            texture.release()
        for view in self._dummies.values():
            view.resource.unref()


def current(ctx: Context, target: int) -> TextureObject:
    """The texture bound to a target of the active unit."""
    found = ctx.textures.unit.bound.get(target)
    if found is None:
        raise invalid_enum(target, "texture target")
    check_es(ctx, target, "texture target")
    return found

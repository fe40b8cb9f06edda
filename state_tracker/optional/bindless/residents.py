"""The resident handles of a context: kept alive, and bound for its shaders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.state_tracker.drawing.storage import image_view
from gallette.state_tracker.drawing.validate import sampled_view, view_and_sampler
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_operation
from gallette.state_tracker.entry_points.gl_types import sampler_target
from gallette.state_tracker.texturing.handles import ImageHandle, TextureHandle

if TYPE_CHECKING:
    from gallette.pipe.interface import Handle
    from gallette.pipe.state import ImageView, SamplerView
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.texturing.images import ImageUnit


class Residents:
    """The resident handles of a context."""

    def __init__(self, ctx: Context) -> None:
        self._ctx, self.table = ctx, ctx.group.handles
        self.textures: dict[int, TextureHandle] = {}
        self.images: dict[int, tuple[ImageHandle, ImageUnit]] = {}

    def add_texture(self, value: int) -> None:
        handle = self.table.textures.get(value)
        if handle is None or value in self.textures:
            raise invalid_operation(_why(handle is not None, "texture"))
        handle.texture.retain()
        if handle.sampler is not None:
            handle.sampler.retain()
        self.textures[value] = handle

    def drop_texture(self, value: int) -> None:
        if value not in self.textures:
            raise invalid_operation(f"{value:#x} is not the handle of a resident texture")
        handle = self.textures.pop(value)
        place, ctx = FIRST_HANDLE + handle.place, self._ctx
        for stage in self._stages():
            ctx.pipe.set_sampler_views(stage, place, [None])
            ctx.pipe.bind_sampler_states(stage, place, [None])
        if handle.sampler is not None:
            handle.sampler.release()
        handle.texture.release()

    def add_image(self, value: int, access: int) -> None:
        handle = self.table.images.get(value)
        if handle is None or value in self.images:
            raise invalid_operation(_why(handle is not None, "image"))
        handle.texture.retain()
        self.images[value] = handle, handle.unit(access)

    def drop_image(self, value: int) -> None:
        if value not in self.images:
            raise invalid_operation(f"{value:#x} is not the handle of a resident image")
        handle, _ = self.images.pop(value)
        for stage in self._stages():
            self._ctx.pipe.set_shader_images(stage, FIRST_HANDLE + handle.place, [None])
        handle.texture.release()

    def _stages(self) -> list[Stage]:
        return [stage for stage in Stage if stage.value in self._ctx.caps.stages]

    def release_all(self) -> None:
        """Make all handles non-resident at the end of a context."""
        for value in list(self.textures):
            self.drop_texture(value)
        for value in list(self.images):
            self.drop_image(value)

    # -- binding -------------------------------------------------------------------------------

    def bind_textures(self, stage: Stage) -> None:
        """Bind resident textures, and the units that sampler uniforms are set to instead of
        handles.
        """
        ctx = self._ctx
        count = self.table.texture_places.count
        views: list[SamplerView | None] = [None] * count
        samplers: list[Handle] = [None] * count
        for handle in self.textures.values():
            params = handle.sampler.params if handle.sampler is not None else handle.texture.params
            compares = params.compare_mode != GL.NONE
            view, state = sampled_view(ctx, handle.texture, params, compares, 0.0, by_handle=True)
            views[handle.place], samplers[handle.place] = view, ctx.caches.sampler.get(state)
        for executable in set(ctx.programs.stages.values()):
            for place, kind, unit in executable.unit_places(image=False):
                target, scalar = sampler_target(kind), kind.is_shadow
                view, state = view_and_sampler(ctx, unit, target, scalar, kind.sampled)
                views[place], samplers[place] = view, ctx.caches.sampler.get(state)
        ctx.pipe.set_sampler_views(stage, FIRST_HANDLE, views)
        ctx.pipe.bind_sampler_states(stage, FIRST_HANDLE, samplers)

    def bind_images(self, stage: Stage) -> None:
        """Bind resident images, and the units that image uniforms are set to instead of handles."""
        ctx = self._ctx
        found = {handle.place: unit for handle, unit in self.images.values()}
        for executable in ctx.programs.stages.values():
            for place, _, unit in executable.unit_places(image=True):
                if unit < len(ctx.images):
                    found[place] = ctx.images[unit]
        views: list[ImageView | None] = [None] * self.table.image_places.count
        for place, image in found.items():
            views[place] = image_view(image)
        ctx.pipe.set_shader_images(stage, FIRST_HANDLE, views)


def _why(known: bool, what: str) -> str:
    return f"the {what} is resident already" if known else f"this is no handle of a {what}"

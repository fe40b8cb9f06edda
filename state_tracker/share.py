"""Share groups: one context, or several that share objects.

A group owns the driver's context (the pipe) and the names of all objects that OpenGL shares:
buffers, textures, samplers, renderbuffers, shaders, programs and sync objects. One context at a
time uses the pipe (see `entry_points.share_group_lock`), so a driver's objects are valid in every
context of the group. When another context makes a call, it takes the pipe, marks all its state
dirty and binds it again; a context that does not share has none of these costs. The group records
which state objects and shaders are bound in the pipe, because the pipe belongs to it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.pipe.interface import Context as PipeContext
from gallette.pipe.interface import Handle, Screen
from gallette.pipe.state import FramebufferState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.validate import StateCache
from gallette.state_tracker.entry_points.share_group_lock import wait_for_calls
from gallette.state_tracker.objects import NameTable
from gallette.state_tracker.sync import SyncState
from gallette.state_tracker.texturing.handles import HandleTable

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


class Caches:
    """The driver's state objects, one cache per kind."""

    def __init__(self, pipe: PipeContext):
        def nothing(handle: Handle) -> None:
            pass

        self.full: list[StateCache] = []
        """Caches that exceed their limit."""
        self.blend = StateCache(
            pipe.create_blend_state, pipe.bind_blend_state, pipe.delete_blend_state, self.full
        )
        self.rasterizer = StateCache(
            pipe.create_rasterizer_state,
            pipe.bind_rasterizer_state,
            pipe.delete_rasterizer_state,
            self.full,
        )
        self.depth_stencil = StateCache(
            pipe.create_depth_stencil_alpha_state,
            pipe.bind_depth_stencil_alpha_state,
            pipe.delete_depth_stencil_alpha_state,
            self.full,
        )
        self.sampler = StateCache(
            pipe.create_sampler_state, nothing, pipe.delete_sampler_state, self.full
        )
        self.vertex_elements = StateCache(
            pipe.create_vertex_elements_state,
            nothing,
            pipe.delete_vertex_elements_state,
            self.full,
        )
        self.all = (
            self.blend,
            self.rasterizer,
            self.depth_stencil,
            self.sampler,
            self.vertex_elements,
        )

    def clear(self) -> None:
        for cache in self.all:
            cache.clear()
        self.full.clear()


class ShareGroup:
    """The pipe, the shared names, and the contexts that use them."""

    def __init__(self, screen: Screen):
        self.screen, self.caps = screen, screen.caps
        self.pipe = screen.context_create()
        self.pipe.set_failure_callback(self._work_failed)
        self.caches = Caches(self.pipe)
        self.bound_shaders: dict[Stage, Handle] = {}
        self.contexts: list[Context] = []
        self.owner: Context | None = None
        self.lock = threading.RLock()
        self.names: dict[str, NameTable[Any]] = {}
        self.syncs = SyncState()
        self.handles = HandleTable()
        self.named_strings: dict[str, str] = {}  # what shaders include, by absolute path
        self.mapped = 0  # the number of buffers that are mapped now, and not to last
        self.constants_bound = 0  # one more than the highest constant buffer ever bound
        self.epoch = 0  # incremented whenever a buffer gets other storage, or another kind of it
        self.images = 0  # incremented when an image that may be attached gets other storage

    def _work_failed(self, error: Exception) -> None:
        """Handle a failure of pending draws: they belong to the context that has the pipe."""
        if self.owner is not None:
            self.owner.work_failed(error)

    def table(self, kind: str) -> NameTable[Any]:
        """The names of one kind of shared object."""
        return self.names.setdefault(kind, NameTable(kind))

    def join(self, context: Context) -> None:
        """Add another context, used in any thread: from now on all calls take the group's lock."""
        self.contexts.append(context)
        if self.crowded:
            first = self.contexts[0]
            self.reconsider_recording()
            first.forget_methods()  # made again, guarded
            wait_for_calls(self)
            first.forget_methods()  # again, since one may just have been made

    def leave(self, context: Context) -> bool:
        """Remove a context; true if it was the last, which ends the group."""
        self.contexts.remove(context)
        self.owner = None
        self.reconsider_recording()
        return not self.contexts

    def reconsider_recording(self) -> None:
        """Re-evaluate, in each context, whether calls may be recorded."""
        for context in self.contexts:
            context.reconsider_recording()

    def end(self) -> None:
        """Delete the remaining named objects, then the pipe, after the last context."""
        from gallette.state_tracker.shading.programs import ProgramObject, ShaderObject

        for item in list(self.table("shader or program").values()):
            if isinstance(item, ProgramObject):
                item.destroy()
        for item in self.table("shader or program").values():
            if isinstance(item, ShaderObject):
                item.drop()
        used = ("renderbuffer", "texture", "buffer", "sampler")  # by other objects: the last to go
        others = [kind for kind in self.names if kind not in ("shader or program", *used)]
        for kind in (*others, *used):
            self.table(kind).clear()
        self.caches.clear()
        # Only its creator still refers to the driver's context: its memory is freed at once.
        self.pipe.set_failure_callback(None)
        self.pipe.destroy()

    @property
    def crowded(self) -> bool:
        """Whether a call must check that the pipe belongs to its context."""
        return len(self.contexts) > 1

    def trim(self) -> None:
        """Delete all state objects if there are too many, before state is bound."""
        none = [None] * max(
            self.screen.caps.max_samplers, FIRST_HANDLE + self.handles.texture_places.count
        )
        for stage in Stage:
            if stage.value in self.screen.caps.stages:
                self.pipe.bind_sampler_states(stage, 0, none)
        self.pipe.bind_vertex_elements_state(None)
        for context in self.contexts:
            context.vertex_input.unbind()
        self.caches.clear()
        self.epoch += 1  # layouts of vertex arrays hold vertex elements
        self.mark(Dirty.ALL)

    def mark(self, flags: int) -> None:
        """Mark state dirty in every context, because a shared object changed."""
        if flags & Dirty.FRAMEBUFFER:
            self.images += 1
        for context in self.contexts:
            context.dirty |= flags
            context.stream.outdate()

    def take(self, context: Context) -> None:
        """Give the pipe to a context; none of its state is bound yet."""
        if self.owner is context:
            return
        if self.owner is not None:
            self.owner.suspend()
            self.pipe.flush()
        # Also if the previous context has left: its bindings went with it.
        self.owner = context
        context.pipe_framebuffer = FramebufferState()
        self.pipe.set_framebuffer_state(context.pipe_framebuffer)
        context.vertex_input.unbind()
        context.dirty |= Dirty.ALL
        context.resume()

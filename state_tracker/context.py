"""gallette's OpenGL context: state by topic, entry points from the table, a pipe driver.

The context itself is small. Each topic has a state class and a module of entry points (see
`ENTRY_MODULES`); the method of a GL function is made from the table when it is first used. A draw
call passes through `draw`, which checks the arguments, `validate`, which turns dirty GL state into
pipe state, and `vertex_input`, which derives vertex elements and buffers; the pipe context receives
one `DrawInfo`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, get_type_hints
from weakref import WeakSet, ref

from gallette.compiler import debug as debug_flags
from gallette.compiler.errors import (
    GalletteError,
    MisuseError,
    ReleasedError,
    ResetError,
    print_message,
)
from gallette.compiler.nir.ir import Stage
from gallette.pipe.caps import Caps
from gallette.pipe.interface import Context as PipeContext
from gallette.pipe.interface import Screen
from gallette.pipe.loader import create_screen
from gallette.pipe.resource import LeakError
from gallette.pipe.state import DepthStencilAlphaState, FramebufferState, RasterizerState
from gallette.state_tracker.debug_output import DebugState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.fragment_ops import FragmentState
from gallette.state_tracker.drawing.lowering import lowers_anything
from gallette.state_tracker.drawing.rasterization import RasterState
from gallette.state_tracker.entry_points import abi
from gallette.state_tracker.entry_points.current import (
    current_context,
    forget_context,
    set_current,
)
from gallette.state_tracker.entry_points.dispatch import bind_method
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError, invalid_operation
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function
from gallette.state_tracker.entry_points.interface import GLInterface
from gallette.state_tracker.entry_points.registry import implementation, restriction
from gallette.state_tracker.entry_points.share_group_lock import guarded
from gallette.state_tracker.entry_points.supported_functions import answers
from gallette.state_tracker.entry_points.watchers import READERS, watcher
from gallette.state_tracker.limits import Limits
from gallette.state_tracker.objects import NameTable
from gallette.state_tracker.pixel_data.pixels import PackState
from gallette.state_tracker.queries import QueryState
from gallette.state_tracker.shading.compiler_preload import load_compiler
from gallette.state_tracker.shading.feedback import FeedbackState
from gallette.state_tracker.shading.pipelines import PipelineState
from gallette.state_tracker.shading.programs import ProgramState
from gallette.state_tracker.shading.subroutines import SubroutineChoices
from gallette.state_tracker.share import Caches, ShareGroup
from gallette.state_tracker.stream import ring
from gallette.state_tracker.stream.stream import Stream
from gallette.state_tracker.sync import SyncState
from gallette.state_tracker.targets.flipping import flipping, touches
from gallette.state_tracker.targets.framebuffers import FramebufferBindings
from gallette.state_tracker.targets.renderbuffers import RenderbufferState
from gallette.state_tracker.targets.window import Drawable
from gallette.state_tracker.texturing.external_images import Source
from gallette.state_tracker.texturing.images import ImageUnit
from gallette.state_tracker.texturing.texture_objects import SamplerObject
from gallette.state_tracker.texturing.units import TextureState
from gallette.state_tracker.topics import TOPICS
from gallette.state_tracker.vertices.buffers import BufferState
from gallette.state_tracker.vertices.vertex_arrays import ArrayState
from gallette.state_tracker.vertices.vertex_input import VertexInput
from gallette.state_tracker.without_compatibility import Lists, Primitives, Rendering

if TYPE_CHECKING:
    from gallette.state_tracker.optional.compatibility.attrib_stack import AttribStack
    from gallette.state_tracker.optional.compatibility.color_index import IndexState
    from gallette.state_tracker.optional.compatibility.display_lists import ListState, Recorder
    from gallette.state_tracker.optional.compatibility.fixed_function import FixedFunction
    from gallette.state_tracker.optional.compatibility.immediate import ImmediateState
    from gallette.state_tracker.optional.compatibility.lighting import LightingState
    from gallette.state_tracker.optional.compatibility.matrices import MatrixState
    from gallette.state_tracker.optional.compatibility.pixel_ops.pixel_rectangles import PixelDrawer
    from gallette.state_tracker.optional.compatibility.pixel_ops.pixel_transfer import PixelTransfer
    from gallette.state_tracker.optional.compatibility.pixel_ops.raster_position import (
        RasterPosition,
    )
    from gallette.state_tracker.optional.compatibility.pixel_ops.render_mode import RenderMode

# Modules imported only for the entry points they register.
ENTRY_MODULES = (
    "vertices.buffer_objects",
    "texturing.clear_textures",
    "targets.clears",
    "texturing.compressed_images",
    "drawing.compute",
    "drawing.indirect",
    "texturing.external_images",
    "pixel_data.copies",
    "vertices.current_attribs",
    "enables",
    "setters",
    "targets.framebuffer_objects",
    "targets.framebuffer_parameters",
    "targets.sample_locations",
    "texturing.format_queries",
    "shading.interface_queries",
    "shading.named_strings",
    "small_extensions",
    "limit_queries",
    "texturing.mipmaps",
    "multi_bind",
    "pixel_data.pixel_store",
    "shading.program_binaries",
    "shading.program_objects",
    "shading.program_queries",
    "shading.spirv",
    "pixel_data.readback",
    "strings",
    "texturing.teximage",
    "texturing.texture_buffers",
    "pixel_data.texture_readback",
    "texturing.storage",
    "texturing.texture_views",
    "shading.uniforms",
)
for _module in ENTRY_MODULES:
    importlib.import_module(f"gallette.state_tracker.{_module}")

_KEPT = ("released", "driver", "profile", "requested_version", "_replaced")
"""Attributes that remain readable after a context is released."""

_LIVE: WeakSet[Context] = WeakSet()


def live_contexts() -> list[Context]:
    """Contexts that have not been released: for leak checks."""
    return list(_LIVE)


class Topics:
    """The objects of a context, one per topic: created in this order, before the states of optional
    topics, and released in the opposite order.
    """

    debug: DebugState
    feedback: FeedbackState
    buffers: BufferState
    arrays: ArrayState
    textures: TextureState
    renderbuffers: RenderbufferState
    framebuffers: FramebufferBindings
    fragment: FragmentState
    raster: RasterState
    programs: ProgramState
    pipelines: PipelineState
    subroutines: SubroutineChoices
    queries: QueryState
    vertex_input: VertexInput


_STATES: dict[str, Callable[[Context], Any]] = {
    "lists": Lists,
    "immediate": Primitives,
    "rendering": Rendering,
}
_STATES |= get_type_hints(Topics)
for _topic in TOPICS:
    _STATES |= _topic.load()


class Context(Topics, GLInterface):
    """An OpenGL context on a pipe driver."""

    is_compat: bool
    is_core: bool
    is_es: bool
    debug_context: bool
    strict: bool
    screen: Screen
    caps: Caps
    pipe: PipeContext
    limits: Limits
    error: int
    dirty: int
    caches: Caches
    group: ShareGroup
    stream: Stream
    samplers: NameTable[SamplerObject]
    images: list[ImageUnit]
    syncs: SyncState

    # States of the topic `compatibility`; `without_compatibility` replaces the first three.
    lists: ListState
    immediate: ImmediateState
    rendering: RenderMode
    attrib_stack: AttribStack
    color_index: IndexState
    fixed_function: FixedFunction
    lighting: LightingState
    matrices: MatrixState
    pixel_drawer: PixelDrawer
    raster_position: RasterPosition
    transfer: PixelTransfer

    def __init__(
        self,
        driver: str = "numpipe",
        *,
        profile: str = "core",
        version: tuple[int, int] = (3, 3),
        debug: bool = False,
        size: tuple[int, int] | None = None,
        samples: int = 0,
        strict: bool = False,
        share: Context | None = None,
        screen: Screen | None = None,
        **options: Any,
    ):
        """`share`: a context to share objects with; `screen`: the screen to create the
        context on.
        """
        if profile not in ("core", "compat", "es"):
            raise GalletteError(f"unknown profile {profile!r} (core, compat or es)")
        if profile == "es" and version < (2, 0):
            profile = "es1"  # fixed function: a reduced compatibility profile
            if restriction(profile) is None:
                raise GalletteError("OpenGL ES 1.1 was left out of this gallette")
        if profile == "compat" and "fixed_function" not in _STATES:
            raise GalletteError("the compatibility profile was left out of this gallette")
        self.profile, self.requested_version = profile, version
        self.profiles = ("es1", "compat", "es") if profile == "es1" else (profile,)
        self.driver = driver
        self._flips = False
        self._print_calls = debug_flags.is_set("gl:calls")
        self._print_errors = debug_flags.is_set("gl:errors")
        self._owns_screen = screen is None and share is None
        if share is not None:
            screen = share.screen
        self.screen = screen if screen is not None else create_screen(driver, **options)
        self.caps = self.screen.caps
        self.lowers = lowers_anything(self.caps)
        self.blends_advanced = False
        self.full_rasterizer, self.full_depth_stencil = RasterizerState(), DepthStencilAlphaState()
        self.drawing_points = self.passes_edge_flags = False
        self.limits = Limits(self.caps, profile)
        if version > self.limits.version:
            best = f"{self.limits.version[0]}.{self.limits.version[1]}"
            raise GalletteError(
                f"driver {driver!r} offers OpenGL {best}, not {version[0]}.{version[1]}"
            )
        self.is_compat, self.is_core = profile in ("compat", "es1"), profile == "core"
        self.is_es = profile.startswith("es")
        self.debug_context = debug
        self.strict = strict
        self.find_image: Callable[[int], Source | None] | None = None  # EGL images, by handle
        self.look_at_window: Callable[[], None] | None = None  # may bind images of another size
        self.show_front: Callable[[], None] | None = None  # what was drawn to it is flushed
        self.robust = self.no_error = self.forward_compatible = False
        self.loses_context_on_reset = False
        self.error = GL.NO_ERROR
        self.dirty = Dirty.ALL
        self.released = False
        self.lost = ""  # the reason, once the driver gave up on its work
        self.group = share.group if share is not None else ShareGroup(self.screen)
        self.pipe, self.caches = self.group.pipe, self.group.caches
        self.stream = Stream(self)
        self.bound_shaders = self.group.bound_shaders
        self.calls = abi.CallTable(self)
        self._watcher = watcher()
        self._seen_window = size is not None
        self._entered: list[Context | None] = []
        self._made: dict[str, Callable[..., Any]] = {}
        self._set_aside: dict[str, Callable[..., Any]] = {}
        self._unrecorded: dict[str, Callable[..., Any]] = {}
        self.pipe_framebuffer = FramebufferState()
        self.hints: dict[int, int] = {}
        self.pack, self.unpack = PackState(), PackState()
        self.first_size, self.first_samples = size, samples
        self.samplers, self.syncs = self.group.table("sampler"), self.group.syncs
        image_format = GL.R32UI if self.is_es else GL.R8  # tables 21.30 of ES, 23.45 of GL
        self.images = [ImageUnit(image_format) for _ in range(self.caps.max_shader_images)]
        for name, make in _STATES.items():
            self.__dict__[name] = make(self)
        self.group.join(self)
        if self._watcher is not None:
            self._watcher.born(self, share)
        _LIVE.add(self)
        replaced = current_context()
        self._replaced = ref(replaced) if replaced is not None else None
        self.make_current()
        if self.screen.loads_early:
            load_compiler()

    # -- entry points ----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if self.__dict__.get("released") and not name.startswith("__"):
            raise ReleasedError(f"a context was released: nothing is left that has {name!r}")
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            function = FUNCTIONS.method(name)
        except KeyError:
            raise AttributeError(f"OpenGL has no function for {name!r}") from None
        method = self.unrecorded(function)
        if self.lists.recorder is not None:
            method = self.lists.recorder.wrap(function, method)
        if self._watcher is not None:
            method = self._watcher.wrap(self, function, method)
        if self.group.crowded:
            method = guarded(self, method)
        self.__dict__[name] = self._made[name] = method
        return method

    def unrecorded(self, function: Function) -> Callable[..., Any]:
        """The executing method, also while a display list is compiled; used for list playback."""
        method = self._unrecorded.get(function.name)
        if method is not None:
            return method
        found = implementation(function) if self.has_function(function) else None
        method = bind_method(self, function, found or _unavailable(function))
        restrict = restriction(self.profile)
        if restrict is not None and found is not None:
            method = restrict(self, function, method)
        if self._flips and touches(function):
            method = flipping(self, function, method)
        if self._print_calls:
            method = _printing(function, method)
        self._unrecorded[function.name] = method
        return method

    def forget_methods(self) -> None:
        """Drop the cached methods, because another context joined the share group."""
        self._set_aside = {}
        self._forget_methods()

    def _forget_methods(self) -> None:
        made, self._made = self._made, {}
        for name in list(made):
            self.__dict__.pop(name, None)
        self.calls.clear()

    def flip_framebuffers(self) -> None:
        """Update derived state, because framebuffers are upside down from now on."""
        if not self._flips:
            self._flips = True
            self._unrecorded.clear()
            self._forget_methods()

    def start_recording(self, recorder: Recorder) -> None:
        """Start compiling a display list: methods made from now on record calls."""
        self._set_aside = self._made
        self._forget_methods()
        self.lists.recorder = recorder

    def stop_recording(self) -> None:
        """Stop compiling a display list: methods execute again."""
        self._forget_methods()
        self._made, self._set_aside = self._set_aside, {}
        self.__dict__.update(self._made)
        self.lists.recorder = None

    def has_function(self, function: Function) -> bool:
        """Whether the function is implemented and part of this context."""
        return implementation(function) is not None and answers(
            function, self.profile, self._listed
        )

    def leaves_out(self, function: Function) -> bool:
        """Whether nothing implements the function, because its topic was left out."""
        return implementation(function) is None

    @cached_property
    def _listed(self) -> frozenset[str]:
        return frozenset(self.limits.extensions)

    def load_opengl_function(self, name: str) -> int:
        function = abi.known(name)
        return abi.address(name) if function is not None and self.has_function(function) else 0

    def reconsider_recording(self) -> None:
        """Re-evaluate whether calls may be recorded into the command stream."""
        if current_context() is self:
            ring.own(self.stream)
        elif not self.stream.may_record():
            ring.drop(self.stream)

    @property
    def observed(self) -> bool:
        """Whether an observer needs each call at the time it is made."""
        return self._print_calls or self._watcher is not None

    def record_error(self, error: GLError, function: Function) -> None:
        """Record an error: the first stays until glGetError reads it; debug output reports all."""
        self._record(error, function.c_name)

    def work_failed(self, error: Exception, function: Function | None = None) -> None:
        """Handle a failure of the driver to do a call's work, or that of pending draws.

        A context whose work exceeded its limits is lost: all following draws are errors.
        """
        where = function.c_name if function is not None else "an earlier draw"
        code = GL.OUT_OF_MEMORY if isinstance(error, MemoryError) else GL.INVALID_OPERATION
        if isinstance(error, ResetError):
            code = GL.CONTEXT_LOST
            if not self.lost:
                print_message(f"gallette: {where}: {error}")
            self.lost = self.lost or str(error)
        self._record(GLError(code, str(error)), where)

    def _record(self, error: GLError, where: str) -> None:
        if self.no_error and error.code not in (GL.OUT_OF_MEMORY, GL.CONTEXT_LOST):
            return  # KHR_no_error: calls that are errors elsewhere are undefined, here ignored
        if self.error == GL.NO_ERROR:
            self.error = error.code
        name = GL.name_of(error.code, "error")
        text = f"{name} in {where}: {error}"
        self.debug.error(error.code, text)
        if self._print_errors:
            print_message(text)
        if self.strict:
            raise MisuseError(text) from error

    # -- services for the topics -------------------------------------------------------------------

    def can_draw(self) -> bool:
        """Whether there is a program to draw with. Core profiles draw nothing without one."""
        programs = self.programs
        return self.is_compat or programs.executable is not None or self._pipeline_draws()

    def _pipeline_draws(self) -> bool:
        pipeline = self.pipelines.current
        return pipeline is not None and bool(pipeline.programs)

    @property
    def glsl_api(self) -> str:
        """The name of this profile in GLSL's API names (they are equal)."""
        return self.profiles[-1]

    # -- lifetime ----------------------------------------------------------------------------------

    def make_current(self) -> None:
        """Make this the current context of the calling thread, for calls through C pointers.

        Python's methods belong to a context and do not need a current one.
        """
        set_current(self)
        with self.group.lock:
            self.group.take(self)

    @contextmanager
    def using_pipe(self) -> Iterator[None]:
        """Give the pipe to this context for the duration, in a share group of several contexts."""
        if ring.words[ring.PENDING]:
            ring.flush(self.stream)
        with self.group.lock:
            self.group.take(self)
            self.immediate.draw_pending()
            yield

    def suspend(self) -> None:
        """Give up the pipe to another context of the group: suspends operations that span calls."""
        self.immediate.draw_pending()
        self.queries.suspend(self.pipe)
        if self.feedback.current.running:
            self.pipe.set_stream_output_targets([])

    def resume(self) -> None:
        """Take the pipe again, and resume the suspended operations."""
        self.queries.resume(self.pipe)
        feedback = self.feedback.current
        if feedback.running:
            self.pipe.set_stream_output_targets(feedback.targets, append=True)

    def bind_drawables(self, draw: Drawable | None, read: Drawable | None) -> None:
        """Use these windows' images as the default framebuffers.

        The first time, viewport and scissor are set to the window's size, as the specification
        requires.
        """
        self.framebuffers.show(draw, read)
        if self._watcher is not None:
            self._watcher.window(self, draw, read)
        if draw is not None and not self._seen_window:
            self._seen_window = True
            self.raster.cover(*draw.size)
            self.dirty |= Dirty.VIEWPORT | Dirty.SCISSOR

    def __enter__(self) -> Self:
        self._entered.append(current_context())
        self.make_current()
        return self

    def __exit__(self, *error: object) -> None:
        before = self._entered.pop() if self._entered else None
        if before is not None and not before.released:
            before.make_current()

    def release(self) -> None:
        """Destroy every object of the context, then the driver's context.

        If it was the thread's current context, the context that it replaced when it was made
        becomes current again: a program that temporarily creates a second context continues with
        its first. Raises `LeakError` if shaders or resources are still alive afterwards.
        """
        if self.released:
            return
        ring.drop(self.stream)
        before = self._living_before() if current_context() is self else None
        screen = self.screen if self._owns_screen else None
        try:
            with self.group.lock:
                last = self._release()
        finally:
            self._forget_everything()
        if before is not None:
            before.make_current()
        if last and screen is not None:
            _end_screen(screen)

    def _forget_everything(self) -> None:
        """Drop all state, because the application may keep a reference to the context until the
        process ends.

        moderngl does so in a process that drew anything.
        """
        kept = {name: self.__dict__[name] for name in _KEPT}
        self.__dict__.clear()
        self.__dict__.update(kept)

    def _release(self) -> bool:
        """Destroy everything; returns whether it was the last context of its group."""
        for other in list(_LIVE):  # those replaced the one before this
            if other._replaced is not None and other._replaced() is self:
                other._replaced = self._replaced
        drawing = self.group.owner
        self.group.take(self)
        if self._watcher is not None:
            self._watcher.died(self)
        try:
            for reader in READERS:  # they may read its last picture
                reader.died(self)
        finally:
            self.released = True
        _LIVE.discard(self)
        forget_context(self)
        pipe = self.pipe
        self.programs.use(None)
        self.bound_shaders.clear()
        stages = [s for s in Stage if s.value in self.caps.stages]
        for stage in stages:
            pipe.bind_shader_state(stage, None)  # whichever context bound it
            nothing = [None] * self.caps.max_samplers
            pipe.set_sampler_views(stage, 0, nothing)
            pipe.bind_sampler_states(stage, 0, nothing)
            for index in range(self.group.constants_bound):
                pipe.set_constant_buffer(stage, index)
        self.suspend()
        pipe.set_framebuffer_state(FramebufferState())
        self.vertex_input.release()
        last = self.group.leave(self)
        for name in reversed(_STATES):
            end = getattr(self.__dict__[name], "release_all", None)
            if end is not None:
                end()
        for image in self.images:
            image.clear()
        if last:
            self.group.end()
        elif drawing is not None and drawing is not self:
            self.group.take(drawing)
        return last

    def _living_before(self) -> Context | None:
        """The most recent living context that was current before this one."""
        return self._replaced() if self._replaced is not None else None


def _end_screen(screen: Screen) -> None:
    live = screen.resources.live
    screen.destroy()
    if live:
        names = ", ".join(repr(r) for r in live[:8])
        raise LeakError(f"{len(live)} resources outlive their context: {names}")


def _printing(function: Function, method: Any) -> Any:
    """`GALLETTE_DEBUG=gl:calls`: print every call with its result on a line of stderr."""

    draws = "Draw" in function.name or function.name == "Begin"

    def call(*args: Any) -> Any:
        shown = []
        for param, value in zip(function.params, args, strict=False):
            text = value
            if param.type == "enum" and isinstance(value, int):
                text = GL.name_of(value, "primitive" if draws and param.name == "mode" else None)
            shown.append(f"{param.name}={text if isinstance(text, str) else repr(text)[:60]}")
        result = method(*args)
        end = "" if result is None else f" -> {repr(result)[:60]}"
        print_message(f"{function.c_name}({', '.join(shown)}){end}")
        return result

    return call


def _unavailable(function: Function) -> Any:
    def call(ctx: Context, *args: Any) -> Any:
        raise invalid_operation(f"{function.c_name} is not available in this context")

    call.stores_itself = True  # type: ignore[attr-defined]  # nothing is read first
    return call

"""The contract between the state tracker and a driver: `Screen` and `Context`.

A *screen* is a device: it reports capabilities and creates resources that all of its contexts
share. A *context* is a command stream: state is created once as an immutable object, bound often,
and drawn with. The rules for every driver:

* **State objects.** `create_X_state` takes a frozen dataclass and returns an opaque handle;
  `bind_X_state` takes a handle or None; `delete_X_state` deletes it (never while bound).
* **Shaders.** `create_shader_state` takes over *one reference* to a NIR shader, even if it raises;
  the driver may then modify the shader only through `mutable(shader)`.
* **Order.** Calls take effect as if executed in order; a driver may defer work as long as that
  cannot be observed. `transfer_map`, `get_query_result` and `flush` make earlier work visible.
* **Coordinates.** Row 0 of a resource is y = 0. GL's lower left corner is row 0, so nothing flips.
* **Bounds.** Reads outside a resource return zero, writes outside are dropped. A driver never
  trusts an index from a shader or a buffer.
* **Errors.** A driver raises `GalletteError` for what it cannot do; arguments that the caps forbid
  are the caller's bug. `OutOfMemoryError` leaves everything as it was, `ResetError` means that the
  context's work is unreliable from then on. An error in *deferred* work is not the fault of the
  call that executes it: that call takes effect, and the error goes to the callback of
  `set_failure_callback` or, without one, is raised by the next draw, read or `flush`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .caps import Caps
from .draw_series import Series
from .enums import Bind, ClearFlags, MapFlags, QueryType, Target
from .formats import Format
from .resource import Resource, ResourceDesc, ResourceLedger, Transfer
from .state import (
    BlendState,
    BlitInfo,
    Box,
    ComputeInfo,
    DepthStencilAlphaState,
    DrawInfo,
    FramebufferState,
    ImageView,
    RasterizerState,
    SamplerState,
    SamplerView,
    ScissorState,
    ShaderBuffer,
    StreamOutputInfo,
    StreamOutputTarget,
    Surface,
    VertexBuffer,
    VertexElement,
    ViewportState,
)
from .variant_log import VariantLog

if TYPE_CHECKING:
    from gallette.compiler.nir.ir import Shader
    from gallette.compiler.nir.ir.modes import Stage

Handle = Any  # a driver's object for a state handle
Color = tuple[float, float, float, float] | tuple[int, int, int, int]
ColorMask = tuple[bool, bool, bool, bool]
EVERY_CHANNEL: ColorMask = (True, True, True, True)


class Fence(ABC):
    """A fence, which is signalled when all earlier work has been executed."""

    @abstractmethod
    def wait(self, timeout_ns: int) -> bool:
        """Wait for the signal; returns False if the timeout passed first."""


class Screen(ABC):
    """A device."""

    name: str
    caps: Caps
    resources: ResourceLedger
    loads_early: bool = False  # load what the first draw needs when a context is created

    @abstractmethod
    def describe(self) -> str:
        """One line for GL_RENDERER."""

    @abstractmethod
    def is_format_supported(self, format: Format, target: Target, samples: int, bind: Bind) -> bool:
        """Whether a resource of this format can be bound in all the ways that `bind` names."""

    @abstractmethod
    def context_create(self) -> Context:
        """Create a context."""

    @abstractmethod
    def resource_create(self, desc: ResourceDesc) -> Resource:
        """Create a resource with one reference and zeroed contents."""

    def check_work(self, vertices: int) -> None:
        """Raise the error of a draw with so many vertices, before any of them is copied."""
        return  # no limit by default

    @abstractmethod
    def get_timestamp(self) -> int:
        """Nanoseconds on the device's clock."""

    @abstractmethod
    def destroy(self) -> None:
        """Release everything the screen owns."""


class Context(ABC):
    """A command stream; see the module's docstring for the rules."""

    screen: Screen
    variant_log: VariantLog

    # -- state objects -------------------------------------------------------------------------

    @abstractmethod
    def create_blend_state(self, state: BlendState) -> Handle: ...
    @abstractmethod
    def bind_blend_state(self, handle: Handle) -> None: ...
    @abstractmethod
    def delete_blend_state(self, handle: Handle) -> None: ...

    @abstractmethod
    def create_rasterizer_state(self, state: RasterizerState) -> Handle: ...
    @abstractmethod
    def bind_rasterizer_state(self, handle: Handle) -> None: ...
    @abstractmethod
    def delete_rasterizer_state(self, handle: Handle) -> None: ...

    @abstractmethod
    def create_depth_stencil_alpha_state(self, state: DepthStencilAlphaState) -> Handle: ...
    @abstractmethod
    def bind_depth_stencil_alpha_state(self, handle: Handle) -> None: ...
    @abstractmethod
    def delete_depth_stencil_alpha_state(self, handle: Handle) -> None: ...

    @abstractmethod
    def create_sampler_state(self, state: SamplerState) -> Handle: ...
    @abstractmethod
    def bind_sampler_states(self, stage: Stage, start: int, handles: Sequence[Handle]) -> None: ...
    @abstractmethod
    def delete_sampler_state(self, handle: Handle) -> None: ...

    @abstractmethod
    def create_vertex_elements_state(self, elements: tuple[VertexElement, ...]) -> Handle: ...
    @abstractmethod
    def bind_vertex_elements_state(self, handle: Handle) -> None: ...
    @abstractmethod
    def delete_vertex_elements_state(self, handle: Handle) -> None: ...

    @abstractmethod
    def create_shader_state(
        self, stage: Stage, shader: Shader, stream_output: StreamOutputInfo | None = None
    ) -> Handle:
        """Take over one reference to `shader`, and run the lowering that is independent of keys."""

    @abstractmethod
    def bind_shader_state(self, stage: Stage, handle: Handle) -> None: ...
    @abstractmethod
    def delete_shader_state(self, handle: Handle) -> None:
        """Release the driver's references to the shader and all of its variants."""

    # -- parameters ----------------------------------------------------------------------------

    @abstractmethod
    def set_framebuffer_state(self, state: FramebufferState) -> None: ...
    @abstractmethod
    def set_viewport_states(self, start: int, states: Sequence[ViewportState]) -> None: ...
    @abstractmethod
    def set_scissor_states(self, start: int, states: Sequence[ScissorState]) -> None: ...
    @abstractmethod
    def set_blend_color(self, color: tuple[float, float, float, float]) -> None: ...
    @abstractmethod
    def set_stencil_ref(self, front: int, back: int) -> None: ...
    @abstractmethod
    def set_sample_mask(self, mask: int) -> None: ...
    @abstractmethod
    def set_min_samples(self, samples: int) -> None:
        """Set sample shading: at least this many fragment invocations per pixel."""

    @abstractmethod
    def set_sample_locations(self, locations: Sequence[tuple[float, float]]) -> None:
        """Set the positions of the samples in every pixel, 0..1; an empty list selects those in the
        caps.
        """

    @abstractmethod
    def set_clip_planes(self, planes: Sequence[tuple[float, float, float, float]]) -> None:
        """Set user clip planes in clip coordinates, for `load_user_clip_plane`."""

    @abstractmethod
    def set_polygon_stipple(self, pattern: tuple[int, ...]) -> None:
        """Set the polygon stipple: 32 rows of 32 bits, row 0 lowest, bit 31 leftmost."""

    @abstractmethod
    def set_constant_buffer(
        self,
        stage: Stage,
        index: int,
        data: bytes | bytearray | memoryview | npt.NDArray[np.uint8] | None = None,
        buffer: Resource | None = None,
        offset: int = 0,
        size: int = 0,
    ) -> None:
        """Bind block `index` of a stage: either bytes (copied by the call) or a buffer range."""

    @abstractmethod
    def set_sampler_views(
        self, stage: Stage, start: int, views: Sequence[SamplerView | None]
    ) -> None: ...
    @abstractmethod
    def set_shader_images(
        self, stage: Stage, start: int, images: Sequence[ImageView | None]
    ) -> None: ...
    @abstractmethod
    def set_shader_buffers(
        self, stage: Stage, start: int, buffers: Sequence[ShaderBuffer | None]
    ) -> None:
        """Bind storage blocks by their index in the NIR, and in slot `max_shader_buffers + n` the
        atomic counter buffer of binding n.
        """

    @abstractmethod
    def set_vertex_buffers(self, buffers: Sequence[VertexBuffer | None]) -> None: ...
    @abstractmethod
    def set_stream_output_targets(
        self, targets: Sequence[StreamOutputTarget | None], append: bool = False
    ) -> None:
        """Capture into these targets; unless `append`, from the beginning of each."""

    # -- work ----------------------------------------------------------------------------------

    @abstractmethod
    def draw_vbo(self, info: DrawInfo) -> None: ...
    def prepared_draw(self, info: DrawInfo) -> Any:
        """A token for the draw that was made last with this call, by which a series repeats it;
        None if the driver cannot.
        """
        return None

    def prepared_call(self, token: Any, info: DrawInfo) -> Any:
        """A token for another call in the state of a prepared draw; None if the driver cannot."""
        return None

    def draw_series(self, series: Series) -> int:
        """Execute a series: prepared draws, which do not depend on the bound state, and the writes,
        clears and queries between them.

        Returns how many entries were executed. The caller makes the next entry by the other
        methods."""
        return 0

    @abstractmethod
    def launch_grid(self, info: ComputeInfo) -> None: ...
    @abstractmethod
    def clear(
        self,
        flags: ClearFlags,
        color: Color,
        depth: float,
        stencil: int,
        scissor: ScissorState | None = None,
        color_mask: ColorMask = EVERY_CHANNEL,
        stencil_mask: int = 0xFF,
    ) -> None:
        """Clear attachments of the bound framebuffer: every sample of every layer.

        No bound state but the render condition applies; masks are arguments.
        """

    @abstractmethod
    def clear_render_target(self, surface: Surface, color: Color, rect: ScissorState) -> None: ...
    @abstractmethod
    def clear_depth_stencil(
        self,
        surface: Surface,
        flags: ClearFlags,
        depth: float,
        stencil: int,
        rect: ScissorState,
        stencil_writemask: int = 0xFF,
    ) -> None: ...
    @abstractmethod
    def blit(self, info: BlitInfo) -> None: ...
    @abstractmethod
    def resource_copy_region(
        self,
        dst: Resource,
        dst_level: int,
        dst_x: int,
        dst_y: int,
        dst_z: int,
        src: Resource,
        src_level: int,
        src_box: Box,
    ) -> None:
        """Copy bits between resources with equal block sizes."""

    @abstractmethod
    def invalidate_resource(self, resource: Resource) -> None:
        """The application no longer needs a resource's contents, so a driver need not keep them."""

    @abstractmethod
    def generate_mipmap(
        self,
        resource: Resource,
        format: Format,
        base_level: int,
        last_level: int,
        first_layer: int,
        last_layer: int,
    ) -> None:
        """Fill levels base+1..last from the base level with a box filter."""

    # -- transfers -----------------------------------------------------------------------------

    @abstractmethod
    def transfer_map(
        self, resource: Resource, level: int, flags: MapFlags, box: Box
    ) -> Transfer: ...
    @abstractmethod
    def transfer_unmap(self, transfer: Transfer) -> None: ...

    def buffer_subdata(
        self, resource: Resource, offset: int, data: bytes | memoryview | npt.NDArray[np.uint8]
    ) -> None:
        """Write bytes into a buffer."""
        source = np.frombuffer(data, np.uint8)
        if source.size:
            transfer = self.transfer_map(
                resource, 0, MapFlags.WRITE | MapFlags.DISCARD_RANGE, Box(offset, width=source.size)
            )
            transfer.data[0, 0, :] = source
            self.transfer_unmap(transfer)

    def buffer_read(self, resource: Resource, offset: int, size: int) -> bytes:
        """Read bytes from a buffer."""
        if size <= 0:
            return b""
        transfer = self.transfer_map(resource, 0, MapFlags.READ, Box(offset, width=size))
        data = transfer.data[0, 0, :].tobytes()
        self.transfer_unmap(transfer)
        return data

    # -- queries and synchronisation -------------------------------------------------------------

    @abstractmethod
    def create_query(self, type: QueryType, index: int = 0) -> Handle: ...
    @abstractmethod
    def begin_query(self, query: Handle) -> None: ...
    @abstractmethod
    def end_query(self, query: Handle) -> None: ...
    @abstractmethod
    def get_query_result(self, query: Handle, wait: bool) -> int | dict[str, int] | None:
        """The query's result; None if it is not available yet and `wait` is false."""

    @abstractmethod
    def destroy_query(self, query: Handle) -> None: ...
    @abstractmethod
    def render_condition(self, query: Handle | None, inverted: bool, wait: bool) -> None:
        """Draw, clear and launch only if the query's result is non-zero (zero when inverted)."""

    @abstractmethod
    def set_failure_callback(self, callback: Callable[[Exception], None] | None) -> None:
        """Set the callback for errors of deferred work (None: they are raised later)."""

    @abstractmethod
    def flush(self) -> Fence:
        """Start everything recorded so far; the fence signals when it is done."""

    @abstractmethod
    def memory_barrier(self) -> None:
        """Order shader writes before later reads."""

    @abstractmethod
    def explain(self, handle: Handle) -> dict[str, Any]:
        """How a shader was compiled: `{"name", "stage", "passes": [PassRecord], "variants":
        [...]}`.

        Each variant is `{"key": str, "reason": str, "passes": [...], "nir": str, "code": str}`.
        """

    @abstractmethod
    def destroy(self) -> None:
        """Destroy the context; raises `LeakError` naming shaders that are still alive."""

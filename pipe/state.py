"""The state that the state tracker passes to a driver, as frozen, hashable dataclasses.

Being hashable they are their own cache keys: a driver caches what it derives from them, and a
variant key is a handful of their fields. Defaults are GL's defaults.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass

from .enums import (
    BlendFactor,
    BlendFunc,
    ClearFlags,
    CompareFunc,
    CullFace,
    Filter,
    LogicOp,
    MipFilter,
    PolygonMode,
    Primitive,
    Reduction,
    StencilOp,
    Swizzle,
    Target,
    Wrap,
)
from .formats import Format

if TYPE_CHECKING:
    from .resource import Resource

_IDENTITY_SWIZZLE = (Swizzle.X, Swizzle.Y, Swizzle.Z, Swizzle.W)


@lazy_dataclass(frozen=True)
class Box:
    """A region of one mipmap level (layers and cube faces count as z); buffers use x and width."""

    x: int = 0
    y: int = 0
    z: int = 0
    width: int = 1
    height: int = 1
    depth: int = 1


@lazy_dataclass(frozen=True)
class RenderTargetBlend:
    """Blending of one colour buffer; `colormask` has bit 0 for red to bit 3 for alpha."""

    blend_enable: bool = False
    rgb_func: BlendFunc = BlendFunc.ADD
    rgb_src_factor: BlendFactor = BlendFactor.ONE
    rgb_dst_factor: BlendFactor = BlendFactor.ZERO
    alpha_func: BlendFunc = BlendFunc.ADD
    alpha_src_factor: BlendFactor = BlendFactor.ONE
    alpha_dst_factor: BlendFactor = BlendFactor.ZERO
    colormask: int = 0xF


@lazy_dataclass(frozen=True)
class BlendState:
    """Blending of all colour buffers: `rt[0]` applies to every buffer unless `independent`."""

    rt: tuple[RenderTargetBlend, ...] = (RenderTargetBlend(),)
    independent: bool = False
    logicop_enable: bool = False
    logicop: LogicOp = LogicOp.COPY
    dither: bool = False
    alpha_to_coverage: bool = False
    alpha_to_one: bool = False

    def target(self, index: int) -> RenderTargetBlend:
        """The blend state of colour buffer `index`."""
        return self.rt[index] if self.independent else self.rt[0]


@lazy_dataclass(frozen=True)
class RasterizerState:
    """State between the vertex shader and the fragment shader, except viewports."""

    flatshade: bool = False  # gl_Color and gl_SecondaryColor take the provoking vertex's value
    flatshade_first: bool = False  # the provoking vertex is the first, not the last
    even_colors: bool = False  # every vertex has the same colours, which are flat because of that
    light_twoside: bool = False
    clamp_vertex_color: bool = False
    clamp_fragment_color: bool = False
    front_ccw: bool = True  # counted with y up, as stored: row 0 of memory is y = 0
    cull_face: CullFace = CullFace.NONE
    fill_front: PolygonMode = PolygonMode.FILL
    fill_back: PolygonMode = PolygonMode.FILL
    offset_point: bool = False
    offset_line: bool = False
    offset_tri: bool = False
    offset_units: float = 0.0
    offset_scale: float = 0.0
    offset_clamp: float = 0.0
    scissor: bool = False
    poly_smooth: bool = False
    poly_stipple_enable: bool = False
    conservative: bool = False  # every pixel a primitive touches is covered
    point_smooth: bool = False
    sprite_coord_enable: int = 0  # bit i: TEXi is replaced by the point coordinate; see also PNTC
    sprite_coord_upper_left: bool = True
    point_quad_rasterization: bool = False  # point sprites: squares of exact size
    point_clip_sides: bool = True  # drop points whose centre is outside of the view
    point_size_per_vertex: bool = False
    point_size: float = 1.0
    multisample: bool = False
    line_smooth: bool = False
    line_smooth_upwards: bool = False  # as if rows were counted upwards (see `fixed.lines`)
    line_stipple_enable: bool = False
    line_stipple_factor: int = 1
    line_stipple_pattern: int = 0xFFFF
    line_width: float = 1.0
    half_pixel_center: bool = True
    bottom_edge_rule: bool = True  # a sample on a bottom edge is inside (GL); else top (D3D)
    depth_clip_near: bool = True
    depth_clip_far: bool = True
    depth_clamp: bool = False
    clip_halfz: bool = False  # clip z runs 0..w rather than -w..w
    clip_plane_enable: int = 0  # bit i: user clip plane / gl_ClipDistance[i] is enabled
    rasterizer_discard: bool = False


@lazy_dataclass(frozen=True)
class StencilState:
    """Stencil test of one face; `set_stencil_ref` sets the reference value."""

    enabled: bool = False
    func: CompareFunc = CompareFunc.ALWAYS
    fail_op: StencilOp = StencilOp.KEEP
    zfail_op: StencilOp = StencilOp.KEEP
    zpass_op: StencilOp = StencilOp.KEEP
    valuemask: int = 0xFF
    writemask: int = 0xFF


@lazy_dataclass(frozen=True)
class DepthStencilAlphaState:
    """Depth, stencil (front, back) and alpha tests; `stencil[1]` applies only when enabled."""

    depth_enabled: bool = False
    depth_writemask: bool = True
    depth_func: CompareFunc = CompareFunc.LESS
    depth_bounds_test: bool = False
    depth_bounds_min: float = 0.0
    depth_bounds_max: float = 1.0
    stencil: tuple[StencilState, StencilState] = (StencilState(), StencilState())
    alpha_enabled: bool = False
    alpha_func: CompareFunc = CompareFunc.ALWAYS
    alpha_ref_value: float = 0.0


@lazy_dataclass(frozen=True)
class SamplerState:
    """How a texture is filtered and wrapped."""

    wrap_s: Wrap = Wrap.REPEAT
    wrap_t: Wrap = Wrap.REPEAT
    wrap_r: Wrap = Wrap.REPEAT
    min_img_filter: Filter = Filter.NEAREST
    mag_img_filter: Filter = Filter.LINEAR
    min_mip_filter: MipFilter = MipFilter.LINEAR
    compare_enabled: bool = False
    compare_func: CompareFunc = CompareFunc.LEQUAL
    unnormalized_coords: bool = False
    max_anisotropy: float = 1.0
    seamless_cube_map: bool = False
    lod_bias: float = 0.0
    min_lod: float = -1000.0
    max_lod: float = 1000.0
    border_color: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    reduction: Reduction = Reduction.MEAN


@lazy_dataclass(frozen=True)
class SamplerView:
    """A texture as shaders see it: a format, a range of levels and layers, a swizzle."""

    resource: Resource
    format: Format
    target: Target
    first_level: int = 0
    last_level: int = 0
    first_layer: int = 0
    last_layer: int = 0
    swizzle: tuple[Swizzle, Swizzle, Swizzle, Swizzle] = _IDENTITY_SWIZZLE
    buffer_offset: int = 0  # buffer textures only
    buffer_size: int = 0
    sample_stencil: bool = False  # reads stencil (as uint) of a depth-stencil format


@lazy_dataclass(frozen=True)
class ImageView:
    """One level of a texture (or a buffer range) for image load, store and atomics."""

    resource: Resource
    format: Format
    level: int = 0
    first_layer: int = 0
    last_layer: int = 0
    readable: bool = True
    writable: bool = True
    buffer_offset: int = 0
    buffer_size: int = 0


@lazy_dataclass(frozen=True)
class Surface:
    """One level and a range of layers of a texture as a render target."""

    resource: Resource
    format: Format
    level: int = 0
    first_layer: int = 0
    last_layer: int = 0


@lazy_dataclass(frozen=True)
class FramebufferState:
    """Render targets; `cbufs` may have holes (None)."""

    width: int = 0
    height: int = 0
    layers: int = 1
    samples: int = 0  # 0 or 1: not multisampled; with no attachments, the default sample count
    cbufs: tuple[Surface | None, ...] = ()
    zsbuf: Surface | None = None

    @property
    def alpha_test_bits(self) -> int:
        """The precision of the alpha test: the colour as colour buffer 0 stores it in bytes, in
        other fixed-point numbers (with extra bits), or (0) as floats.
        """
        color = self.cbufs[0] if self.cbufs else None
        if color is None or not color.format.is_fixed_point:
            return 0
        return 8 if color.format.is_byte_color else 16


@lazy_dataclass(frozen=True)
class ViewportState:
    """A viewport: window = ndc * scale + translate, per axis."""

    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    translate: tuple[float, float, float] = (0.0, 0.0, 0.0)


@lazy_dataclass(frozen=True)
class ScissorState:
    """A rectangle of pixels, maximum exclusive."""

    minx: int = 0
    miny: int = 0
    maxx: int = 0
    maxy: int = 0


@lazy_dataclass(frozen=True)
class VertexElement:
    """One attribute: where in which vertex buffer, in which format, how often it advances."""

    src_offset: int
    buffer_index: int
    src_format: Format
    instance_divisor: int = 0
    dual_slot: bool = False  # a 64-bit attribute of three or four components


@lazy_dataclass(frozen=True)
class VertexBuffer:
    """A buffer range vertex elements read from; stride 0 repeats one value."""

    buffer: Resource
    offset: int = 0
    stride: int = 0


@lazy_dataclass(frozen=True)
class ShaderBuffer:
    """A range of a buffer bound for shader storage (or as an atomic counter buffer)."""

    buffer: Resource
    offset: int = 0
    size: int = 0


@lazy_dataclass(frozen=True)
class StreamOutput:
    """One captured varying: `components` values of an output slot to a buffer offset."""

    slot: int  # VaryingSlot
    start_component: int
    num_components: int
    buffer: int
    dst_offset: int  # bytes
    stream: int = 0


@lazy_dataclass(frozen=True)
class StreamOutputInfo:
    """The captured outputs of the last vertex stage, and each buffer's stride in bytes."""

    outputs: tuple[StreamOutput, ...] = ()
    strides: tuple[int, ...] = ()


@lazy_dataclass(eq=False)
class StreamOutputTarget:
    """A buffer range to capture into; the driver updates `written`, the bytes captured so far."""

    buffer: Resource
    offset: int
    size: int
    written: int = 0
    stride: int = 0  # bytes of a captured vertex, set by the driver


@lazy_dataclass(frozen=True)
class IndirectInfo:
    """Draw parameters in a buffer."""

    buffer: Resource
    offset: int = 0
    stride: int = 0
    draw_count: int = 1
    count_buffer: Resource | None = None
    count_offset: int = 0


@lazy_dataclass(frozen=True)
class DrawInfo:
    """One draw call. `index_size` 0 means not indexed; `start` counts vertices or indices."""

    mode: Primitive
    start: int = 0
    count: int = 0
    instance_count: int = 1
    start_instance: int = 0
    index_size: int = 0
    index_buffer: Resource | None = None
    index_offset: int = 0  # bytes from the buffer's beginning to index 0
    index_bias: int = 0
    primitive_restart: bool = False
    restart_index: int = 0
    vertices_per_patch: int = 3
    patch_levels: tuple[float, ...] = (1.0,) * 6  # outer, inner; without a control shader
    draw_id: int = 0
    in_list: bool = False  # a display list has compiled it: quads are cut as if it had indices
    indirect: IndirectInfo | None = None
    count_from_stream_output: StreamOutputTarget | None = field(default=None)

    def begun_at(self, start: int, instance: int | None = None) -> DrawInfo:
        """The draw with another start, and maybe another first instance: a fast copy, for series of
        thousands of draws.
        """
        made = object.__new__(DrawInfo)
        for get, set in _MEMBERS_OF_CALLS:
            set(made, get(self))
        _START(made, start)
        if instance is not None:
            _START_INSTANCE(made, instance)
        return made


_MEMBERS: dict[str, Any] = {each.name: getattr(DrawInfo, each.name) for each in fields(DrawInfo)}
_START, _START_INSTANCE = (_MEMBERS[name].__set__ for name in ("start", "start_instance"))
_MEMBERS_OF_CALLS = [(member.__get__, member.__set__) for member in _MEMBERS.values()]


@lazy_dataclass(frozen=True)
class BufferWrite:
    """A write to a buffer, between the draws of a series."""

    buffer: Resource


@lazy_dataclass(frozen=True)
class TextureWrite:
    """A write of texels, as they are stored, to a box of a level, between the draws of a series."""

    texture: Resource
    level: int
    box: Box


@lazy_dataclass(frozen=True)
class QueryChange:
    """The begin or end of a query of samples, between the draws of a series; they alternate."""

    query: Any
    begins: bool


@lazy_dataclass(frozen=True)
class ClearCall:
    """A clear of parts of attachments with all channels and bits, between the draws of a series."""

    framebuffer: FramebufferState
    flags: ClearFlags
    color: tuple[float, float, float, float]
    depth: float
    stencil: int
    scissor: ScissorState | None


@lazy_dataclass(frozen=True)
class ComputeInfo:
    """A compute launch."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    indirect: IndirectInfo | None = None


@lazy_dataclass(frozen=True)
class BlitInfo:
    """A copy that may scale, flip (negative width or height in a box), convert and resolve."""

    dst: Resource
    dst_level: int
    dst_box: Box
    dst_format: Format
    src: Resource
    src_level: int
    src_box: Box
    src_format: Format
    mask: str = "rgba"  # any of r, g, b, a, z, s
    filter: Filter = Filter.NEAREST
    scissor: ScissorState | None = None

"""The interface between shaders and fixed function: lanes, and the units that shaders call.

Lanes are vertices or fragments. A *value* is a float32, int32, uint32 or bool array: one component
for all lanes of a chunk, or a scalar (shape `()`) when it is the same for every lane. Values are
"raw": an integer varying is passed as the same 32 bits in a float32 array and viewed as integers by
its reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.common.work import Work

SYSTEM_VALUES = (
    "vertex_id",
    "instance_id",
    "base_vertex",
    "base_instance",
    "draw_id",
    "primitive_id",
    "invocation_id",
    "patch_vertices_in",
    "tess_coord",
    "frag_coord",
    "point_coord",
    "front_face",
    "sample_id",
    "sample_pos",
    "sample_mask_in",
    "layer_id",
    "viewport_index",
    "alpha_ref",
    "global_invocation_id",
    "local_invocation_id",
    "local_invocation_index",
    "num_workgroups",
    "workgroup_id",
    "merged_draw",
    "workgroup_size",
    "last_depth",
    "last_stencil",
)
"""Names that `Lanes.system` accepts: shaders read them with intrinsics `load_` plus a name."""

HELD_DEPTH = -1
"""In place of a colour buffer's index: the values in the depth and stencil buffer."""

BARYCENTRICS = ("pixel", "centroid", "sample", "at_offset", "at_sample")
"""The positions at which a shader may interpolate a fragment's inputs."""

Value = npt.NDArray[Any]


def by_lane(value: Any, lanes: int) -> Value:
    """A value by lane, for reading only, of one that may be equal for all lanes.

    NumPy's broadcasting takes longer than what shaders do with a few lanes.
    """
    array: Value = np.asarray(value)
    if array.shape == (lanes,):
        return array
    return array.reshape(1) if lanes == 1 else np.broadcast_to(array, (lanes,))


class TextureUnit(Protocol):
    """A sampler view joined with a sampler, as shaders call it (see `texture`)."""

    needs_lod: bool
    """Implicit level of detail changes the result (mipmaps, or min and mag filters differ)."""

    def sample(
        self,
        op: str,
        coords: Sequence[Value],
        lanes: int,
        *,
        lod: Value | None = None,
        bias: Value | None = None,
        ddx: Sequence[Value] | None = None,
        ddy: Sequence[Value] | None = None,
        quads: bool = False,
        compare: Value | None = None,
        offset: Sequence[Value] | None = None,
        sample_index: Value | None = None,
        min_lod: Value | None = None,
        gather_component: int = 0,
        kept: Sequence[dict[Any, Any] | None] = (),
    ) -> list[Value]:
        """Four components (`tex txb txl txd txf txf_ms tg4`), or those of `txs lod query_levels`.

        `coords` are scalar values per coordinate, the array layer last, unnormalised for txf. With
        `quads`, lanes come in 2x2 groups (0,0) (1,0) (0,1) (1,1), from which implicit derivatives
        are taken; without, implicit level of detail is 0 plus bias.
        `kept` has for each coordinate a place to keep what other lookups with it need.
        """
        ...


class ImageUnit(Protocol):
    """An image as shaders use it; `image_unit` of `storage` makes it.

    Coordinates are as many as the shader's image type has, the layer or face last. For buffers see
    `buffer_load`, `buffer_store` and `buffer_atomic` there, which work on the bytes of
    `ShaderResources.buffers`. Lanes act in order; nothing outside is read or written.
    """

    samples: int

    def load(
        self, coords: Sequence[Value], lanes: int, sample: Value | None = None
    ) -> list[Value]: ...

    def store(
        self,
        coords: Sequence[Value],
        values: Sequence[Value],
        lanes: int,
        active: npt.NDArray[np.bool_] | None = None,
        sample: Value | None = None,
    ) -> None: ...

    def atomic(
        self,
        op: str,
        coords: Sequence[Value],
        value: Value,
        lanes: int,
        active: npt.NDArray[np.bool_] | None = None,
        compare: Value | None = None,
        sample: Value | None = None,
    ) -> Value:
        """Execute an atomic operation, `op` as in `gallette.compiler.nir.ir.intrinsics.ATOMIC_OPS`;
        returns the old bits.
        """
        ...

    def size(self) -> list[Value]: ...


@lazy_dataclass()
class ShaderResources:
    """The resources bound to one stage for one draw."""

    constants: list[npt.NDArray[np.uint8] | None] = field(default_factory=list)  # bytes by block
    textures: list[TextureUnit | None] = field(default_factory=list)  # by texture index
    images: list[ImageUnit | None] = field(default_factory=list)  # by image index
    buffers: list[npt.NDArray[np.uint8] | None] = field(default_factory=list)  # SSBO bytes
    clip_planes: Sequence[tuple[float, float, float, float]] = ()
    alpha_ref: float = 0.0
    work: Work = field(default_factory=Work)  # the work this draw may still do


class VertexLanes(Protocol):
    """The inputs of the vertex shader for one chunk of lanes."""

    count: int

    def attribute(self, index: int, component: int) -> Value:
        """Vertex element `index`: converted to float32, or 32-bit integers for integer formats."""
        ...

    def attribute64(self, index: int, component: int) -> Value:
        """Vertex element `index` of a 64-bit format: float64, the bits as they are in memory."""
        ...

    def system(self, name: str) -> Value:
        """A system value: `vertex_id`, `instance_id`, `base_vertex`, `base_instance`, `draw_id`,
        ...
        """
        ...


class GeometryLanes(Protocol):
    """The inputs of the geometry shader for one chunk: a lane is an invocation for a primitive."""

    count: int

    def corner(self, slot: int, component: int, corner: int) -> Value:
        """A varying of one of the primitive's vertices."""
        ...

    def system(self, name: str) -> Value:
        """A system value: `primitive_id` or `invocation_id`."""
        ...


class ControlLanes(Protocol):
    """The inputs of a tessellation control shader: a lane is an output vertex of a patch."""

    count: int

    def corner(self, slot: int, component: int, corner: int) -> Value:
        """A varying of one of the patch's vertices."""
        ...

    def corner_at(
        self, slot: int, component: int, index: Value, lanes: npt.NDArray[Any] | None
    ) -> Value:
        """A varying of a vertex whose number differs between the (selected) lanes."""
        ...

    def system(self, name: str) -> Value:
        """A system value: `primitive_id`, `invocation_id` or `patch_vertices_in`."""
        ...


class EvaluationLanes(Protocol):
    """The inputs of a tessellation evaluation shader: a lane is a point of a patch's domain."""

    count: int

    def corner(self, slot: int, component: int, corner: int) -> Value:
        """A per-vertex value of the patch."""
        ...

    def corner_at(
        self, slot: int, component: int, index: Value, lanes: npt.NDArray[Any] | None
    ) -> Value:
        """A per-vertex value of the patch, of a vertex whose number differs between the (selected)
        lanes.
        """
        ...

    def patch(self, slot: int, component: int) -> Value:
        """A value of the patch as a whole: PATCH0.., TESS_LEVEL_OUTER, TESS_LEVEL_INNER."""
        ...

    def system(self, name: str, component: int = 0) -> Value:
        """A system value: `tess_coord`, `primitive_id` or `patch_vertices_in`."""
        ...


class FragmentLanes(Protocol):
    """The inputs of the fragment shader for one chunk of lanes (`raster.lanes` makes them).

    Each call computes the value for all lanes of the chunk, so the shader asks only for what it
    uses, once.
    """

    count: int
    quads: bool  # lanes come in 2x2 groups, helpers included
    helper: npt.NDArray[np.bool_] | None  # lanes that exist only for derivatives

    def smooth(
        self, slot: int, component: int, *, where: str = "pixel", perspective: bool = True
    ) -> Value:
        """A varying interpolated at the `pixel` centre, `centroid` or `sample`."""
        ...

    def smooth_at(
        self, slot: int, component: int, dx: Value, dy: Value, *, perspective: bool = True
    ) -> Value:
        """A varying interpolated at an offset from the pixel centre."""
        ...

    def smooth_at_sample(
        self, slot: int, component: int, index: Value, *, perspective: bool = True
    ) -> Value:
        """A varying interpolated at a sample, by its number; at the centre if there is one."""
        ...

    def flat(self, slot: int, component: int) -> Value:
        """A varying of the provoking vertex, raw bits as float32."""
        ...

    def system(self, name: str, component: int = 0) -> Value:
        """A system value: `frag_coord`, `front_face` (bool), `point_coord`, `sample_id`, ..."""
        ...


class ComputeLanes(Protocol):
    """Invocations of whole workgroups."""

    count: int
    block: tuple[int, int, int]  # invocations of one workgroup
    shared: npt.NDArray[np.uint8]  # the workgroups' memory, one after the other
    shared_base: npt.NDArray[np.int32]  # by lane: where its workgroup's memory starts
    shared_size: int  # bytes of one workgroup's
    shared_view: Any  # a driver's cached view of the above, None at first

    def system(self, name: str, component: int = 0) -> Value:
        """A system value: `global_invocation_id`, `local_invocation_index`, `num_workgroups`,
        ...
        """
        ...

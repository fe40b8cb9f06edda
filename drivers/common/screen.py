"""A screen that runs shaders over lanes: the caps of drivers built on the shared code."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Any

from gallette.drivers.common.memory.heap import keep_freed_memory
from gallette.drivers.common.memory.screen import MemoryScreen
from gallette.drivers.common.raster.points import LARGEST_POINT
from gallette.drivers.common.raster.samples import STANDARD
from gallette.drivers.common.variants.compiler import VariantCompiler
from gallette.drivers.common.work import DEFAULT_BUDGET, DEFAULT_TIME_LIMIT, LANE, Work
from gallette.pipe.caps import Caps
from gallette.pipe.enums import Primitive
from gallette.pipe.interface import Context

__all__ = ["HostScreen"]


class HostScreen(MemoryScreen):
    """A screen for drivers built on the shared code; the driver adds its shader compiler."""

    planned: Set[Primitive] = frozenset()
    """The modes whose small draws follow the plan of their state each; others become pending, to be
    merged.
    """
    counts_draws = False
    """Whether the driver counts per draw when draws are executed together."""
    user_memory = False
    """Whether vertex fetch stays inside a buffer, so that the application's memory can be used
    directly.
    """

    def __init__(
        self,
        compiler: VariantCompiler[Any, Any],
        budget: int = DEFAULT_BUDGET,
        time_limit: float = DEFAULT_TIME_LIMIT,
    ) -> None:
        """`budget` and `time_limit` bound the work of one draw or dispatch (see `work`)."""
        self.compiler, self.budget, self.time_limit = compiler, budget, time_limit
        keep_freed_memory()
        caps = Caps(
            glsl_version=460,
            fp64=True,
            int64=True,
            max_point_size=LARGEST_POINT,
            max_vertex_attribs=32,
            layered_rendering=True,
            framebuffer_fetch=True,
            filter_minmax=True,
            shader_clock=compiler.tells_time,
            post_depth_coverage=True,
            blend_advanced=True,
            depth_bounds=True,
            conservative_raster=True,
            stencil_export=True,
            max_viewports=16,
            max_dual_source_render_targets=1,
            max_samples=max(len(positions) for positions in STANDARD),
            sample_positions=STANDARD,
            sample_locations=True,
            max_shader_buffers=16,
            max_shader_images=16,
            handles=True,
            user_memory=self.user_memory,
            max_stream_output_buffers=4,
            max_vertex_streams=4,
            stages=frozenset(
                {"vertex", "tess_ctrl", "tess_eval", "geometry", "fragment", "compute"}
            ),
            compute=True,
            max_texture_2d_size=1 << 14,
            max_texture_3d_size=1 << 11,
            max_texture_cube_size=1 << 14,
            max_texture_array_layers=1 << 11,
            max_anisotropy=16.0,
        )
        if compiler.options.ownership == "driver_owns":
            caps = replace(caps, driver_owns_shaders=True)
        super().__init__(caps)

    def check_work(self, vertices: int) -> None:
        Work(self.budget).spend(LANE * vertices)

    def context_create(self) -> Context:
        from gallette.drivers.common.context import HostContext

        return HostContext(self)

"""Facts about a shader that are known without reading its code."""

from __future__ import annotations

from dataclasses import fields

from gallette.compiler.lazy_dataclass import field, lazy_dataclass


@lazy_dataclass()
class ShaderInfo:
    """A summary of a shader; `gather_info` computes the first group, the rest is declared."""

    inputs_read: set[int] = field(default_factory=set)
    outputs_written: set[int] = field(default_factory=set)
    outputs_read: set[int] = field(default_factory=set)
    system_values_read: set[int] = field(default_factory=set)
    flat_inputs: set[int] = field(default_factory=set)
    textures_used: set[int] = field(default_factory=set)
    textures_fetched: set[int] = field(default_factory=set)  # by texelFetch, without a sampler
    images_used: set[int] = field(default_factory=set)
    num_ubos: int = 0
    num_ssbos: int = 0
    num_uniform_bytes: int = 0
    uses_discard: bool = False
    uses_demote: bool = False
    uses_derivatives: bool = False
    uses_sample_shading: bool = False
    uses_indirect_textures: bool = False
    writes_memory: bool = False
    reads_frag_coord: bool = False
    user_clip_planes: int = 0

    has_transform_feedback: bool = False
    separable: bool = False
    early_fragment_tests: bool = False
    post_depth_coverage: bool = False
    interlocks: bool = False  # invocations of one pixel run critical sections one at a time
    depth_layout: str = ""
    color_is_dual_source: bool = False
    blend_equations_advanced: int = 0
    input_primitive: str = ""
    output_primitive: str = ""
    vertices_out: int = 0
    invocations: int = 1
    tess_primitive: str = ""
    tess_spacing: str = ""
    tess_ccw: bool = True
    tess_point_mode: bool = False
    workgroup_size: tuple[int, int, int] = (0, 0, 0)
    workgroup_size_variable: bool = False
    shared_bytes: int = 0
    scratch_bytes: int = 0
    position_invariant: bool = False

    def copy(self) -> ShaderInfo:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, value in values.items():
            if isinstance(value, set):
                values[name] = set(value)
        return ShaderInfo(**values)

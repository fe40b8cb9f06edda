"""The driver that draws nothing: what it claims can be asked for, compiled and called."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import linked

LIMITS = {
    "MAX_SAMPLES": 16,
    "MAX_COLOR_TEXTURE_SAMPLES": 16,
    "MAX_DEPTH_TEXTURE_SAMPLES": 16,
    "MAX_DUAL_SOURCE_DRAW_BUFFERS": 1,
    "MAX_VIEWPORTS": 16,
    "MAX_TRANSFORM_FEEDBACK_BUFFERS": 4,
    **{f"MAX_{s}_SHADER_STORAGE_BLOCKS": 16 for s in ("VERTEX", "GEOMETRY", "FRAGMENT", "COMPUTE")},
    **{f"MAX_{s}_IMAGE_UNIFORMS": 16 for s in ("VERTEX", "GEOMETRY", "FRAGMENT", "COMPUTE")},
}
HEAD = "#version 330\n#extension GL_ARB_{} : require\n"
SHADERS = {
    "VERTEX": HEAD.format("gpu_shader_fp64") + "void main() { gl_Position = vec4(dvec4(1.0LF)); }",
    "TESS_CONTROL": HEAD.format("tessellation_shader")
    + "layout(vertices = 3) out; void main() { gl_TessLevelInner[0] = 1.0; }",
    "TESS_EVALUATION": HEAD.format("tessellation_shader")
    + "layout(triangles) in; void main() { gl_Position = vec4(gl_TessCoord, 1.0); }",
    "GEOMETRY": HEAD.format("viewport_array")
    + "layout(triangles) in; layout(points, max_vertices = 1) out;"
    "void main() { gl_Layer = gl_ViewportIndex = 1; EmitVertex(); }",
    "FRAGMENT": HEAD.format("gpu_shader_int64")
    + "out vec4 color; void main() { color = vec4(float(uint64_t(1u))); }",
}
COMPUTE = HEAD.format("compute_shader") + "layout(local_size_x = 4) in; void main() {}"


def test_what_it_claims() -> None:
    gl = create_context("noop")
    assert {name: gl.get_integerv(getattr(GL, name))[0] for name in LIMITS} == LIMITS
    assert gl.get_error() == GL.NO_ERROR
    gl.release()


@pytest.mark.parametrize("shaders", [SHADERS, {"COMPUTE": COMPUTE}], ids=["drawing", "computing"])
def test_programs_of_every_stage_run_and_do_nothing(shaders: dict[str, str]) -> None:
    gl = create_context("noop", size=(4, 4))
    linked(gl, **shaders)
    gl.bind_vertex_array(*gl.gen_vertex_arrays(1))
    if "COMPUTE" in shaders:
        gl.dispatch_compute(1, 1, 1)
    else:
        gl.draw_arrays(GL.PATCHES, 0, 3)
    shown = np.frombuffer(gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
    assert not shown.any()
    assert gl.get_error() == GL.NO_ERROR
    gl.release()


def test_images_of_as_many_samples_as_it_claims() -> None:
    gl = create_context("noop")
    said = []
    for samples in range(19):
        gl.bind_renderbuffer(GL.RENDERBUFFER, *gl.gen_renderbuffers(1))
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, GL.RGBA8, 4, 4)
        said.append(gl.get_error())
    assert said == [GL.NO_ERROR] * 17 + [GL.INVALID_OPERATION] * 2
    gl.release()

"""What is drawn with between the calls: fixed function with everything on, or programs that read.

`accepted` chooses calls that go through, of all those at an edge.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import groupby
from typing import Any

from gallette.pipe.loader import create_screen
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.edges.walk import Edge, answer, edges, prepared
from tests.state_tracker.helpers import linked

_VERTEX = """#version 430 compatibility
in vec4 position; in vec4 other; out vec4 passed;
void main() { gl_Position = gl_ModelViewProjectionMatrix * position; passed = other; }"""
_FRAGMENT = """#version 430 compatibility
uniform sampler2D flat_one; uniform KIND another;
layout(std140) uniform Block { vec4 more; };
#ifdef WRITES
layout(std430, binding = 0) buffer Store { vec4 kept; };
layout(rgba8, binding = 0) uniform image2D picture;
layout(binding = 0) uniform atomic_uint count;
#endif
uniform vec4 color; in vec4 passed; out vec4 result;
void main() {
    result = passed + color + more + texture(flat_one, vec2(0.5)) + vec4(FETCH);
#ifdef WRITES
    kept = result; imageStore(picture, ivec2(0), result); atomicCounterIncrement(count);
#endif
}"""
KINDS = {
    "fixed function": "",
    "into a texture": "",
    "reads": "texture(another, vec2(0.5))",
    "sampler2D": "texture(another, vec2(0.5))",
    "sampler1D": "texture(another, 0.5)",
    "sampler3D": "texture(another, vec3(0.5))",
    "samplerCube": "texture(another, vec3(0.5))",
    "sampler2DArray": "texture(another, vec3(0.5))",
    "sampler2DRect": "texture(another, vec2(0.5))",
    "samplerBuffer": "texelFetch(another, 0)",
}


def scene(gl: Any, kind: str) -> None:
    """Fixed function with everything on, or a program that reads of every kind."""
    prepared(gl)
    gl.bind_buffer(GL.ARRAY_BUFFER, 1)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, None)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    for cap in (GL.TEXTURE_2D, GL.LIGHTING, GL.LIGHT0, GL.FOG, GL.CLIP_PLANE0, GL.TEXTURE_GEN_S):
        gl.enable(cap)
    for cap in (GL.BLEND, GL.DEPTH_TEST, GL.STENCIL_TEST, GL.SCISSOR_TEST, GL.ALPHA_TEST):
        gl.enable(cap)
    for target in (GL.UNIFORM_BUFFER, GL.SHADER_STORAGE_BUFFER, GL.ATOMIC_COUNTER_BUFFER):
        gl.bind_buffer_base(target, 0, 2)
    if kind == "into a texture":
        gl.disable(GL.TEXTURE_2D)
        gl.bind_framebuffer(GL.FRAMEBUFFER, 1)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, 1, 0)
        gl.renderbuffer_storage(GL.RENDERBUFFER, GL.DEPTH24_STENCIL8, 4, 4)
        point = GL.DEPTH_STENCIL_ATTACHMENT
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, 1)
    if not KINDS[kind]:
        return
    reads = kind == "reads"
    fragment = _FRAGMENT.replace("KIND", "sampler2D" if reads else kind)
    fragment = fragment.replace("FETCH", KINDS[kind])
    if not reads:
        fragment = fragment.replace("#ifdef WRITES", "#if 1")
    names = ["position", "other"]
    program = linked(gl, attributes=names, separable=True, vertex=_VERTEX, fragment=fragment)
    for index in (0, 1):
        gl.vertex_attrib_pointer(index, 4, GL.FLOAT, 0, 16, None)
        gl.enable_vertex_attrib_array(index)
    gl.bind_program_pipeline(1)  # which has no say while a program is in use
    gl.use_program_stages(1, GL.ALL_SHADER_BITS, program)
    if kind not in ("reads", "sampler2D"):  # a unit has one kind; the calls are about unit 0
        gl.uniform1i(gl.get_uniform_location(program, "flat_one"), 2)


def everything() -> Any:
    """A context that draws nothing and can do all that numpipe can."""
    caps = create_screen("numpipe").caps
    return Context("noop", profile="compat", version=(4, 3), size=(16, 16), caps=caps)


@cache
def _known(topic: str) -> list[Edge]:
    """Every call of a topic that goes through."""
    gl = prepared(everything())
    known = [edge for edge in edges(topic) if answer(gl, edge) == GL.NO_ERROR]
    gl.release()
    return known


def accepted(topic: str, most: int) -> list[Edge]:
    """Every valid call of a topic, and of the values each parameter accepts at most so many."""
    chosen: list[Edge] = []
    for _, group in groupby(_known(topic), key=lambda e: (e.method, e.parameter)):
        some = list(group)
        random.Random(len(some)).shuffle(some)
        chosen += some[:most] if some[0].parameter else some
    return chosen

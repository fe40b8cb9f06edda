"""Arrays of resources whose element every invocation chooses for itself, or all the same one.

A shading language may want an index to be the same for all; drivers do without that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import linked

LANES, COUNT, WORDS = 32, 4, 8
SOURCE = """#version 430
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Choice { int which[32]; };
layout(std430, binding = 1) writeonly buffer Found { uint found[32]; };
layout(std140, binding = 0) uniform Uniforms { uvec4 words[8]; } uniforms[4];
layout(std430, binding = 2) buffer Buffers { uint words[]; } buffers[4];
layout(binding = 0, r32ui) uniform uimage1D images[4];
layout(binding = 0) uniform usampler1D samplers[4];
void main() {
    uint lane = gl_LocalInvocationIndex;
    int chosen = which[lane];
    int at = int(lane & 7u);
    %s
}"""
READS = ("uniforms", "buffers", "images", "samplers")
TASKS = {
    "lengths": "found[lane] = uint(buffers[chosen].words.length());",
    "uniforms": "found[lane] = uniforms[chosen].words[at].x;",
    "buffers": "found[lane] = buffers[chosen].words[at];",
    "images": "found[lane] = imageLoad(images[chosen], at).x;",
    "samplers": "found[lane] = texelFetch(samplers[chosen], at, 0).x;",
    "stored buffers": "buffers[chosen].words[at] = 1000u + lane % 8u;",
    "stored images": "imageStore(images[chosen], at, uvec4(1000u + lane % 8u));",
    "added to buffers": "found[lane] = 0u; atomicAdd(buffers[chosen].words[at], lane);",
    "added to images": "found[lane] = 0u; imageAtomicAdd(images[chosen], at, lane);",
    "swapped in buffers": "atomicCompSwap(buffers[chosen].words[at], uint(at), 1000u + at);",
}
CHOICES = {
    "the first": np.zeros(LANES, np.int32),
    "another": np.full(LANES, 2, np.int32),
    "in turn": np.arange(LANES, dtype=np.int32) % COUNT,
    "two of them": np.where(np.arange(LANES) == 17, 3, 1).astype(np.int32),
    "backwards": 3 - np.arange(LANES, dtype=np.int32) // 8,
}
Words = npt.NDArray[np.uint32]


def begin(gl: GLInterface) -> Words:
    """What is bound: element `e` of each kind has the words 100 * e + its index."""
    words = np.arange(WORDS, dtype=np.uint32) + 100 * np.arange(COUNT, dtype=np.uint32)[:, None]
    for e in range(COUNT):
        (uniforms, buffer), textures = gl.gen_buffers(2), gl.gen_textures(2)
        wide = np.repeat(words[e], 4)
        gl.bind_buffer_base(GL.UNIFORM_BUFFER, e, uniforms)
        gl.buffer_data(GL.UNIFORM_BUFFER, wide.nbytes, wide, GL.STATIC_DRAW)
        gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 2 + e, buffer)
        longer = np.concatenate([words[e], np.zeros(e, np.uint32)])
        gl.buffer_data(GL.SHADER_STORAGE_BUFFER, longer.nbytes, longer, GL.STATIC_DRAW)
        gl.active_texture(GL.TEXTURE0 + e)
        for texture in textures:
            gl.bind_texture(GL.TEXTURE_1D, texture)
            gl.tex_storage1d(GL.TEXTURE_1D, 1, GL.R32UI, WORDS)
            pixels = (GL.RED_INTEGER, GL.UNSIGNED_INT, words[e])
            gl.tex_sub_image1d(GL.TEXTURE_1D, 0, 0, WORDS, *pixels)
            for name in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
                gl.tex_parameteri(GL.TEXTURE_1D, name, GL.NEAREST)
        gl.bind_image_texture(e, textures[0], 0, False, 0, GL.READ_WRITE, GL.R32UI)
    return words


def stored(gl: GLInterface, kind: str) -> Words:
    """The words of buffers, or of images, now."""
    gl.memory_barrier(GL.ALL_BARRIER_BITS)
    found = []
    for e in range(COUNT):
        if kind == "buffers":
            gl.bind_buffer_base(
                GL.SHADER_STORAGE_BUFFER,
                2 + e,
                gl.get_integeri_v(GL.SHADER_STORAGE_BUFFER_BINDING, 2 + e)[0],
            )
            data = gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 4 * WORDS)
        else:
            gl.bind_texture(GL.TEXTURE_1D, gl.get_integeri_v(GL.IMAGE_BINDING_NAME, e)[0])
            data = gl.get_tex_image(GL.TEXTURE_1D, 0, GL.RED_INTEGER, GL.UNSIGNED_INT)
        found.append(np.frombuffer(data, np.uint32))
    return np.array(found)


def expected(task: str, words: Words, which: Any) -> tuple[Words, Words]:
    """What lanes find, and what the words are then."""
    lane = np.arange(LANES)
    at = lane % WORDS
    after = words.copy()
    if task.startswith("stored"):
        after[which, at] = 1000 + at
    elif task.startswith("added"):
        np.add.at(after, (which, at), lane.astype(np.uint32))
    elif task.startswith("swapped"):
        mine = which == 0  # whose words are what is compared with
        after[0, at[mine]] = 1000 + at[mine]
    if task == "lengths":
        return (WORDS + which).astype(np.uint32), after
    found = words[which, at] if task in READS else None
    return np.zeros(LANES, np.uint32) if found is None else found, after


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_every_invocation_chooses(driver: str) -> None:
    gl = create_context(driver, version=(4, 3), size=(8, 8))
    words = begin(gl)
    choice, answers = gl.gen_buffers(2)
    wrong = []
    for task, code in TASKS.items():
        linked(gl, compute=SOURCE.replace("%s", code))
        for choose, which in CHOICES.items():
            gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, choice)
            gl.buffer_data(GL.SHADER_STORAGE_BUFFER, which.nbytes, which, GL.STATIC_DRAW)
            gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 1, answers)
            gl.buffer_data(GL.SHADER_STORAGE_BUFFER, 4 * LANES, bytes(4 * LANES), GL.STATIC_DRAW)
            if task not in READS:
                begin(gl)
            gl.dispatch_compute(1, 1, 1)
            kind = "images" if "images" in task else "buffers"
            after = stored(gl, kind)
            gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 1, answers)
            data = gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 4 * LANES)
            found = np.frombuffer(data, np.uint32)
            wanted, then = expected(task, words, which)
            if not ((found == wanted).all() and (after == then).all()):
                wrong.append((task, choose))
    assert gl.get_error() == GL.NO_ERROR
    assert wrong == []
    gl.release()

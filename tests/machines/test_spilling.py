"""Shaders that keep more values than a machine has registers: spilled, and right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.machines.backend.colouring import colour, victims
from gallette.lessons.register_pressure import blur_of
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from tests.state_tracker.helpers import linked

SIZE = 24, 16
_VERTEX = """#version 330
void main() {
    gl_Position = vec4(vec2(gl_VertexID % 2, gl_VertexID / 2) * 4.0 - 1.0, 0.0, 1.0);
}
"""


def looped(values: int) -> str:
    """A fragment shader with many values alive across a loop that pixels leave one by one."""
    makes = "\n".join(
        f"    vec4 t{k} = texelFetch(image, at + ivec2({k % 8}, {k // 8}), 0) * {k + 1}.0;"
        for k in range(values)
    )
    turns = "\n".join(f"        t{k} = t{k}.yzwx + t{(k + 1) % values}.x;" for k in range(values))
    total = " + ".join(f"t{k} * {k % 3 + 1}.0" for k in range(values))
    return f"""#version 330
uniform sampler2D image;
out vec4 color;
void main() {{
    ivec2 at = ivec2(gl_FragCoord.xy);
{makes}
    for (int i = 0; i < 6; i++) {{
        if (i * 3 > (at.x + at.y * 2) % 16)
            break;
{turns}
    }}
    color = fract(({total}) * 0.01);
}}
"""


SHADERS = {"blur": blur_of, "loop": looped}


def drawn(driver: str, fragment: str, **options: Any) -> tuple[np.ndarray, int]:
    """The picture in 32-bit floats, and how many values of the fragment shader were spilled."""
    gl = Context(driver, profile="compat", size=(8, 8), **options)
    try:
        program = linked(gl, vertex=_VERTEX, fragment=fragment.strip())
        target, image = gl.gen_textures(2)
        (frame,) = gl.gen_framebuffers(1)
        gl.bind_texture(GL.TEXTURE_2D, target)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32F, *SIZE, 0, GL.RGBA, GL.FLOAT, None)
        gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, target, 0)
        gl.bind_texture(GL.TEXTURE_2D, image)
        texels = np.random.default_rng(5).integers(0, 256, (32, 32, 4), dtype=np.uint8)
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 32, 32, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
        gl.viewport(0, 0, *SIZE)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        data = gl.read_pixels(0, 0, *SIZE, GL.RGBA, GL.FLOAT)
        assert gl.get_error() == GL.NO_ERROR
        spills = 0
        if driver != "numpipe":
            handles = gl.programs.executable.handles
            (handle,) = (h for (stage, _), h in handles.items() if stage is Stage.FRAGMENT)
            made = [variant.program.compiled for variant in handle.variants.values()]
            spills = sum(compiled.allocation.spills for compiled in made)
        gl.delete_textures(2, [target, image])
        gl.delete_framebuffers(1, [frame])
        gl.delete_program(program)
        return np.frombuffer(data, np.float32).reshape(SIZE[1], SIZE[0], 4), spills
    finally:
        gl.release()


@pytest.mark.parametrize(
    ("name", "driver", "values", "options"),
    [
        ("blur", "simd", 36, {}),
        ("loop", "simd", 32, {}),
        ("blur", "simd", 16, {"width": 16}),
        ("loop", "simd", 16, {"width": 16}),
        ("loop", "simd", 10, {"registers": 48, "live_ranges": "loop_extended"}),
        ("blur", "tiler", 52, {}),
        ("blur", "tiler", 10, {"registers": 32}),
        ("loop", "tiler", 10, {"registers": 32}),
    ],
)
def test_what_is_spilled_is_right(
    name: str, driver: str, values: int, options: dict[str, Any]
) -> None:
    fragment = SHADERS[name](values)
    right, _ = drawn("numpipe", fragment)
    found, spills = drawn(driver, fragment, **options)
    assert spills > 0, "there are registers enough"
    assert len(np.unique(right)) > 1000
    assert np.array_equal(found, right)


@pytest.mark.parametrize("driver", ["simd", "tiler"])
def test_nothing_is_spilled_while_there_are_registers(driver: str) -> None:
    assert drawn(driver, blur_of(8))[1] == 0


def test_a_round_of_spilling_frees_registers_for_all_values_live_together() -> None:
    """Else a shader with many values too many takes more rounds than the allocators try."""
    count, room = 100, 8
    everybody = (1 << count) - 1
    graph = {nr: everybody & ~(1 << nr) for nr in range(count)}
    sizes, costs = [1] * count, dict.fromkeys(range(count), 1.0)
    _, failed = colour(set(range(count)), graph, sizes, {}, costs, 0, room)
    assert len(failed) == count - room
    touched = [list(range(count))] * 9
    assert len(victims(touched, graph, sizes, costs, failed, lambda nr: True)) == len(failed)


def test_values_live_at_other_times_share_a_victim() -> None:
    """0 lives all the time, 1 and 2 one after the other: 0 makes room for both."""
    graph = {0: 0b110, 1: 0b001, 2: 0b001}
    costs = {0: 1.0, 1: 9.0, 2: 9.0}
    touched = [[0, 1]] * 9 + [[0, 2]] * 9
    assert victims(touched, graph, [1] * 3, costs, [1, 2], lambda nr: True) == [0]


def test_a_wide_victim_makes_room_for_as_many_as_it_was_wide() -> None:
    """0 holds two registers, beside values of one each that live together: two fit, not three."""
    for several, found in ((2, [0]), (3, [0, 3])):
        count = several + 1
        everybody = (1 << count) - 1
        graph = {nr: everybody & ~(1 << nr) for nr in range(count)}
        costs = {0: 0.1, **dict.fromkeys(range(1, count), 9.0), several: 8.0}
        touched = [list(range(count))] * 9
        failed = list(range(1, count))
        sizes = [2] + [1] * several
        assert victims(touched, graph, sizes, costs, failed, lambda nr: True) == found

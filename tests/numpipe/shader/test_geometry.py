"""Geometry shaders: emissions of all primitives at once become vertices in drawing order."""

from __future__ import annotations

import numpy as np
import pytest
from shader_harness import PictureEnvironment, resources

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.ir.types import INT
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.drivers.common.draw.emissions import expand, run_geometry
from gallette.drivers.numpipe.shader.program import compile_program

SLOT = 32


def corner(b: Builder, vertex: Def, component: int = 0) -> Def:
    return b.intrinsic(
        "load_per_vertex_input",
        [vertex, b.imm_int(0)],
        num_components=1,
        location=SLOT,
        component=component,
    )


def emit(b: Builder, value: Def) -> None:
    b.intrinsic("store_output", [value, b.imm_int(0)], location=SLOT, write_mask=1)
    b.intrinsic("emit_vertex")


def repeater(cut: bool) -> Shader:
    """Each lane emits 0..7 vertices that mix its corners, and may end primitives on the way."""
    b = Builder.shader_main(Stage.GEOMETRY, "repeater")
    b.shader.info.input_primitive = "triangles"
    at = b.impl.add_local("at", INT)
    b.store_var(at, b.imm_int(0))
    first = corner(b, b.imm_int(0))
    count = b.iand(b.f2i32(b.fmul(first, b.imm_float(5.0))), b.imm_int(7))
    b.push_loop()
    b.break_if(b.ige(b.load_var(at), count))
    vertex = b.irem(b.load_var(at), b.imm_int(3))
    emit(b, b.fadd(corner(b, vertex, 1), b.i2f32(b.load_var(at))))
    if cut:
        b.push_if(b.ieq(b.iand(b.load_var(at), b.imm_int(1)), b.imm_int(1)))
        b.intrinsic("end_primitive")
        b.pop_if()
    b.store_var(at, b.iadd(b.load_var(at), b.imm_int(1)))
    b.pop_loop()
    run_passes(b.shader, ["lower_vars_to_ssa", "copy_prop", "remove_phis", "dce"])
    return b.shader


def run(shader: Shader, env: PictureEnvironment, limit: int = 100):  # type: ignore[no-untyped-def]
    program = compile_program(shader)
    lanes = env.lanes

    def varying(slot: int, component: int) -> np.ndarray:
        rows = [env.input(slot, component, 32, v).view(np.float32) for v in range(3)]
        return np.concatenate(rows)

    corners = np.arange(lanes)[:, None] + np.arange(3) * lanes
    identity = np.arange(lanes, dtype=np.int32)
    bound = program.bind(resources(env))
    return run_geometry(program, bound, varying, corners, identity, 1, limit)[0]


@pytest.mark.parametrize("cut", [False, True])
def test_vertices_are_those_of_the_interpreter(cut: bool) -> None:
    shader, env = repeater(cut), PictureEnvironment(23, 4)
    expanded = run(shader, env)
    expected: list[list[int]] = [[] for _ in range(env.lanes)]
    for _, active, outputs in interpret(shader, env).vertices:
        for lane in np.flatnonzero(active):
            expected[lane].append(int(outputs[SLOT, 0][lane]))
    value = expanded.outputs[SLOT][0]
    assert value is not None
    assert value.view(np.uint32).tolist() == [v for lane in expected for v in lane]
    assert expanded.lane.tolist() == [i for i, lane in enumerate(expected) for _ in lane]


def test_end_primitive_begins_a_new_strip() -> None:
    expanded = run(repeater(True), PictureEnvironment(23, 4))
    lengths = dict.fromkeys(range(23), ())
    for start, length in zip(expanded.start, expanded.length, strict=True):
        lengths[int(expanded.lane[start])] += (int(length),)
    assert all(part == 2 for strips in lengths.values() for part in strips[:-1])
    assert sum(map(sum, lengths.values())) == expanded.count


def test_vertices_beyond_the_limit_are_dropped() -> None:
    env = PictureEnvironment(23, 4)
    all_of_them, few = run(repeater(False), env), run(repeater(False), env, limit=2)
    counts = np.bincount(all_of_them.lane, minlength=23)
    assert np.array_equal(np.bincount(few.lane, minlength=23), np.minimum(counts, 2))


def test_nothing_emitted_is_nothing() -> None:
    expanded = expand([], ((SLOT, 0, 0),), 3)
    assert expanded.count == 0 and len(expanded.start) == 0

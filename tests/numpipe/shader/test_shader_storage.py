"""Storage buffers, images and atomics from shaders: as the interpreter, lane after lane."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from shader_harness import Lanes

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.ir.intrinsics import ATOMIC_OPS
from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.memory.resource import create_resource
from gallette.drivers.common.storage import image_unit
from gallette.drivers.numpipe.screen import NumpipeScreen
from gallette.drivers.numpipe.shader.program import compile_program
from gallette.drivers.numpipe.shader.translate_storage import ATOMIC_BUFFERS
from gallette.pipe.enums import Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import ImageView

LANES = 48


def shader_of(body: Callable[[Builder], Def]) -> Shader:
    b = Builder.shader_main(Stage.FRAGMENT, "storage")
    value = body(b)
    b.intrinsic("store_output", [value, b.imm_int(0)], location=4, write_mask=1)
    return b.shader


def small(b: Builder, component: int = 0, top: int = 7) -> Def:
    """Small integers that differ between lanes."""
    bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")
    x = b.intrinsic(
        "load_interpolated_input",
        [bary, b.imm_int(0)],
        num_components=1,
        location=32,
        component=component,
    )
    return b.iand(b.f2i32(b.fmul(x, b.imm_float(9.0))), b.imm_int(top))


def words(*seeds: int) -> dict[int, bytes]:
    return {
        at: np.random.default_rng(seed).integers(0, 9, 16, np.uint32).tobytes()
        for at, seed in enumerate(seeds)
    }


def check(shader: Shader) -> None:
    """Same outputs, same memory."""
    expected_env = Environment(LANES, ssbos=words(1, 2))
    env = Environment(LANES, ssbos=words(1, 2))
    expected = interpret(shader, expected_env)
    program = compile_program(shader)
    state = ShaderResources(constants=[env.buffer("ubo", 0)])
    state.buffers = [env.buffer("ssbo", 0), env.buffer("ssbo", 1)]
    result = program.bind(state).fragment(Lanes(env))
    got = np.broadcast_to(result.outputs[4][0], LANES).view(np.uint32)
    wrote = expected.written[(4, 0)] & expected.alive
    assert np.array_equal(got[wrote], expected.outputs[(4, 0)][wrote]), program.code
    for at in range(2):
        have, want = env.buffer("ssbo", at), expected_env.buffer("ssbo", at)
        assert np.array_equal(have, want), program.code


def at(b: Builder, component: int = 0, top: int = 15) -> Def:
    return b.imul(small(b, component, top), b.imm_int(4))


def store(b: Builder, block: Def, offset: Def, value: Def, mask: int = 1) -> None:
    b.intrinsic("store_ssbo", [value, block, offset], write_mask=mask)


def load(b: Builder, block: Def, offset: Def, n: int = 1) -> Def:
    return b.intrinsic("load_ssbo", [block, offset], num_components=n)


def test_loads_and_stores_of_lanes() -> None:
    def body(b: Builder) -> Def:
        pair = b.vec([small(b, 1), small(b, 2)])
        store(b, b.imm_int(0), at(b), pair, mask=3)
        return load(b, b.imm_int(0), at(b, 3))

    check(shader_of(body))


def test_masked_components_are_left_alone() -> None:
    def body(b: Builder) -> Def:
        pair = b.vec([small(b, 1), small(b, 2)])
        store(b, b.imm_int(1), at(b), pair, mask=2)
        return load(b, b.imm_int(1), at(b))

    check(shader_of(body))


def test_a_block_chosen_by_each_lane() -> None:
    def body(b: Builder) -> Def:
        block = b.iand(small(b, 2), b.imm_int(1))
        store(b, block, at(b), small(b, 1))
        return load(b, block, at(b, 3))

    check(shader_of(body))


@pytest.mark.parametrize("op", ATOMIC_OPS)
def test_atomics_return_what_earlier_lanes_left(op: str) -> None:
    def body(b: Builder) -> Def:
        data = small(b, 1)
        if op.startswith("f"):
            data = b.i2f32(data)
        where = at(b, 0, 3)
        return b.intrinsic("ssbo_atomic", [b.imm_int(0), where, data], atomic_op=op)

    check(shader_of(body))


def test_compare_and_swap() -> None:
    def body(b: Builder) -> Def:
        srcs = [b.imm_int(0), at(b, 0, 3), small(b, 1), small(b, 2)]
        return b.intrinsic("ssbo_atomic_swap", srcs, atomic_op="xchg")

    check(shader_of(body))


def test_only_the_lanes_of_a_branch_write() -> None:
    def body(b: Builder) -> Def:
        b.push_if(b.ilt(small(b, 1), b.imm_int(4)))
        store(b, b.imm_int(0), at(b), small(b, 2))
        b.push_else()
        b.intrinsic("ssbo_atomic", [b.imm_int(1), b.imm_int(4), b.imm_int(1)], atomic_op="iadd")
        b.pop_if()
        return load(b, b.imm_int(1), b.imm_int(4))

    check(shader_of(body))


def test_discarded_lanes_do_not_write() -> None:
    def body(b: Builder) -> Def:
        b.intrinsic("discard_if", [b.ilt(small(b, 1), b.imm_int(4))])
        store(b, b.imm_int(0), at(b), small(b, 2))
        return small(b, 2)

    check(shader_of(body))


def test_helper_lanes_do_not_write() -> None:
    shader = shader_of(
        lambda b: b.intrinsic(
            "ssbo_atomic", [b.imm_int(0), b.imm_int(0), b.imm_int(1)], atomic_op="iadd"
        )
    )
    env = Environment(8)
    lanes = Lanes(env)
    lanes.helper = np.arange(8) % 2 == 1
    state = ShaderResources(buffers=[np.zeros(4, np.uint8)])
    compile_program(shader).bind(state).fragment(lanes)
    assert state.buffers[0] is not None
    assert state.buffers[0].tolist() == [4, 0, 0, 0]


def test_facts_include_side_effects() -> None:
    reading = shader_of(lambda b: load(b, b.imm_int(0), b.imm_int(0)))
    assert not compile_program(reading).facts.has_side_effects

    def body(b: Builder) -> Def:
        store(b, b.imm_int(0), b.imm_int(0), b.imm_int(1))
        return b.imm_int(0)

    assert compile_program(shader_of(body)).facts.has_side_effects


def test_unbound_and_outside_read_zero_and_sizes_are_known() -> None:
    def body(b: Builder) -> Def:
        outside = load(b, b.imm_int(0), b.imm_int(4096))
        unbound = load(b, b.imm_int(5), b.imm_int(0))
        size = b.intrinsic("get_ssbo_size", [b.imm_int(0)])
        return b.iadd(b.iadd(outside, unbound), size)

    program = compile_program(shader_of(body))
    state = ShaderResources(buffers=[np.full(20, 7, np.uint8)])
    result = program.bind(state).fragment(Lanes(Environment(8)))
    assert set(np.broadcast_to(result.outputs[4][0], 8).view(np.int32).tolist()) == {20}


def test_atomic_counters_follow_the_storage_blocks() -> None:
    shader = shader_of(
        lambda b: b.intrinsic("atomic_counter", [b.imm_int(4), b.imm_int(1)], base=1)
    )
    counters = np.zeros(8, np.uint8)
    state = ShaderResources(buffers=[None] * (ATOMIC_BUFFERS + 1) + [counters])
    result = compile_program(shader).bind(state).fragment(Lanes(Environment(8)))
    assert result.outputs[4][0].view(np.uint32).tolist() == list(range(8))
    assert counters.view(np.uint32).tolist() == [0, 8]


def test_images_are_written_read_and_counted() -> None:
    desc = ResourceDesc(Target.TEXTURE_2D, FORMATS["R32_UINT"], 8, 4)
    resource = create_resource(desc, ResourceLedger())
    view = ImageView(resource, desc.format)

    def body(b: Builder) -> Def:
        zero = b.imm_int(0)
        coord = b.vec([small(b, 0), small(b, 1, 3), zero, zero])
        b.intrinsic("image_atomic", [zero, coord, zero, b.imm_int(1)], dim="2D", atomic_op="iadd")
        loaded = b.intrinsic("image_load", [zero, coord, zero], num_components=4, dim="2D")
        size = b.intrinsic("image_size", [zero, zero], num_components=2, dim="2D")
        total = b.iadd(b.channel(size, 0), b.imul(b.channel(size, 1), b.imm_int(100)))
        b.intrinsic("image_store", [zero, coord, zero, b.vec([total] * 4)], dim="2D")
        return b.channel(loaded, 0)

    env = Environment(LANES)
    state = ShaderResources(images=[image_unit(view)])
    result = compile_program(shader_of(body)).bind(state).fragment(Lanes(env))
    seen = result.outputs[4][0].view(np.uint32)
    assert seen.min() >= 1
    touched = resource.view(0, np.uint32)
    assert set(np.unique(touched).tolist()) <= {0, 408}
    assert (touched == 408).any()


def test_the_screen_offers_as_many_storage_blocks_as_counters_leave_room_for() -> None:
    assert NumpipeScreen().caps.max_shader_buffers == ATOMIC_BUFFERS

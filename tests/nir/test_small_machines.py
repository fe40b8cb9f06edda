"""Functions on machines that lack them: how many bits are right, and what becomes of extremes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.lower.target_machine import FIRST, LOWERED, Machine
from gallette.compiler.nir.run.pass_runner import run_pass
from gallette.precision import FUNCTIONS, MACHINES, Function, measure
from gallette.state_tracker import create_context

# Worst errors in ULP, over machines whose approximations are refined to the end.
BOUNDS = {
    "1/x": 1.5,
    "x/y": 2.5,
    "sqrt": 2.0,
    "inversesqrt": 2.0,
    "exp2": 3.0,
    "log2": 2.0,
    "exp": 70.0,  # the product with log2(e) is rounded before the power
    "log": 3.0,
    "pow": 50.0,  # likewise
    "sin": 2.0,
    "cos": 2.0,
    "tan": 4.0,
    "asin": 6.0,
    "acos": 5.0,
    "atan": 3.0,
    "atan2": 3.0,
}
REFINED = [name for name in MACHINES if "0 steps" not in name and "1 step" not in name]


@pytest.mark.parametrize("name", REFINED)
def test_functions_are_as_good_as_their_bounds(name: str) -> None:
    for f in FUNCTIONS:
        if f.where in ("1300 turns", "2^13 to 2^120"):
            continue
        found = measure(f, MACHINES[name], 4000)
        assert found.worst <= BOUNDS[f.name], f"{f.name}: {found.worst}"
        assert sum(found.histogram) == pytest.approx(1)


_TURNS = {"half a turn": np.pi, "a quarter turn": np.pi / 2, "1300 turns": 8192.0}
_POSITIVE = ("sqrt", "inversesqrt", "log2", "log", "pow")


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f"{f.name} {f.where}")
def test_functions_are_measured_where_they_say(f: Function) -> None:
    """From end to end and not beyond; large ranges by their exponents."""
    drawn = list(f.inputs(np.random.default_rng(3), 4000))
    assert len(drawn) == (2 if f.name in ("x/y", "pow", "atan2") else 1)
    if f.where in _TURNS:
        ends = (-_TURNS[f.where], _TURNS[f.where])
    else:
        low, high = re.findall(r"-?\d+(?!\^|\d)", f.where)[-2:]
        ends = float(low), float(high)  # both of them, for the power
    if "^" in f.where:
        powers = slice(0, 1) if f.name == "pow" else slice(None)
        assert all((values > 0).all() == (f.name in _POSITIVE) for values in drawn[powers])
        drawn[powers] = [np.log2(np.abs(values)) for values in drawn[powers]]
    room = (ends[1] - ends[0]) / 200
    for values in drawn:
        assert len(values) == 4000
        assert ends[0] <= values.min() < ends[0] + room
        assert ends[1] - room < values.max() <= ends[1]


def test_each_step_doubles_the_right_bits() -> None:
    for f in FUNCTIONS:
        if f.name in ("1/x", "inversesqrt"):
            bits = [
                measure(f, Machine.of("frcp_8bit frsq_8bit", steps=n), 4000).bits for n in range(3)
            ]
            assert 7.9 <= bits[0] < 9 and 15.4 <= bits[1] < 18 and bits[2] > 22.9, bits


def test_large_angles() -> None:
    """Some thousands of turns to an absolute error; any angle where the machine wants that."""
    sine, cosine = (f for f in FUNCTIONS if f.where in ("1300 turns", "2^13 to 2^120"))
    for name in ("small", "8 bits, no sine"):
        rng = np.random.default_rng(1)
        (angles,) = sine.inputs(rng, 4000)
        have = run(lowered("fsin", MACHINES[name]), angles.astype(np.float32))
        assert np.abs(have - np.sin(angles.astype(np.float32).astype(np.float64))).max() < 3e-7
    assert measure(cosine, MACHINES["8 bits, no sine"], 4000).worst < 8
    reduced = Machine.of("frcp frsq fsin_reduced fcos_reduced fexp2 flog2", full_range=True)
    (angles,) = cosine.inputs(np.random.default_rng(2), 4000)
    have = run(lowered("fcos", reduced), angles.astype(np.float32))
    assert np.abs(have - np.cos(angles.astype(np.float32).astype(np.float64))).max() < 5e-7


def lowered(name: str, machine: Machine) -> Shader:
    op = OPCODES[name]
    b = Builder.shader_main(Stage.VERTEX, name)
    zero = b.imm_int(0)
    args = [
        b.intrinsic("load_input", [zero], num_components=1, location=VaryingSlot(32 + i))
        for i in range(op.num_inputs)
    ]
    b.intrinsic("store_output", [b.alu(op, *args), zero], write_mask=1, location=VaryingSlot.VAR0)
    run_pass(b.shader, "lower_special_functions", machine.options)
    return b.shader


def run(shader: Shader, *args: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    inputs = {(32 + i, 0): x.view(np.uint32) for i, x in enumerate(args)}
    found = interpret(shader, Environment(args[0].size, inputs=inputs), budget=10**8)
    result: np.ndarray[Any, Any] = found.floats(int(VaryingSlot.VAR0), 0)
    return result


@pytest.mark.parametrize("name", sorted({*LOWERED} - {"fmod", "frem", "fpow"}))
@pytest.mark.parametrize("machine", MACHINES)
def test_zero_infinity_and_nan(machine: str, name: str) -> None:
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 4.0, 1e-40], np.float32)
    op = OPCODES[name]
    if op.num_inputs == 2:
        x, y = (v.ravel() for v in np.meshgrid(values[:-1], values[:-1]))
        args = [x, y]
    else:
        args = [values]
    with np.errstate(all="ignore"):
        wanted = op.semantics(*args)
    have = run(lowered(name, MACHINES[machine]), *args)
    assert np.array_equal(np.isnan(have), np.isnan(wanted)), (have, wanted)
    ordinary = ~np.isnan(wanted)
    rough = 0.02 if "0 steps" in machine else 1e-4
    tiny = 0.0 if op.name in ("frcp", "fdiv") else 1e-6
    with np.errstate(all="ignore"):
        same = np.isclose(have, wanted, rtol=rough, atol=tiny) | (have == wanted)
    assert same[ordinary].all(), (name, args, have, wanted)
    zeros = ordinary & (wanted == 0) & (name in ("frcp", "fdiv", "fsqrt"))
    assert np.array_equal(np.signbit(have[zeros]), np.signbit(wanted[zeros]))


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_left_and_nothing_is_done_twice(machine: str) -> None:
    for name in LOWERED:
        shader = lowered(name, MACHINES[machine])
        left = {
            i.op.name
            for block in shader.entry.blocks()
            for i in block.instrs()
            if isinstance(i, Alu)
        }
        assert not left & MACHINES[machine].lacks
        assert not left & (set(FIRST) - MACHINES[machine].has)
        assert not run_pass(shader, "lower_special_functions", MACHINES[machine].options)


def test_16_bit_floats_are_computed_in_32() -> None:
    b = Builder.shader_main(Stage.VERTEX)
    zero = b.imm_int(0)
    x = b.intrinsic("load_input", [zero], num_components=1, location=VaryingSlot(32))
    value = b.f2f32(b.frcp(b.f2f16(x)))
    b.intrinsic("store_output", [value, zero], write_mask=1, location=VaryingSlot.VAR0)
    run_pass(b.shader, "lower_special_functions", Machine.of("frcp_8bit frsq_8bit").options)
    x16 = np.linspace(0.5, 8, 500).astype(np.float16)
    have = run(b.shader, x16.astype(np.float32))
    assert np.array_equal(have, (np.float16(1) / x16).astype(np.float32))


def test_impossible_machines_are_refused() -> None:
    with pytest.raises(GalletteError, match="a machine has no fsine"):
        Machine.of("frcp fsine")
    with pytest.raises(GalletteError, match="needs fdiv, frcp or frcp_8bit"):
        Machine.of("frsq")
    with pytest.raises(GalletteError, match="needs fsqrt, frsq or frsq_8bit"):
        Machine.of("frcp")
    with pytest.raises(GalletteError, match="Newton steps"):
        Machine.of("frcp frsq", steps=9)


def test_shaders_are_lowered_on_their_way_to_a_small_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A whole program through the state tracker: the picture is that of the full machine."""
    import moderngl

    def picture() -> np.ndarray[Any, Any]:
        gl = moderngl.create_context(standalone=True, context=_context())
        program = gl.program(
            vertex_shader="#version 330\nvoid main() { vec2 p = vec2(gl_VertexID & 1, "
            "gl_VertexID >> 1) * 4.0 - 1.0; gl_Position = vec4(p, 0, 1); }",
            fragment_shader="#version 330\nout vec4 c; void main() { vec2 p = gl_FragCoord.xy;"
            "c = vec4(sin(p.x) * .5 + .5, pow(p.y / 32.0, 2.2), atan(p.y, p.x), "
            "sqrt(p.x) / 6.0 + exp(-p.y)); }",
        )
        target = gl.simple_framebuffer((32, 32))
        target.use()
        gl.vertex_array(program, []).render(vertices=3)
        data = np.frombuffer(target.read(components=4), np.uint8).astype(int)
        gl.release()
        return data

    full = picture()
    monkeypatch.setenv("GALLETTE_CAPS", "machine=frcp_8bit+frsq_8bit")
    small = picture()
    assert full.std() > 30
    assert np.abs(full - small).max() <= 1


def _context() -> Any:
    import gallette

    return gallette.moderngl_context()


def test_the_cap_names_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GALLETTE_CAPS", "machine=frcp+frsq+fsin_reduced+fcos_reduced")
    gl = create_context("numpipe")
    assert "fexp2" in gl.caps.machine.lacks
    gl.release()

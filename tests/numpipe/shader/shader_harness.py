"""Running generated code and the reference interpreter on the same inputs, and comparing bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.interp.environment import Environment, Result
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.instrs import Tex
from gallette.drivers.common.lanes import ShaderResources, Value
from gallette.drivers.numpipe.shader.program import compile_program

Array = npt.NDArray[Any]


class Lanes:
    """Vertex and fragment lanes that ask an interpreter environment."""

    def __init__(self, env: Environment, chosen: Array | None = None, quads: bool = False):
        self.env = env
        self.chosen = np.arange(env.lanes) if chosen is None else chosen
        self.count = self.chosen.size
        self.quads = quads
        self.helper = None

    def _floats(self, raw: Array) -> Value:
        values = raw[self.chosen]
        return values if values.dtype == np.bool_ else values.view(np.float32)

    def attribute(self, index: int, component: int) -> Value:
        return self._floats(self.env.input(index, component, 32))

    def smooth(self, slot: int, component: int, **_: Any) -> Value:
        return self._floats(self.env.input(slot, component, 32))

    def smooth_at(self, slot: int, component: int, dx: Value, dy: Value, **_: Any) -> Value:
        return self._floats(self.env.input(slot, component, 32))

    def flat(self, slot: int, component: int) -> Value:
        return self._floats(self.env.input(slot, component, 32))

    def system(self, name: str, component: int = 0) -> Value:
        bits = 1 if name == "front_face" else 32
        raw = self.env.system_value(name, component + 1, bits)[component]
        return self._floats(raw)


class Unit:
    """A texture unit whose picture is the environment's smooth function."""

    needs_lod = True

    def __init__(self, env: Environment, index: int):
        self.env = env
        self.index = index

    def sample(self, op: str, coords: Any, lanes: int, **more: Any) -> list[Value]:
        total = np.zeros(lanes)
        for i, c in enumerate(coords):
            total = total + np.asarray(c, np.float64) * (i + 0.25)
        total = total + self.index * 0.375
        for key in ("lod", "bias", "compare"):
            if more.get(key) is not None:
                total = total + np.asarray(more[key], np.float64)
        return [(np.nan_to_num(total) * (c + 1)).astype(np.float32) for c in range(4)]


def resources(env: Environment, blocks: int = 2, textures: int = 2) -> ShaderResources:
    constants: list[npt.NDArray[np.uint8] | None] = [env.buffer("ubo", i) for i in range(blocks)]
    return ShaderResources(constants=constants, textures=[Unit(env, i) for i in range(textures)])


class PictureEnvironment(Environment):
    """The environment whose textures are `Unit`s."""

    def texture(self, tex: Tex, unit: Array, srcs: dict[str, Array]) -> Array:
        rows = np.zeros((tex.result.num_components, self.lanes), np.float32)
        for index in np.unique(unit):
            more = {
                key: srcs[kind][0]
                for kind, key in (("lod", "lod"), ("bias", "bias"), ("comparator", "compare"))
                if kind in srcs
            }
            values = Unit(self, int(index)).sample(tex.op, srcs["coord"], self.lanes, **more)
            for c, row in enumerate(rows):
                row[unit == index] = values[c][unit == index]
        return rows


def run_compiled(
    shader: Shader,
    env: Environment,
    chunk: int = 0,
    quads: bool = False,
    compiler: Callable[[Shader], Any] = compile_program,
) -> tuple[dict[tuple[int, int], Array], Array, Any]:
    """Outputs by (slot, component) as raw bits, the alive mask, and the program."""
    program = compiler(shader)
    bound = program.bind(resources(env))
    outputs: dict[tuple[int, int], list[Array]] = {}
    alive: list[Array] = []
    step = chunk or env.lanes
    for start in range(0, env.lanes, step):
        lanes = Lanes(env, np.arange(start, min(start + step, env.lanes)), quads)
        with np.errstate(all="ignore"):  # as whoever draws does
            if shader.stage is Stage.VERTEX:
                result = bound.vertex(lanes)
                mask = None
            else:
                fragment = bound.fragment(lanes)
                result, mask = fragment.outputs, fragment.alive
        alive.append(np.ones(lanes.count, np.bool_) if mask is None else mask)
        for slot, components in result.items():
            for c, value in enumerate(components):
                if value is not None:
                    full = np.ascontiguousarray(np.broadcast_to(value, lanes.count))
                    outputs.setdefault((slot, c), []).append(full)
    return (
        {key: _raw(np.concatenate(parts)) for key, parts in outputs.items()},
        np.concatenate(alive),
        program,
    )


def _raw(values: Array) -> Array:
    if values.dtype == np.bool_:
        return values.astype(np.uint32)
    return values.view(f"u{values.dtype.itemsize}")


def compare(
    shader: Shader,
    env: Environment,
    chunk: int = 0,
    quads: bool = False,
    compiler: Callable[[Shader], Any] = compile_program,
) -> None:
    """Assert that generated code and the interpreter agree bit for bit (NaNs are alike)."""
    agree(interpret(shader, env), shader, env, chunk, quads, compiler)


def agree(
    expected: Result,
    shader: Shader,
    env: Environment,
    chunk: int = 0,
    quads: bool = False,
    compiler: Callable[[Shader], Any] = compile_program,
) -> None:
    """The same against what the interpreter found before."""
    outputs, alive, program = run_compiled(shader, env, chunk, quads, compiler)
    assert np.array_equal(alive, expected.alive), program.code
    for key, wanted in expected.outputs.items():
        wrote = expected.written[key] & expected.alive
        if not wrote.any():
            continue
        have = outputs[key]
        same = have == wanted
        if wanted.dtype == np.uint32:
            both = np.isnan(have.view(np.float32)) & np.isnan(wanted.view(np.float32))
            same |= both
        bad = np.flatnonzero(~same & wrote)
        assert bad.size == 0, (
            f"output {key}, lane {bad[0]}: {have[bad[0]]:#x} instead of {wanted[bad[0]]:#x}\n"
            f"{program.code}"
        )

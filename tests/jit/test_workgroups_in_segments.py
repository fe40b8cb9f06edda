"""Workgroups whose invocations wait for each other: what jit cuts at barriers is what numpipe
computes in lockstep, and neither its code nor its stack grows with the group.

Random programs without races: shared memory is written by its owner, and read between barriers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.ir import Stage
from gallette.drivers.jit.llvm.engine import machine
from gallette.drivers.jit.shader.chunk_emit import emit_chunk
from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL
from tests.state_tracker.helpers import linked

pytest.importorskip("llvmlite")

GROUPS = 3
HEAD = """#version 430
layout(local_size_x = {size}) in;
layout(std430, binding = 0) buffer Found {{ int found[]; }};
layout(std430, binding = 1) readonly buffer Given {{ int given[]; }};
shared int part[{size}];
shared int common_;
void main() {{
    int me = int(gl_LocalInvocationIndex), group = int(gl_WorkGroupID.x);
    int a = given[me % 16], b = me, c = group, list[4] = int[4](1, 2, 3, 4);
    {body}
    int at = 8 * int(gl_GlobalInvocationID.x);
    found[at] = a; found[at + 1] = b; found[at + 2] = c;
    for (int k = 0; k < 4; ++k) found[at + 3 + k] = list[k];
}}"""


class _Writer:
    """A body of statements; `depth` are ifs and loops around, `waits` whether barriers may stand
    there, `loops` what is known of the loops around: whether all invocations go round together."""

    def __init__(self, seed: int, size: int) -> None:
        self.random, self.size, self.names = random.Random(seed), size, 0

    def statements(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        count = self.random.choice((1, 2, 2, 3))
        return " ".join(self.statement(depth, waits, loops) for _ in range(count))

    def number(self) -> str:
        return str(self.random.randrange(1, 9))

    def value(self) -> str:
        pick = self.random.choice
        term = pick(("a", "b", "c", "me", "group", "list[b & 3]", "given[c & 15]", self.number()))
        return f"({term} {pick(('+', '^', '-', '*'))} {pick(('a', 'b', 'c', self.number()))})"

    def uniform(self) -> str:
        """What all invocations of a group agree on."""
        one = self.random.choice(("group", "given[group & 15]", f"given[{self.number()}]"))
        return f"(({one} + {self.number()}) & 3)"

    def statement(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        kinds = ["set", "set", "list"]
        kinds += ["exchange", "share"] * 2 if waits else []
        kinds += ["if", "uniform if", "loop", "uniform loop"] if depth < 3 else []
        kinds += ["leave"] if loops else []
        return str(getattr(self, "_" + self.random.choice(kinds).replace(" ", "_"))(
            depth, waits, loops
        ))  # fmt: skip

    def _set(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        return f"{self.random.choice('abc')} = {self.value()};"

    def _list(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        return f"list[{self.random.choice('abc')} & 3] += {self.value()};"

    def _exchange(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        own, other = self.random.choice("abc"), self.random.choice("abc")
        return (
            f"part[me] = {own}; barrier(); "
            f"{other} ^= part[(me + {self.number()}) % {self.size}]; barrier();"
        )

    def _share(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        """One invocation tells all others, who then agree on something."""
        teller = self.random.randrange(self.size)
        inner = self.statements(depth + 1, True, loops) if depth < 3 else "a += 1;"
        return (
            f"if (me == {teller}) common_ = {self.value()}; barrier(); "
            f"if ((common_ & 1) != 0) {{ barrier(); {inner} }} barrier();"
        )

    def _if(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        then, other = (self.statements(depth + 1, False, self._apart(loops)) for _ in range(2))
        return f"if (({self.value()} & 1) != 0) {{ {then} }} else {{ {other} }}"

    @staticmethod
    def _apart(loops: tuple[bool, ...]) -> tuple[bool, ...]:
        """Where invocations part, none may leave a loop in which the others wait for it."""
        return () if loops and loops[-1] else loops

    def _uniform_if(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        then, other = (self.statements(depth + 1, waits, loops) for _ in range(2))
        return f"if ({self.uniform()} == 1) {{ {then} }} else {{ {other} }}"

    def _counter(self) -> str:
        self.names += 1
        return f"i{self.names}"

    def _loop(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        i, inner = self._counter(), self.statements(depth + 1, False, (False,))
        return f"for (int {i} = 0; {i} < (a & 3); ++{i}) {{ {inner} }}"

    def _uniform_loop(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        i, inner = self._counter(), self.statements(depth + 1, waits, (True,))
        return f"for (int {i} = 0; {i} < {self.uniform()}; ++{i}) {{ {inner} }}"

    def _leave(self, depth: int, waits: bool, loops: tuple[bool, ...]) -> str:
        how = self.random.choice(("break", "continue"))
        when = f"{self.uniform()} == 2" if loops[-1] else f"({self.value()} & 3) == 0"
        return f"if ({when}) {how};"


@pytest.fixture
def contexts() -> Iterator[dict[str, Any]]:
    made = {
        driver: create_context(driver, profile="core", version=(4, 3))
        for driver in ("numpipe", "jit")
    }
    yield made
    for context in made.values():
        context.release()


def found(gl: Any, source: str, size: int) -> list[int]:
    gl.make_current()
    linked(gl, compute=source)
    given = np.random.default_rng(5).integers(0, 64, 16).astype(np.int32)
    for binding, data in ((0, np.zeros(8 * GROUPS * size, np.int32)), (1, given)):
        gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, binding, gl.gen_buffers(1)[0])
        gl.buffer_data(GL.SHADER_STORAGE_BUFFER, data.nbytes, data.tobytes(), GL.STATIC_DRAW)
    gl.bind_buffer(
        GL.SHADER_STORAGE_BUFFER, gl.get_integeri_v(GL.SHADER_STORAGE_BUFFER_BINDING, 0)[0]
    )
    gl.dispatch_compute(GROUPS, 1, 1)
    data = gl.get_buffer_sub_data(GL.SHADER_STORAGE_BUFFER, 0, 32 * GROUPS * size)
    assert gl.get_error() == 0
    return np.frombuffer(data, np.int32).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("size", [5, 16, 33, 64, 100])
@pytest.mark.parametrize("seed", range(3))
def test_random_programs_with_barriers(contexts: dict[str, Any], seed: int, size: int) -> None:
    body = _Writer(seed * 1000 + size, size).statements(0, True, ())
    source = HEAD.format(size=size, body=body)
    wanted, got = (found(contexts[driver], source, size) for driver in ("numpipe", "jit"))
    assert got == wanted, source


LONG = """#version 430
layout(local_size_x = {size}) in;
layout(std430, binding = 0) buffer Data {{ float data[]; }};
shared float part[{size}];
void main() {{
    uint me = gl_LocalInvocationIndex;
    {first} part[me] = v0; barrier();
    data[me] = part[me ^ 1u] {second};
}}"""


def test_code_of_a_workgroup_does_not_grow_with_it() -> None:
    texts = []
    for size in (64, 1024):
        source = LONG.format(
            size=size,
            first=" ".join(f"float v{k} = data[me + {k}];" for k in range(40)),
            second=" ".join(f"+ v{k} * v{(k * 7) % 40}" for k in range(40)),
        )
        compiled = compile_shader(Stage.COMPUTE, [source], CompileOptions())
        linked = link_program([compiled], LinkOptions())
        assert linked.ok, linked.info_log
        made = emit_chunk(linked.shaders[Stage.COMPUTE])
        assert (made.w, made.step) == (machine().lanes, size)
        assert made.memory >= 40 * 4 * size
        texts.append(made.text)
        for shader in linked.shaders.values():
            shader.unref()
    assert len(texts[1]) < len(texts[0]) + 200

"""Transform feedback captures what the name says: members of structures, elements, blocks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.native.context import NativeContext
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

SIZES = {
    "float": 1, "vec2": 2, "vec3": 3, "vec4": 4, "mat2": 4, "mat3x2": 6, "mat2x3": 6,
    "double": 1, "dvec2": 2, "dvec3": 3,
}  # fmt: skip
ROOM = 1024


@pytest.fixture(params=["numpipe", "jit", pytest.param("native", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[Any]:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (4, 4)}
    native = request.param == "native"
    context = native_context(**options) if native else create_context(request.param, **options)
    context.bind_vertex_array(context.gen_vertex_arrays(1)[0])
    context.enable(GL.RASTERIZER_DISCARD)
    yield context
    context.release()


@dataclass
class Outputs:
    """Declarations, and what is written: every component has a number of its own."""

    rng: random.Random
    kinds: list[str]
    count: int = 0
    body: list[str] = field(default_factory=list)
    values: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    structs: list[str] = field(default_factory=list)

    def plain(self, path: str, kind: str, length: int) -> None:
        """A number, vector or matrix, or an array of `length` of them."""
        numbers = []
        for i in range(length or 1):
            place = f"{path}[{i}]" if length else path
            own = [self.count + k + 1 for k in range(SIZES[kind])]
            self.count += len(own)
            self.body.append(f"{place} = {kind}({', '.join(f'{n}.0' for n in own)});")
            self.values[place] = np.array(own, np.float64 if kind[0] == "d" else np.float32)
            numbers.append(self.values[place])
        if length:
            self.values[path] = np.concatenate(numbers)

    def some(self) -> tuple[str, int]:
        return self.rng.choice(self.kinds), self.rng.choice((0, 0, 1, 2, 3))

    def struct(self, path: str, length: int) -> str:
        """A structure or an array of them; its type."""
        members = [self.some() for _ in range(self.rng.randint(2, 4))]
        name = f"S{len(self.structs)}"
        texts = [f"{kind} m{i}{f'[{n}]' if n else ''};" for i, (kind, n) in enumerate(members)]
        self.structs.append(f"struct {name} {{ {' '.join(texts)} }};")
        for k in range(length or 1):
            for i, (kind, n) in enumerate(members):
                self.plain(f"{path}[{k}].m{i}" if length else f"{path}.m{i}", kind, n)
        return name


def captured(gl: Any, source: str, names: list[str]) -> bytes:
    """The buffer after one point."""
    program = linked(gl, captured=names, vertex=source)
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, ROOM, bytes(ROOM), GL.STATIC_READ)
    gl.begin_transform_feedback(GL.POINTS)
    gl.draw_arrays(GL.POINTS, 0, 1)
    gl.end_transform_feedback()
    found = np.zeros(ROOM, np.uint8)
    gl.get_buffer_sub_data(GL.TRANSFORM_FEEDBACK_BUFFER, 0, ROOM, found)
    assert gl.get_error() == 0
    gl.use_program(0)
    gl.delete_program(program)
    return found.tobytes()


def test_any_part_of_an_output_can_be_named(gl: Any) -> None:
    for seed in range(12):
        any_part(gl, seed)


def test_members_of_a_block_follow_its_offset(gl: Any) -> None:
    """Each behind the one before, doubles at multiples of 8; but where one says its own."""
    for seed in range(20):
        members_of_a_block(gl, seed)


def any_part(gl: Any, seed: int) -> None:
    # Mesa captures other components where arrays of structures hold doubles.
    kinds = [k for k in SIZES if k[0] != "d" or not isinstance(gl, NativeContext)]
    outputs = Outputs(random.Random(seed), kinds)
    declared = []
    for i in range(2):
        length = outputs.rng.choice((0, 2))
        kind = outputs.struct(f"s{i}", length)
        declared.append(f"flat out {kind} s{i}{f'[{length}]' if length else ''};")
    kind, length = outputs.some()
    outputs.plain("p", kind, length)
    declared.append(f"flat out {kind} p{f'[{length}]' if length else ''};")
    source = "\n".join(("#version 450", *outputs.structs, *declared, "void main() {",
                        "gl_Position = vec4(0.0);", *outputs.body, "}"))  # fmt: skip
    # A name, and elements of it, are not captured together; doubles come first, where they fit.
    roots = sorted({n.rpartition("[")[0] if n.endswith("]") else n for n in outputs.values})
    outputs.rng.shuffle(roots)
    names = []
    for root in roots:
        parts = [n for n in outputs.values if n.startswith(root + "[") and n.endswith("]")]
        names.append(outputs.rng.choice([root, *parts]))
    names.sort(key=lambda n: -outputs.values[n].itemsize)
    room = 64 * 4  # what one buffer takes at least
    while sum(outputs.values[n].nbytes for n in names) > room:
        names.pop(outputs.rng.randrange(len(names)))
    expected = b"".join(outputs.values[n].tobytes() for n in names)
    assert captured(gl, source, names)[: len(expected)] == expected, source + str(names)


def members_of_a_block(gl: Any, seed: int) -> None:
    outputs = Outputs(random.Random(seed), list(SIZES))
    rng = outputs.rng
    begin = at = rng.choice((0, 8, 16))
    expected, members = bytearray(ROOM), []
    for i in range(rng.randint(2, 5)):
        kind, length = outputs.some()
        outputs.plain(f"b.m{i}", kind, length)
        value = outputs.values[f"b.m{i}"]
        own = ""
        unaligned = at % 8 and isinstance(gl, NativeContext)  # Mesa wants it said
        at = -(-at // value.itemsize) * value.itemsize
        if rng.random() < 0.3 or unaligned:
            at = -(-at // 8) * 8 + rng.choice((0, 8, 16))
            own = f"layout(xfb_offset = {at}) "
        members.append(f"{own}{kind} m{i}{f'[{length}]' if length else ''};")
        expected[at : at + value.nbytes] = value.tobytes()
        at += value.nbytes
    source = "\n".join(("#version 450", f"layout(xfb_offset = {begin}) out B {{", *members,
                        "} b;", "void main() {", "gl_Position = vec4(0.0);", *outputs.body,
                        "}"))  # fmt: skip
    assert captured(gl, source, []) == bytes(expected), source

"""Arguments of compute shaders: every kind and type, where it goes, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError, InputError
from gallette.compute import ComputeShader, Image, Program
from gallette.compute.device import Device, three

HEAD = "#version 460\nlayout(local_size_x = 4) in;\n"
OUT = "layout(std430, binding = 0) buffer Out { float found[]; };\n"


def made(body: str, declared: str = "") -> ComputeShader:
    return ComputeShader(f"{HEAD}{OUT}{declared}void main() {{ {body} }}\n", name="a.comp")


def results(shader: ComputeShader, size: int = 8, grid: Any = 1, **named: Any) -> list[float]:
    found = np.zeros(size, np.float32)
    with shader:
        shader(found, grid=grid, **named)
    return found.tolist()


UNIFORMS: dict[str, tuple[str, Any, list[float]]] = {
    "float": ("float(u)", 2.5, [2.5]),
    "int": ("float(u)", -3, [-3]),
    "uint": ("float(u - 4000000000u)", 4000000007, [7]),
    "bool": ("u ? 5.0 : 6.0", 3, [5]),
    "double": ("float(u * 2.0LF)", 1.25, [2.5]),
    "vec2": ("u", [1, 2], [1, 2]),
    "ivec3": ("vec3(u)", [-1, 2, 3], [-1, 2, 3]),
    "dvec2": ("vec2(u)", [0.5, 2], [0.5, 2]),
    "bvec2": ("vec2(u)", [0, 9], [0, 1]),
    "mat2x3": ("vec4(u[0][2], u[1][0], u[1][1], u[1][2])", [[1, 2, 3], [4, 5, 6]], [3, 4, 5, 6]),
    "mat2": ("vec4(u[0], u[1])", [[1, 2], [3, 4]], [1, 2, 3, 4]),
}


@pytest.mark.parametrize("type", UNIFORMS)
def test_uniforms_are_stored_as_their_types_say(type: str) -> None:
    expression, value, wanted = UNIFORMS[type]
    kind = "float" if len(wanted) == 1 else f"vec{len(wanted)}"
    store = " ".join(f"found[{i}] = r{f'[{i}]' * (len(wanted) > 1)};" for i in range(len(wanted)))
    shader = made(f"{kind} r = {kind}({expression}); {store}", f"uniform {type} u;\n")
    assert [(a.name, a.kind, a.type) for a in shader.arguments[1:]] == [("u", "uniform", type)]
    assert results(shader, u=value)[: len(wanted)] == wanted


@pytest.mark.parametrize("type", ["float", "vec2", "mat2", "vec3", "double"])
def test_arrays_of_uniforms(type: str) -> None:
    """What is left out stays 0, what is too much goes nowhere."""
    last = {"float": "", "double": "", "vec2": "[1]", "vec3": "[2]", "mat2": "[1][1]"}[type]
    size = {"float": 1, "double": 1, "vec2": 2, "vec3": 3, "mat2": 4}[type]
    body = f"for (int i = 0; i < 3; i++) found[i] = float(u[i]{last});"
    for count in (2, 3, 4):
        shader = made(body, f"uniform {type} u[3];\n")
        assert shader.arguments[1].name == "u"
        values = np.arange(1, count * size + 1)
        whole = [float((i + 1) * size) if i < count else 0 for i in range(3)]
        assert results(shader, u=values)[:3] == whole


def test_values_that_shaders_say_themselves_stay_until_others_are_given() -> None:
    shader = made("found[0] = a; found[1] = b[1];",
                  "uniform float a = 1.5; uniform float b[2] = float[](3.0, 4.0);")  # fmt: skip
    found = np.zeros(2, np.float32)
    with shader:
        for named, wanted in (({}, [1.5, 4]), ({"a": 7}, [7, 4]), ({"b": [5, 6]}, [1.5, 6])):
            shader(found, grid=1, **named)
            assert found.tolist() == wanted
        with pytest.raises(GalletteError, match="uniform a is a float, not 'x'"):
            shader(found, grid=1, a="x")


def test_matrices_of_rows() -> None:
    """A block's layout is its own; uniforms outside of blocks are always columns."""
    shader = made(
        "found[0] = m[1][0]; found[1] = m[0][1]; found[2] = last;",
        "layout(std140, row_major) uniform Block { mat2 m; float last; };",
    )
    block = np.zeros(12, np.float32)
    block[[1, 4, 8]] = 1, 2, 3  # row 0, column 1; row 1, column 0; what comes after
    assert [a.kind for a in shader.arguments] == ["storage", "block"]
    assert shader.arguments[1].type == "48 bytes"
    assert results(shader, Block=block)[:3] == [1, 2, 3]


def test_counters_have_buffers() -> None:
    shader = made(
        "found[gl_GlobalInvocationID.x] = float(atomicCounterIncrement(a));"
        " if (gl_GlobalInvocationID.x == 0u) atomicCounterAdd(b, 5u);",
        "layout(binding = 2, offset = 4) uniform atomic_uint a;\n"
        "layout(binding = 2, offset = 8) uniform atomic_uint b;\n",
    )
    argument = shader.arguments[1]
    assert (argument.name, argument.kind, argument.type) == ("counters2", "counters", "12 bytes")
    counters = np.array([7, 10, 20], np.uint32)
    assert sorted(results(shader, 8, 2, counters2=counters)) == [*range(10, 18)]
    assert counters.tolist() == [7, 18, 25]


def test_arrays_of_images_and_samplers() -> None:
    shader = made(
        "found[0] = texture(s[0], vec2(0.5)).x; found[1] = texture(s[1], vec2(0.5)).y;"
        " imageStore(p[0], ivec2(0, 0), vec4(3.0)); imageStore(p[1], ivec2(1, 0), vec4(4.0));",
        "uniform sampler2D s[2];\nlayout(rgba32f) uniform image2D p[2];\n",
    )
    names = [(a.name, a.kind) for a in shader.arguments[1:]]
    assert sorted(names) == [
        ("p[0]", "image"), ("p[1]", "image"), ("s[0]", "sampler"), ("s[1]", "sampler"),
    ]  # fmt: skip
    textures = [np.full((2, 2, 4), v, np.float32) for v in (0.25, 0.75)]
    pictures = [np.zeros((1, 2, 4), np.float32) for _ in range(2)]
    fixed = pictures[1].copy()
    fixed.flags.writeable = False  # nothing is written to what cannot be written
    named = {"s[0]": textures[0], "s[1]": Image(textures[1]), "p[0]": pictures[0], "p[1]": fixed}
    assert results(shader, **named)[:2] == [0.25, 0.75]
    assert pictures[0].tolist() == [[[3.0] * 4, [0.0] * 4]]
    assert not fixed.any()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s, f: s(f, 1, 2, grid=1), "a.comp takes 2 arguments, not 3"),
        (lambda s, f: s(f, grid=1, v=1), "a.comp has no argument 'v'; arguments: Out, u"),
        (lambda s, f: s(f, 1, grid=1, u=2), "u is given twice"),
        (lambda s, f: s(grid=1), "a.comp needs the arguments Out"),
        (lambda s, f: s([1.0], grid=1), "argument Out needs a contiguous NumPy array"),
        (lambda s, f: s(f[::2], grid=1), "argument Out needs a contiguous NumPy array"),
        (lambda s, f: s(f, grid=1, block=8), "a.comp declares workgroups of (4, 1"),
        (lambda s, f: s(f, grid=1, block=0), "a workgroup has at least one invocation"),
        (lambda s, f: s(f, grid=(1, 2, 3, 4)), "grid is one to three numbers below 65536"),
        (lambda s, f: s(f, grid=()), "grid is one to three numbers below 65536"),
        (lambda s, f: s(f, grid=65536), "grid is one to three numbers below 65536"),
        (lambda s, f: s(f, grid=-1), "grid is one to three numbers below 65536"),
        (lambda s, f: s(f, grid="x"), "grid is one to three numbers, not 'x'"),
        (lambda s, f: s(f, grid=[None]), "grid is one to three numbers, not [None]"),
    ],
)
def test_what_is_refused(call: Callable[[Any, Any], Any], text: str) -> None:
    with made("found[0] = u;", "uniform float u;") as shader:
        with pytest.raises(GalletteError, match=re.escape(text)):
            call(shader, np.zeros(4, np.float32))
        found = np.zeros(4, np.float32)
        shader(found, 2, grid=1, block=(4, 1))
        assert found[0] == 2


def test_sizes_are_three() -> None:
    assert three(5, "grid") == (5, 1, 1)
    assert three((5, 6), "grid") == (5, 6, 1)
    assert three([5, 6, 7], "block") == (5, 6, 7)
    assert three((65535, 0), "grid") == (65535, 0, 1)


def test_nothing_runs_where_there_are_no_groups() -> None:
    for grid in (0, (1, 0), (1, 1, 0)):
        assert results(made("found[0] = 1.0;"), 2, grid) == [0, 0]
    assert results(made("found[0] += 1.0;"), 2, (1, 1, 1)) == [1, 0]


def test_workgroups_whose_size_is_given_with_the_call() -> None:
    text = (
        "#version 450\n#extension GL_ARB_compute_variable_group_size : require\n"
        f"layout(local_size_variable) in;\n{OUT}"
        "void main() { found[gl_LocalInvocationIndex] = float(gl_LocalGroupSizeARB.x); }\n"
    )
    with ComputeShader(text) as shader:
        assert shader.block is None
        for block, wanted in ((None, [1, 0, 0, 0]), (2, [2, 2, 0, 0]), ((2, 2), [2, 2, 2, 2])):
            found = np.zeros(4, np.float32)
            shader(found, grid=1, block=block)
            assert found.tolist() == wanted
        shader(np.zeros(1024, np.float32), grid=1, block=(32, 32))
        with pytest.raises(
            GalletteError, match=re.escape("(32, 33, 1) has more than 1024 invocations")
        ):
            shader(np.zeros(2000, np.float32), grid=1, block=(32, 33))


def test_shaders_and_programs_of_files(tmp_path: Path) -> None:
    path = tmp_path / "a.comp"
    path.write_text(f"{HEAD}{OUT}void main() {{ found[0] = 3.0; }}\n")
    with ComputeShader.from_file(path) as shader:
        assert shader.name == str(path)
        found = np.zeros(1, np.float32)
        shader(found, grid=1)
        assert found[0] == 3
    (tmp_path / "b.comp").write_bytes(b"\xff\xfe")
    for make, name, text in (
        (ComputeShader.from_file, "none.comp", "cannot read {}: No such file or directory"),
        (ComputeShader.from_file, "b.comp", "{} is not text"),
        (Program.from_file, "none.spv", "cannot read {}: No such file or directory"),
    ):
        where = tmp_path / name
        with pytest.raises(InputError, match=re.escape(text.format(where))):
            make(where)
    kernels = Path(__file__).parent / "kernels.spvasm"
    with Program.from_file(kernels) as program:
        assert "saxpy" in program.kernels
        binary = tmp_path / "kernels.spv"
        binary.write_bytes(program.module.to_bytes())
    with Program.from_file(binary) as again:
        assert again.kernels == program.kernels
    for text, part in (("nonsense", "error"), (f"{HEAD}void f();\nvoid main() {{ f(); }}", "f")):
        with pytest.raises(GalletteError, match=part):
            ComputeShader(text)


def test_drivers_without_compute_shaders_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from gallette.compute import device

    screens: list[Any] = []
    create = device.create_screen

    class Less:
        def __init__(self, screen: Any) -> None:
            self.screen, self.destroyed = screen, False
            self.caps = type("Caps", (), {"stages": ("vertex", "fragment")})

        def destroy(self) -> None:
            self.destroyed = True
            self.screen.destroy()

    def less(driver: str, **options: Any) -> Any:
        screens.append(Less(create(driver, **options)))
        return screens[-1]

    monkeypatch.setattr(device, "create_screen", less)
    with pytest.raises(GalletteError, match="driver 'numpipe' has no compute shaders"):
        Device("numpipe")
    assert screens[0].destroyed


def test_everything_is_given_back() -> None:
    """Whatever a launch bound or made is gone after it, also after one that failed."""
    shader = made("found[0] = texture(s, vec2(0.5)).x + b;",
                  "uniform sampler2D s;\nuniform Block { float b; };")  # fmt: skip
    found, texture = np.zeros(4, np.float32), np.full((2, 2, 4), 0.5, np.float32)
    with shader:
        live = shader.device.screen.resources.live
        shader(found, np.ones(4, np.float32), texture, grid=1)
        assert found[0] == 1.5
        before = len(live)
        for _ in range(3):
            shader(found, np.ones(4, np.float32), texture, grid=1)
        assert len(live) == before == 0
        stage = shader.device.pipe.bound.stages
        for bindings in stage.values():
            assert not any(v is not None for v in bindings.views)
            assert not any(v is not None for v in bindings.constants)
            assert not any(v is not None for v in bindings.buffers)


def test_images_are_contiguous_arrays_of_few_axes() -> None:
    for array, dimensions, text in (
        ([1.0], 2, "an image needs a contiguous NumPy array"),
        (np.zeros((4, 4), np.float32)[:, ::2], 2, "an image needs a contiguous NumPy array"),
        (np.zeros(4, np.float32), 2, "1 axes for an image of 2 dimensions"),
        (np.zeros((1, 2, 3, 4), np.float32), 2, "4 axes for an image of 2 dimensions"),
        (np.zeros((2, 2), np.float32), 0, "2 axes for an image of 0 dimensions"),
        (np.zeros((2, 2, 2, 2, 2), np.float32), 4, "5 axes for an image of 4 dimensions"),
        (np.zeros((2, 2, 3), np.float32), 2, "an image has 1, 2 or 4 components, not 3"),
        (np.zeros((2, 0, 4), np.float32), 2, "an image has at least one texel"),
    ):
        with pytest.raises(GalletteError, match=text):
            Image(array, dimensions=dimensions)  # type: ignore[arg-type]
    image = Image(np.zeros((5, 4, 3, 2), np.uint8), dimensions=3)
    assert (image.extent, image.format.name) == ((3, 4, 5), "R8G8_UNORM")
    assert image.rows.shape == (5, 4, 6)
    assert Image(np.zeros((7, 1), np.int16), dimensions=1, integer=True).extent == (7, 1, 1)
    for dtype, integer, name in (
        (np.int16, True, "R16_SINT"), (np.int16, False, "R16_SNORM"), (np.uint8, True, "R8_UINT"),
        (np.uint8, False, "R8_UNORM"), (np.float32, False, "R32_FLOAT"),
    ):  # fmt: skip
        assert Image(np.zeros((2, 3), dtype), integer=integer).format.name == name

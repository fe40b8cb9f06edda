"""What the debugger's interpreter is given is what the driver had: it computes the same results.

Small shaders, each of which asks for something else (varyings at all places, textures of all kinds,
images, system values, attributes), are run by the driver and again by the interpreter, from inside
the pixel and from its neighbours.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from gallette.compiler.errors import GalletteError
from gallette.debugger import debug_fragment, debug_invocation, debug_vertex
from gallette.debugger.records import Session
from gallette.debugger.terminal import HELP, Stepper

HEAD = """[require]
GL >= 4.5
GLSL >= 4.50
SIZE 8 8
[vertex shader]
#version 450
in vec4 piglit_vertex;
out vec2 smooth_one;
noperspective out vec2 straight;
centroid out vec2 inside;
sample out vec2 sampled;
flat out vec2 flat_one;
flat out ivec2 numbers;
flat out dvec2 wide;
void main() {
    gl_Position = vec4(piglit_vertex.xy, 0.0, 1.0 + 0.5 * piglit_vertex.x) * 1.5;
    smooth_one = piglit_vertex.xy * 3.0;
    straight = piglit_vertex.yx;
    inside = piglit_vertex.xy + 4.0;
    sampled = piglit_vertex.xy + 5.0;
    flat_one = piglit_vertex.xy * 0.3;
    numbers = ivec2(piglit_vertex.xy * 10.0);
    wide = dvec2(piglit_vertex.xy) / 3.0LF;
}
[fragment shader]
#version 450
in vec2 smooth_one;
noperspective in vec2 straight;
centroid in vec2 inside;
sample in vec2 sampled;
flat in vec2 flat_one;
flat in ivec2 numbers;
flat in dvec2 wide;
layout(location = 0) out vec4 color;
"""
TAIL = """
[test]
texture rgbw 0 (4, 4)
texparameter 2D mag linear
texture miptree 1
texture integer 2 (4, 4) (16, 1) GL_RGBA8I
texture shadow2D 3 (8, 8)
texparameter 2D compare_func greater
texture rgbw 2DArray 4 (2, 2, 4)
texture storage 5 2D GL_RGBA32UI (1 8 8)
image texture 5 GL_RGBA32UI
uniform int a 0
uniform int mipped 1
uniform int whole 2
uniform int shadow 3
uniform int layers 4
uniform int store 5
uniform int empty 9
ssbo 0 64
ssbo 0 subdata float 8 0.75
clear color 0 0 0 0
clear
draw rect -0.6 -0.5 1.2 1.1
"""
FLOATS: dict[str, str] = {
    "smooth": "color = vec4(smooth_one, dFdx(smooth_one.x), fwidth(smooth_one.y));",
    "straight": "color = vec4(straight, dFdy(straight));",
    "centroid": "color = vec4(inside, interpolateAtCentroid(smooth_one));",
    "sample": "color = vec4(sampled, interpolateAtSample(smooth_one, 0));",
    "offset": "color = vec4(interpolateAtOffset(smooth_one, vec2(0.25, -0.125)),"
    " interpolateAtOffset(straight, vec2(-0.5, smooth_one.x * 0.1)));",
    "flat": "color = vec4(flat_one, vec2(numbers));",
    "wide": "color = vec4(wide, vec2(wide * 3.0LF));",
    "place": "color = vec4(gl_FragCoord.xy, gl_FragCoord.zw);",
    "facing": "color = vec4(gl_FrontFacing, gl_PrimitiveID, gl_SampleID, gl_HelperInvocation);",
    "texture": "color = texture(a, smooth_one);",
    "bias": "color = texture(mipped, straight * 0.3, 1.0);",
    "lod": "color = textureLod(mipped, straight, 2.2);",
    "asked lod": "color = vec4(textureQueryLod(mipped, smooth_one * 2.0), 0.0, 1.0);",
    "gradients": "color = textureGrad(mipped, straight, vec2(0.3, 0.0), vec2(0.0, 0.4));",
    "offset of texels": "color = textureOffset(a, smooth_one, ivec2(1, -1));",
    "fetched": "color = texelFetch(a, ivec2(gl_FragCoord.xy) & 3, 0);",
    "size": "color = vec4(textureSize(mipped, 1), textureQueryLevels(mipped), 1.0);",
    "gathered": "color = textureGather(a, straight, 1);",
    "gathered places": "const ivec2 at[4] = ivec2[](ivec2(0), ivec2(1, 2), ivec2(-3, 1), ivec2(2));"
    " color = textureGatherOffsets(a, straight, at, 2);",
    "compared": "color = vec4(texture(shadow, vec3(straight, 0.3)),"
    " textureLod(shadow, vec3(straight, 0.7), 0.0), 0.0, 1.0);",
    "gathered comparisons": "color = textureGather(shadow, straight, 0.4);",
    "layers": "color = texture(layers, vec3(straight, 2.0));",
    "whole numbers": "color = vec4(texelFetch(whole, ivec2(gl_FragCoord.xy) & 3, 0));",
    "nothing there": "color = texture(empty, straight) + 0.25;",
    "units in turn": "int i = int(gl_FragCoord.x) & 1; color = texture(both[i], straight);",
    "buffer": "color = vec4(words[2], words[3], float(words.length()), 1.0);",
    "uniforms": "color = vec4(a_float, several[1], several[int(gl_FragCoord.x) & 1], 1.0);",
}
DECLARED = """
uniform sampler2D a;
uniform sampler2D mipped;
uniform isampler2D whole;
uniform sampler2DShadow shadow;
uniform sampler2DArray layers;
uniform sampler2D empty;
uniform sampler2D both[2];
layout(rgba32ui) uniform uimage2D store;
layout(std430, binding = 0) buffer Words { float words[]; };
uniform float a_float = 0.5;
uniform float several[2] = float[](0.1, 0.2);
"""


def written(folder: Path, body: str, tail: str = TAIL, head: str = HEAD) -> str:
    """A file with a test; uniforms that the body does not name are not set."""
    lines = [
        line
        for line in tail.splitlines()
        if not line.startswith("uniform int") or re.search(rf"\b{line.split()[2]}\b", body)
    ]
    path = folder / "a.shader_test"
    if "both" in body:
        lines[-3:-3] = ["uniform int both[0] 0", "uniform int both[1] 1"]
    path.write_text(f"{head}{DECLARED}void main() {{ {body} }}\n" + "\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("what", FLOATS)
def test_the_interpreter_computes_what_the_driver_did(what: str, tmp_path: Path) -> None:
    target = written(tmp_path, FLOATS[what])
    for x, y in ((3, 4), (4, 2)):
        session, history = debug_fragment(target, x, y)[:2]
        assert session.note == ""
        assert session.driver_outputs["colour 0"]
        theirs = session.driver_outputs["colour 0"]
        assert session.outputs["data0"] == pytest.approx(theirs, rel=2e-6, abs=1e-6), (x, y)
        assert len(history.events) >= 1
    if what == "place":
        assert session.outputs["data0"][:2] == [4.5, 2.5]
    if what == "nothing there":  # black, with alpha 1
        assert session.outputs["data0"] == [0.25, 0.25, 0.25, 1.25]
    if what == "size":
        assert session.outputs["data0"] == [4, 4, 4, 1]
    if what == "buffer":
        assert session.outputs["data0"] == [0.75, 0, 16, 1]
    if what == "facing":
        assert session.outputs["data0"][:1] == [1.0]


def test_where_nothing_is_written(tmp_path: Path) -> None:
    target = written(tmp_path, "if (gl_FragCoord.x < 4.0) discard; color = vec4(0.5);")
    assert debug_fragment(target, 3, 3)[0].note == "discarded"
    session = debug_fragment(target, 4, 3)[0]
    assert session.note == ""
    assert session.outputs["data0"] == [0.5] * 4


def test_stores_of_an_invocation_are_listed(tmp_path: Path) -> None:
    body = """
    ivec2 at = ivec2(gl_FragCoord.xy);
    imageStore(store, at, uvec4(1u, 2u, 3u, 4u));
    uvec4 again = imageLoad(store, at);
    uvec4 other = imageLoad(store, ivec2(0, 7));
    words[5] = 0.25 * float(at.x);
    color = vec4(again) + vec4(other) * 8.0;
    """
    session = debug_fragment(written(tmp_path, body), 4, 3)[0]
    assert session.stores == ["image 0 (4, 3) = (1, 2, 3, 4)", "buffer 0, byte 20 = 1"]
    assert session.outputs["data0"] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("kind", "format", "values"),
    [("ivec4", "GL_RGBA32I", [-3, 4, 5, -6]), ("uvec4", "GL_RGBA32UI", [3, 4, 5, 1 << 31])],
)
def test_integers_are_shown_as_integers(
    kind: str, format: str, values: Sequence[int], tmp_path: Path
) -> None:
    head = HEAD.replace("out vec4 color;", f"out {kind} color;")
    spelled = ", ".join(f"{v}u" if kind == "uvec4" else str(v) for v in values)
    tail = f"""[test]
texture storage 0 2D {format} (1 8 8)
fb tex 2d 0
draw rect -1 -1 2 2
"""
    target = written(tmp_path, f"color = {kind}({spelled});", tail, head)
    session = debug_fragment(target, 4, 3)[0]
    assert session.outputs["data0"] == values
    assert session.driver_outputs["colour 0"] == values


VERTICES = """[require]
GL >= 4.5
GLSL >= 4.50
SIZE 8 8
[vertex shader]
#version 450
in vec2 corner;
in ivec2 number;
in uint natural;
in dvec2 wide;
out vec4 one;
flat out ivec4 two;
uniform float scale;
void main() {
    gl_Position = vec4(corner * scale, 0.0, 1.0);
    one = vec4(vec2(wide), float(gl_VertexID), float(gl_InstanceID));
    two = ivec4(number, int(natural), gl_BaseVertexARB);
}
[fragment shader]
#version 450
in vec4 one;
flat in ivec4 two;
out vec4 color;
void main() { color = one + vec4(two); }
[vertex data]
corner/float/2 number/int/2 natural/uint/1 wide/double/2
-1.0 -1.0  -7 8  4000000000  0.1 0.2
 1.0 -1.0  -5 6  2           0.3 0.4
-1.0  1.0  -3 4  3           0.5 0.6
[test]
uniform float scale 0.5
clear color 0 0 0 0
clear
draw arrays instanced GL_TRIANGLES 0 3 2
"""


@pytest.mark.parametrize(("vertex", "instance"), [(0, 0), (1, 1), (2, 0)])
def test_a_vertex_has_its_attributes(vertex: int, instance: int, tmp_path: Path) -> None:
    path = tmp_path / "a.shader_test"
    path.write_text(
        VERTICES.replace("#version 450\nin vec2 corner",
                         "#version 450\n#extension GL_ARB_shader_draw_parameters : enable\n"
                         "in vec2 corner")
    )  # fmt: skip
    session = debug_vertex(str(path), vertex, instance=instance)
    rows = [
        ([-1, -1], [-7, 8, 4000000000 - (1 << 32), 0], [0.1, 0.2]),
        ([1, -1], [-5, 6, 2, 0], [0.3, 0.4]),
        ([-1, 1], [-3, 4, 3, 0], [0.5, 0.6]),
    ]
    corner, numbers, wide = rows[vertex]
    assert session.outputs["pos"] == [corner[0] / 2, corner[1] / 2, 0, 1]
    assert session.outputs["var0"] == pytest.approx([*wide, vertex, instance])
    assert session.outputs["var1"] == numbers
    known = session.watch(len(session.steps) - 1)
    assert known["corner"].values == corner
    assert known["scale"].values == [0.5]
    assert session.lane == 0


COMPUTE = """[require]
GL >= 4.3
GLSL >= 4.30
[compute shader]
#version 430
layout(local_size_x = 2, local_size_y = 2) in;
layout(rgba32f) uniform image2D picture;
layout(std430, binding = 1) buffer Words { uint first; int second; uint third; };
layout(binding = 0, offset = 4) uniform atomic_uint counted;
shared uint sum;
void main() {
    if (gl_LocalInvocationIndex == 0u) sum = 0u;
    barrier();
    atomicAdd(sum, gl_LocalInvocationIndex);
    barrier();
    uint whole = sum;
    atomicMax(second, -int(gl_GlobalInvocationID.x));
    atomicCompSwap(third, 5u, 6u);
    atomicCounterIncrement(counted);
    imageStore(picture, ivec2(gl_GlobalInvocationID.xy),
               vec4(gl_WorkGroupID.x, gl_LocalInvocationID.y, gl_NumWorkGroups.xy));
    if (gl_GlobalInvocationID == uvec3(3, 1, 0)) first = whole;
}
[test]
atomic counters 2
texture storage 0 2D GL_RGBA32F (1 4 4)
image texture 0 GL_RGBA32F
uniform int picture 0
ssbo 1 16
compute 2 2 1
"""


def test_a_compute_invocation_has_its_numbers_and_neighbours(tmp_path: Path) -> None:
    path = tmp_path / "a.shader_test"
    path.write_text(COMPUTE)
    session = debug_invocation(str(path), (3, 1, 0))
    assert session.lane == 3
    assert session.lanes == [f"invocation {i}" for i in range(4)]
    assert "whole" in session.variables
    assert session.source[0] == "#version 430"
    for place in ((4, 0, 0), (0, 4, 0), (0, 0, 1), (-1, 0, 0)):
        with pytest.raises(GalletteError, match="the launch has no invocation"):
            debug_invocation(str(path), place)
    assert session.stores == [
        "buffer 0, byte 4: atomic imax -3",
        "buffer 0, byte 8: atomic compare with 5, swap with 6",
        "counters of binding 0, byte 4: atomic iadd 1",
        "image 0 (3, 1) = (1, 1, 2, 2)",
        "buffer 0, byte 0 = 6",
    ]
    assert session.watch(len(session.steps) - 1)["whole"].values == [6]
    assert debug_invocation(str(path), (0, 3, 0)).lane == 2


# -- the terminal ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Session:
    body = """
    float x = smooth_one.x;
    float y = x * 2.0;
    if (y > 100.0)
        y = 1.0;
    color = vec4(y, x, log(-1.0 - x * x), 1.0);
    """
    return debug_fragment(written(tmp_path_factory.mktemp("walked"), body), 4, 3)[0]


def said(session: Session, *lines: str, echo: bool = False) -> tuple[Stepper, list[str]]:
    out = io.StringIO()
    stepper = Stepper(session, Console(file=out, width=200, color_system=None))
    stepper.run(lines, echo=echo)
    return stepper, out.getvalue().splitlines()


def test_one_walks_there_and_back(walked: Session) -> None:
    last = len(walked.steps) - 1
    shader = sum(not walked.code[step.line].section for step in walked.steps) - 1
    for commands, at in {
        "": 1, "n": 1, "s": 1, "n 3": 3, "s 2;n": 3, "n 3;b": 2, "n 3;b 2": 1, "b": 0, "b 9": 0,
        "c": shader, "end": shader, "n 9999": last, "c;start": 0, "end;n": shader + 1,
        "end;end": last, "o": shader + 1, "o;o": shader + 1, "o;end;n": last,
        "nan": walked.find_nan(-1), "n;x;n 5": 1, "n;exit;n": 1, "n;quit;n": 1,
    }.items():  # fmt: skip
        assert said(walked, commands)[0].at == at, commands
    lines = [walked.source_line(i) for i in range(last + 1)]
    first = next(i for i, line in enumerate(lines) if line != lines[0])
    assert said(walked, "l")[0].at == first
    assert said(walked, "line")[0].at == first
    number = lines[first]
    for command in (f"l {number}", f"line {number}", str(number)):
        assert said(walked, command)[0].at == walked.find_line(number, 0)
    assert said(walked, "c;l")[1][-1] == "nothing further"
    assert said(walked, "c;c;nan")[1][-1] == "every result from here on is a finite number"
    assert said(walked, "l 999")[1][-1] == "nothing more is executed for line 999"
    assert said(walked, "-3")[0].at == first  # no line's number: the next one


def test_commands_can_be_echoed_before_their_output(walked: Session) -> None:
    plain = said(walked, "p x; out")[1]
    echoed = said(walked, "p x; out", echo=True)[1]
    assert [line for line in echoed if not line.startswith("> ")] == plain
    assert [line for line in echoed if line.startswith("> ")] == ["> p x", "> out"]


def test_surroundings_are_shown(walked: Session) -> None:
    at = walked.find_nan(-1)
    assert at is not None
    line = walked.source_line(at)
    numbers = range(max(1, line - 4), min(line + 4, len(walked.source)) + 1)
    assert said(walked, f"n {at}", "src")[1][-len(numbers) :] == [
        f"    {'>' if n == line else ' '}{n:>4}  {walked.source[n - 1]}" for n in numbers
    ]
    code = said(walked, f"n {at}", "nir")[1]
    here = walked.steps[at].line
    marked = [text for text in code if text.startswith("    > ")]
    assert marked == [f"    > {walked.code[here].text}"]
    around = [walked.code[n].text for n in range(max(here - 5, 0), min(here + 6, len(walked.code)))]
    assert [text[6:] for text in code[-len(around) :]] == around
    quads = said(walked, "quad")[1][-4:]
    assert [text[5] for text in quads].count("*") == 1
    helped = [*HELP.splitlines(), ""]
    assert said(walked, "?")[1][-len(helped) :] == helped
    unknown = said(walked, "jump", "q", "nir")[1]  # nothing is obeyed after quitting
    assert unknown[-len(helped) - 1 :] == ["there is no command 'jump'", *helped]


def test_an_empty_shader_has_nothing_to_show() -> None:
    stepper, lines = said(Session("", "fragment", []))
    stepper.show()
    assert lines[-1:] == ["the shader executes nothing"]


def test_watched_variables_are_shown_at_every_step(walked: Session) -> None:
    lines = said(walked, "w x,y", "w x", "end")[1]
    assert [text.split(" ")[7].strip(":") for text in lines[-2:]] == ["x", "y"]
    value = walked.watch(len(walked.steps) - 1)["x"]
    assert f"(line {value.assigned})" in lines[-2]
    assert said(walked, "p y,x")[1][-2:] == [
        "       y: not assigned yet",
        "       x: not assigned yet",
    ]

"""Access to the interface without derefs is what the passes make of derefs.

Every shader here is lowered both ways (see `glsl.lower.direct`); what a driver gets must have the
same instructions, though maybe not in the same order.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import pytest

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.glsl.link.program import LinkOptions
from gallette.compiler.nir.ir import Deref, Shader, Stage
from gallette.compiler.nir.ir.questions import derefs_of
from gallette.compiler.nir.run.optimize import OptimizeOptions
from gallette.compiler.nir.run.pass_runner import recording
from gallette.compiler.nir.run.pipeline import to_driver_form
from gallette.compiler.nir.text.printer import print_shader

SPEC = Path(__file__).resolve().parents[2] / "piglit_subset" / "spec"
STAGES = {f"{stage.value.replace('_', ' ')} shader": stage for stage in Stage}

VERTEX = "#version 330\nin vec4 a;\nout vec4 v;\nvoid main() { gl_Position = a; v = a.wzyx; }\n"
FRAGMENT = "#version 330\nin vec4 v;\nout vec4 color;\nvoid main() { color = v; }\n"

VERTEX_SHADERS = {
    "a part first": "v.x = 1.0; v = a; gl_Position = a;",
    "a part afterwards": "v = a; v.yz = a.xx; gl_Position = a;",
    "read back": "gl_Position = a; v = gl_Position * 2.0; v += gl_Position;",
    "twice": "v = a; gl_Position = a; v = a * 2.0;",
    "in a branch": "v = a; gl_Position = a; if (a.x > 0.0) v = a.yyyy;",
    "in both branches": "gl_Position = a; if (a.x > 0.0) v = a.yyyy; else v = a;",
    "behind a branch": "gl_Position = a; if (a.x > 0.0) v = a.yyyy; v = a;",
    "read in a branch": "v = a; gl_Position = a; if (a.x > 0.0) gl_Position = v;",
    "a return": "v = a; gl_Position = a; if (a.x > 0.0) return; v = a.yyyy;",
    "a return at the end": "v = a; gl_Position = a; return;",
    "in a loop": "gl_Position = a; v = a; for (int i = 0; i < 3; i++) v = v.yzwx * u[i];",
    "by a function": "gl_Position = a; v = a; set(); v.w = 1.0;",
    "again by a function": "set(); v = a; set(); gl_Position = v;",
    "before a function": "v = a; gl_Position = a; set();",
    "behind a function": "set(); v = a; gl_Position = a;",
    "as an argument": "v = a; put(v); gl_Position = a;",
    "by a value that writes it": "gl_Position = a; v = vec4(seen(), v.x, v.y, 1.0);",
    "matrices": "gl_Position = m * a; v = r * a + m[2] + vec4(r[1].x, s[1].n[1], 1.0, 2.0);",
    "columns of attributes": "gl_Position = am * a; v = vec4(am[3].xy, aa[1]);",
    "members": "gl_Position = s[1].p; v = s[0].n[2] * s[1].p * s[1].m[1].xxyy; v.x += s[i].p.x;",
    "booleans": "gl_Position = flag ? a : a.yxzw; v = vec4(flags, 1.0) + vec4(flags.zyx, 0.0);",
    "booleans of members": "gl_Position = h[1].on ? a : h[0].p; v = h[0].on ? h[1].p : a;",
    "never": "gl_Position = a;",
    "by a constant": "gl_Position = vec4(1.0); v = vec4(0.0);",
}
DECLARATIONS = """#version 330
in vec4 a;
in mat4 am;
in vec2 aa[2];
uniform int i;
uniform vec4 u[4];
uniform mat4 m;
layout(row_major) uniform R { mat4 r; };
uniform bool flag;
uniform bvec3 flags;
uniform struct { vec4 p; float n[3]; mat2 m; } s[2];
uniform struct { vec4 p; bool on; } h[2];
out vec4 v;
void set() { v = a + u[1]; }
void put(out vec4 x) { x = v.wzyx; }
float seen() { v = a; return 2.0; }
void main() { BODY }
"""
FRAGMENT_SHADERS = {
    "discard": "color = v; if (v.x > 0.0) discard; other = v.y;",
    "interpolation": "color = v + flat_one + vec4(w, c, sm, np) + gl_FragCoord; other = 1.0;",
    "integers": "color = vec4(n) + vec4(k[1], k[0], 0.0, 1.0); other = gl_PointCoord.x;",
    "system values": "color = gl_FrontFacing ? v : gl_FragCoord; other = gl_PointCoord.y;",
    "textures": "color = texture(t, v.xy) + texture(ts[1], v.xy) + texelFetch(t, ivec2(1), 0);",
    "sizes": "color = vec4(textureSize(t, 0), textureSize(ts[2], 1)); other = 1.0;",
    "a sampler of several": "color = texture(q.t, v.xy) * q.x;",
    "depth": "gl_FragDepth = v.x; color = v; gl_FragDepth = v.y;",
    "at a place": "color = interpolateAtCentroid(v) + v; other = interpolateAtSample(w, 1);",
    "blocks": "color = b.x + b.y[1]; other = b.z.x;",
}
FRAGMENT_DECLARATIONS = """#version 400
in vec4 v;
flat in vec4 flat_one;
in float w;
centroid in float c;
sample in float sm;
noperspective in float np;
flat in ivec4 n;
flat in int k[2];
in B { vec4 x; vec4 y[2]; flat ivec2 z; } b;
uniform sampler2D t;
uniform sampler2D ts[3];
uniform struct { sampler2D t; vec4 x; } q;
layout(location = 0) out vec4 color;
layout(location = 1) out float other;
void main() { BODY }
"""


def forms(sources: list[tuple[Stage, str]], options: CompileOptions) -> list[dict[Stage, Shader]]:
    """What drivers get of a program: lowered directly, and by way of derefs."""
    found = []
    for way in (nullcontext(), recording(texts=False)):
        with way:
            shaders = [compile_shader(stage, text, options) for stage, text in sources]
            if not all(s.ok for s in shaders):
                return []
            program = link_program(shaders, LinkOptions(separable=len(sources) == 1))
        if not program.ok:
            return []
        found.append(program.shaders)
    return found


def instructions(shader: Shader) -> Counter[str]:
    """All of them, with values unnamed; whether a boolean is compared exactly makes no difference
    (and depends on when it was a deref)."""
    text = re.sub(r"%\d+", "%", print_shader(shader)).replace("= ine! ", "= ine ")
    return Counter(line.strip() for line in text.split("\n"))


def assert_same(sources: list[tuple[Stage, str]], options: CompileOptions) -> bool:
    both = forms(sources, options)
    for stage in both[0] if both else ():
        one, other = (shaders[stage] for shaders in both)
        assert instructions(one) == instructions(other)
        assert one.info == other.info
        one.unref()
        other.unref()
    return bool(both)


@pytest.mark.parametrize("name", VERTEX_SHADERS)
@pytest.mark.parametrize("qualifier", ["out", "invariant out", "flat out"])
def test_vertex_shaders_are_the_same_both_ways(name: str, qualifier: str) -> None:
    text = DECLARATIONS.replace("BODY", VERTEX_SHADERS[name])
    text = text.replace("out vec4 v", f"{qualifier} vec4 v")
    assert assert_same([(Stage.VERTEX, text)], CompileOptions())


def test_a_precise_output_is_the_same_both_ways() -> None:
    text = "#version 400\nin vec4 a;\nprecise out vec4 v;\nvoid main() { v = a * a + a * 2.0; }\n"
    assert assert_same([(Stage.VERTEX, text)], CompileOptions())


@pytest.mark.parametrize("name", FRAGMENT_SHADERS)
def test_fragment_shaders_are_the_same_both_ways(name: str) -> None:
    text = FRAGMENT_DECLARATIONS.replace("BODY", FRAGMENT_SHADERS[name])
    assert assert_same([(Stage.FRAGMENT, text)], CompileOptions())


def test_bundled_programs_are_the_same_both_ways() -> None:
    compared = 0
    for path in sorted(SPEC.rglob("*.shader_test"))[::37]:
        parts = re.split(r"^\[(.*?)\]\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        api = "core" if "CORE" in parts[2] else "compat"
        pairs = zip(parts[1::2], parts[2::2], strict=True)
        sources = [(STAGES[name], body.lstrip("\n")) for name, body in pairs if name in STAGES]
        if sources:
            compared += assert_same(sources, CompileOptions(api=api))
    assert compared > 30


def test_plain_access_makes_no_derefs(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so leaves the passes that lower them nothing to do."""
    seen: list[list[Deref]] = []

    def looked_at(shader: Shader, options: OptimizeOptions) -> None:
        seen.append(list(derefs_of(shader)))
        to_driver_form(shader, options)

    monkeypatch.setattr("gallette.compiler.glsl.link.linker.to_driver_form", looked_at)
    assert forms([(Stage.VERTEX, VERTEX), (Stage.FRAGMENT, FRAGMENT)], CompileOptions())
    direct, long_way = seen[:2], seen[2:]
    assert direct == [[], []]
    assert all(long_way)

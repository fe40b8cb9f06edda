"""Control flow that is awkward to structure: ours and glslang's SPIR-V compute what GLSL says."""

from __future__ import annotations

from pathlib import Path

import pytest
from conversions import run_tool

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.glsl.link.program import LinkOptions
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import FRONT_END, to_driver_form
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

HEAD = """#version 450
layout(location = 0) flat in ivec4 a;
layout(location = 0) out ivec4 result;
"""
CASES = {
    "switch that falls through": """
        void main() { int r = 0;
          switch (a.x & 7) { case 0: r += 1; case 1: r += 10; break; case 2: r += 100;
            default: r += 1000; case 5: r += 10000; break; case 6: r = -1; }
          result = ivec4(r, a.x & 7, 0, 0); }""",
    "continue and break out of a switch in a loop": """
        void main() { int r = 0;
          for (int i = 0; i < 9; i++) {
            switch ((i + a.x) & 3) { case 0: continue; case 1: r += i; break;
              case 2: if ((a.y & 1) != 0) break; r += 100; default: r += 1000; }
            r ^= i; if (r > 5000) break; }
          result = ivec4(r); }""",
    "nested loops left from inside": """
        void main() { int r = 0;
          for (int i = 0; i < 5; i++) { int j = 0;
            while (true) { j++; if (j > (a.x & 7)) break; if (((i + j) & 3) == 0) continue;
              r += j; if (r > 40) { result = ivec4(r, i, j, 1); return; } }
            r += i * 100; if (r > 900) break; }
          result = ivec4(r, 0, 0, 2); }""",
    "do while with several ways back": """
        void main() { int i = 0, r = 0;
          do { i++; if ((i & a.x & 3) == 1) continue; r += i; if (r > 30) { r *= 2; continue; }
            r += 1; } while (i < (a.y & 15) && r < 100);
          result = ivec4(r, i, 0, 0); }""",
    "values that only some ways define": """
        int pick(int k) { switch (k) { case 0: return 5; case 1: { int q = a.y * 3; return q; } }
          if (k > 5) { int z = k * k; if (z > 36) return z; } return -k; }
        void main() { int r = pick(a.x & 7); if ((a.x & 3) == 3) discard;
          int t; if ((a.y & 1) == 0) { t = r + 1; } else { t = r * 2; for (int i = 0; i < t; i++)
            { if (i == 3) break; t--; } }
          result = ivec4(r, t, pick(t & 7), 1); }""",
    "switch in a switch in a loop": """
        void main() { int r = 0; int i = 0;
          while (i < 6) { i++;
            switch (a.x & 1) { case 0:
                switch ((a.y + i) & 3) { case 0: r += 1; continue; case 1: r += 2; break;
                  default: r += 4; } r += 8; break;
              default: r += 16; if (i == 4) { i = 100; break; } continue; }
            r += 32; }
          result = ivec4(r, i, 0, 0); }""",
    "parts of what calls give": """
        struct S { float f[3]; mat2 m; vec2 v; ivec3 k[2]; };
        S make(int x) { S s; s.f = float[](float(x), 2.0, 3.0); s.m = mat2(x, 1, 2, 3);
          s.v = vec2(x, -x); s.k[0] = ivec3(x); s.k[1] = ivec3(x, 2, 3); return s; }
        float[3] row(int x) { return float[](1.0, float(x), 3.0); }
        void main() { int i = a.y & 1;
          result = ivec4(int(make(a.x).f[i] + make(3).f[2]), int(make(a.x).m[1].y + row(a.x)[i]),
            int(make(a.x).v.y) + make(a.x).k[i].z + make(4).k[1][i], make(2).f.length()); }""",
    "constants that are indexed": """
        struct P { vec2 v; int n; };
        const P table[3] = P[](P(vec2(1.0, 2.0), 3), P(vec2(4.0), 5), P(vec2(6.0, 7.0), 8));
        const mat2x3 m = mat2x3(1, 2, 3, 4, 5, 6);
        void main() { int i = a.x & 1, j = a.y & 1;
          P p = table[i + j]; bool same = table[i] == table[j];
          result = ivec4(int(p.v[j]) + table[i].n, int(m[i][j] + m[1].z), same ? 1 : 0,
            int((same ? table[0] : p).v.x) + table.length()); }""",
    "arguments that are written to": """
        void swap(inout float x, inout float y) { float z = x; x = y; y = z; }
        void both(out ivec2 p, in ivec2 q, inout ivec2 r[2]) { p = q + r[1]; r[0] = p; r[1].y = 9; }
        void main() { vec4 v = vec4(a); float f[3] = float[](1.0, 2.0, 3.0); ivec3 w = ivec3(0);
          ivec2 r[2] = ivec2[](a.xy, a.zw); int i = a.x & 1;
          swap(v.z, f[i]); swap(v[i + 1], f[2]); both(w.zx, a.yx, r);
          result = ivec4(int(v.x + v.y * 2.0 + v.z * 3.0), int(f[0] + f[1] * 2.0 + f[2]),
            w.z * 3 + w.x + w.y, r[0].x + r[1].y + r[1].x); }""",
    "matrices and numbers of other kinds": """
        void main() { dmat2 d = dmat2(mat2(a.x, 2, 3, a.y)); mat2 m = mat2(d * 0.5LF);
          double e = double(a.z) / 4.0LF; uvec2 u = uvec2(a.xy); bvec4 b = bvec4(a);
          mat3 big = mat3(m); mat2 less = mat2(mat4(float(a.w)));
          result = ivec4(int(m[1].y + float(d[0].x)), int(e * 8.0LF) + int(u.y & 7u),
            int(big[2].z + less[0].x) + int(b.x) + int(any(not(b))), int(determinant(big))); }""",
    "arrays, structures and matrices by value": """
        struct S { mat3 m; float f[3]; ivec2 k; };
        S make(int x) { S s; s.m = mat3(x, 1, 2, 3, 4, 5, 6, 7, 8); s.f[0] = 1.0; s.f[1] = x;
          s.f[2] = 3.0; s.k = ivec2(x, -x); return s; }
        void change(inout S s, out int n) { s.m[1] = vec3(9.0); s.f[s.k.x & 1] += 5.0; n = s.k.y; }
        void main() { S s = make(a.x); int n; S t = s; change(t, n);
          float sum = 0.0; for (int i = 0; i < 3; i++) sum += t.f[i] + (t.m * s.m)[i][a.y & 1];
          result = ivec4(int(sum), n, t == s ? 1 : 0, int(determinant(t.m))); }""",
}


def ours(text: str) -> Shader:
    compiled = compile_shader(Stage.FRAGMENT, [text], CompileOptions())
    assert compiled.ok, compiled.info_log
    linked = link_program([compiled], LinkOptions(separable=True, optimize=False))
    assert linked.ok, linked.info_log
    return linked.shaders[Stage.FRAGMENT]


def assert_alike(expected: Shader, got: Shader) -> None:
    to_driver_form(expected)
    to_driver_form(got)
    for seed in range(4):
        environment = Environment(seed=seed, lanes=32)
        difference = interpret(expected, environment).same_as(interpret(got, environment))
        assert difference == ""


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name: str) -> None:
    shader = ours(HEAD + CASES[name])
    original = clone_shader(shader)
    run_passes(shader, FRONT_END, None)
    optimize(shader)
    module = nir_to_spirv(shader)
    assert_alike(original, spirv_to_nir(read_module(module.to_bytes())))


@pytest.mark.parametrize("name", CASES)
def test_from_glslang(name: str, tmp_path: Path) -> None:
    source, module = tmp_path / "case.frag", tmp_path / "case.spv"
    source.write_text(HEAD + CASES[name])
    run_tool("glslangValidator", "-V", source, "-o", module)
    assert_alike(ours(HEAD + CASES[name]), spirv_to_nir(read_module(module.read_bytes())))


@pytest.mark.parametrize("name", CASES)
def test_what_we_write_is_valid(name: str) -> None:
    shader = ours(HEAD + CASES[name])
    run_passes(shader, FRONT_END, None)
    optimize(shader)
    data = nir_to_spirv(shader).to_bytes()
    run_tool("spirv-val", "--target-env", "vulkan1.2", "-", data=data)

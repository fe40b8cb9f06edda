"""Work stays proportional to the code: counted in steps, not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from gallette.compiler.errors import CompileError
from gallette.compiler.glsl import compile_shader, link_program
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.passes.vars import opt_copy_prop_vars, opt_dead_write_vars
from gallette.compiler.nir.run.pass_runner import run_pass


def many_accesses(count: int) -> Shader:
    """Every element of an array is stored and loaded; one dynamic access keeps it in memory."""
    b = Builder.shader_main(Stage.FRAGMENT, "many")
    var = b.impl.add_local("a", t.array(t.FLOAT, count))
    zero = b.imm_int(0)
    total = b.imm_float(0.0)
    for i in range(count):
        b.store_deref(b.deref_array_imm(b.deref_var(var), i), b.imm_float(float(i)))
    for i in range(count):
        total = b.fadd(total, b.load_deref(b.deref_array_imm(b.deref_var(var), i)))
    index = b.intrinsic("load_input", [zero])
    total = b.fadd(total, b.load_deref(b.deref_array(b.deref_var(var), index)))
    b.intrinsic("store_output", [total, zero], write_mask=1)
    return b.shader


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("opt_copy_prop_vars", opt_copy_prop_vars),
        ("opt_dead_write_vars", opt_dead_write_vars),
    ],
)
def test_variable_passes_do_not_compare_everything_with_everything(
    name: str, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counting(function: Callable[..., Any], counter: list[int]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            counter[0] += 1
            return function(*args)

        return run

    steps = []
    for count in (50, 100):
        shader = many_accesses(count)
        calls = [0]
        with monkeypatch.context() as patch:
            patch.setattr(module, "compare", counting(module.compare, calls))
            run_pass(shader, name)
        validate(shader)
        steps.append(calls[0])
    assert steps[1] <= 2 * steps[0] + 50


FUNCTION = """
struct Lamp{0} {{ vec3 way; float far; }};
vec3 shade{0}(vec3 n, vec3 v, Lamp{0} lamp) {{
    float d = dot(n, lamp.way);
    if (d < 0.0)
        return vec3(0.0);
    vec3 sum = vec3(0.0);
    for (int i = 0; i < int(lamp.far); i++)
        sum += pow(d, float(i)) * v;
    return sum * {0}.5;
}}
"""


def long_shader(functions: int) -> str:
    calls = [
        f"sum += shade{i}(n, v, Lamp{i}(n + v, sum.x)); if (sum.y > {i}.0) sum.z += v.x;"
        for i in range(functions)
    ]
    return "\n".join(
        [
            "#version 330\nin vec3 n; in vec3 v; out vec4 color;",
            *(FUNCTION.format(i) for i in range(functions)),
            "void main() { vec3 sum = v;",
            *calls,
            "color = vec4(sum, 1.0); }",
        ]
    )


def test_compiling_and_linking_a_shader_twice_as_long_takes_twice_the_steps() -> None:
    steps = []
    for functions in (4, 12, 24):  # the first fills tables
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event == "call"

        source = long_shader(functions)
        sys.setprofile(count)
        try:
            program = link_program([compile_shader(Stage.FRAGMENT, source)])
        finally:
            sys.setprofile(None)
        assert program.ok, program.info_log
        for shader in program.shaders.values():
            shader.unref()
        steps.append(calls)
    assert steps[2] < 2.15 * steps[1], steps


def test_a_long_array_is_copied_in_a_loop_and_a_short_one_element_by_element() -> None:
    for length, looped in ((64, False), (65, True)):
        b = Builder.shader_main(Stage.FRAGMENT)
        x, y = (b.impl.add_local(n, t.array(t.VEC4, length)) for n in "xy")
        b.copy_deref(b.deref_var(x), b.deref_var(y))
        assert run_pass(b.shader, "lower_var_copies")
        validate(b.shader)
        assert (len(b.impl.body) > 1) is looped
        assert b.shader.count_instrs() < (40 if looped else 64 * 8)


def _calls_twice(levels: int) -> Shader:
    """Functions that call the next one twice each: 2 ** `levels` constants when inlined."""
    shader = Shader(Stage.FRAGMENT, "explosion")
    callee = shader.add_function("f0")
    Builder(FunctionImpl(shader, callee)).imm_float(1.0)
    for i in range(1, levels + 1):
        caller = shader.add_function(f"f{i}")
        b = Builder(FunctionImpl(shader, caller))
        b.call(callee, [])
        b.call(callee, [])
        callee = caller
    b = Builder(shader.add_entry())
    b.call(callee, [])
    return shader


def test_inlining_refuses_what_would_explode_before_it_does() -> None:
    words = f"too long when the functions it calls are inlined: {2**20} instructions, at most"
    with pytest.raises(CompileError, match=words):
        run_pass(_calls_twice(40), "inline_functions")


def test_inlining_grows_where_that_is_bearable() -> None:
    shader = _calls_twice(18)
    assert run_pass(shader, "inline_functions")
    assert shader.count_instrs() == 2**18

"""The census has a word for each kind of variable and of code that a shader has, and no others."""

from __future__ import annotations

import pytest

from gallette.compiler.nir.analysis.census import census
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.text.parser import parse

MODES = [mode for mode in Mode if mode is not Mode.ALL]
MEMORY = Mode.SSBO | Mode.SHARED | Mode.GLOBAL | Mode.FUNCTION_TEMP | Mode.SHADER_TEMP

PAIR = 'type $P = struct "P" { float first; float second }\n'
# Declarations, code of main, and the words for both in a fragment shader.
SHADERS: dict[str, tuple[str, str, set[str]]] = {
    "nothing": ("", "", set()),
    "arithmetic": ("", "32 %1 = iadd %zero, %zero", set()),
    "an input nobody reads": ("var shader_in vec4 v (location=32)", "", set()),
    "a temporary nobody reads": ("var shader_temp vec4 v", "", {"shader_temp", "memory"}),
    "a structure": (f"{PAIR}var uniform $P v", "", {"struct", "64 bits"}),
    "structures in arrays": (f"{PAIR}var uniform $P[3] v", "", {"struct", "64 bits"}),
    "a double": ("var uniform double v", "", {"64 bits"}),
    "doubles in arrays": ("var uniform dvec2[3] v", "", {"64 bits"}),
    "an initial value": (
        "var uniform float v (constant_initializer=(1,))",
        "",
        {"initial values"},
    ),
    "what is invariant": ("var shader_out vec4 v (invariant=True)", "", {"invariant"}),
    "what is precise": ("var shader_out vec4 v (precise=True)", "", {"invariant"}),
    "an invariant store": (
        "",
        "@store_output (%zero, %zero) (location=FRAG.DATA0, write_mask=x, invariant=True)",
        {"invariant"},
    ),
    "a varying that is packed": ("var shader_in vec4 v (packed=True)", "", {"packed varyings"}),
    "a uniform that is read": (
        "var uniform vec4 v",
        "32 %1 = deref_var &v (uniform vec4)",
        {"uniform"},
    ),
    "a pointer to a sampler": (
        "var uniform sampler2D v",
        "32 %1 = deref_var &v (uniform sampler2D)",
        {"uniform", "opaque"},
    ),
    "an element": (
        "var uniform float[3] v",
        "32 %1 = deref_var &v (uniform float[3])\n32 %2 = deref_array &%1[%zero] (uniform float)",
        {"uniform"},
    ),
    "an element by a computed index": (
        "var uniform float[3] v",
        "32 %1 = deref_var &v (uniform float[3])\n32 %i = iadd %zero, %zero\n"
        "32 %2 = deref_array &%1[%i] (uniform float)",
        {"uniform", "indices that are computed"},
    ),
    "a component": (
        "var uniform vec4 v",
        "32 %1 = deref_var &v (uniform vec4)\n32 %2 = deref_array &%1[%zero] (uniform float)",
        {"uniform", "vector components"},
    ),
    "a copy": (
        "var uniform vec4 v\nvar shader_temp vec4 w",
        "32 %1 = deref_var &v (uniform vec4)\n32 %2 = deref_var &w (shader_temp vec4)\n"
        "@copy_deref (%2, %1)",
        {"uniform", "shader_temp", "memory", "copies"},
    ),
    "a return": ("", "if %yes {\nblock b:\nreturn\n}", {"returns"}),
    "a local": ("", "var function_temp float v", {"function_temp", "memory"}),
    "locals with an initial value": (
        "",
        "var function_temp float v (constant_initializer=(1,))",
        {"function_temp", "memory", "initial values"},
    ),
    "a local structure": (PAIR, "var function_temp $P v", {"function_temp", "memory", "struct"}),
    "a precise local": (
        "",
        "var function_temp float v (precise=True)",
        {"function_temp", "memory", "invariant"},
    ),
}


def words(head: str, body: str, stage: str = "fragment") -> set[str]:
    local, code = (body, "") if body.startswith("var ") else ("", body)
    text = f"""shader {stage}
    {head}
    function main () entry
    impl main {{
    {local}
    block start:
    32 %zero = load_const (0)
    1 %yes = ieq %zero, %zero
    {code}
    }}"""
    shader = parse(text)
    found = census(shader)
    shader.unref()
    return set(found)


@pytest.mark.parametrize("name", SHADERS)
def test_what_there_is(name: str) -> None:
    head, body, wanted = SHADERS[name]
    assert words(head, body) == wanted


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.text)
def test_where_pointers_lead(mode: Mode) -> None:
    cast = f"32 %1 = deref_cast %zero ({mode.text} uint) stride=4"
    wanted = {"casts", mode.text} | ({"memory"} if mode & MEMORY else set())
    assert words("", cast) == wanted


def test_stages_that_reach_memory_no_variable_stands_for() -> None:
    stages = ("vertex", "tess_ctrl", "tess_eval", "geometry", "fragment", "compute", "kernel")
    assert {s for s in stages if "memory" in words("", "", s)} == {"tess_ctrl", "compute", "kernel"}


def test_functions_besides_main() -> None:
    head = "function f ()\nimpl f {\nblock b:\n}"
    assert words(head, "") == {"calls"}
    assert words(head, "call f ()") == {"calls"}

"""Every overload of every built-in function compiles and lowers to valid NIR."""

from __future__ import annotations

import pytest

from gallette.compiler.glsl import CompileOptions, Limits, LinkOptions, compile_shader, link_program
from gallette.compiler.glsl.builtins.functions import Overload, builtin_names, overloads
from gallette.compiler.glsl.language import EXTENSIONS, Language
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.types import Type
from tests.checklists import step

LAYOUTS = {
    "compute": "layout(local_size_x = 4) in;",
    "geometry": "layout(points) in; layout(points, max_vertices = 2) out;",
    "tess_ctrl": "layout(vertices = 3) out;",
    "tess_eval": "layout(triangles) in;",
}
FORMATS = {"ii": "r32i", "ui": "r32ui"}
PLENTY = Limits(
    max_texture_image_units=99,
    max_vertex_texture_image_units=99,
    max_geometry_texture_image_units=99,
    max_tess_control_texture_image_units=99,
    max_compute_texture_image_units=99,
    max_vertex_image_uniforms=99,
    max_fragment_image_uniforms=99,
    max_geometry_image_uniforms=99,
    max_tess_control_image_uniforms=99,
    max_compute_image_uniforms=99,
    max_combined_image_units_and_fragment_outputs=99,
)
LOWERING = step("compiler/glsl", "built-in function", "lowering")
HEADER = "#version 460 compatibility\n" + "".join(
    f"#extension GL_{name} : enable\n" for name, api in EXTENSIONS.items() if api != "es"
)


def argument(o: Overload, i: int, direction: str, type_: Type, globals_: dict[str, str]) -> str:
    """An expression for one argument; what it needs is declared in `globals_`."""
    if type_.is_sampler or type_.is_image or type_.is_opaque:
        name = f"opaque{len(globals_)}"
        key = f"{type_}"
        if key not in globals_:
            layout = ""
            if type_.is_image:
                letter = str(type_)[:2]
                layout = f"layout({FORMATS.get(letter, 'r32f')}) "
            elif str(type_) == "atomic_uint":
                layout = "layout(binding = 0) "
            globals_[key] = f"{layout}uniform {type_} {name};"
        return globals_[key].rstrip(";").split()[-1]
    if o.name.startswith("interpolate") and i == 0:
        globals_[f"in {type_}"] = f"in {type_} input_{type_};"
        return f"input_{type_}"
    if direction == "inout":
        globals_[f"buffer {type_}"] = f"buffer Block_{type_} {{ {type_} member_{type_}; }};"
        return f"member_{type_}"
    if direction == "out":
        return f"local{i}"
    if direction == "const" or "Stream" in o.name:
        if type_.is_array:
            return "ivec2[4](ivec2(0), ivec2(1), ivec2(0), ivec2(1))"
        return "0"
    if "Offset" in o.name and "Gather" not in o.name and i >= 2 and type_.is_integer:
        last = i == len(o.params) - 1 or not o.name.startswith("texelFetch")
        if last:
            return f"{type_}(1)"
    return f"{type_}({'true' if type_.is_boolean else 'value'})"


def source(stage: str, found: tuple[Overload, ...]) -> str:
    globals_: dict[str, str] = {}
    body = ""
    for o in found:
        locals_ = ""
        args = []
        for i, (direction, type_) in enumerate(o.params):
            if direction == "out":
                locals_ += f"{type_} local{i}; "
            args.append(argument(o, i, direction, type_, globals_))
        body += f"    {{ {locals_}{o.name}({', '.join(args)}); }}\n"
    declarations = "\n".join(globals_.values())
    return (
        f"{HEADER}{LAYOUTS.get(stage, '')}\nuniform float value;\n{declarations}\n"
        f"void main() {{\n{body}}}\n"
    )


@pytest.mark.parametrize("stage", ["vertex", "fragment", "geometry", "tess_ctrl", "compute"])
def test_every_overload_lowers(stage: str) -> None:
    language = Language(460, False, True, set(EXTENSIONS), stage=stage)
    language.extensions = {n for n, api in EXTENSIONS.items() if api != "es"}
    total = 0
    for name in builtin_names():
        found = tuple(o for o in overloads(name, language) if "External" not in str(o))
        if not found:
            continue
        text = source(stage, found)
        shader = compile_shader(Stage(stage), text, CompileOptions(api="compat"))
        assert shader.ok, f"{name}:\n{shader.info_log}"
        others = []
        if stage in ("geometry", "tess_ctrl"):
            others.append(compile_shader(Stage.VERTEX, "void main() { gl_Position = gl_Vertex; }"))
        if stage == "tess_ctrl":
            evaluate = (
                "#version 460\nlayout(triangles) in; void main() { gl_Position = vec4(0.0); }"
            )
            others.append(compile_shader(Stage.TESS_EVAL, evaluate))
        try:
            program = link_program(
                [*others, shader],
                LinkOptions(api="compat", optimize=False, separable=True, limits=PLENTY),
            )
        except Exception as error:
            raise AssertionError(f"{name}: {LOWERING}") from error
        assert program.ok, f"{name}: {program.info_log}\n{LOWERING}"
        for nir in program.shaders.values():
            validate(nir)
            nir.unref()
        total += len(found)
    assert total > 1000

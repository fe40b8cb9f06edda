"""Rules of linking that combinations decide, here and as on the native GL.

Rules that one pair of programs shows are entries of `error_rules.txt`.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

HEAD = "#version 440\n"
PLAIN = {
    "vertex": "void main() { gl_Position = vec4(0.0); }",
    "fragment": "out vec4 plain; void main() { plain = vec4(1.0); }",
}
KINDS = {
    "vertex": GL.VERTEX_SHADER,
    "tess_ctrl": GL.TESS_CONTROL_SHADER,
    "tess_eval": GL.TESS_EVALUATION_SHADER,
    "geometry": GL.GEOMETRY_SHADER,
    "fragment": GL.FRAGMENT_SHADER,
    "compute": GL.COMPUTE_SHADER,
}


def shaders(program: str) -> list[tuple[str, str]]:
    """(stage, source) of a program written as `STAGE: code`, one shader a line."""
    found: list[tuple[str, str]] = []
    for line in program.strip().splitlines():
        stage, _, code = line.partition(":")
        found.append((stage, code))
    named = {stage for stage, _ in found}
    found += [(stage, code) for stage, code in PLAIN.items() if stage not in named]
    return [(stage, HEAD + code) for stage, code in found]


def links(gl: Any, program: str) -> tuple[bool, str]:
    """Does the program come through, and what was said if not?"""
    name, log = gl.create_program(), ""
    for stage, source in shaders(program):
        shader = gl.create_shader(KINDS[stage])
        gl.shader_source(shader, source)
        gl.compile_shader(shader)
        if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
            log += gl.get_shader_info_log(shader)
        gl.attach_shader(name, shader)
        gl.delete_shader(shader)
    gl.link_program(name)
    linked = bool(gl.get_programiv(name, GL.LINK_STATUS)[0])
    log += "" if linked else gl.get_program_info_log(name)
    gl.delete_program(name)
    return linked, log


SIZED = {
    "float": 1, "vec2": 2, "vec3": 3, "vec4": 4, "uint": 1, "ivec3": 3,
    "double": 2, "dvec2": 4, "dvec3": 0, "dvec4": 0, "mat2": 0, "S": 0,
}  # fmt: skip
"""Words of a type; none where a component cannot be said."""


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_where_a_type_may_begin(driver: str) -> None:
    """Where it has room, doubles at even components; what fills more than a location nowhere."""
    options: dict[str, Any] = {"profile": "core", "version": (4, 4)}
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)
    for kind, words in SIZED.items():
        for dims in ("", "[2]"):
            for component in range(5):
                source = (
                    "vertex: struct S { float f; };"
                    f"layout(location = 1, component = {component}) flat out {kind} v{dims};"
                    "void main() { gl_Position = vec4(0.0); }"
                )
                even = kind[0] != "d" or component % 2 == 0
                fits = 0 < words <= 4 - component and even
                assert links(gl, source)[0] == fits, source
    gl.release()


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_a_member_goes_where_its_block_goes(driver: str) -> None:
    """Which is where the block says, or what was said for all that comes after, or buffer 0."""
    options: dict[str, Any] = {"profile": "core", "version": (4, 4)}
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)
    said = ("", "0", "1", "2")
    for default, block, member in itertools.product(said, repeat=3):
        first = f"layout(xfb_buffer = {default}) out;" if default else ""
        of_block = f"layout(xfb_buffer = {block})" if block else ""
        of_v = f"layout(xfb_offset = 0{', xfb_buffer = ' + member if member else ''})"
        source = (
            f"vertex: {first} {of_block} out B {{ {of_v} vec4 v; vec4 w; }};"
            "void main() { gl_Position = v = w = vec4(0.0); }"
        )
        wanted = block or default or "0"
        assert links(gl, source)[0] == (member in ("", wanted)), source
    gl.release()


ARRAYS = {  # declaration, how an element is read, name of the resource
    "uniform": ("uniform float a[];", "a[{}]", "a[0]"),
    "member": ("uniform B { float a[]; float b; };", "a[{}]", "a[0]"),
    "member of a named block": ("uniform B { float a[]; float b; } n;", "n.a[{}]", "B.a[0]"),
    "member of named blocks": ("uniform B { float a[]; float b; } n[2];", "n[1].a[{}]", "B.a[0]"),
}


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_without_a_size_has_room_for_what_any_shader_of_the_stage_reads(
    name: str, driver: str
) -> None:
    declaration, element, resource = ARRAYS[name]
    options: dict[str, Any] = {"profile": "core", "version": (4, 4)}
    gl = native_context(**options) if driver == "native" else create_context(driver, **options)
    for first, second in ((6, 3), (3, 6), (4, 4), (0, 2)):
        source = (
            f"vertex: {declaration} float f();"
            f"void main() {{ gl_Position = vec4({element.format(first)} + f()); }}\n"
            f"vertex: {declaration} float f() {{ return {element.format(second)}; }}"
        )
        program = linked(gl, [(KINDS[stage], text) for stage, text in shaders(source)], used=False)
        index = gl.get_program_resource_index(program, GL.UNIFORM, resource)
        size = gl.get_program_resourceiv(program, GL.UNIFORM, index, 1, [GL.ARRAY_SIZE])
        assert size == [max(first, second) + 1]
    gl.release()

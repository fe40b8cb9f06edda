"""Programs from modules are described as those from the GLSL that the modules were made of.

glslang makes the modules, in OpenGL's dialect; names, places, strides, units and what transform
feedback captures are compared one by one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conversions import glslang

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.link.program import LinkedProgram, LinkOptions
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.spirv.link import SpirvShader, link_spirv
from gallette.compiler.spirv.module import read_module
from tests.cases import Case, each, sections

SUFFIXES = {"vert": Stage.VERTEX, "tesc": Stage.TESS_CTRL, "tese": Stage.TESS_EVAL}
SUFFIXES |= {"geom": Stage.GEOMETRY, "frag": Stage.FRAGMENT, "comp": Stage.COMPUTE}
FILE = Path(__file__).with_name("described.txt")
HEAD = "#version 450\nstruct S { float f; vec3 v[2]; mat2 m; };\n"


def linked(case: Case, separable: bool = False) -> tuple[LinkedProgram, LinkedProgram]:
    """The program of modules, and the program of the GLSL."""
    modules, shaders = [], []
    for part in f"\n{case.text}".split("\n@")[1:]:
        suffix, _, text = part.partition("\n")
        module = glslang("-G", suffix, HEAD + text)
        modules.append(SpirvShader(SUFFIXES[suffix], read_module(module)))
        shader = compile_shader(SUFFIXES[suffix], [HEAD + text], CompileOptions())
        assert shader.ok, shader.info_log
        shaders.append(shader)
    options = LinkOptions(optimize=False, separable=separable)
    programs = link_spirv(modules, options), link_program(shaders, options)
    for program in programs:
        assert program.ok, program.info_log
    return programs


def named(found: Any) -> dict[str, Any]:
    return {item.name: item for item in found}


LISTS = ("uniforms", "uniform_blocks", "buffer_variables", "storage_blocks", "attributes")


def described(item: Any) -> dict[str, Any]:
    """All fields but the units in each stage, which are each linker's own."""
    return {name: getattr(item, name) for name in item.__slots__ if name != "opaque_index"}


def test_uniforms_blocks_and_handles_are_described_alike() -> None:
    (case,) = sections(FILE)["resources"].cases
    ours, theirs = linked(case)
    for kind in (*LISTS, "frag_outputs"):
        found = {item.name: described(item) for item in getattr(ours, kind)}
        wanted = {item.name: described(item) for item in getattr(theirs, kind)}
        assert wanted
        assert found == wanted, kind
    assert ours.default_block_size == theirs.default_block_size
    units = [
        (stage, uniform.type.is_image, first + i)
        for uniform in ours.uniforms
        for stage, first in uniform.opaque_index.items()
        for i in range(max(1, uniform.array_size))
    ]
    assert len(set(units)) == len(units) == 16
    assert max(unit for _, _, unit in units) == 10  # of the fragment shader's


@each(FILE, "captured")
def test_what_is_captured_is_described_alike(case: Case) -> None:
    ours, theirs = linked(case)
    assert ours.xfb is not None
    assert theirs.xfb is not None
    assert ours.xfb.strides == theirs.xfb.strides
    assert named(ours.xfb.varyings) == named(theirs.xfb.varyings)
    places = [
        {(o.slot, o.component, o.num_components, o.buffer, o.offset, o.stream) for o in xfb.outputs}
        for xfb in (ours.xfb, theirs.xfb)
    ]
    assert places[0] == places[1]


@each(FILE, "ends")
def test_interfaces_of_a_separable_program_have_equal_slots(case: Case) -> None:
    ours, theirs = linked(case, separable=True)
    for kind in ("inputs", "outputs"):
        wanted = {
            v.name: (v.location, v.slots, v.stage, v.explicit, v.patch)
            for v in getattr(theirs, kind)
            if "." not in v.name
        }
        found = {
            v.name: (v.location, v.slots, v.stage, v.explicit, v.patch) for v in getattr(ours, kind)
        }
        assert found == wanted, kind

"""Where each layout qualifier may stand: every qualifier of the table in every place and stage.

What is taken is the list of section 4.4 of GLSL 4.60; the native GL takes it as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.glsl.qualifiers import BLEND_MODES, LAYOUTS
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.cases import Case, sections
from tests.conftest import native_context
from tests.glsl.test_link_rules import KINDS

VALUES = {"component": 0, "stream": 0, "xfb_buffer": 0, "index": 0}
VALUES |= dict.fromkeys(("offset", "align", "xfb_offset", "xfb_stride"), 16)
FLOATS = (
    "rgba32f rgba16f rg32f rg16f r11f_g11f_b10f r32f r16f rgba16 rgb10_a2 rgba8 rg16 rg8 r16 r8 "
    "rgba16_snorm rgba8_snorm rg16_snorm rg8_snorm r16_snorm r8_snorm"
)
INTS = "rgba32i rgba16i rgba8i rg32i rg16i rg8i r32i r16i r8i"
UINTS = "rgba32ui rgba16ui rgb10_a2ui rgba8ui rg32ui rg16ui rg8ui r32ui r16ui r8ui"
WORDS = {"FLOATS": FLOATS, "INTS": INTS, "UINTS": UINTS}
PLACES = sections(Path(__file__).with_name("layout_places.txt"))["places"].cases


def source(declaration: str, name: str) -> str:
    valued = any(row.least is not None for row in LAYOUTS[name])
    word = f"{name} = {VALUES.get(name, 4)}" if valued else name
    return f"#version 450\n{declaration.replace('{}', word)}\nvoid main() {{}}\n"


def taken_in(place: Case, stage: str) -> set[str]:
    """What the table says."""
    found = ""
    for answer in place.answers:
        stages, _, words = answer.partition(":")
        if stages == "all" or stage in stages.split():
            found += f" {WORDS.get(words.strip(), words)}"
    return set(found.split())


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_where_layout_qualifiers_stand(place: Case) -> None:
    many = (INTS + UINTS + FLOATS).split()[1:] + BLEND_MODES[1:]
    names = [
        n for n in LAYOUTS if n not in many or "image" in place.name
    ]  # else one stands for all
    for stage in KINDS:
        found = {
            name
            for name in names
            if compile_shader(Stage(stage), source(place.text, name), CompileOptions(api="core")).ok
        }
        if "gl_" in place.text:  # a location is taken and means nothing, as on Mesa
            found -= {"location", "component", "index"}
        assert found == taken_in(place, stage), stage


@pytest.mark.native
def test_native_gl_accepts_them_in_the_same_places() -> None:
    gl = native_context(profile="core", version=(4, 5))
    refused = []
    for place in PLACES:
        for stage, kind in KINDS.items():
            for name in sorted(taken_in(place, stage)):
                if (place.name, stage) == ("all outputs", "tess_ctrl") and name.startswith("xfb"):
                    continue  # Mesa crashes
                shader = gl.create_shader(kind)
                gl.shader_source(shader, source(place.text, name))
                gl.compile_shader(shader)
                if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
                    refused.append((place.name, stage, name, gl.get_shader_info_log(shader)))
                gl.delete_shader(shader)
    gl.release()
    assert refused == []

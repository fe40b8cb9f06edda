"""Every enumerator the state tracker mentions, in calls of a core context: native GL's answers.

What the compatibility profile alone has is refused here, and what is in a table is taken. One call
of each family is tried: their tables are shared. `test_es_enums.py` does the same for OpenGL ES.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from gallette.compiler.nir.ir.modes import GL_NAMES
from gallette.state_tracker import GL, create_context, entry_points
from gallette.state_tracker.optional.compatibility.client_arrays import ARRAYS
from tests.conftest import native_context
from tests.state_tracker import test_es_enums
from tests.state_tracker.negative_suite import topics
from tests.state_tracker.test_es_enums import walk

pytestmark = pytest.mark.native

METHODS = """
    active_texture begin_conditional_render begin_query begin_transform_feedback bind_buffer
    bind_framebuffer bind_texture blend_equation blend_func buffer_data clamp_color
    clear_buffer_data clip_control compressed_tex_image2d copy_tex_image2d cull_face depth_func
    draw_arrays draw_buffer draw_elements enable framebuffer_renderbuffer framebuffer_texture2d
    front_face generate_mipmap get_buffer_parameteriv get_framebuffer_attachment_parameteriv
    get_integerv get_internalformativ get_programiv get_queryiv get_shaderiv get_string
    get_tex_image get_tex_level_parameteriv get_tex_parameteriv get_vertex_attribiv hint
    is_enabled logic_op map_buffer memory_barrier pixel_storei point_parameteri polygon_mode
    provoking_vertex read_buffer read_pixels renderbuffer_storage sampler_parameteri
    stencil_func stencil_op tex_buffer tex_image2d tex_image2d_multisample tex_image3d
    tex_parameteri tex_storage2d transform_feedback_varyings vertex_attrib_i_pointer
    vertex_attrib_pointer
    begin_query_indexed bind_buffer_base bind_transform_feedback blend_func_separate
    clear_bufferfv enablei get_active_uniform_blockiv get_active_uniformsiv
    get_framebuffer_parameteriv get_integeri_v get_named_buffer_parameteriv
    get_named_framebuffer_attachment_parameteriv get_named_framebuffer_parameteriv
    get_named_renderbuffer_parameteriv get_pointerv get_program_pipelineiv get_query_indexediv
    get_query_objectiv get_renderbuffer_parameteriv get_sampler_parameteriv
    get_shader_precision_format get_texture_image get_texture_level_parameteriv
    get_texture_parameteriv get_vertex_array_indexed64iv get_vertex_array_indexediv
    get_vertex_arrayiv invalidate_framebuffer is_enabledi named_renderbuffer_storage
    patch_parameteri program_parameteri stencil_op_separate tex_storage1d tex_storage3d
    texture_parameteri texture_view vertex_attrib_format vertex_attrib_i_format
    vertex_attrib_l_format
"""

_COMPAT = "what only the compatibility profile has"
_ORDER = "two errors apply, and the specification leaves open which one is told"
_OURS = "of an extension that this GL lists and the native one does not"
# (calls, parameter, enumerators, native GL's answer, ours) -> why ours is another one.
EXPLAINED: list[tuple[str, str, str, str, str, str]] = [
    (r"tex_image[23]d|read_pixels|get_tex(ture)?_image|clear_buffer_data", "format",
     "ABGR_EXT|(LUMINANCE(_ALPHA)?|ALPHA|COLOR)(_INTEGER|_INDEX)?(_EXT)?", "NO_ERROR|OPERATION",
     "ENUM|VALUE", _COMPAT),
    (".*", "type", "HALF_FLOAT_OES", "NO_ERROR", "ENUM|VALUE", "of OpenGL ES"),
    (".*", "type", "UNSIGNED_INT_5_9_9_9_REV", "ENUM", "OPERATION",
     "it is a type; it does not go with that format"),
    ("get_integerv", "pname", ".*", "NO_ERROR", "ENUM", _COMPAT),
    ("point_parameteri", "pname", "POINT_SIZE_M(IN|AX)", "NO_ERROR", "ENUM", _COMPAT),
    ("pixel_storei|get_integerv", "pname", "PACK_REVERSE_ROW_ORDER_ANGLE", "ENUM", "NO_ERROR",
     _OURS),
    ("(get_)?tex(ture)?_parameter\\w+", "pname", ".*SPARSE.*|VIRTUAL_PAGE.*", "ENUM",
     "NO_ERROR|OPERATION", _OURS),
    ("get_internalformativ", "pname", "CLEAR_TEXTURE|.*VIRTUAL_PAGE.*", "ENUM", "NO_ERROR", _OURS),
    ("tex_image2d_multisample", "internalformat", "RGB9_E5", "NO_ERROR", "ENUM",
     "8.5.1: it is not renderable"),
    ("(tex(ture)?|sampler)_parameteri", "pname", "TEXTURE_CUBE_MAP_SEAMLESS", "NO_ERROR|ENUM",
     "VALUE",
     "AMD_seamless_cubemap_per_texture: it takes 0 and 1"),
    ("copy_tex_image2d", "internalformat", "BGRA", "ENUM", "VALUE", _ORDER),
    ("tex_storage[23]d", "internalformat", "BGRA|SRGB|STENCIL_INDEX", "ENUM|OPERATION",
     "ENUM|OPERATION", _ORDER),
    ("tex_image2d", "internalformat", "STENCIL_INDEX", "NO_ERROR", "OPERATION",
     "the format of the pixels is RGBA"),
    ("(draw|read)_buffer", "buf|src", "AUX0", "OPERATION", "ENUM", _COMPAT),
    ("framebuffer_renderbuffer", "attachment", "DEPTH_STENCIL_ATTACHMENT", "OPERATION", "NO_ERROR",
     "attaching what has no depth and stencil makes it incomplete, no more"),
    ("framebuffer_texture2d", "textarget", "TEXTURE_BUFFER", "ENUM", "OPERATION", _ORDER),
    ("get_vertex_array_indexediv", "pname", "VERTEX_(ATTRIB|BINDING|ATTRIB_ARRAY_BUFFER)_\\w+",
     "NO_ERROR", "ENUM", "not in the list of section 10.5"),
    ("vertex_attrib_l_format", "type", "UNSIGNED_INT64_ARB", "ENUM", "NO_ERROR", _OURS),
    ("get_(named_)?framebuffer_parameteriv", "pname", r"FRAMEBUFFER_\w*SAMPLE_LOCATION\w+", "ENUM",
     "NO_ERROR", _OURS),
    ("get_active_uniform_blockiv", "pname", r"ATOMIC_COUNTER_BUFFER_\w+", "NO_ERROR", "ENUM",
     "those are properties of a buffer of atomic counters"),
    ("active_texture", "texture", ".*", "NO_ERROR", "ENUM", "the unit is beyond our last one"),
    ("enable|is_enabled|get_integerv|get_integeri_v", "cap|pname|target", r"\w+_(AMD|ARB|EXT|NV)",
     "ENUM", "NO_ERROR", _OURS),
    ("enable|is_enabled", "cap", "SAMPLE_COVERAGE_INVERT", "NO_ERROR", "ENUM",
     "Mesa takes the name of a value for a capability"),
]  # fmt: skip


TIMES = [47, 8, 5, 127, 2, 2, 10, 5, 1, 3, 1, 4, 1, 2, 1, 1, 3, 1, 4, 10, 14, 24, 2]
"""how often each row explains an answer"""


def mentioned() -> set[str]:
    """Names of all enumerators in the state tracker's code and in its tables of parameters."""
    root = Path(entry_points.__file__).parents[1]
    texts = (path.read_text(encoding="utf-8") for path in root.rglob("*.py"))
    names = {name for text in texts for name in re.findall(r"\bGL\.([A-Z][A-Z0-9_]+)", text)}
    words = " ".join(path.read_text(encoding="utf-8") for path in root.rglob("parameters.txt"))
    # Names that are composed there:
    words += " ".join(f"TEXTURE_GEN_{coordinate} " for coordinate in "STRQ")
    words += " ".join(f"{array}_ARRAY" for array in ARRAYS)
    for kind in ("ATOMIC_COUNTER_BUFFER", "UNIFORM_BLOCK"):
        words += "".join(f" {kind}_REFERENCED_BY_{s}_SHADER" for s in GL_NAMES.values())
    return names | {word for word in re.findall(r"[A-Z][A-Z0-9_]+", words) if hasattr(GL, word)}


def row_of(key: tuple[int, str, str, str], native: str, ours: str) -> int:
    """Which row explains another answer than native GL's; -1: none."""
    for number, (*patterns, _) in enumerate(EXPLAINED):
        if all(map(re.fullmatch, patterns, (*key[1:], native, ours))):
            return number
    return -1


def test_enumerators_are_known_as_in_a_native_core_context(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for shader in ("_VERTEX", "_FRAGMENT"):
        text = getattr(test_es_enums, shader).replace("300 es", "330")
        monkeypatch.setattr(test_es_enums, shader, text.replace("precision mediump float;", ""))
    names = mentioned()
    enums = {n: name for n, name in test_es_enums.every_enum().items() if name in names}
    unexplained, used, asked = [], Counter[int](), 0
    seen: set[str] = set()
    for topic, listed in topics().items():
        if topic == "compatibility":
            continue
        calls = []
        for method, arguments in listed:
            calls.append((method, arguments, method in METHODS.split() and method not in seen))
            seen.add(method)
        answers = []
        for create in (native_context, lambda **options: create_context("numpipe", **options)):
            gl = create(profile="core", version=(4, 5), size=(16, 16))
            answers.append(walk(gl, calls, enums))
            gl.release()
        native, ours = answers
        asked += len(ours)
        for key, answer in ours.items():
            if answer != native[key]:
                row = row_of(key, native[key], answer)
                used[row] += 1
                if row < 0:
                    unexplained.append(f"{topic}: {key}: {native[key]}, not {answer}")
    assert unexplained == []
    assert asked > 50_000
    # What is refused here and taken there is refused still.
    assert [used[row] for row in range(len(EXPLAINED))] == TIMES

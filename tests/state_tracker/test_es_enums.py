"""Every enumerator in every place of valid calls: what an ES context takes, as native does.

`negative_calls.txt` and `es_calls.txt` list valid calls. Each of their enums (and what is an enum,
but of type int) is replaced by all that exist, and the error codes of two contexts compared.
Where they differ the ES specification decides; `EXPLAINED` says what it says.

An eighth of the enumerators, and those in tables of what is missing, is tried here;
`python -m tests.state_tracker.test_es_enums` tries all.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.entry_points.es_enums import MISSING
from gallette.state_tracker.entry_points.functions import DATA, FUNCTIONS, Function
from tests.conftest import native_context
from tests.state_tracker.negative_suite import prepare_objects, prepare_program, topics, value

pytestmark = pytest.mark.native

Call = tuple[str, tuple[Any, ...], bool]
_ROOM = np.zeros(1 << 16, np.uint8)
_INTS = ("internalformat", "param")  # ints by type, enums by what they say
# Native GL crashes when asked for these.
_DEADLY = {GL.DEVICE_UUID_EXT, GL.DRIVER_UUID_EXT, GL.DEVICE_LUID_EXT, GL.DEVICE_NODE_MASK_EXT}

_NO = "native GL takes it, no version of OpenGL ES has it"
_UNKNOWN = "an enumerator that is no such thing at all is INVALID_ENUM"
_ORDER = "two errors apply, and the specification leaves open which one is told"
# (calls, parameter, enumerators, native GL's answer) -> why ours is another one.
EXPLAINED: list[tuple[str, str, str, str, str]] = [
    (r"get_(boolean|integer|integer64|float)v", "pname",
     "BLEND_SRC|MAX_TEXTURE_COORDS|CLAMP_\\w+_COLOR|TEXTURE_BUFFER_(DATA_STORE_BINDING|FORMAT_ARB)",
     "NO_ERROR", _NO),
    (r"get_(boolean|integer|integer64|float)v", "pname",
     r"CLIP_DISTANCE\d|MAX_(COMBINED_CLIP_AND_)?CULL_DISTANCES|DEPTH_CLAMP", "ENUM",
     "EXT_clip_cull_distance and EXT_depth_clamp, which both list, have these"),
    (r"get_(boolean|integer|integer64)i_v", "target",
     r"(TRANSPOSE_)?TEXTURE_MATRIX|TEXTURE_\w*BINDING\w*", "NO_ERROR", _NO),
    ("get_stringi", "name", "SPIR_V_EXTENSIONS", "NO_ERROR", _NO),
    (r"\w+", r"\w*[tT]arget", "EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD", r"\w+", _NO),
    (r"get_\w+v", "pname|target", "NUM_DEVICE_UUIDS_EXT", "NO_ERROR",
     "memory objects are not offered"),
    ("copy_tex_image2d", "internalformat", r"(ALPHA|LUMINANCE|INTENSITY)\w*", "NO_ERROR", _NO),
    ("generate_mipmap", "target", "TEXTURE_2D", "NO_ERROR", "the image is compressed"),
    ("vertex_attrib_format", "type", "FIXED", "ENUM", "table 10.3 has it"),
    ("vertex_attrib_format", "type", "HALF_FLOAT_OES", "NO_ERROR",
     "OES_vertex_half_float is about glVertexAttribPointer"),
    (r"\w*framebuffer_\w+", "attachment", r"COLOR_ATTACHMENT\d\d", "ENUM",
     "COLOR_ATTACHMENTm beyond the limit is INVALID_OPERATION, 31 as well as 8"),
    ("framebuffer_renderbuffer", "attachment", "DEPTH_STENCIL_ATTACHMENT", "OPERATION",
     "attaching what has no depth and stencil makes it incomplete, no more"),
    ("(get_)?framebuffer_parameteri[v]?", "pname",
     "DOUBLEBUFFER|STEREO|SAMPLES|SAMPLE_BUFFERS", "NO_ERROR", _NO),
    ("get_framebuffer_parameteriv", "pname", r"IMPLEMENTATION_COLOR_READ_\w+", "OPERATION",
     _UNKNOWN),
    ("get_active_uniform_blockiv", "pname", r"ATOMIC_COUNTER_BUFFER_\w+", "NO_ERROR", _NO),
    ("get_program_interfaceiv", r"programInterface|pname", ".*", "OPERATION", _UNKNOWN),
    ("get_program_resourceiv", "programInterface", ".*", "VALUE", _UNKNOWN),
    ("(get_)?object_label", "identifier", "QUERY|FRAMEBUFFER|BUFFER", "NO_ERROR",
     "a name that was never bound is the name of no object"),
    ("(get_)?object_label", "identifier", r"\w+_OBJECT_(EXT|ARB)", "NO_ERROR|VALUE",
     "of EXT_debug_label, whose functions are others"),
    ("active_texture", "texture", r".*", "NO_ERROR", "the unit is beyond our last one"),
    (r"(compressed_|copy_)?tex_(sub_)?image3d", "target", "PROXY_TEXTURE_CUBE_MAP_ARRAY",
     "NO_ERROR|VALUE", _NO),
    (r"tex_image[23]d", "internalformat", ".*", "OPERATION",
     "an internal format that ES does not have is INVALID_VALUE"),
    (r"tex_image[23]d", "internalformat", "BGRA", "NO_ERROR",
     "EXT_texture_format_BGRA8888: format and internal format are the same"),
    (r"tex_(sub_)?image[23]d", "format|type", ".*", "OPERATION", _UNKNOWN),
    (r"tex_(sub_)?image[23]d", "format", "COLOR_INDEX|GREEN|BLUE|ABGR_EXT|BGRA", "NO_ERROR", _NO),
    (r"tex_(sub_)?image[23]d", "format", "DEPTH_STENCIL", "ENUM",
     "it is a format; it does not go with that type"),
    (r"tex_(sub_)?image[23]d", "type", "UNSIGNED_INT_5_9_9_9_REV", "ENUM",
     "it is a type; it does not go with that format"),
    ("copy_tex_image2d", "internalformat", r"SRG?8_EXT", "OPERATION", _UNKNOWN),
    (r"compressed_tex_(sub_)?image[23]d", "(internal)?format", r"COMPRESSED_\w+", "VALUE", _ORDER),
    (r"tex_storage3d", "internalformat", ".*", "OPERATION|ENUM", _ORDER),
    (r"tex_storage\dd_multisample", "target", r"PROXY\w+", "OPERATION", _ORDER),
    (r"tex_parameteri", "param", "MIRROR_CLAMP_TO_EDGE", "ENUM",
     "EXT_texture_mirror_clamp_to_edge, which both list, has it"),
    (r"(get_)?(tex|sampler)_parameter\w+", "pname",
     "TEXTURE_TILING_EXT|TEXTURE_REDUCTION_MODE_ARB|TEXTURE_LOD_BIAS", "NO_ERROR", _NO),
    (r"sampler_parameter[if]", "param", "MIRROR_CLAMP_(EXT|TO_BORDER_EXT)", "NO_ERROR", _NO),
    ("bind_image_texture", "access", ".*", "VALUE", _UNKNOWN),
    ("read_pixels", "format|type", ".*", "OPERATION", _UNKNOWN),
    ("draw_elements(_indirect)?", "mode|type", ".*", "OPERATION", _ORDER),
    ("begin_transform_feedback", "primitiveMode", ".*", "ENUM", _ORDER),
    ("copy_image_sub_data", r"\w+Target", ".*", "OPERATION",
     "a target that is none, or is not the object's, is INVALID_ENUM"),
    ("copy_image_sub_data", "dstTarget", "RENDERBUFFER", "OPERATION", _ORDER),
    ("get_active_uniformsiv", "pname|-", ".*", "VALUE",
     "a binary that was refused with an error has changed nothing"),
]  # fmt: skip


def every_enum() -> dict[int, str]:
    """All 16-bit enumerators that may be asked for, by number."""
    names: dict[int, str] = {}
    for line in (DATA / "gl_enums.txt").read_text(encoding="ascii").splitlines():
        if line and line[0] != "#":
            name, number = line.split()
            if int(number, 16) < 1 << 16:
                names.setdefault(int(number, 16), name)
    return {number: name for number, name in names.items() if number not in _DEADLY}


def _enums(all_of_them: bool) -> dict[int, str]:
    told = frozenset(itertools.chain.from_iterable(MISSING.values()))
    return {
        number: name
        for number, name in every_enum().items()
        if (all_of_them or number in told or number * 2654435761 >> 16 & 7 == 0)
    }


def calls() -> Iterator[tuple[str, list[Call]]]:
    """By topic: method, arguments, whether its enums are replaced."""
    for topic, listed in topics().items():
        seen: set[str] = set()
        found: list[Call] = []
        for method, arguments in listed:
            if FUNCTIONS.method(method).in_es((3, 2)):
                found.append((method, arguments, method not in seen))
                seen.add(method)
        if topic != "compatibility":
            yield topic, found
    found = []
    for line in (Path(__file__).parent / "es_calls.txt").read_text().splitlines():
        if line and line[0] not in "#[":
            method, *words = line.removeprefix(".").split()
            found.append((method, tuple(value(w) for w in words), line[0] != "."))
    yield "es", found


_VERTEX = """#version 300 es
in vec4 position; out vec4 varied; void main() { gl_Position = varied = position; }
"""
_FRAGMENT = """#version 300 es
precision mediump float; uniform Block { vec4 more; }; uniform vec4 color; in vec4 varied;
out vec4 result; void main() { result = color + more + varied; }
"""


def prepare(gl: GLInterface) -> None:
    """Objects 1, 2, 3 of most kinds; textures of every target."""
    prepare_objects(gl, textures=8, framebuffers=2)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    gl.bind_texture(GL.TEXTURE_3D, 3)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, 4)
    gl.bind_texture(GL.TEXTURE_2D_MULTISAMPLE, 5)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP_ARRAY, 6)
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, 16, 16)
    gl.gen_transform_feedbacks(1)
    prepare_program(gl, _VERTEX, _FRAGMENT, "varied")


def _places(function: Function, arguments: tuple[Any, ...]) -> list[int]:
    return [
        i
        for i, p in enumerate(function.params[: len(arguments)])
        if not p.stars and (p.type == "enum" or p.name in _INTS)
    ]


def _told(gl: GLInterface) -> str:
    code = gl.get_error()
    while gl.get_error():
        pass
    return GL.name_of(code, "error").removeprefix("GL_").removeprefix("INVALID_")


def walk(gl: GLInterface, listed: list[Call], enums: dict[int, str]) -> dict[Any, str]:
    """What every call of a topic was answered."""
    prepare(gl)
    answers: dict[Any, str] = {}
    for number, (method, arguments, swept) in enumerate(listed):
        call = getattr(gl, method)
        # Whatever an enum makes of it, there is room for it.
        arguments = tuple(
            np.concatenate([a.view(np.uint8), _ROOM]) if isinstance(a, np.ndarray) else a
            for a in arguments
        )
        function = FUNCTIONS.method(method)
        for i in _places(function, arguments) if swept else ():
            for enum, name in enums.items():
                if method in ("enable", "disable") and name.startswith("DEBUG_OUTPUT"):
                    continue
                call(*arguments[:i], enum, *arguments[i + 1 :])
                answers[number, method, function.params[i].name, name] = _told(gl)
        call(*arguments)
        answers[number, method, "-", ""] = _told(gl)
    return answers


def why(key: tuple[int, str, str, str], native: str) -> str:
    """The reason for another answer than native GL's, "" if there is none."""
    _, method, param, name = key
    for methods, params, names, answer, reason in EXPLAINED:
        if (
            re.fullmatch(methods, method)
            and re.fullmatch(params, param)
            and re.fullmatch(names, name)
            and re.fullmatch(answer, native)
        ):
            return reason
    return ""


def _compare(all_of_them: bool) -> tuple[int, list[str], Counter[str]]:
    asked, found, reasons = 0, [], Counter[str]()
    enums = _enums(all_of_them)
    for topic, listed in calls():
        options = {"profile": "es", "version": (3, 2), "size": (16, 16)}
        native = native_context(**options)
        expected = walk(native, listed, enums)
        native.release()
        ours = create_context("numpipe", **options)  # type: ignore[arg-type]
        mine = walk(ours, listed, enums)
        ours.release()
        asked += len(mine)
        for key, answer in mine.items():
            if answer != expected[key]:
                reason = why(key, expected[key])
                reasons[reason] += 1
                if not reason:
                    found.append(f"{topic}: {key}: {expected[key]}, not {answer}")
    return asked, found, reasons


def test_enumerators_are_known_as_in_native_es() -> None:
    asked, found, _ = _compare(False)
    assert found == []
    assert asked > 100_000


if __name__ == "__main__":
    total, differing, why_not = _compare(True)
    print(*differing, sep="\n")
    print(f"{total} calls, {len(differing)} unexplained")
    for text, count in why_not.most_common():
        print(f"{count:6} {text}")

"""What glGet* answers, at first and after every setting of the table, is what the native GL says.

Names come from the tracker's own tables of queries, so a new one is compared without being listed.
Limits are every implementation's own: those of ours stand in `limits.txt`, exactly, so that none
changes unseen (`python -m tests.state_tracker.test_state_queries` writes the file anew).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.errors import GalletteError
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.getters import _GETTERS, _INDEXED
from tests.conftest import native_context
from tests.state_tracker.test_es_enums import every_enum
from tests.state_tracker.test_single_state_changes import SCENES, apply, ours, prepared, theirs

TABLE = Path(__file__).with_name("limits.txt")
PROFILES = {"core": (4, 6), "compat": (4, 6), "es": (3, 2)}
_LIMIT = re.compile(
    r"^(MAX_|MIN_(MAP|PROGRAM|FRAGMENT)|NUM_)|_BITS(_|$)|(BOUNDS|SIZE|WIDTH)_RANGE|GRANULARITY|_FORMATS?$|"
    r"(OFFSET|BUFFER)_ALIGNMENT$|"
    r"VERSION|EXTENSION|^SAMPLES$|^SAMPLE_BUFFERS$|SUBPIXEL|COMPILER|RESET_NOTIF|SHADER_DISCARDS"
)
# Answers that are nobody's state.
_NONE = re.compile(r"NUM_EXTENSIONS|TIMESTAMP|MEMORY|GPU_|IMPLEMENTATION_COLOR|FREE_|DEVICE|VBO_")

_OBJECTS = """
get_tex_parameterfv TEXTURE_2D | TEXTURE_MIN_FILTER TEXTURE_MAG_FILTER TEXTURE_WRAP_S TEXTURE_WRAP_T
get_tex_parameterfv TEXTURE_2D | TEXTURE_WRAP_R TEXTURE_MIN_LOD TEXTURE_MAX_LOD TEXTURE_LOD_BIAS
get_tex_parameterfv TEXTURE_2D | TEXTURE_BASE_LEVEL TEXTURE_MAX_LEVEL TEXTURE_BORDER_COLOR
get_tex_parameterfv TEXTURE_2D | TEXTURE_COMPARE_MODE TEXTURE_COMPARE_FUNC TEXTURE_SWIZZLE_RGBA
get_tex_parameterfv TEXTURE_2D | TEXTURE_IMMUTABLE_FORMAT TEXTURE_IMMUTABLE_LEVELS GENERATE_MIPMAP
get_tex_parameterfv TEXTURE_2D | TEXTURE_PRIORITY DEPTH_TEXTURE_MODE DEPTH_STENCIL_TEXTURE_MODE
get_tex_parameterfv TEXTURE_3D | TEXTURE_MIN_FILTER TEXTURE_WRAP_R TEXTURE_SRGB_DECODE_EXT
get_tex_parameterfv TEXTURE_RECTANGLE | TEXTURE_MIN_FILTER TEXTURE_WRAP_S TEXTURE_WRAP_R
get_tex_level_parameteriv TEXTURE_2D 0 | TEXTURE_WIDTH TEXTURE_HEIGHT TEXTURE_DEPTH TEXTURE_BORDER
get_tex_level_parameteriv TEXTURE_2D 1 | TEXTURE_WIDTH TEXTURE_RED_SIZE TEXTURE_ALPHA_SIZE
get_tex_level_parameteriv TEXTURE_2D 0 | TEXTURE_RED_TYPE TEXTURE_COMPRESSED TEXTURE_SAMPLES
get_sampler_parameterfv 1 | TEXTURE_MIN_FILTER TEXTURE_MAG_FILTER TEXTURE_WRAP_S TEXTURE_WRAP_T
get_sampler_parameterfv 1 | TEXTURE_WRAP_R TEXTURE_MIN_LOD TEXTURE_MAX_LOD TEXTURE_LOD_BIAS
get_sampler_parameterfv 1 | TEXTURE_BORDER_COLOR TEXTURE_COMPARE_MODE TEXTURE_COMPARE_FUNC
get_lightfv LIGHT0 | AMBIENT DIFFUSE SPECULAR POSITION SPOT_DIRECTION SPOT_EXPONENT SPOT_CUTOFF
get_lightfv LIGHT0 | CONSTANT_ATTENUATION LINEAR_ATTENUATION QUADRATIC_ATTENUATION
get_lightfv LIGHT7 | AMBIENT DIFFUSE SPECULAR POSITION SPOT_DIRECTION SPOT_EXPONENT SPOT_CUTOFF
get_materialfv FRONT | AMBIENT DIFFUSE SPECULAR EMISSION SHININESS COLOR_INDEXES
get_materialfv BACK | AMBIENT DIFFUSE SPECULAR EMISSION SHININESS
get_tex_envfv TEXTURE_ENV | TEXTURE_ENV_MODE TEXTURE_ENV_COLOR COMBINE_RGB COMBINE_ALPHA RGB_SCALE
get_tex_envfv TEXTURE_ENV | ALPHA_SCALE SOURCE0_RGB SOURCE1_RGB SOURCE2_RGB OPERAND0_RGB
get_tex_envfv TEXTURE_ENV | OPERAND1_RGB OPERAND2_RGB SOURCE0_ALPHA SOURCE1_ALPHA SOURCE2_ALPHA
get_tex_envfv TEXTURE_ENV | OPERAND0_ALPHA OPERAND1_ALPHA OPERAND2_ALPHA
get_tex_envfv TEXTURE_FILTER_CONTROL | TEXTURE_LOD_BIAS
get_tex_envfv POINT_SPRITE | COORD_REPLACE
get_tex_genfv S | TEXTURE_GEN_MODE OBJECT_PLANE EYE_PLANE
get_tex_genfv T | TEXTURE_GEN_MODE OBJECT_PLANE EYE_PLANE
get_tex_genfv R | OBJECT_PLANE EYE_PLANE
get_vertex_attribdv 1 | CURRENT_VERTEX_ATTRIB VERTEX_ATTRIB_ARRAY_ENABLED VERTEX_ATTRIB_ARRAY_SIZE
get_vertex_attribdv 1 | VERTEX_ATTRIB_ARRAY_STRIDE VERTEX_ATTRIB_ARRAY_TYPE VERTEX_ATTRIB_BINDING
get_vertex_attribdv 2 | VERTEX_ATTRIB_ARRAY_NORMALIZED VERTEX_ATTRIB_ARRAY_INTEGER
get_vertex_attribdv 2 | VERTEX_ATTRIB_ARRAY_DIVISOR VERTEX_ATTRIB_RELATIVE_OFFSET
get_buffer_parameteriv ARRAY_BUFFER | BUFFER_SIZE BUFFER_USAGE BUFFER_ACCESS BUFFER_MAPPED
get_buffer_parameteriv ARRAY_BUFFER | BUFFER_MAP_OFFSET BUFFER_MAP_LENGTH BUFFER_STORAGE_FLAGS
get_programiv 3 | LINK_STATUS ATTACHED_SHADERS ACTIVE_UNIFORMS ACTIVE_UNIFORM_MAX_LENGTH
get_programiv 3 | ACTIVE_ATTRIBUTES ACTIVE_ATTRIBUTE_MAX_LENGTH ACTIVE_UNIFORM_BLOCKS DELETE_STATUS
get_shaderiv 1 | SHADER_TYPE COMPILE_STATUS SHADER_SOURCE_LENGTH DELETE_STATUS
get_queryiv SAMPLES_PASSED | CURRENT_QUERY
"""
# Queries (or what is asked of objects) that two GLs answer differently, and why.
_DIFFERENT = {
    "STENCIL_VALUE_MASK": "initially all ones (table 23.25), not as many as a buffer has bits",
    "STENCIL_WRITEMASK": "as above",
    "STENCIL_BACK_VALUE_MASK": "as above",
    "STENCIL_BACK_WRITEMASK": "as above",
    "STENCIL_REF": "Mesa cuts it to the bits of a buffer it saw before",
    "STENCIL_BACK_REF": "as above",
    "READ_BUFFER": "without a window neither has what it names",
    "LAYER_PROVOKING_VERTEX": "every implementation's own (section 11.3.4.6)",
    "VIEWPORT_INDEX_PROVOKING_VERTEX": "as above",
    "TEXTURE_BUFFER_FORMAT_ARB": "R8 since buffer textures are in the core (table 23.19)",
    "TEXTURE_MATRIX": "no normalised value: rounded as an integer (section 2.2.2)",
    "MODELVIEW_MATRIX": "as above",
    "PROJECTION_MATRIX": "as above",
    "CURRENT_MATRIX_ARB": "as above",
    "TRANSPOSE_TEXTURE_MATRIX": "as above",
    "TRANSPOSE_MODELVIEW_MATRIX": "as above",
    "TRANSPOSE_PROJECTION_MATRIX": "as above",
    "TRANSPOSE_CURRENT_MATRIX_ARB": "as above",
    "SAMPLE_MASK_VALUE": "Mesa's glPopAttrib leaves it (table 23.13: group multisample)",
    "DEPTH_RANGE": "depths are normalised (section 2.2.2), with an index, too",
}


def _named(word: str) -> int:
    return int(word) if word.isdigit() else int(getattr(GL, word))


def _asked(gl: Any, kind: str, *arguments: int) -> list[float] | None:
    try:
        values = list(getattr(gl, kind)(*arguments))
    except (AttributeError, GalletteError):
        values = None
    if not gl.get_error():
        return values
    while gl.get_error():
        pass
    return None


def _short(pname: int) -> str:
    return GL.name_of(pname).removeprefix("GL_")


def _word(part: Any) -> str:
    return part if isinstance(part, str) else _short(part) if part > 99 else str(part)


def _states(table: dict[int, Any]) -> list[int]:
    found = [p for p in table if not _LIMIT.search(_short(p)) and not _NONE.search(_short(p))]
    return sorted(p for p in found if _short(p) not in _DIFFERENT)


_STATES, _INDEXED_STATES = _states(_GETTERS), _states(_INDEXED)
_CALLS = [
    (kind, *(_named(w) for w in arguments), _named(name))
    for line in _OBJECTS.strip().splitlines()
    for (kind, *arguments), names in [[part.split() for part in line.split("|")]]
    for name in names
    if name not in _DIFFERENT
]
_CALLS += [
    ("get_framebuffer_attachment_parameteriv", GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, pname)
    for pname in (
        GL.FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE,
        GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL,
        GL.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE,
        GL.FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING,
        GL.FRAMEBUFFER_ATTACHMENT_LAYERED,
        GL.FRAMEBUFFER_ATTACHMENT_RED_SIZE,
    )
]


def _everything(gl: Any, kinds: tuple[str, ...]) -> dict[str, Any]:
    gl.make_current()
    found = {f"{k} {_short(p)}": _asked(gl, k, p) for k in kinds for p in _STATES}
    for pname in _INDEXED_STATES:
        for index in range(2):
            found[f"{_short(pname)} {index}"] = _asked(gl, "get_integeri_v", pname, index)
    for call in _CALLS:
        found[" ".join(map(_word, call))] = _asked(gl, *call)
    return found


def _same(ours: float, theirs: float) -> bool:
    """Equal, or the same 32 bits with and without a sign."""
    return abs(ours - theirs) <= 1e-6 * max(1.0, abs(theirs)) or ours - theirs == 1 << 32


def _off(mine: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """Where both have an answer and they differ."""
    for what, values in mine.items():
        native = other[what]
        if values is None or native is None:
            continue
        pairs = zip(values, native, strict=False)
        if not all(_same(a, b) for a, b in pairs):
            yield f"{what}: {values}, not {native[: len(values)]}"


@pytest.mark.native
def test_what_there_is_at_first() -> None:
    kinds = ("get_doublev", "get_integerv", "get_booleanv", "get_integer64v")
    mine = _everything(ours(), kinds)
    other = _everything(theirs(), kinds)
    assert list(_off(mine, other)) == []
    assert sum(v is not None and other[k] is not None for k, v in mine.items()) > 700


def _known(gl: Any) -> dict[tuple[Any, ...], Any]:
    """Call -> what it would answer, without the way through an entry point where there is none."""
    found: dict[tuple[Any, ...], Any] = {}
    for pname in _STATES:
        value = _GETTERS[pname](gl)
        found["get_doublev", pname] = value if isinstance(value, tuple) else repr(value)
    gl.make_current()
    for pname in _INDEXED_STATES:
        for index in range(2):
            found["get_doublei_v", pname, index] = _asked(gl, "get_doublei_v", pname, index)
    for call in _CALLS:
        found[call] = _asked(gl, *call)
    return found


@pytest.mark.native
@pytest.mark.parametrize("scene", SCENES)
def test_what_a_setting_changes_is_what_it_changes_there(scene: str) -> None:
    wrong: dict[str, str] = {}
    count = 0
    for (mine, row), (other, _) in zip(prepared(ours, scene), prepared(theirs, scene), strict=True):
        before = _known(mine)
        for gl in (mine, other):
            gl.make_current()
            apply(gl, row.after)
        changed = [call for call, value in _known(mine).items() if before[call] != value]
        if "enable COLOR_MATERIAL" in row.text:  # there, the material that was set before stays
            changed = [call for call in changed if call[0] != "get_materialfv"]
        count += len(changed)
        seen = []
        for gl in (mine, other):
            gl.make_current()
            seen.append({" ".join(map(_word, call)): _asked(gl, *call) for call in changed})
        for text in _off(*seen):
            wrong.setdefault(text.split(":")[0], f"{text} after {row.text}")
    assert list(wrong.values()) == []
    assert count > 5


_MAPS = {
    f"MAP{dims}_{name}": size
    for dims in (1, 2)
    for name, size in (
        ("COLOR_4", 4), ("INDEX", 1), ("NORMAL", 3), ("TEXTURE_COORD_1", 1), ("TEXTURE_COORD_2", 2),
        ("TEXTURE_COORD_3", 3), ("TEXTURE_COORD_4", 4), ("VERTEX_3", 3), ("VERTEX_4", 4),
    )
}  # fmt: skip


@pytest.mark.native
def test_evaluators_have_the_control_points_of_native_gl() -> None:
    """At first the only one is what the attribute is without an evaluator; then, what is set."""
    contexts = [ours(), theirs()]
    for name, size in _MAPS.items():
        target, points = getattr(GL, name), [k * 0.5 - 1.0 for k in range(6 * size)]
        for is_set in (False, True):
            answers = []
            for gl in contexts:
                gl.make_current()
                if is_set and name.startswith("MAP1"):
                    gl.map1d(target, -1.0, 2.0, size, 6, points)
                elif is_set:
                    gl.map2d(target, -1.0, 2.0, size, 3, 0.5, 4.0, 3 * size, 2, points)
                queries = (GL.COEFF, GL.ORDER, GL.DOMAIN)
                answers.append([list(gl.get_mapdv(target, q)) for q in queries])
                assert gl.get_error() == 0, name
            assert answers[0] == answers[1], name
            assert len(answers[0][0]) == size * (6 if is_set else 1), name
    for gl in contexts:
        gl.release()


def _limits() -> str:
    lines = ["# Each limit, as the newest context of each profile says it: core, compat, es."]
    contexts = [create_context("numpipe", profile=p, version=v) for p, v in PROFILES.items()]
    for pname in sorted(_GETTERS):
        if _LIMIT.search(_short(pname)) and not _NONE.search(_short(pname)):
            shown = []
            for gl in contexts:
                values = _asked(gl, "get_floatv", pname)
                numbers = [] if values is None else [f"{v:.9g}" for v in values]
                shown.append("-" if values is None else ",".join(numbers) or "none")
            lines.append(" ".join((_short(pname), *shown)))
    for pname in sorted(_INDEXED):
        for index in range(3 if _LIMIT.search(_short(pname)) and "MAX" in _short(pname) else 0):
            asked = [_asked(gl, "get_integeri_v", pname, index) for gl in contexts]
            told = ["-" if values is None else f"{values[0]}" for values in asked]
            lines.append(" ".join((f"{_short(pname)}[{index}]", *told)))
    for target in ("VERTEX_PROGRAM_ARB", "FRAGMENT_PROGRAM_ARB"):
        for number, name in every_enum().items():
            if name.startswith("MAX_PROGRAM_"):
                values = _asked(contexts[1], "get_programiv_arb", _named(target), number)
                if values is not None:
                    lines.append(f"{target}.{name} - {values[0]} -")
    for gl in contexts:
        gl.release()
    return "\n".join(lines) + "\n"


def test_limits_are_those_of_the_table() -> None:
    assert _limits().splitlines() == TABLE.read_text().splitlines()


@pytest.mark.native
@pytest.mark.parametrize("profile", PROFILES)
def test_precisions_of_shaders(profile: str) -> None:
    """The highest is native GL's, and there is no other one here; errors are the same."""
    kinds = range(GL.LOW_FLOAT - 1, GL.HIGH_INT + 2)
    stages = (
        *(GL.VERTEX_SHADER, GL.FRAGMENT_SHADER, GL.GEOMETRY_SHADER, GL.COMPUTE_SHADER),
        *(GL.TESS_CONTROL_SHADER, GL.TESS_EVALUATION_SHADER, GL.FRAGMENT_SHADER - 1),
    )
    version = PROFILES[profile] if profile == "es" else (4, 5)
    answers = []
    for create in (native_context, partial(create_context, "numpipe")):
        gl: Any = create(profile=profile, version=version)
        told: dict[tuple[int, int], Any] = {}
        for stage, kind in product(stages, kinds):
            try:
                bounds, precision = gl.get_shader_precision_format(stage, kind)
                told[stage, kind] = gl.get_error() or (list(bounds), precision)
            except GalletteError:
                told[stage, kind] = gl.get_error()
        answers.append(told)
        gl.release()
    native, mine = answers
    highest = {
        **dict.fromkeys((GL.LOW_FLOAT, GL.MEDIUM_FLOAT), GL.HIGH_FLOAT),
        **dict.fromkeys((GL.LOW_INT, GL.MEDIUM_INT), GL.HIGH_INT),
    }
    for (stage, kind), answer in mine.items():
        same = native[stage, highest.get(kind, kind)]
        assert answer == same, (stage, kind)
    assert sum(not isinstance(answer, int) for answer in mine.values()) == 12


if __name__ == "__main__":
    TABLE.write_text(_limits())

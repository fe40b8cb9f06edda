"""Which enumerators calls accept, table by table of the compatibility specification."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.differential import answers
from tests.state_tracker.helpers import errors, program


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    yield made
    made.release()


# -- arrays: table 2.5 (types and sizes of vertex arrays)

TYPES = {
    "b": GL.BYTE, "B": GL.UNSIGNED_BYTE, "s": GL.SHORT, "S": GL.UNSIGNED_SHORT, "i": GL.INT,
    "I": GL.UNSIGNED_INT, "h": GL.HALF_FLOAT, "f": GL.FLOAT, "d": GL.DOUBLE,
    "p": GL.INT_2_10_10_10_REV, "P": GL.UNSIGNED_INT_2_10_10_10_REV, "x": GL.FIXED, "n": GL.NONE,
}  # fmt: skip
ARRAYS = {
    # sizes, types
    "vertex_pointer": ((2, 3, 4), "sihfdpP"),
    "normal_pointer": ((), "bsihfdpP"),
    "color_pointer": ((3, 4, int(GL.BGRA)), "bBsSiIhfdpP"),
    "secondary_color_pointer": ((3, int(GL.BGRA)), "bBsSiIhfdpP"),
    "tex_coord_pointer": ((1, 2, 3, 4), "sihfdpP"),
    "fog_coord_pointer": ((), "hfd"),
    "index_pointer": ((), "Bsifd"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_have_these_types_and_sizes(gl: Any, name: str) -> None:
    sizes, letters = ARRAYS[name]
    call = getattr(gl, name)
    if not sizes:
        for letter, type in TYPES.items():
            call(type, 0, None)
            wanted = [] if letter in letters else ["GL_INVALID_ENUM"]
            assert errors(gl) == wanted, letter
        return
    for size, (letter, type) in product((0, 1, 2, 3, 4, 5, int(GL.BGRA)), TYPES.items()):
        if size == GL.BGRA and size in sizes and letter not in "BpP":
            continue  # BGRA: unsigned bytes and packed words only
        call(size, type, 0, None)
        found = errors(gl)
        if size not in sizes:
            assert found in (["GL_INVALID_VALUE"], ["GL_INVALID_ENUM"]), (size, letter)
        elif letter not in letters:
            assert found == ["GL_INVALID_ENUM"], (size, letter)
        elif letter in "pP" and size not in (4, GL.BGRA):
            assert found in (["GL_INVALID_OPERATION"], []), (size, letter)
        else:
            assert found == [], (size, letter)


def test_units_of_client_arrays(gl: Any) -> None:
    for unit in (-1, 0, 7, 8):
        gl.client_active_texture(GL.TEXTURE0 + unit)
        assert errors(gl) == ([] if 0 <= unit < 8 else ["GL_INVALID_ENUM"])
        if 0 <= unit < 8:
            assert gl.get_integerv(GL.CLIENT_ACTIVE_TEXTURE)[0] == GL.TEXTURE0 + unit


# -- texture environments and coordinates: tables 23.20 to 23.23

ENVIRONMENT = {
    "TEXTURE_ENV_MODE": "MODULATE", "COMBINE_RGB": "MODULATE", "COMBINE_ALPHA": "MODULATE",
    "SRC0_RGB": "TEXTURE", "SRC1_RGB": "PREVIOUS", "SRC2_RGB": "CONSTANT",
    "SRC0_ALPHA": "TEXTURE", "SRC1_ALPHA": "PREVIOUS", "SRC2_ALPHA": "CONSTANT",
    "OPERAND0_RGB": "SRC_COLOR", "OPERAND1_RGB": "SRC_COLOR", "OPERAND2_RGB": "SRC_ALPHA",
    "OPERAND0_ALPHA": "SRC_ALPHA", "OPERAND1_ALPHA": "SRC_ALPHA", "OPERAND2_ALPHA": "SRC_ALPHA",
    "RGB_SCALE": 1, "ALPHA_SCALE": 1,
}  # fmt: skip
OTHERS = {
    "TEXTURE_ENV": {"TEXTURE_ENV_COLOR": [0, 0, 0, 0], **ENVIRONMENT},
    "TEXTURE_FILTER_CONTROL": {"TEXTURE_LOD_BIAS": 0},
    "POINT_SPRITE": {"COORD_REPLACE": 0},
}


def test_environments_begin_as_the_tables_say_and_have_no_other_parameters(gl: Any) -> None:
    names = {name for known in OTHERS.values() for name in known} | {"TEXTURE_MIN_FILTER"}
    for target, known in OTHERS.items():
        for name, suffix in product(sorted(names), ("fv", "iv")):
            found = getattr(gl, f"get_tex_env{suffix}")(getattr(GL, target), getattr(GL, name))
            if name in known:
                wanted = known[name]
                wanted = getattr(GL, wanted) if isinstance(wanted, str) else wanted
                assert list(found) == (wanted if isinstance(wanted, list) else [wanted]), name
                assert errors(gl) == []
            else:
                assert errors(gl) == ["GL_INVALID_ENUM"], (target, name)
    gl.get_tex_envfv(GL.TEXTURE_2D, GL.TEXTURE_ENV_MODE)
    assert errors(gl) == ["GL_INVALID_ENUM"]


def test_environments_keep_what_they_are_given_unit_by_unit(gl: Any) -> None:
    gl.active_texture(GL.TEXTURE2)
    given = {
        "TEXTURE_ENV_MODE": "COMBINE", "COMBINE_RGB": "DOT3_RGB", "COMBINE_ALPHA": "SUBTRACT",
        "SRC0_RGB": "PRIMARY_COLOR", "SRC1_RGB": "TEXTURE1", "SRC2_RGB": "PREVIOUS",
        "SRC0_ALPHA": "CONSTANT", "SRC1_ALPHA": "TEXTURE", "SRC2_ALPHA": "PRIMARY_COLOR",
        "OPERAND0_RGB": "ONE_MINUS_SRC_COLOR", "OPERAND1_RGB": "SRC_ALPHA",
        "OPERAND2_RGB": "ONE_MINUS_SRC_ALPHA", "OPERAND0_ALPHA": "ONE_MINUS_SRC_ALPHA",
        "OPERAND1_ALPHA": "ONE_MINUS_SRC_ALPHA", "OPERAND2_ALPHA": "ONE_MINUS_SRC_ALPHA",
        "RGB_SCALE": 2, "ALPHA_SCALE": 4,
    }  # fmt: skip
    assert set(given) == set(ENVIRONMENT)
    for name, value in given.items():
        number = getattr(GL, value) if isinstance(value, str) else value
        gl.tex_envi(GL.TEXTURE_ENV, getattr(GL, name), number)
    gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, np.array([0.25, 0.5, 0.75, 1], "f4"))
    gl.tex_envf(GL.TEXTURE_FILTER_CONTROL, GL.TEXTURE_LOD_BIAS, 1.5)
    gl.tex_envi(GL.POINT_SPRITE, GL.COORD_REPLACE, 1)
    assert errors(gl) == []
    for unit in (2, 1):
        gl.active_texture(GL.TEXTURE0 + unit)
        for name, first in ENVIRONMENT.items():
            value = given[name] if unit == 2 else first
            number = getattr(GL, value) if isinstance(value, str) else value
            assert list(gl.get_tex_enviv(GL.TEXTURE_ENV, getattr(GL, name))) == [number], name
        color = gl.get_tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR)
        assert list(color) == ([0.25, 0.5, 0.75, 1] if unit == 2 else [0] * 4)
        bias = gl.get_tex_envfv(GL.TEXTURE_FILTER_CONTROL, GL.TEXTURE_LOD_BIAS)
        assert list(bias) == [1.5 if unit == 2 else 0]
        replaced = gl.get_tex_enviv(GL.POINT_SPRITE, GL.COORD_REPLACE)
        assert list(replaced) == [int(unit == 2)]


def test_generated_coordinates(gl: Any) -> None:
    planes = {GL.S: [1, 0, 0, 0], GL.T: [0, 1, 0, 0], GL.R: [0] * 4, GL.Q: [0] * 4}
    for coord, plane in planes.items():
        for suffix in ("fv", "dv", "iv"):
            ask = getattr(gl, f"get_tex_gen{suffix}")
            assert list(ask(coord, GL.TEXTURE_GEN_MODE)) == [GL.EYE_LINEAR]
            assert list(ask(coord, GL.OBJECT_PLANE)) == plane
            assert list(ask(coord, GL.EYE_PLANE)) == plane
    for coord, pname in ((GL.TEXTURE, GL.TEXTURE_GEN_MODE), (GL.S, GL.TEXTURE_ENV_MODE)):
        gl.get_tex_genfv(coord, pname)
        assert errors(gl) == ["GL_INVALID_ENUM"]
    gl.tex_genfv(GL.R, GL.OBJECT_PLANE, np.array([1, 2, 3, 4], np.float32))
    gl.tex_geni(GL.R, GL.TEXTURE_GEN_MODE, GL.OBJECT_LINEAR)
    assert list(gl.get_tex_geniv(GL.R, GL.OBJECT_PLANE)) == [1, 2, 3, 4]
    assert list(gl.get_tex_geniv(GL.Q, GL.OBJECT_PLANE)) == [0] * 4
    assert list(gl.get_tex_genfv(GL.R, GL.TEXTURE_GEN_MODE)) == [GL.OBJECT_LINEAR]


# -- interfaces of programs: section 7.3.1

STAGES = ("VERTEX", "TESS_CONTROL", "TESS_EVALUATION", "GEOMETRY", "FRAGMENT", "COMPUTE")
INTERFACES = [
    "UNIFORM", "UNIFORM_BLOCK", "ATOMIC_COUNTER_BUFFER", "PROGRAM_INPUT", "PROGRAM_OUTPUT",
    "TRANSFORM_FEEDBACK_VARYING", "TRANSFORM_FEEDBACK_BUFFER", "BUFFER_VARIABLE",
    "SHADER_STORAGE_BLOCK",
    *(f"{stage}_SUBROUTINE" for stage in STAGES),
    *(f"{stage}_SUBROUTINE_UNIFORM" for stage in STAGES),
]  # fmt: skip
NAMELESS = ("ATOMIC_COUNTER_BUFFER", "TRANSFORM_FEEDBACK_BUFFER")
WITH_VARIABLES = (*NAMELESS, "UNIFORM_BLOCK", "SHADER_STORAGE_BLOCK")


@pytest.mark.parametrize("linked", [False, True])
def test_every_interface_can_be_queried_of_any_program(gl: Any, linked: bool) -> None:
    made = program(gl) if linked else gl.create_program()
    ask = gl.get_program_interfaceiv
    for name in INTERFACES:
        interface = getattr(GL, name)
        ask(made, interface, GL.ACTIVE_RESOURCES)
        assert errors(gl) == [], name
        ask(made, interface, GL.MAX_NAME_LENGTH)
        refused = ["GL_INVALID_OPERATION"]
        assert errors(gl) == (refused if name in NAMELESS else []), name
        ask(made, interface, GL.MAX_NUM_ACTIVE_VARIABLES)
        assert errors(gl) == ([] if name in WITH_VARIABLES else refused), name
        ask(made, interface, GL.MAX_NUM_COMPATIBLE_SUBROUTINES)
        assert errors(gl) == ([] if name.endswith("SUBROUTINE_UNIFORM") else refused), name
        ask(made, interface, GL.VERTEX_SHADER)
        assert errors(gl) == ["GL_INVALID_ENUM"], name
    ask(made, GL.TEXTURE_2D, GL.ACTIVE_RESOURCES)
    assert errors(gl) == ["GL_INVALID_ENUM"]
    ask(99, GL.UNIFORM, GL.ACTIVE_RESOURCES)
    assert errors(gl) == ["GL_INVALID_VALUE"]


# -- views of textures: table 8.20

FAMILIES = [
    {"TEXTURE_1D", "TEXTURE_1D_ARRAY"},
    {"TEXTURE_2D", "TEXTURE_2D_ARRAY", "TEXTURE_CUBE_MAP", "TEXTURE_CUBE_MAP_ARRAY"},
    {"TEXTURE_3D"}, {"TEXTURE_RECTANGLE"}, {"TEXTURE_2D_MULTISAMPLE",
                                            "TEXTURE_2D_MULTISAMPLE_ARRAY"},
]  # fmt: skip
TARGETS = sorted({name for family in FAMILIES for name in family})
LAYERS = {"TEXTURE_CUBE_MAP": 6, "TEXTURE_CUBE_MAP_ARRAY": 6}


def stored(gl: Any, target: str) -> int:
    """An immutable texture; of six layers where it has layers."""
    texture = gl.gen_textures(1)[0]
    number = getattr(GL, target)
    gl.bind_texture(number, texture)
    if target == "TEXTURE_1D":
        gl.tex_storage1d(number, 1, GL.RGBA8, 4)
    elif target == "TEXTURE_2D_MULTISAMPLE":
        gl.tex_storage2d_multisample(number, 4, GL.RGBA8, 4, 4, 1)
    elif target == "TEXTURE_2D_MULTISAMPLE_ARRAY":
        gl.tex_storage3d_multisample(number, 4, GL.RGBA8, 4, 4, 6, 1)
    elif target == "TEXTURE_1D_ARRAY":
        gl.tex_storage2d(number, 1, GL.RGBA8, 4, 6)
    elif target in ("TEXTURE_2D_ARRAY", "TEXTURE_CUBE_MAP_ARRAY", "TEXTURE_3D"):
        gl.tex_storage3d(number, 1, GL.RGBA8, 4, 4, 6)
    else:
        gl.tex_storage2d(number, 1, GL.RGBA8, 4, 4)
    assert errors(gl) == []
    return int(texture)


@pytest.mark.parametrize("original", TARGETS)
def test_views_stay_in_their_family(gl: Any, original: str) -> None:
    whole = {"TEXTURE_1D": 1, "TEXTURE_2D": 1, "TEXTURE_3D": 1, "TEXTURE_RECTANGLE": 1,
             "TEXTURE_2D_MULTISAMPLE": 1}.get(original, 6)  # fmt: skip
    source = stored(gl, original)
    for view in TARGETS:
        layers = LAYERS.get(view, 1)
        if layers > whole:
            continue  # there are not so many
        name = gl.gen_textures(1)[0]
        gl.texture_view(name, getattr(GL, view), source, GL.RGBA8, 0, 1, 0, layers)
        allowed = any({original, view} <= family for family in FAMILIES)
        assert errors(gl) == ([] if allowed else ["GL_INVALID_OPERATION"]), view


def test_there_are_no_views_of_buffers(gl: Any) -> None:
    texture = gl.gen_textures(2)
    gl.bind_texture(GL.TEXTURE_BUFFER, texture[0])
    gl.texture_view(texture[1], GL.TEXTURE_2D, texture[0], GL.RGBA8, 0, 1, 0, 1)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


# -- parts of textures by name: section 8.6

DIMENSIONS = {
    "TEXTURE_1D": 1, "TEXTURE_1D_ARRAY": 2, "TEXTURE_2D": 2, "TEXTURE_RECTANGLE": 2,
    "TEXTURE_2D_ARRAY": 3, "TEXTURE_3D": 3, "TEXTURE_CUBE_MAP": 3, "TEXTURE_CUBE_MAP_ARRAY": 3,
}  # fmt: skip


@pytest.mark.parametrize("target", DIMENSIONS)
def test_parts_of_textures_are_of_their_dimensions(gl: Any, target: str) -> None:
    """A cube has six layers where it is named."""
    texture = stored(gl, target)
    gl.clear_tex_image(texture, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    data = bytes([10, 20, 30, 40])
    for dimensions in (1, 2, 3):
        call = getattr(gl, f"texture_sub_image{dimensions}d")
        place, size = (1, 2, 3)[:dimensions], (1,) * dimensions
        call(texture, 0, *place, *size, GL.RGBA, GL.UNSIGNED_BYTE, data)
        allowed = dimensions == DIMENSIONS[target]
        assert errors(gl) == ([] if allowed else ["GL_INVALID_OPERATION"]), dimensions
    found = np.zeros(4 * 4 * 6 * 4, np.uint8)
    gl.get_texture_image(texture, 0, GL.RGBA, GL.UNSIGNED_BYTE, found.nbytes, found)
    assert errors(gl) == []
    rows = {"TEXTURE_1D": 1, "TEXTURE_1D_ARRAY": 6}.get(target, 4)
    texels = found.reshape(-1, 4)
    at = [i for i in range(len(texels)) if texels[i].any()]
    wanted = {1: 1, 2: 1 + 4 * 2, 3: 1 + 4 * (2 + rows * 3)}[DIMENSIONS[target]]
    assert at == [wanted]
    assert texels[wanted].tolist() == [10, 20, 30, 40]
    gl.texture_sub_image2d(99, 0, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, data)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


@pytest.mark.native
def test_the_order_of_components_is_told_as_it_was_set() -> None:
    def ask(gl: Any) -> list[int]:
        for call in (gl.color_pointer, gl.secondary_color_pointer):
            call(GL.BGRA, GL.UNSIGNED_BYTE, 0, None)
        gl.vertex_attrib_pointer(3, GL.BGRA, GL.UNSIGNED_BYTE, True, 0, None)
        names = (GL.COLOR_ARRAY_SIZE, GL.SECONDARY_COLOR_ARRAY_SIZE)
        found = [int(gl.get_integerv(name)[0]) for name in names]
        return [*found, int(gl.get_vertex_attribiv(3, GL.VERTEX_ATTRIB_ARRAY_SIZE)[0])]

    theirs, ours = answers(ask, "compat")
    assert theirs == ours == [GL.BGRA] * 3

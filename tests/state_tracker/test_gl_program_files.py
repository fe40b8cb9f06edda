"""The runner of GL programs: what it reads, which answers it refuses, and where it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.state_tracker import create_context
from tests.state_tracker.gl_programs import ProgramError, programs_of, run

TEXT = """shader red fragment
    #version 330
    out vec4 result;
    void main() { result = vec4(1.0, 0.0, 0.0, 1.0); }
shader corners vertex
    #version 330
    in vec2 position;
    void main() { gl_Position = vec4(position, 0.0, 1.0); }

data levels b
    51, 102,
    153, 255

calls red_target
    clear_color 1 0 0 1
    clear COLOR_BUFFER_BIT

[a program] core 3.3 8x8 numpipe
"""

WRONG = {
    "pixel 0 0 -> 0 0 0 1": "cases.txt:19: pixel 0 0: [0, 0, 0, 0], not 0 0 0 1",
    "pixel 0 0 -> 0 0 0": "[0, 0, 0, 0], not 0 0 0",
    "pixel 0 0 -> b:0*3,1": "[0, 0, 0, 0], not b:0*3,1",
    "picture -> 0 0 8 8 = 0 0 0 0; 7 7 1 1 = 0 0 0 9": "1 pixels; at 7, 7 it is [0 0 0 0]",
    "picture -> 0 0 8 8": "no colour in '0 0 8 8'",
    "get_floatv COLOR_CLEAR_VALUE -> 0 0 0 0.001": "not 0 0 0 0.001",
    "get_integerv UNPACK_ALIGNMENT -> 5 ~0.5": "[4], not 5",
    "get_string SHADING_LANGUAGE_VERSION -> s:none": "not s:none",
    "enable TEXTURE_ENV": "INVALID_ENUM, not NO_ERROR",
    "enable BLEND ! INVALID_ENUM": "NO_ERROR, not INVALID_ENUM",
    "enabled BLEND": "has no function",
    "enable BLENDING": "BLENDING",
    "uniform1f @x 1": "@x",
    "program red nothing": "nothing",
    "get_integerv VIEWPORT\nget_integerv VIEWPORT -> 0 0 8 9": "cases.txt:20: ",
    "clear_color 0 0 0 $alpha\n| alpha | more\n| 1 | 2 | 3": "line 21: 3 cells for 2 columns",
    "clear_color 0 0 0 $beta\n| alpha\n| 1": "line 19: no column 'beta'",
    "[another] core 3.3": "line 19: '[another] core 3.3' is no header",
    "calls green_target": "line 19: there are no calls green_target",
    "calls red_target\npicture 1 2 2 1 -> 0 0 2 1 = 255 0 0 255; 1 0 1 1 = 0 0 0 0": "at 1, 0 it",
    "calls red_target\nread_pixels 0 0 2 1 RGBA UNSIGNED_BYTE -> b:(255,0*2,255)*3": ", not b:(",
    "picture -> 2 colors": "picture: 1 colours, not 2 or more",
    "sometimes\n    finish": "line 19: no block begins with 'sometimes'",
    "repeat 3\n    calls green_target": "line 20: there are no calls green_target",
    "repeat 2\n    scissor 0 0 ?(-3..-2) 1": "cases.txt:20: scissor 0 0 -",
    "one of\n    all of\n        enable ?(BLENDS,BLENDING)": "BLEND",
    "drawn_together -> 3": "drawn_together: [], not 3",
    "for each row\nscissor 0 0 $size 1\n| size\n| 1\n| -1": ": scissor 0 0 -1 1: INVALID_",
}

RIGHT = [
    "program corners red -> 1\nquad 1 -> 1\ndraw_arrays TRIANGLE_STRIP 0 4\n"
    "picture -> 0 0 8 8 = 255 0 0 255\npixel 3 3 -> 254 0 0 255 ~1",
    "gen_textures 1 -> 1\nbind_texture TEXTURE_2D 1\n"
    "tex_image2d TEXTURE_2D 0 RGBA8 1 1 0 RGBA UNSIGNED_BYTE data:levels\n"
    "get_tex_image TEXTURE_2D 0 RGBA UNSIGNED_BYTE -> data:levels\n"
    "get_tex_image TEXTURE_2D 0 RGBA FLOAT -> f:0.2,0.4,0.6,1",
    "create_program -> 1\n@missing = get_uniform_location 1 s:missing ! INVALID_OPERATION\n"
    "uniform1f @missing 1 ! INVALID_OPERATION",
    "scissor 0 0 $width 1 ! $error\n| width | error\n| 1 | NO_ERROR\n| -1 | INVALID_VALUE",
    "calls red_target\npicture 6 7 2 1 -> 0 0 2 1 = 255 0 0 255\n"
    "read_pixels 0 0 2 1 RGBA UNSIGNED_BYTE -> b:(255,0*2,255)*2",
    "@made = create_shader_programv FRAGMENT_SHADER 1 sources:red\nuse_program @made",
    "repeat 3\n    one of\n        scissor 0 0 ?(1..4) ?(1..4)\n        all of\n"
    "            enable BLEND\n            clear_color ?(0.0..0.5) 0 0 1\n"
    "    perhaps 0.5\n        calls red_target\nget_error -> 0",
    "gen_buffers 1\nbind_buffer ARRAY_BUFFER 1\n"
    "buffer_data ARRAY_BUFFER 8 f:?2(3.0..4.0) STREAM_DRAW\n"
    "write_mapped ARRAY_BUFFER 4 0 f:2 -> 1\nget_buffer_sub_data ARRAY_BUFFER 4 4 -> f:2",
    "gen_buffers 1\n"
    "for each row\nbind_buffer $target 1\n| target\n| ARRAY_BUFFER\n| COPY_READ_BUFFER",
]


def execute(folder: Path, text: str) -> int:
    """How many programs the text holds; all of them run."""
    path = folder / "cases.txt"
    path.write_text(TEXT + text + "\n")
    programs_of.cache_clear()
    programs = programs_of(path)
    for program in programs:
        gl = create_context("numpipe", version=program.version, size=program.size)
        try:
            run(gl, program, executed=[])
        finally:
            gl.release()
    return len(programs)


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_line_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProgramError) as raised:
        execute(tmp_path, text)
    assert WRONG[text] in str(raised.value)


@pytest.mark.parametrize("text", RIGHT)
def test_right_programs_run(tmp_path: Path, text: str) -> None:
    assert execute(tmp_path, text) == (2 if text.startswith("scissor") else 1)

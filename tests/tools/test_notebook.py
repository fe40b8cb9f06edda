"""The public functions for scripts and notebooks, and what editors see of a GL context."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallette
from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.enums import GL


def test_everything_public_is_there_and_says_what_it_is() -> None:
    for name in gallette.__all__:
        assert hasattr(gallette, name)
        if name != "__version__":
            assert inspect.getdoc(getattr(gallette, name)), name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gallette.nonsense  # noqa: B018


def test_an_image_is_shown_as_png() -> None:
    image = gallette.show(np.array([[[255, 0, 0], [0, 255, 0]]], np.uint8))
    assert image.size == (2, 1)
    assert image._repr_png_().startswith(b"\x89PNG")
    assert repr(image) == "<gallette.Image 2x1, 3 x uint8>"
    grey = gallette.show(np.array([[0.5]], np.float32))
    assert grey.rgb().tolist() == [[[128, 128, 128]]]
    with pytest.raises(GalletteError, match="pixels: an image has 1 to 4 channels"):
        gallette.show(np.zeros((2, 2, 7)))


def test_contexts_framebuffers_and_textures_are_shown(tmp_path: Path) -> None:
    moderngl = pytest.importorskip("moderngl")
    window: Any = gallette.moderngl_context()
    ctx = moderngl.create_context(standalone=True, context=window)
    target = ctx.simple_framebuffer((4, 3))
    target.use()
    target.clear(0.0, 1.0, 0.0, 1.0)
    assert gallette.show(target).pixels[0, 0].tolist() == [0, 255, 0, 255]
    texture = ctx.texture((2, 2), 3, bytes(range(12)))
    assert gallette.show(texture).pixels[1, 0].tolist() == [0, 1, 2]
    image = gallette.show(window)
    assert image.size == (4, 3)
    image.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()
    with pytest.raises(GalletteError, match="attachment: there is no colour 3"):
        gallette.show(window, attachment=3)


def test_comparing_pictures() -> None:
    black = np.zeros((2, 2, 4), np.uint8)
    white = np.full((2, 2, 4), 255, np.uint8)
    assert gallette.compare_images(black, black).identical
    assert gallette.compare_images(black, white).max_difference == 255
    with pytest.raises(GalletteError, match="theirs: an RGBA picture"):
        gallette.compare_images(black, white[..., :3])


def test_tracing_and_explaining(tmp_path: Path) -> None:
    capture = gallette.trace("gradient", tmp_path / "a.gcap")
    assert gallette.replay(capture).identical
    source = tmp_path / "a.frag"
    source.write_text("#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }\n")
    assert gallette.explain(source).shaders[0].stage == "fragment"
    with pytest.raises(GalletteError, match="tolerance: 0 or more"):
        gallette.diff(tmp_path / "a.gcap", tolerance=-1)
    with pytest.raises(GalletteError, match="name: unknown scene"):
        gallette.draw_scene("gradientt")


def test_dir_lists_the_functions_of_a_context() -> None:
    core: Any = gallette.create_context()
    names = dir(core)
    assert {"draw_arrays", "gen_buffers", "make_current", "pipe"} <= set(names)
    assert "begin" not in names
    compat: Any = gallette.create_context(profile="compat")
    assert "begin" in dir(compat)
    core.release()
    compat.release()


def test_functions_have_signatures() -> None:
    gl: Any = gallette.create_context()
    assert str(inspect.signature(gl.bind_buffer)) == (
        "(target: 'enum target', buffer: 'uint buffer', /)"
    )
    generated = inspect.signature(gl.gen_buffers)
    assert generated.parameters["buffers"].default is None
    assert generated.return_annotation == "buffers"
    assert inspect.signature(gl.get_error).return_annotation == "enum"
    assert gl.get_error() == GL.NO_ERROR
    gl.release()


def test_a_pixel_of_one_colour_buffer(capsys: pytest.CaptureFixture[str]) -> None:
    from gallette.cli import main

    assert main(["pixel", "deferred", "100,90", "--target", "1"]) == 0
    assert "shader wrote colour 1" in capsys.readouterr().out
    assert main(["pixel", "gradient", "5,5", "--target", "3"]) == 2
    assert "has a colour 3" in capsys.readouterr().err

"""The public functions for scripts and notebooks, and what editors see of a GL context."""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallette
from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.enums import GL

ROOT = Path(__file__).resolve().parent.parent.parent


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
    with pytest.raises(GalletteError, match="theirs: an RGB or RGBA picture"):
        gallette.compare_images(black, white[..., :2])
    assert gallette.compare_images(white[..., :3], white).identical
    assert gallette.show("gradient").size == (256, 192)


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
    assert "has a buffer 'colour 3'" in capsys.readouterr().err


def test_pictures_of_any_channels_are_shown_in_three() -> None:
    numbers = np.array([[[10, 20, 30, 40], [50, 60, 70, 80]]], np.uint8)
    shown = {n: gallette.show(numbers[..., :n]).rgb().tolist() for n in (1, 2, 3, 4)}
    assert shown == {
        1: [[[10, 10, 10], [50, 50, 50]]], 2: [[[10, 20, 0], [50, 60, 0]]],
        3: [[[10, 20, 30], [50, 60, 70]]], 4: [[[10, 20, 30], [50, 60, 70]]],
    }  # fmt: skip
    odd = np.array([[-1.0, 0.0, 0.5, 1.0, 2.0, np.nan, np.inf, 0.001]], np.float32)
    assert gallette.show(odd).rgb()[0, :, 0].tolist() == [0, 0, 128, 255, 255, 0, 255, 0]
    image = gallette.show(numbers)
    assert gallette.show(image) is image
    for shape in ((2,), (2, 2, 5), (2, 2, 0), (1, 2, 2, 1)):
        with pytest.raises(GalletteError, match="pixels: an image has 1 to 4 channels"):
            gallette.show(np.zeros(shape))


def test_passes_and_textures_are_shown_from_the_top() -> None:
    moderngl = pytest.importorskip("moderngl")
    from gallette.scenes.common import Pass

    rows = np.arange(16, dtype=np.uint8).reshape(2, 2, 4)
    shown = gallette.show(Pass("p", rows, np.ones((2, 2), bool)))
    assert shown.pixels.tolist() == rows[::-1].tolist()
    window: Any = gallette.moderngl_context()
    ctx = moderngl.create_context(standalone=True, context=window)
    for kind, dtype in (("f1", np.uint8), ("f2", np.float16), ("f4", np.float32)):
        data = np.arange(6, dtype=dtype).reshape(2, 1, 3)
        texture = ctx.texture((1, 2), 3, data.tobytes(), dtype=kind, alignment=1)
        found = gallette.show(texture).pixels
        assert found.dtype == dtype
        assert found.tolist() == data[::-1].tolist()
    with pytest.raises(GalletteError, match="what: textures of u1 are no pictures"):
        gallette.show(ctx.texture((1, 2), 3, dtype="u1"))
    colors = [ctx.texture((2, 1), 4) for _ in range(2)]
    both = ctx.framebuffer(colors)
    for target, value in zip(colors, (1, 2), strict=True):
        target.write(bytes([value]) * 8)
    assert [int(gallette.show(both, attachment=i).pixels[0, 0, 0]) for i in (0, 1)] == [1, 2]
    window.release()


def test_arguments_are_passed_on_to_other_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def told(name: str, answer: Any = None) -> Any:
        return lambda *args: (asked.append((name, *args)), answer)[1]

    monkeypatch.setenv("GALLETTE_DRIVER", "simd")
    for place, answer in (
        ("capture.differ.diff_capture", None), ("history.pixel_history", None),
        ("debugger.debug_fragment", ["session", "history", []]), ("capture.replay", None),
        ("explaining.explain_file", None), ("capture.targets.record_target", None),
        ("capture.open_capture", None),
    ):  # fmt: skip
        monkeypatch.setattr(f"gallette.{place}", told(place.split(".")[-1], answer))
    gallette.diff("c", tolerance=0)
    gallette.diff("c", "a", "b", 2.5)
    gallette.pixel("gradient", 1, 2)
    gallette.pixel("gradient", 1, 2, "jit", 3)
    assert gallette.debug("gradient", 1, 2) == "session"
    gallette.debug("gradient", 1, 2, "jit", 3)
    gallette.explain(Path("f"), stage="vertex")
    gallette.explain("f", "jit")
    gallette.trace("gradient", "here")
    gallette.replay("c", "jit", 5)
    gallette.replay("c")
    assert asked == [
        ("diff_capture", "c", "simd", "native", 0), ("diff_capture", "c", "a", "b", 2.5),
        ("pixel_history", "gradient", 1, 2, "simd", 0),
        ("pixel_history", "gradient", 1, 2, "jit", 3),
        ("debug_fragment", "gradient", 1, 2, "simd", 0),
        ("debug_fragment", "gradient", 1, 2, "jit", 3),
        ("explain_file", "f", "simd", "vertex"), ("explain_file", "f", "jit", None),
        ("record_target", "gradient", Path("here"), "simd"), ("open_capture", "here"),
        ("replay", "c", "jit", 5), ("replay", "c", "", None),
    ]  # fmt: skip
    for call in (gallette.pixel, gallette.debug):
        with pytest.raises(GalletteError, match="unknown scene"):
            call("gradiant", 1, 2)
    with pytest.raises(GalletteError, match="unknown scene"):
        gallette.trace("gradiant", "here")


def test_pictures_that_are_compared_have_one_size() -> None:
    some = np.zeros((2, 3, 4), np.uint8)
    some[0, :, 3] = 255
    other = some.copy()
    other[0, 1] = 2, 0, 0, 255
    found = gallette.compare_images(some, other, 2.0)
    assert (found.max_difference, found.over_tolerance, found.coverage_mismatch) == (2, 0, 0)
    assert gallette.compare_images(some, other, 1.0).over_tolerance > 0
    other[1, 1, 3] = 255
    assert gallette.compare_images(some, other).coverage_mismatch == 1
    with pytest.raises(GalletteError, match="theirs: pictures of one size"):
        gallette.compare_images(some, np.zeros((3, 2, 4), np.uint8))
    with pytest.raises(GalletteError, match="ours: an RGB or RGBA picture"):
        gallette.compare_images(some[0], some)


def test_all_public_names_are_listed() -> None:
    """Also those that are imported when they are first used: people look with `dir`."""
    assert set(gallette.__all__) <= set(dir(gallette))


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_results_show_themselves(path: Path) -> None:
    """Cells run in order; what a cell ends with has a picture or HTML, and a short repr."""
    names: dict[str, Any] = {}
    shown = 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []  # they are the reader's
        *body, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(body, []), path.name, "exec"), names)
        assert isinstance(last, ast.Expr), "a cell ends with what it shows"
        value = eval(compile(ast.Expression(last.value), path.name, "eval"), names)
        assert len(repr(value)) < 200
        for method in ("_repr_png_", "_repr_html_"):
            if hasattr(value, method):
                assert getattr(value, method)()
                shown += 1
    assert shown
    if "nir" in names:
        names["nir"].unref()


def test_html_of_results_is_escaped_and_short() -> None:
    found = gallette.pixel("gradient", 128, 96)
    found.target = "<script>"
    text = found._repr_html_()
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert text.startswith("<table>") and "written" in text
    assert repr(found).startswith("<History of pixel 128, 96 of <script> on ")

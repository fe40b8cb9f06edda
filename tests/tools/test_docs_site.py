"""The documentation's site: what can be looked at without building it (`make docs` does that)."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_every_page_is_in_the_contents() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = {
        line
        for block in re.findall(r"```{toctree}\n(.*?)```", index, re.S)
        for line in block.splitlines()
        if line and not line.startswith(":")
    }
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        if "/." in name:  # a tool's cache
            continue
        folder = name.rpartition("/")[0]
        known = name == "index" or name in listed or f"{folder}/*" in listed
        assert known, f"docs/index.md does not list {name}"


def test_the_landing_page_shows_what_is_made_for_it() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    shown = set(re.findall(r'(?:src|href)="live/([^"]+)"', index))
    script = (DOCS / "live_pages.py").read_text(encoding="utf-8")
    assert {"report/index.html", "lessons/is_used_once.html", "explorer.html"} <= shown
    for name in shown:
        assert f'"{name.split("/")[0]}"' in script, name


def test_a_site_that_fetches_or_misses_something_is_found_out(tmp_path: Path) -> None:
    check = module("check_site")
    (tmp_path / "index.html").write_text(
        '<a href="https://example.org">fine</a><a href="other.html#x">fine</a>'
        '<img src="data:image/png;base64,x"><link rel="stylesheet" href="style.css">'
    )
    (tmp_path / "other.html").write_text('<script src="https://example.org/x.js"></script>')
    (tmp_path / "style.css").write_text("a { background: url(https://example.org/a.png) }")
    assert list(check.problems(tmp_path)) == [
        "other.html fetches https://example.org/x.js",
        "style.css fetches something",
    ]
    (tmp_path / "other.html").write_text('<iframe src="gone.html"></iframe>')
    (tmp_path / "style.css").write_text("")
    assert list(check.problems(tmp_path)) == ["other.html refers to gone.html, which is not there"]


def test_the_page_on_a_draw_has_every_layer_and_what_the_run_knows_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    layers = module("diagram").LAYERS
    (control,) = module("draw_page").page().controls[:1]
    assert [name for name, _ in control.states] == [folder for folder, *_ in layers]
    text = {name: str(blocks) for name, blocks in control.states}
    known = {
        "the application": "glDrawArrays(mode=GL_TRIANGLES, first=0, count=3)",
        "state_tracker/": "bind_rasterizer_state",
        "pipe/": "draw_vbo",
        "drivers/common/draw/": "first variant",
        "drivers/common/vertex/": "-0.8, -0.7, 0, 1",
        "drivers/common/raster/": "fragments; each becomes a lane",
        "drivers/common/output/": "shader output",
    }
    for layer, said in known.items():
        assert said in text[layer], layer
    for folder, _, _, boxes in layers:
        assert all(name in text[folder] for name, _ in boxes)
    inner = next(b for b in control.states[-1][1] if b.kind == "control")
    pixels = {name: str(blocks) for name, blocks in inner.states}
    shaded = ["shader output" in shown for shown in pixels.values()]
    assert any(shaded) and not shaded[0] and not shaded[-1]  # the row begins and ends beside it

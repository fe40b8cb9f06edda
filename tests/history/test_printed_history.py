"""What `gallette pixel` prints: every fact of a history, with names that look like markup."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gallette.cli import command_parser
from gallette.commands import pixel
from gallette.compiler.errors import GalletteError
from gallette.history import Fragment, History, PixelEvent
from gallette.history.records import Stored
from gallette.history.records import Test as Verdict


def _stored(*value: float) -> Stored:
    return Stored(bytes([int(v * 255) for v in value]), value)


def _history() -> History:
    drawn = PixelEvent(
        4, "draw_vbo", "[i]triangles", {"colour 0": "r1"}, {"colour 0": _stored(0, 1)},
        {"colour 0": _stored(1, 0.5)},
    )  # fmt: skip
    drawn.fragments = [
        Fragment(
            2, (5, 6, 7), (0.25, 0.5, 0.25), tests=[Verdict("depth", "[b]1 < 2", True)],
            outputs={"[u]color": (0.1234567, 2.0)}, blend="one + [b]zero", verdict="written: all",
            stores=["[i]image 1"],
        ),
        Fragment(3, (8,), front=False, tests=[Verdict("stencil", "1 == 2", False)], blend="unseen",
                 verdict="stencil test"),
    ]  # fmt: skip
    drawn.missing = [Fragment(9, (1,), verdict="[b]culled")]
    same = _stored(1, 1)
    empty = PixelEvent(5, "draw_vbo", "nothing", {"colour 0": "r1"}, {"colour 0": same},
                       {"colour 0": same, "depth": _stored(1)})  # fmt: skip
    other = PixelEvent(6, "clear", "all", {"colour 0": "r2", "depth": "r1"}, {},
                       {"depth": _stored(0)})  # fmt: skip
    for event in (empty, other):
        event.attachments.setdefault("depth", "r3")
    return History("[b]scene", "numpipe", 3, 4, [drawn, empty, other], "", "[i]r1")


def _printed(color: bool, history: History, everything: bool = True) -> list[str]:
    out = io.StringIO()
    system: Any = "standard" if color else None
    console = Console(file=out, width=300, force_terminal=color, color_system=system,
                      highlight=False)  # fmt: skip
    pixel.print_history(console, history, everything)
    return out.getvalue().splitlines()


DRAWN = [
    "",
    "call 4: draw_vbo  [i]triangles",
    "       primitive 2 (vertices 5 6 7; front face; weights 0.250, 0.500, 0.250): written: all",
    "         shader wrote [u]color (0.123457, 2)",
    "         shader stored [i]image 1",
    "         depth [b]1 < 2: passes",
    "         one + [b]zero",
    "       primitive 3 (vertices 8; back face): stencil test",
    "         stencil 1 == 2: fails",
    "       no fragment of primitive 9: [b]culled",
    "       colour 0: (0, 1) -> (1, 0.5)",
]


def test_a_history_in_lines() -> None:
    history = _history()
    head, *lines, last = _printed(False, history)
    assert head == "pixel 3,4 of [i]r1, numpipe on [b]scene"
    assert last.startswith("at the end: ")
    assert lines[: len(DRAWN)] == DRAWN
    rest = [
        "", "call 5: draw_vbo  nothing", "       no primitive covers the pixel",
        "       depth: None -> (1)", "", "call 6: clear  all", "       depth: None -> (0)",
    ]  # fmt: skip
    assert lines[len(DRAWN) :] == rest
    history.resource = "r2"
    only = _printed(False, history, everything=False)
    assert "call 6: clear  all" in only and "call 4: draw_vbo  [i]triangles" not in only


def test_verdicts_have_colors() -> None:
    event = PixelEvent(1, "draw_vbo", "t", {"colour 0": "r1"}, {}, {})
    verdicts = {"written": 32, "culled: back": 33, "clipped, far": 33, "outside": 33, "depth": 31}
    event.fragments = [Fragment(1, (), verdict=verdict) for verdict in verdicts]
    event.fragments[0].tests = [Verdict("a", "b", True), Verdict("c", "d", False)]
    event.fragments[0].blend = "mixed"
    event.missing = [Fragment(2, (), verdict="gone")]
    lines = _printed(True, History("s", "d", 0, 0, [event], "", "r1"))
    assert lines[0] == "\x1b[1mpixel 0,0 of r1, d on s\x1b[0m"
    assert lines[2] == "\x1b[1;36mcall 1: draw_vbo \x1b[0m t"
    for verdict, color in verdicts.items():
        whole = f"       primitive 1 (vertices ; front face): \x1b[{color}m{verdict}\x1b[0m"
        assert whole in lines
    assert "         a b: passes" in lines
    assert "\x1b[31m         c d: fails\x1b[0m" in lines
    assert "\x1b[90m         mixed\x1b[0m" in lines
    assert "\x1b[90m       no fragment of primitive 2: gone\x1b[0m" in lines


@pytest.mark.parametrize("text", ["1", "1;2", ",2", "1,", "a,2", "1,b", "-1,2", "1.5,2", ""])
def test_what_is_no_pixel(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a pixel; use X,Y, such as 17,4"):
        pixel.place_of(text)
    assert pixel.place_of(" 12, 7 ") == (12, 7)


def test_every_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    history = _history()

    def asked(*given: Any) -> History:
        said.append(given)
        return history

    monkeypatch.setattr(pixel, "pixel_history", asked)
    monkeypatch.setattr(pixel, "check_target", lambda *given: said.append(given))
    monkeypatch.setattr(pixel, "default_driver", lambda: "usual")
    monkeypatch.setattr(
        pixel, "print_history", lambda out, what, every: said.append((what.resource, every))
    )

    def run(*words: str) -> list[Any]:
        parser = command_parser("pixel")
        said.clear()
        assert pixel.run(parser.parse_args(words)) == 0
        return list(said)

    check = ("scene", "gallette pixel")
    assert run("scene", "3,4") == [check, ("scene", 3, 4, "usual", 0), ("[i]r1", False)]
    path = tmp_path / "kept.json"
    words = ("--driver", "jit", "--sample", "2", "--target", "0", "--everything")
    more = run("scene", "3,4", *words, "--json", str(path))
    assert more == [check, ("scene", 3, 4, "jit", 2), ("r2", True)]
    kept = json.loads(path.read_text())
    assert [event["number"] for event in kept] == [4, 5, 6]
    assert kept[0]["before"] == {"colour 0": {"raw": "00ff", "value": [0, 1]}}
    assert kept[0]["fragments"][0]["vertices"] == [5, 6, 7]
    assert path.read_text().startswith('[\n {\n  "number": 4') and path.read_text()[-2:] == "]\n"
    run("scene", "3,4", "--target", "0", "--json", str(path))
    assert [event["number"] for event in json.loads(path.read_text())] == [6]
    with pytest.raises(
        GalletteError, match="no framebuffer with this pixel has a buffer 'colour 3'"
    ):
        run("scene", "3,4", "--target", "3")

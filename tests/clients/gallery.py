"""A page of clients: what each of other people's libraries draws on gallette, and on llvmpipe.

    python -m tests.clients.gallery -o reports/clients

Every client of `test_clients.py` whose packages are here is run twice, as the tests do it; so are
the pages of `test_browser.py` where there is a browser. The page is one file that fetches nothing.
"""

from __future__ import annotations

import argparse
import ast
import ctypes.util
import importlib.metadata
import importlib.util
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gallette.compare import heat_map
from gallette.reports.html import png_uri, render_page
from tests.clients import test_browser, test_clients
from tests.clients.test_clients import CLIENTS, NATIVE, PROGRAMS, Client, load

OURS = [sys.executable, "-m", "gallette", "run"]


@dataclass(frozen=True)
class Card:
    """One client's two pictures, or why there are none."""

    name: str
    what: str
    pictures: tuple[str, ...] = ()  # gallette's, llvmpipe's, the difference
    size: tuple[int, int] = (0, 0)
    differing: int = 0
    largest: int = 0
    why: str = ""

    @property
    def verdict(self) -> str:
        if self.why:
            return self.why
        if not self.differing:
            return "every pixel is the same"
        width, height = self.size
        return (
            f"{self.differing} of {width * height} pixels differ, by {self.largest} of 255 at most"
        )


def card(name: str, what: str, ours: Path, native: Path) -> Card:
    """The two pictures beside each other."""
    found, expected = load(ours), load(native)
    if found.shape != expected.shape:
        return Card(name, what, why=f"sizes differ: {found.shape} and {expected.shape}")
    difference = np.abs(found - expected).max(axis=-1)
    shown = (found, expected)
    pictures = [png_uri(np.ascontiguousarray(p[..., :3].astype(np.uint8))) for p in shown]
    pictures.append(png_uri(heat_map(difference.astype(np.float64), 2.0)))
    height, width = difference.shape
    return Card(
        name,
        what,
        tuple(pictures),
        (width, height),
        int((difference > 0).sum()),
        int(difference.max()),
    )


def versions(client: Client) -> str:
    """The packages a client imports, with their versions."""
    owners = importlib.metadata.packages_distributions()
    found = []
    for package in client.packages:
        for name in owners.get(package, ())[:1]:
            found.append(f"{name} {importlib.metadata.version(name)}")
    return ", ".join(found)


def of_client(client: Client, folder: Path) -> Card:
    text = (PROGRAMS / f"{client.name}.py").read_text(encoding="utf-8")
    what = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
    name = " ".join((client.name, *client.arguments))
    for package in client.packages:
        if importlib.util.find_spec(package) is None:
            return Card(name, what, why=f"not tried here: {package} is not installed")
    for library in client.libraries:
        if ctypes.util.find_library(library) is None:
            return Card(name, what, why=f"not tried here: lib{library} is not installed")
    ours, native = folder / f"{name}.ours.png", folder / f"{name}.native.png"
    try:
        test_clients.draw(client, ours, OURS[1:], {})
        test_clients.draw(client, native, [], NATIVE)
    except AssertionError as error:
        return Card(name, what, why=str(error).strip().splitlines()[-1])
    return card(name, f"{what} ({versions(client)})", ours, native)


def of_page(page: str, folder: Path) -> Card:
    name, _, scene = page.partition("#")
    what = f"Chromium: {f'{test_browser.LIBRARIES[name][0]}, {scene}' if scene else name}"
    folder.mkdir()
    shutil.copy(test_browser.PAGES / f"{name}.html", folder)
    if scene:
        for file in test_browser.find_files(name):
            shutil.copy(file, folder)
    url = f"file://{folder}/{name}.html#{scene}"
    ours, native = folder / "ours.png", folder / "native.png"
    test_browser.shoot(url, ours, OURS, {})
    test_browser.shoot(url, native, [], NATIVE)
    return card(page, what, ours, native)


def pages() -> list[str]:
    """The pages that can be tried here."""
    if shutil.which("chromium") is None:
        return []
    found = [page for page in test_browser.LIBRARIES if test_browser.find_files(page)]
    scenes = [scene for scene in test_browser.SCENES if scene.partition("#")[0] in found]
    return ["webgl1", "webgl2", *scenes]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/clients"))
    parser.add_argument("--no-browser", action="store_true", help="leave the pages out")
    options = parser.parse_args()
    cards = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for client in CLIENTS:
            cards.append(of_client(client, folder))
            print(f"{cards[-1].name}: {cards[-1].verdict}", flush=True)
        for page in () if options.no_browser else pages():
            cards.append(of_page(page, folder / page.replace("#", "-")))
            print(f"{cards[-1].name}: {cards[-1].verdict}", flush=True)
    same = sum(1 for c in cards if c.pictures and not c.differing)
    shown = sum(1 for c in cards if c.pictures)
    subtitle = f"{shown} clients, {same} without a differing pixel"
    path = render_page(
        "clients.html.jinja",
        options.output / "index.html",
        title="Clients on gallette and on llvmpipe",
        subtitle=subtitle,
        cards=cards,
    )
    print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

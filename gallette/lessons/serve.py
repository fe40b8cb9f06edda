"""`gallette lesson --serve`: the course live. A lesson runs when its page is asked for.

On this machine only, for its own pages only (the rules of `gallette.inspector.server`). A page can
be asked for again on another driver: `?driver=jit`.
"""

from __future__ import annotations

import tempfile
import webbrowser
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from gallette.compiler.errors import GalletteError
from gallette.inspector.server import LocalHandler
from gallette.lessons.page import LESSONS, Page
from gallette.reports.html import write_glossary, write_lesson, write_lesson_index
from gallette.terminal import console

__all__ = ["Course", "make_server", "serve"]

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Course:
    """Pages by name and driver, made when first asked for."""

    def __init__(self, driver: str, drivers: tuple[str, ...] = ()):
        self.driver = driver
        self.drivers = drivers or tuple(dict.fromkeys((driver, "numpipe", "jit")))
        self._pages: dict[tuple[str, str], bytes] = {}
        self._lock = Lock()  # lessons count clones and references: one at a time

    def page(self, name: str, driver: str) -> bytes | None:
        """The page, or None if there is none of that name or driver."""
        if driver not in self.drivers or name not in ("index", "glossary", *LESSONS):
            return None
        with self._lock:
            if (name, driver) not in self._pages:
                self._pages[name, driver] = self._make(name, driver)
            return self._pages[name, driver]

    def _make(self, name: str, driver: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.html"
            if name == "index":
                write_lesson_index(path.parent, {}, driver)
            elif name == "glossary":
                write_glossary(path)
            else:
                item = LESSONS[name]
                page = Page(item.title)
                try:
                    item.run(page, driver)
                except GalletteError as error:
                    page.section("This lesson cannot run here", str(error))
                write_lesson(page, path, item, driver, linked=True, drivers=self.drivers)
            return path.read_bytes()


class _Handler(LocalHandler):
    course: Course
    policy = _POLICY

    def do_GET(self) -> None:
        if not self.allowed():
            return
        url = urlsplit(self.path)
        name = url.path.strip("/").removesuffix(".html") or "index"
        driver = parse_qs(url.query).get("driver", [self.course.driver])[0]
        data = self.course.page(name, driver)
        if data is None:
            self.answer(404, b"no such page", "text/plain")
        else:
            self.answer(200, data, "text/html")


def make_server(course: Course, port: int = 0) -> ThreadingHTTPServer:
    """A server on 127.0.0.1 (of any free port); `serve_forever` runs it."""
    handler = type("Handler", (_Handler,), {"course": course})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def serve(driver: str, name: str | None, port: int, browse: bool) -> int:
    """Serve the course until Ctrl-C, from a lesson on."""
    try:
        server = make_server(Course(driver), port)
    except OSError as error:
        raise GalletteError(f"gallette lesson: port {port}: {error.strerror}") from None
    address = f"http://127.0.0.1:{server.server_port}/{f'{name}.html' if name else ''}"
    console().print(f"{address}   (Ctrl-C ends)", markup=False)
    if browse:
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()
    return 0

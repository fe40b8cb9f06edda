"""`gallette lesson --serve`: the live course. A lesson runs when its page is requested.

The server accepts requests of this machine and of its own pages only, by the rules of
`gallette.inspector.server`. `?driver=jit` requests a page on another driver. While a lesson runs,
the page shows the current step; the states of a control are computed when the reader sets it.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.inspector.server import LocalHandler, serve_until_interrupted
from gallette.lessons.course import LESSONS
from gallette.lessons.page import Page
from gallette.lessons.text import run_lesson
from gallette.reports.html import (
    render_text,
    write_glossary,
    write_lesson,
    write_lesson_index,
)

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@lazy_dataclass()
class _Made:
    """A page, or its progress."""

    told: str = "waiting for another lesson"
    data: bytes = b""
    page: Page | None = None


class Course:
    """Pages by name and driver, made on first request."""

    def __init__(self, driver: str, drivers: tuple[str, ...] = ()):
        self.driver = driver
        self.drivers = drivers or tuple(dict.fromkeys((driver, "numpipe", "jit")))
        self._made: dict[tuple[str, str], _Made] = {}
        self._asking = threading.Lock()
        self._running = threading.Lock()  # lessons count clones and references: one at a time

    def page(self, name: str, driver: str) -> bytes | None:
        """The page, or a waiting page; None if there is none of that name or driver."""
        made = self._ask(name, driver)
        if made is None:
            return None
        if made.data:
            return made.data
        return render_text("waiting.html.jinja", title=LESSONS[name].title).encode()

    def state(self, name: str, driver: str) -> bytes | None:
        """The current step, as JSON; an empty text if the page is complete."""
        made = self._ask(name, driver)
        return None if made is None else json.dumps("" if made.data else made.told).encode()

    def control(self, name: str, driver: str, number: int, state: int) -> bytes | None:
        """The blocks of a state of a control, computed now."""
        made = self._made.get((name, driver))
        if made is None or made.page is None or not 0 <= number < len(made.page.controls):
            return None
        control = made.page.controls[number]
        if not 0 <= state < len(control.states):
            return None
        with self._running:
            label, blocks = control.states[state]
            if not blocks:
                blocks = control.compute(state)
                control.states[state] = label, blocks
        return render_text("fragment.jinja", blocks_of=blocks).encode()

    def _ask(self, name: str, driver: str) -> _Made | None:
        if driver not in self.drivers or name not in ("index", "glossary", *LESSONS):
            return None
        with self._asking:
            if (name, driver) not in self._made:
                made = self._made[name, driver] = _Made()
                if name in LESSONS:
                    run = threading.Thread(target=self._run, args=(name, driver, made), daemon=True)
                    run.start()
                else:
                    made.data = _written(
                        (lambda path: write_lesson_index(path.parent, {}, driver))
                        if name == "index"
                        else write_glossary
                    )
            return self._made[name, driver]

    def _run(self, name: str, driver: str, made: _Made) -> None:
        item = LESSONS[name]

        def say(text: str) -> None:
            made.told = text

        with self._running:
            say("running the lesson")
            try:
                page = run_lesson(item, driver, say, live=True)
            except Exception as error:  # the page that waits has to end, whatever it is
                page = Page(item.title)
                page.prose("## This lesson cannot run here")
                page.code(f"{type(error).__name__}: {error}", "text")
            made.page = page
            made.data = _written(
                lambda path: write_lesson(
                    page, path, item, driver, linked=True, drivers=self.drivers
                )
            )


def _written(write: Callable[[Path], Any]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.html"
        write(path)
        return path.read_bytes()


class _Handler(LocalHandler):
    course: Course
    policy = _POLICY

    def do_GET(self) -> None:
        if not self.allowed():
            return
        url = urlsplit(self.path)
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        name, _, form = (url.path.strip("/") or "index.html").rpartition(".")
        driver = asked.get("driver", self.course.driver)
        data: bytes | None = None
        if form == "html":
            data = self.course.page(name, driver)
        elif form == "json":
            data = self.course.state(name, driver)
        elif (
            form == "part"
            and asked.get("control", "").isdigit()
            and asked.get("state", "").isdigit()
        ):
            data = self.course.control(name, driver, int(asked["control"]), int(asked["state"]))
        if data is None:
            self.answer(404, b"no such page", "text/plain")
        else:
            self.answer(200, data, "application/json" if form == "json" else "text/html")


def make_server(course: Course, port: int = 0) -> ThreadingHTTPServer:
    """A server on 127.0.0.1 (of any free port); `serve_forever` runs it."""
    handler = type("Handler", (_Handler,), {"course": course})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def serve(driver: str, name: str | None, port: int, browse: bool) -> int:
    """Serve the course until Ctrl-C, from a lesson on."""
    page = f"{name}.html" if name else ""
    make = partial(make_server, Course(driver), port)
    return serve_until_interrupted(make, "lesson", port, browse, page)

"""The page's server: on this machine only, for pages it served itself only.

It listens on 127.0.0.1. A request must name that host (against DNS rebinding), and its origin, if
given, must be this server: a page of another site gets 403. Responses forbid the browser to fetch
from other hosts. A request has to arrive within seconds, and its body is JSON of bounded size.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import webbrowser
from collections.abc import Callable
from email.message import Message
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from gallette.compiler.errors import GalletteError
from gallette.inspector.service import Questions
from gallette.terminal import console

ASSETS = Path(__file__).resolve().parent / "assets"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
MOST = 1 << 22  # bytes of a question
PATIENCE = 20.0  # seconds in which a request has to arrive


def style_sheet() -> str:
    """The styles of the pages: those of all of gallette's pages, and their own."""
    from gallette.reports.html import TEMPLATES

    files = TEMPLATES / "shared.css", ASSETS / "app.css"
    return "".join(path.read_text(encoding="utf-8") for path in files)


def own_page(headers: Message, port: int) -> bool:
    """Whether the request is from a page of this server, or from no page at all."""
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    origin = headers.get("Origin")
    own = headers.get("Host") in hosts
    own = own and (origin is None or origin in {f"http://{h}" for h in hosts})
    return own and headers.get("Sec-Fetch-Site", "same-origin") in ("same-origin", "none")


class _Refused(Exception):
    """A request that is refused with that status; the connection ends."""

    def __init__(self, status: int, why: str):
        super().__init__(why)
        self.status = status


class LocalHandler(BaseHTTPRequestHandler):
    """Handles requests of this server's own pages; `wfile` and `rfile` belong to clients that may
    be slow, gone or malicious.
    """

    policy: str
    timeout = PATIENCE  # of each read and write
    _clock: threading.Timer

    def handle_one_request(self) -> None:
        self._clock = threading.Timer(PATIENCE, self._cut)
        self._clock.daemon = True
        self._clock.start()
        try:
            super().handle_one_request()
        except ConnectionError:  # the client went away
            self.close_connection = True
        finally:
            self._clock.cancel()

    def _cut(self) -> None:
        """End the input of a client that takes too long: a blocked read meets the end of the
        stream.
        """
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)

    def allowed(self) -> bool:
        """Whether the request is from a page of this machine. The headers have arrived; the
        response may take longer.
        """
        address: Any = self.server.server_address
        if not own_page(self.headers, address[1]):
            self.refuse(403, "only pages of this server may ask")
            return False
        if self.command == "GET":
            self._clock.cancel()
            sent = self.headers.get("Content-Length", "0") != "0"
            if sent or "Transfer-Encoding" in self.headers:  # what follows is no request
                self.close_connection = True
        return True

    def body(self) -> bytes:
        """The body of the request."""
        told = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (told.isascii() and told.isdigit()):
            raise _Refused(411, "a question says how long it is")
        if len(told) > 9 or int(told) > MOST:
            raise _Refused(413, f"a question has at most {MOST} bytes")
        data = self.rfile.read(int(told))
        self._clock.cancel()
        if len(data) < int(told):
            raise _Refused(408, "the question did not arrive")
        return data

    def refuse(self, status: int, why: str) -> None:
        """Refuse a request without reading the rest of it; the connection ends."""
        self.close_connection = True
        self.answer(status, why.encode(), "text/plain")
        self.wfile.flush()
        with contextlib.suppress(OSError):  # else the client gets a reset before the answer
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(1 << 16):
                pass

    def answer(self, status: int, data: bytes, kind: str, keep: bool = False) -> None:
        self.send_response(status)
        text = kind.startswith("text/") or kind.endswith("json")
        self.send_header("Content-Type", kind + ("; charset=utf-8" if text else ""))
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "max-age=3600" if keep else "no-store")
        self.send_header("Content-Security-Policy", self.policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Do nothing, because the terminal shows other output."""


class _Handler(LocalHandler):
    service: Questions
    view = "inspect"
    protocol_version = "HTTP/1.1"
    policy = _POLICY

    def do_GET(self) -> None:
        if not self.allowed():
            return
        url = urlsplit(self.path)
        name = url.path.lstrip("/")
        if name.startswith("api/picture/"):
            data = self.service.picture(name.removeprefix("api/picture/"))
            if data is None:
                self.answer(404, b"no such picture", "text/plain")
            else:
                self.answer(200, data, "application/octet-stream", keep=True)
        elif name.startswith("api/"):
            self._ask(name.removeprefix("api/"), dict(parse_qsl(url.query)))
        elif name in ("", "index.html"):
            page = (ASSETS / "index.html").read_text(encoding="utf-8")
            self.answer(
                200,
                page.replace('data-view="inspect"', f'data-view="{self.view}"').encode(),
                "text/html",
            )
        else:
            self._asset(name)

    def do_POST(self) -> None:
        if not self.allowed():
            return
        try:
            parameters = self._question()
        except _Refused as refused:
            self.refuse(refused.status, str(refused))
            return
        name = urlsplit(self.path).path.lstrip("/").removeprefix("api/")
        self._ask(name, parameters if isinstance(parameters, dict) else {})

    def _question(self) -> Any:
        if self.headers.get("Content-Type", "").split(";")[0] != "application/json":
            raise _Refused(415, "a question is JSON")
        try:
            return json.loads(self.body())
        except (ValueError, RecursionError):
            raise _Refused(400, "a question is JSON") from None

    def _ask(self, question: str, parameters: dict[str, Any]) -> None:
        if question not in self.service.questions:
            self.answer(404, b"no such question", "text/plain")
            return
        answer = self.service.answer(question, parameters)
        self.answer(200, json.dumps(answer).encode(), "application/json")

    def _asset(self, name: str) -> None:
        path = ASSETS / name
        if "/" in name or ".." in name or not path.is_file():
            self.answer(404, b"no such page", "text/plain")
            return
        data = style_sheet().encode() if name == "app.css" else path.read_bytes()
        self.answer(200, data, _TYPES.get(path.suffix, "text/plain"))


def make_server(service: Questions, port: int = 0, view: str = "inspect") -> ThreadingHTTPServer:
    """A server on 127.0.0.1 (of any free port); `serve_forever` runs it."""
    handler = type("Handler", (_Handler,), {"service": service, "view": view})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def show(service: Questions, port: int, view: str, browse: bool) -> int:
    """Serve a page until Ctrl-C; `browse` opens a browser."""
    return serve_until_interrupted(partial(make_server, service, port, view), view, port, browse)


def serve_until_interrupted(
    make: Callable[[], ThreadingHTTPServer], command: str, port: int, browse: bool, page: str = ""
) -> int:
    """Print the address of a server's page, open a browser on request, and serve until Ctrl-C."""
    try:
        server = make()
    except OSError as error:
        raise GalletteError(f"gallette {command}: port {port}: {error.strerror}") from None
    address = f"http://127.0.0.1:{server.server_port}/{page}"
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

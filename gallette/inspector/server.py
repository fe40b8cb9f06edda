"""The page's server: on this machine only, for pages it served itself only.

It listens on 127.0.0.1. A request must name that host (so that no other name resolves to it by
trickery), and one that says where it comes from must come from here: a page of another site that
asks gets 403. Answers forbid the browser to fetch anything from anywhere else.
"""

from __future__ import annotations

import contextlib
import json
import webbrowser
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from gallette.compiler.errors import GalletteError
from gallette.inspector.service import Questions
from gallette.terminal import console

__all__ = ["ASSETS", "make_server", "own_page", "show"]

ASSETS = Path(__file__).resolve().parent / "assets"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
MOST = 1 << 22  # bytes of a question


def own_page(headers: Message, port: int) -> bool:
    """Was this asked by a page of the server on that port, or by nobody in particular?"""
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    origin = headers.get("Origin")
    own = headers.get("Host") in hosts
    own = own and (origin is None or origin in {f"http://{h}" for h in hosts})
    return own and headers.get("Sec-Fetch-Site", "same-origin") in ("same-origin", "none")


class _Handler(BaseHTTPRequestHandler):
    service: Questions
    view = "inspect"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if not self._allowed():
            return
        url = urlsplit(self.path)
        name = url.path.lstrip("/")
        if name.startswith("api/picture/"):
            data = self.service.picture(name.removeprefix("api/picture/"))
            if data is None:
                self._answer(404, b"no such picture", "text/plain")
            else:
                self._answer(200, data, "application/octet-stream", keep=True)
        elif name.startswith("api/"):
            self._ask(name.removeprefix("api/"), dict(parse_qsl(url.query)))
        elif name in ("", "index.html"):
            page = (ASSETS / "index.html").read_text(encoding="utf-8")
            self._answer(
                200,
                page.replace('data-view="inspect"', f'data-view="{self.view}"').encode(),
                "text/html",
            )
        else:
            self._asset(name)

    def do_POST(self) -> None:
        if not self._allowed():
            return
        length = int(self.headers.get("Content-Length") or 0)
        kind = self.headers.get("Content-Type", "").split(";")[0]
        if kind != "application/json" or not 0 <= length <= MOST:
            self._answer(415, b"a question is JSON", "text/plain")
            return
        try:
            parameters = json.loads(self.rfile.read(length))
        except ValueError:
            self._answer(400, b"a question is JSON", "text/plain")
            return
        name = urlsplit(self.path).path.lstrip("/").removeprefix("api/")
        self._ask(name, parameters if isinstance(parameters, dict) else {})

    def _allowed(self) -> bool:
        """Only this machine's own pages."""
        address: Any = self.server.server_address
        if own_page(self.headers, address[1]):
            return True
        self._answer(403, b"only pages of this server may ask", "text/plain")
        return False

    def _ask(self, question: str, parameters: dict[str, Any]) -> None:
        if question not in self.service.questions:
            self._answer(404, b"no such question", "text/plain")
            return
        answer = self.service.ask(question, parameters)
        self._answer(200, json.dumps(answer).encode(), "application/json")

    def _asset(self, name: str) -> None:
        path = ASSETS / name
        if "/" in name or ".." in name or not path.is_file():
            self._answer(404, b"no such page", "text/plain")
            return
        self._answer(200, path.read_bytes(), _TYPES.get(path.suffix, "text/plain"))

    def _answer(self, status: int, data: bytes, kind: str, keep: bool = False) -> None:
        self.send_response(status)
        text = kind.startswith("text/") or kind.endswith("json")
        self.send_header("Content-Type", kind + ("; charset=utf-8" if text else ""))
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "max-age=3600" if keep else "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the page went away
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal has better things to show."""


def make_server(service: Questions, port: int = 0, view: str = "inspect") -> ThreadingHTTPServer:
    """A server on 127.0.0.1 (of any free port); `serve_forever` runs it."""
    handler = type("Handler", (_Handler,), {"service": service, "view": view})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def show(service: Questions, port: int, view: str, browse: bool) -> int:
    """Serve a page until Ctrl-C; `browse` opens it. For `gallette inspect` and its kin."""
    try:
        server = make_server(service, port, view)
    except OSError as error:
        raise GalletteError(f"gallette {view}: port {port}: {error.strerror}") from None
    address = f"http://127.0.0.1:{server.server_port}/"
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

"""Requests that are slow, too long or wrong get an answer or their end; the server goes on."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from gallette.inspector import server as module
from gallette.inspector.server import MOST, make_server


@pytest.fixture
def port() -> Iterator[int]:
    """A server that answers one question with the names of its parameters."""
    service: Any = SimpleNamespace(
        questions={"names": None},
        answer=lambda question, parameters: sorted(parameters),
        picture=lambda name: None,
    )
    server = make_server(service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def _answered(port: int, request: bytes, *, ends: bool = True) -> bytes:
    """All that comes back; the client says that no more will come unless it is slow."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(request)
        if ends:
            client.shutdown(socket.SHUT_WR)
        got = b""
        while more := client.recv(65536):
            got += more
        return got


def _request(port: int, head: str, body: bytes = b"", method: str = "POST") -> bytes:
    lines = f"{method} /api/names HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{head}\r\n"
    return lines.encode("latin-1") + body


JSON = "Content-Type: application/json\r\n"
DEEP = b"[" * 100_000
REQUESTS: dict[str, tuple[str, bytes, int]] = {
    "a question": ("Content-Length: 7\r\n", b'{"a":1}', 200),
    "no length": ("", b"{}", 411),
    "a negative length": ("Content-Length: -1\r\n", b"{}", 411),
    "a length in words": ("Content-Length: two\r\n", b"{}", 411),
    "a length in other digits": ("Content-Length: \u00b2\r\n", b"{}", 411),
    "a length with underscores": ("Content-Length: 1_0\r\n", b"{}        ", 411),
    "a length beyond all memory": (f"Content-Length: {10**30}\r\n", b"{}", 413),
    "a length that is too much": (f"Content-Length: {MOST + 1}\r\n", b"{}", 413),
    "parts": ("Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n", 411),
    "less than was said": ("Content-Length: 9\r\n", b"{}", 408),
    "lists in lists": (f"Content-Length: {len(DEEP)}\r\n", DEEP, 400),
    "bytes that are no text": ("Content-Length: 2\r\n", b"\xff\xfe", 400),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_every_request_has_an_answer(case: str, port: int) -> None:
    head, body, status = REQUESTS[case]
    answer = _answered(port, _request(port, JSON + head, body))
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer.count(b"HTTP/1.1 ") == 1
    assert (b'\r\n\r\n["a"]' in answer) == (status == 200)
    after = _answered(port, _request(port, "", method="GET"))
    assert after.startswith(b"HTTP/1.1 200 ") and after.endswith(b"[]")


def test_what_follows_a_refusal_is_no_request(port: int) -> None:
    second = _request(port, JSON + "Content-Length: 2\r\n", b"{}")
    for first in (
        _request(port, "Content-Type: text/plain\r\nContent-Length: 2\r\n", b"{}"),
        _request(port, f"Content-Length: {len(second)}\r\n", method="GET"),
    ):
        assert _answered(port, first + second).count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("sent", [b"", b"GET /ap", b"GET / HTTP/1.1\r\nHost: 127", "body"])
def test_a_client_that_stops_in_the_middle_is_disconnected(
    sent: bytes | str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    if isinstance(sent, str):
        sent = _request(port, JSON + "Content-Length: 99\r\n", b"{")
    answer = _answered(port, sent, ends=False)  # comes to an end although the client waits
    assert b"200" not in answer


def test_a_client_that_sends_single_bytes_is_disconnected(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(b"GET / HTTP/1.1\r\n")
        client.settimeout(0.02)
        ended = False
        while not ended:  # a byte more than the server allows makes no difference
            try:
                client.sendall(b"A: b\r\n")
                ended = not client.recv(4096).startswith(b"HTTP/1.1 200")
            except TimeoutError:
                continue
            except ConnectionError:
                ended = True
        assert ended

"""The log of link errors, like that of compile errors but without places in a source."""

from __future__ import annotations


class LinkStop(Exception):
    """Control flow: linking cannot continue; the error is in the log."""


class LinkLog:
    """Collects messages; one link may report several errors."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.errors = 0

    def error(self, message: str) -> None:
        self.warn(message, "error")
        self.errors += 1

    def warn(self, message: str, kind: str = "warning") -> None:
        line = f"{kind}: {message}"
        if line not in self.lines:
            self.lines.append(line)

    def stop_on_error(self) -> None:
        if self.errors:
            raise LinkStop

    @property
    def text(self) -> str:
        return "".join([f"{line}\n" for line in self.lines]) if self.lines else ""

"""Link errors: collected like compile errors, but between shaders rather than in one."""

from __future__ import annotations

__all__ = ["LinkLog", "LinkStop"]


class LinkStop(Exception):
    """Control flow: linking cannot go on; the error is in the log."""


class LinkLog:
    """Collects messages; several errors are reported by one link."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.errors = 0

    def error(self, message: str) -> None:
        line = f"error: {message}"
        if line not in self.lines:
            self.lines.append(line)
        self.errors += 1

    def stop_on_error(self) -> None:
        if self.errors:
            raise LinkStop

    @property
    def text(self) -> str:
        return "".join([f"{line}\n" for line in self.lines]) if self.lines else ""

"""The hierarchy of errors that users of gallette may see.

All intended errors derive from `GalletteError`, so the command line can print them as a single
message; any other exception is a bug and keeps its traceback. The module is at the bottom of the
import order because every layer raises these errors.
"""

from __future__ import annotations

import sys

from gallette.compiler.lazy_dataclass import lazy_dataclass


class GalletteError(Exception):
    """Base of all intended errors; the text is meant for the user."""


@lazy_dataclass(frozen=True)
class Span:
    """A range of source text: 1-based line and column, `end_column` exclusive, on one line."""

    line: int
    column: int
    end_column: int = 0
    file: str = "<source>"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


# Control characters other than tabs and line ends, which move a terminal's cursor, change its
# colours or reorder text; and surrogates, which cannot be encoded.
_CONTROL = {c: "\ufffd" for c in (*range(32), *range(127, 160)) if chr(c) not in "\t\n"}
_CONTROL |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd")
_CONTROL |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


_NOTHING = dict.fromkeys(_CONTROL)


def printable(text: str, mark: bool = True) -> str:
    """The text without control characters, so that a binary file cannot control the terminal.

    They are replaced by a mark, unless the width of the text must stay as computed.
    """
    return text.translate(_CONTROL if mark else _NOTHING)


def print_message(text: str) -> None:
    """Print a line on standard error, with control characters removed."""
    print(printable(text), file=sys.stderr, flush=True)


def caret_message(kind: str, text: str, span: Span, source_line: str, hint: str = "") -> str:
    """Format `file:line:col: kind: text`, the source line, and a caret range below it."""
    width = max(1, (span.end_column or span.column + 1) - span.column)
    shown = printable(source_line.rstrip("\r\n"))
    pad = "".join("\t" if c == "\t" else " " for c in shown[: span.column - 1])
    marks = "^" + "~" * (min(width, max(1, len(shown) - span.column + 1)) - 1)
    lines = [f"{span}: {kind}: {text}", f"  {shown}", f"  {pad}{marks}"]
    if hint:
        lines.append(f"  {hint}")
    return "\n".join(lines)


class InputError(GalletteError):
    """A malformed input file (shader_test, NIR text, image, trace), with the place and
    the problem.
    """

    def __init__(self, message: str, span: Span | None = None, source_line: str | None = None):
        self.span = span
        if span is not None and source_line is not None:
            message = caret_message("error", message, span, source_line)
        elif span is not None:
            message = f"{span}: error: {message}"
        super().__init__(message)


class CompileError(GalletteError):
    """A shader that does not compile or link; `str()` is the whole info log."""

    def __init__(self, log: str):
        self.log = log
        super().__init__(log)


class ValidationError(GalletteError):
    """An IR invariant does not hold; the text shows the shader and marks the instruction."""


class OutOfMemoryError(GalletteError, MemoryError):
    """No memory, or a request beyond any limit: GL_OUT_OF_MEMORY, and nothing has changed."""


class MisuseError(GalletteError):
    """A GL call set an error, in a context that raises them (`strict=True`)."""


class ReleasedError(GalletteError, AttributeError):
    """A context was used after its release."""


class ResetError(GalletteError):
    """A driver aborted its work (such as a runaway shader); the application must create a new
    context.
    """

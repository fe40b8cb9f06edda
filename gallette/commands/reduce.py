"""`gallette reduce`: the smallest file that still shows a bug.

The file (NIR text, GLSL, a shader_test, or any text) is shrunk while a command of yours ends with
the status it had on the whole file: lines, blocks in braces, tokens and numbers go as long as the
answer stays the same.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from gallette.compiler.errors import InputError
from gallette.compiler.output_files import write_whole
from gallette.compiler.reduce import reduce_text

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--check", required=True, metavar="COMMAND", help="a shell command; {} is the file"
    )
    parser.add_argument("--status", type=int, help="what it ends with (default: as on FILE)")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--limit", type=int, default=5000, help="candidates tried at most")
    parser.add_argument("-o", "--output", type=Path, help="default: print it")


def run(options: argparse.Namespace) -> int:
    try:
        text = options.file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {options.file}: {error}") from None
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / options.file.name

        def status(candidate: str) -> int | None:
            place.write_text(candidate, encoding="utf-8")
            command = options.check.replace("{}", str(place))
            try:
                return subprocess.run(
                    command, shell=True, capture_output=True, timeout=options.timeout, check=False
                ).returncode
            except subprocess.TimeoutExpired:
                return None

        wanted = status(text) if options.status is None else options.status
        try:
            done = reduce_text(text, lambda t: status(t) == wanted, limit=options.limit)
        except ValueError:
            raise InputError(
                f"{options.check!r} does not end with status {wanted} on {options.file}"
            ) from None
    if options.output is not None:
        write_whole(options.output, done.value)
    else:
        print(done.value, end="")
    print(
        f"{len(text)} -> {len(done.value)} characters, {done.tried} tried, status {wanted}",
        file=sys.stderr,
    )
    return 0

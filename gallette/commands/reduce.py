"""Shrink a file while the exit status of a command stays the same.

The file may be NIR text, GLSL, a shader_test or any other text. Lines, blocks in braces, tokens and
numbers are removed or simplified as long as the command ends with the status it had on the whole
file.
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

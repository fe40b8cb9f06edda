"""Opcode tables as text: a row per instruction, with the names of the columns in the first line.

    name  sources  computes  kind  latency  doc
    add   2        np.add    alu   8        a + b; integers saturate with .sat

Columns are separated by two spaces. An instruction's semantics are a function over arrays, of NumPy
or of NIR's own table, so that results agree to the last bit; `-` if the result depends on more than
the operands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.nir.ir import semantics as sem
from gallette.compiler.text_tables import table_rows


def opcode_rows(
    module: str, name: str, own: Mapping[str, Callable[..., Any]] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of the table in a file beside a module, by column; `own` are additional
    functions.
    """
    header, *lines = table_rows(Path(module).with_name(name))
    columns = header.split()
    for line in lines:
        row: dict[str, Any] = dict(zip(columns, re.split(r" {2,}", line.strip()), strict=True))
        computes = row.pop("computes")
        row["semantics"] = (own or {}).get(computes) or _function(computes)
        row["unit"] = row.get("unit", "").strip("-")
        for column in ("sources", "latency", "issue", "cat"):
            if column in row:
                row[column] = int(row[column])
        yield row


def _function(text: str) -> Callable[..., Any] | None:
    """The function that a text names: of NumPy, or of NIR, for a type in parentheses."""
    if text == "-":
        return None
    name, _, type = text.rstrip(")").partition("(")
    module, _, attribute = name.partition(".")
    found: Callable[..., Any] = getattr({"np": np, "sem": sem}[module], attribute)
    return found(getattr(np, type)) if type else found

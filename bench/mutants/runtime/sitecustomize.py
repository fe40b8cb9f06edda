"""Loaded by every Python a measured test runs in: gallette's modules come with their probes.

`MUTANTS_PROBES` names a folder with `probes.py`'s compiled modules, `MUTANTS_BYTES` the file that
is mapped.
"""

from __future__ import annotations

import json
import marshal
import mmap
import os
import sys
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path

if "MUTANTS_PROBES" in os.environ:
    _INDEX = json.loads((Path(os.environ["MUTANTS_PROBES"]) / "index.json").read_text())
    _get_code = SourceFileLoader.get_code

    def _with_probes(self: SourceFileLoader, name: str) -> types.CodeType | None:
        compiled = _INDEX.get(self.path)
        if compiled is None:
            return _get_code(self, name)
        code: types.CodeType = marshal.loads(Path(compiled).read_bytes())
        return code

    SourceFileLoader.get_code = _with_probes  # type: ignore[method-assign]
    _module = types.ModuleType("mutants_probes")
    with open(os.environ["MUTANTS_BYTES"], "r+b") as _file:
        _module.PROBES = mmap.mmap(_file.fileno(), 0)  # type: ignore[attr-defined]
    sys.modules["mutants_probes"] = _module

"""Loaded by every Python a watched test runs in: gallette's modules come with probes or switches.

`MUTANTS_CODE` names a folder of compiled modules. With probes, `MUTANTS_BYTES` is the file that is
mapped; with switches, `MUTANTS_PLANTED` is the number of the fault that is awake.
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

if "MUTANTS_CODE" in os.environ:
    _INDEX = json.loads((Path(os.environ["MUTANTS_CODE"]) / "index.json").read_text())
    _get_code = SourceFileLoader.get_code

    def _special(self: SourceFileLoader, name: str) -> types.CodeType | None:
        compiled = _INDEX.get(self.path)
        if compiled is None:
            return _get_code(self, name)
        code: types.CodeType = marshal.loads(Path(compiled).read_bytes())
        return code

    SourceFileLoader.get_code = _special  # type: ignore[method-assign]
    _module = types.ModuleType("mutants_probes")
    _module.PLANTED = [int(os.environ.get("MUTANTS_PLANTED", -1))]  # type: ignore[attr-defined]
    if "MUTANTS_BYTES" in os.environ:
        with open(os.environ["MUTANTS_BYTES"], "r+b") as _file:
            _module.PROBES = mmap.mmap(_file.fileno(), 0)  # type: ignore[attr-defined]
    sys.modules["mutants_probes"] = _module

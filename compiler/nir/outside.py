"""Passes, rules and drivers from files outside of gallette: `nir-opt --load`, `GALLETTE_LOAD`."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from gallette.compiler.errors import InputError


def load_file(path: str) -> ModuleType:
    """Run a Python file once, as a module of its own."""
    file = Path(path).resolve()
    name = f"gallette_outside_{file.stem}_{abs(hash(str(file))):x}"
    if name in sys.modules:
        return sys.modules[name]
    if not file.is_file():
        raise InputError(f"cannot load {path}: no such file")
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"cannot load {path}: a Python file is wanted, NAME.py")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"cannot load {path}: {type(error).__name__}: {error}") from error
    return module

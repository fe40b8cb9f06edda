"""The layers import downwards only, and packages that must not know each other do not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# From top to bottom; each may import what stands below it (and itself).
MAY_IMPORT: dict[str, set[str]] = {
    "gallette": {"piglit_subset", "state_tracker", "drivers", "pipe", "compiler"},
    "piglit_subset": {"state_tracker", "compiler"},
    "state_tracker": {"pipe", "compiler"},
    "drivers": {"pipe", "compiler"},
    "pipe": {"compiler"},
    "compiler": set(),
}
# Narrower rules inside `compiler`: what a layer may see of it.
COMPILER_PARTS: dict[str, tuple[str, ...]] = {
    "pipe": ("compiler.nir", "compiler.errors", "compiler.debug"),
    "drivers": ("compiler.nir", "compiler.errors", "compiler.debug"),
}


def modules(package: str) -> Iterator[Path]:
    yield from sorted((ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """(line, absolute module) of every import in a file, wherever it stands."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield node.lineno, module
            # `from compiler import glsl` names the part only here.
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def violations(package: str) -> list[str]:
    allowed = MAY_IMPORT[package] | {package}
    found = []
    for path in modules(package):
        for line, module in imports(path):
            top = module.split(".")[0]
            if top in MAY_IMPORT and top not in allowed:
                found.append(f"{path.relative_to(ROOT)}:{line}: imports {module}")
            parts = COMPILER_PARTS.get(package)
            part = ".".join(module.split(".")[:2])
            if top == "compiler" and parts and part != "compiler" and part not in parts:
                found.append(f"{path.relative_to(ROOT)}:{line}: imports {module}")
    return found


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_layer_imports_only_what_is_below_it(package: str) -> None:
    assert violations(package) == []


def test_nir_imports_nothing_of_the_front_ends() -> None:
    for path in (ROOT / "compiler" / "nir").rglob("*.py"):
        for line, module in imports(path):
            assert not module.startswith("compiler.glsl"), f"{path}:{line}: imports {module}"


def test_every_driver_is_a_room_of_its_own() -> None:
    for path in modules("drivers"):
        room = path.relative_to(ROOT).parts[1]
        for line, module in imports(path):
            parts = module.split(".")
            if parts[0] == "drivers" and len(parts) > 1:
                assert parts[1] == room, f"{path}:{line}: imports {module}"

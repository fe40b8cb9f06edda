"""The layers import downwards only, and packages that must not know each other do not."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# From top to bottom; each may import what stands below it (and itself). Everything is imported as
# `gallette.<layer>`; what is left of `gallette` itself is the top layer.
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
    "pipe": ("nir", "errors", "debug", "gc_pause", "lazy_dataclass", "text_tables"),
    # A driver may hand shaders to another machine as SPIR-V.
    "drivers": (
        *("nir", "spirv", "work_limits", "errors", "debug"),
        *("disk_cache", "function_table", "output_files", "text_tables"),
        *("gc_pause", "lazy_dataclass"),
    ),
}


def modules(folder: str) -> Iterator[Path]:
    """Every module of a layer, once: links to the other layers are not followed."""
    yield from sorted(p for p in (ROOT / folder).rglob("*.py") if not _is_linked(p))


def _is_linked(path: Path) -> bool:
    return path.resolve() != path


def import_name(path: Path) -> tuple[str, ...]:
    """The package a file lies in, as it is imported."""
    parts = path.relative_to(ROOT).parts[:-1]
    return parts if parts[0] == "gallette" else ("gallette", *parts)


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """(line, absolute module) of every import in a file, wherever it stands."""
    return tuple(_imports(path))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement; what is inside expressions imports nothing."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _statements(part.body)


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    package = import_name(path)
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield node.lineno, module
            # `from gallette.compiler import glsl` names the part only here.
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def layer_of(module: str) -> tuple[str, str]:
    """(layer, part of it) of a module of ours; ("", "") for anybody else's."""
    parts = [*module.split("."), "", ""]
    if parts[0] != "gallette":
        return "", ""
    return (parts[1], parts[2]) if parts[1] in MAY_IMPORT else ("gallette", parts[1])


def violations(layer: str) -> list[str]:
    allowed = MAY_IMPORT[layer] | {layer}
    visible = COMPILER_PARTS.get(layer)
    found = []
    for path in modules(layer):
        for line, module in imports(path):
            other, part = layer_of(module)
            hidden = other == "compiler" and visible and part and part not in visible
            if (other and other not in allowed and module != "gallette") or hidden:
                found.append(f"{path.relative_to(ROOT)}:{line}: imports {module}")
    return found


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_a_layer_imports_only_what_is_below_it(layer: str) -> None:
    assert list(modules(layer))
    assert violations(layer) == []


def test_nothing_is_imported_by_the_name_of_its_folder() -> None:
    """`import pipe` is somebody else's package."""
    folders = set(MAY_IMPORT) - {"gallette"}
    for top in (*MAY_IMPORT, "tests", "bench", "fuzz"):
        for path in modules(top):
            for line, module in imports(path):
                assert module.split(".")[0] not in folders, f"{path}:{line}: imports {module}"


def test_only_packages_list_their_names() -> None:
    """A module's names are those without an underscore; `__init__` says what is the face of its
    package. The lists of the others here are read when their names are handed to generated code.
    """
    read = {
        *("compiler/nir/ir/minmax.py", "drivers/numpipe/shader/runtime.py"),
        *("drivers/numpipe/shader/runtime_shared.py", "drivers/numpipe/shader/runtime_storage.py"),
    }
    listing = {
        str(path.relative_to(ROOT))
        for layer in MAY_IMPORT
        for path in modules(layer)
        if path.name != "__init__.py" and re.search(r"^__all__\b", path.read_text("utf-8"), re.M)
    }
    assert listing == read


def test_nir_imports_nothing_of_the_front_ends() -> None:
    for path in modules("compiler/nir"):
        for line, module in imports(path):
            assert not module.startswith("gallette.compiler.glsl"), f"{path}:{line}: {module}"


# From first to last; each may import what stands before it.
GLSL_STEPS = ("builtins", "parse", "check", "lower", "link")


def test_the_steps_of_the_glsl_front_end_import_only_earlier_ones() -> None:
    wrong = []
    for number, step in enumerate(GLSL_STEPS):
        assert list(modules(f"compiler/glsl/{step}"))
        for path in modules(f"compiler/glsl/{step}"):
            for line, module in imports(path):
                for later in GLSL_STEPS[number + 1 :]:
                    if f"{module}.".startswith(f"gallette.compiler.glsl.{later}."):
                        wrong.append(f"{path.relative_to(ROOT)}:{line}: imports {module}")
    assert wrong == []


def runtime_imports(path: Path) -> set[str]:
    """What a module imports when it is loaded or when its functions run, not what only its types
    name.
    """
    found: set[str] = set()
    work: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while work:
        node = work.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        work.extend(ast.iter_child_nodes(node))
    return found


def test_the_ir_imports_nothing_above_it_not_even_lazily() -> None:
    home = "gallette.compiler.nir.ir"
    tools = ("gallette.compiler.lazy_dataclass", "gallette.compiler.text_tables")
    for path in modules("compiler/nir/ir"):
        for line, module in imports(path):
            inside = module == home or module.startswith(f"{home}.")
            inside |= module.startswith(tools)
            assert inside or not module.startswith("gallette."), f"{path}:{line}: {module}"


def test_no_modules_of_the_compiler_import_each_other_in_a_circle() -> None:
    """Imports inside functions count: they may save time, but not hide a circle."""
    names = {
        ".".join(("gallette", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path
        for path in modules("compiler")
    }
    needs = {name: runtime_imports(path) & names.keys() for name, path in names.items()}
    # A package counts as its own modules import it: what it shows of them is no circle.
    for name, path in names.items():
        if path.name == "__init__.py":
            needs[name] = set()
    while ready := [name for name, wanted in needs.items() if not wanted]:
        for name in ready:
            del needs[name]
        for wanted in needs.values():
            wanted.difference_update(ready)
    assert sorted(needs) == []


def test_every_driver_is_a_room_of_its_own() -> None:
    for path in modules("drivers"):
        room = path.relative_to(ROOT).parts[1]
        for line, module in imports(path):
            layer, part = layer_of(module)
            if layer == "drivers" and part:
                assert part in (room, "common"), f"{path}:{line}: imports {module}"


def test_shared_code_imports_no_driver() -> None:
    """`drivers/common` sees the pipe and NIR only, so that any driver may pick any part of it."""
    assert list(modules("drivers/common"))
    for path in modules("drivers/common"):
        for line, module in imports(path):
            layer, part = layer_of(module)
            if layer == "drivers" and part:
                assert part == "common", f"{path}:{line}: imports {module}"


# What each part of `drivers/machines` may see of the others.
MACHINE_PARTS: dict[str, set[str]] = {
    "isa": set(),
    "simulator": {"isa", "constants"},
    "backend": {"isa", "constants"},
    "selection": {"isa", "constants", "backend"},
    **dict.fromkeys(
        ("simd", "tiler"),
        {"isa", "simulator", "backend", "selection", "constants"}
        | {"compiled", "program", "register_picture"},
    ),
}


@pytest.mark.parametrize("part", MACHINE_PARTS)
def test_parts_of_machines_import_only_what_is_below_them(part: str) -> None:
    """Instructions are understood by themselves, and the simulator knows no compiler."""
    home = "gallette.drivers.machines."
    assert list(modules(f"drivers/machines/{part}"))
    for path in modules(f"drivers/machines/{part}"):
        for line, module in imports(path):
            if module.startswith(home):
                other = module.removeprefix(home).split(".")[0]
                assert other in MACHINE_PARTS[part] | {part}, f"{path}:{line}: imports {module}"


@pytest.mark.parametrize("machine", ["simd", "tiler"])
def test_simulators_of_machines_import_no_compiler(machine: str) -> None:
    home = f"gallette.drivers.machines.{machine}."
    rooms = {"isa": {"isa"}, "simulator": {"isa", "simulator"}, "backend": {"isa", "backend"}}
    for room, allowed in rooms.items():
        assert list(modules(f"drivers/machines/{machine}/{room}"))
        for path in modules(f"drivers/machines/{machine}/{room}"):
            for line, module in imports(path):
                if module.startswith(home):
                    part = module.removeprefix(home).split(".")[0]
                    assert part in allowed, f"{path}:{line}: imports {module}"


def test_modules_of_tests_have_names_of_their_own() -> None:
    """Outside packages pytest imports a test module by its bare name: two alike end the run."""
    tests = Path(__file__).resolve().parent
    found = [p for p in tests.rglob("*.py") if not (p.parent / "__init__.py").exists()]
    names = Counter(p.stem for p in found if p.stem != "conftest")
    assert [name for name, count in names.items() if count > 1] == []

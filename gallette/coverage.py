"""The coverage of a suite: opcodes, intrinsics, GL functions, formats, blend modes, grammar.

Tests run with hooks in the code that reads the tables. The rows that were read are compared with
the tables, and rows that no test uses are listed. `gallette piglit coverage` prints them or writes
a page.

    with watching() as seen:
        run_file(path, "numpipe")
    report(seen)["NIR opcodes"].missing
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.piglit_subset.environment import child_command, child_environment

Seen = dict[str, set[str]]
AREAS = {
    "NIR opcodes": "in what the linker, the front ends' lowering and drivers' passes make",
    "NIR intrinsics": "likewise",
    "GL functions": "implemented here; called by a test or the runner",
    "pixel formats": "of textures, renderbuffers and vertex attributes",
    "blend functions and factors": "colour and alpha each",
    "logic operations": "enabled",
    "GLSL syntax": "kinds of nodes in the trees, and operators",
    "GLSL built-in functions": "by name",
}


# Rows that no OpenGL program can lead to, and why. They count as untouched all the same.
_BEYOND: dict[str, dict[str, str]] = {
    "NIR opcodes": {
        r"[bfiu]2[fiu](8|16)(_rt[nez]+)?|f2f16.*|fquantize2f16": "8- and 16-bit values: kernels'",
        r"vec5|vec8|vec16": "vectors of kernels",
        r"f(rcp|rsq)_8bit|f(sin|cos)_reduced": "what a small machine has: lowered to in lessons",
        r"[iu]r?hadd|[iu](add|sub)_sat|[iu]mul24|ur[ol][rl]|fisfinite|fisnormal|frem": (
            "built-ins of kernels (INTEL_shader_integer_functions2 is not offered)"
        ),
    },
    "NIR intrinsics": {
        r"(load|store)_global|global_atomic.*": "addresses: kernels'",
        r"(load|store)_scratch": "SPIR-V's, or a pass that a driver asks for",
    },
    "pixel formats": {
        r"A\dB.*|A\dR.*|R\dG\d.*B\dA?\d?_UNORM|R3G3B2.*|A2.*": "only a layout of pixel transfers",
        r"B10G10R10A2_[US].*(INT|SCALED)|R64_[US]INT": "no type of vertex attributes leads to it",
        r"B8G8R8.*": "windows' and images' of other interfaces",
    },
    "GL functions": {
        r"egl_image_target_.*": "they need an image of EGL's",
        r"accum": "surfaces of EGL have no accumulation buffer",
        r"getn_(color_table|convolution_filter|histogram|minmax|separable_filter)_arb": (
            "for the imaging subset, which is not offered"
        ),
    },
}


@lazy_dataclass(frozen=True)
class Area:
    """One table: its rows, and those that tests used."""

    name: str
    what: str
    touched: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def total(self) -> int:
        return len(self.touched) + len(self.missing)

    @property
    def unreachable(self) -> dict[str, list[str]]:
        """The missing rows that no OpenGL program can reach: reason -> rows."""
        found: dict[str, list[str]] = {}
        for name in self.missing:
            for pattern, reason in _BEYOND.get(self.name, {}).items():
                if re.fullmatch(pattern, name):
                    found.setdefault(reason, []).append(name)
                    break
        return found

    @property
    def untouched(self) -> list[str]:
        """The missing rows without such a reason."""
        explained = {name for names in self.unreachable.values() for name in names}
        return [name for name in self.missing if name not in explained]


def report(seen: Seen) -> list[Area]:
    """Compare the rows seen with the tables."""
    areas = []
    for name, everything in _tables().items():
        touched = everything & seen.get(name, set())
        missing = everything - touched
        areas.append(Area(name, AREAS[name], tuple(sorted(touched)), tuple(sorted(missing))))
    return areas


def _tables() -> Seen:
    from gallette.compiler.glsl.builtins.functions import builtin_names
    from gallette.compiler.nir.ir.intrinsics import INTRINSICS
    from gallette.compiler.nir.ir.opcodes import OPCODES
    from gallette.pipe.enums import BlendFactor, BlendFunc, LogicOp
    from gallette.pipe.formats import FORMATS
    from gallette.state_tracker import context  # noqa: F401 - it registers what is implemented
    from gallette.state_tracker.entry_points import registry

    blending = [item.name for kind in (BlendFunc, BlendFactor) for item in kind]
    return {
        "NIR opcodes": set(OPCODES),
        "NIR intrinsics": set(INTRINSICS),
        "GL functions": set(registry.implementations()),
        "pixel formats": set(FORMATS),
        "blend functions and factors": {f"{s} {n}" for s in ("rgb", "alpha") for n in blending},
        "logic operations": {op.name for op in LogicOp},
        "GLSL syntax": _syntax(),
        "GLSL built-in functions": set(builtin_names()),
    }


# -- watching --------------------------------------------------------------------------------------


@contextlib.contextmanager
def watching() -> Iterator[Seen]:
    """Record what tests use inside the block. The compile cache must be off, because it hides the
    compiler.
    """
    from gallette.compiler.glsl.link import linker
    from gallette.compiler.glsl.parse import parser
    from gallette.compiler.link import finish
    from gallette.drivers.common.binding import BindingContext
    from gallette.drivers.common.memory.screen import MemoryScreen
    from gallette.drivers.common.variants.shader import ShaderObject
    from gallette.state_tracker.context import Context

    seen: Seen = {name: set() for name in AREAS}
    with contextlib.ExitStack() as stack:

        def watch(owner: Any, name: str, look: Callable[..., None]) -> None:
            """Call `look` with the result and the arguments of every call."""
            original = getattr(owner, name)

            def watched(*args: Any, **kwargs: Any) -> Any:
                result = original(*args, **kwargs)
                look(result, *args)
                return result

            setattr(owner, name, watched)
            stack.callback(setattr, owner, name, original)

        watch(parser, "parse", lambda unit, *_: _note_syntax(seen, unit))
        watch(linker, "lower_stage", lambda shader, *_: _note_code(seen, shader))
        watch(finish, "to_driver_form", lambda _, shader, *__: _note_code(seen, shader))
        watch(ShaderObject, "__init__", lambda _, made, *__: _note_code(seen, made.shader))
        watch(ShaderObject, "_build", lambda variant, *_: _note_code(seen, variant.shader))
        watch(Context, "_release", lambda _, context: _note_calls(seen, context))
        watch(MemoryScreen, "resource_create", lambda _, __, desc: _note_format(seen, desc.format))
        watch(BindingContext, "create_blend_state", lambda _, __, state: _note_blend(seen, state))
        watch(
            BindingContext,
            "create_vertex_elements_state",
            lambda _, __, elements: _note_elements(seen, elements),
        )
        yield seen


def _note_code(seen: Seen, shader: Any) -> None:
    from gallette.compiler.nir.ir import Alu, Intrinsic

    for impl in shader.impls():
        for block in impl.blocks():
            for instr in block.instrs():
                if isinstance(instr, Alu):
                    seen["NIR opcodes"].add(instr.op.name)
                elif isinstance(instr, Intrinsic):
                    seen["NIR intrinsics"].add(instr.name)


def _note_calls(seen: Seen, context: Any) -> None:
    from gallette.state_tracker.entry_points import registry
    from gallette.state_tracker.entry_points.functions import FUNCTIONS

    implemented = registry.implementations()
    for name in context._made:
        core = FUNCTIONS.alias(FUNCTIONS.method(name))
        seen["GL functions"].add(name if name in implemented or core is None else core.method)


def _note_format(seen: Seen, format: Any) -> None:
    seen["pixel formats"].add(format.name)


def _note_elements(seen: Seen, elements: Any) -> None:
    for element in elements:
        _note_format(seen, element.src_format)


def _note_blend(seen: Seen, state: Any) -> None:
    if state.logicop_enable:
        seen["logic operations"].add(state.logicop.name)
    for target in state.rt:
        if target.blend_enable:
            for side in ("rgb", "alpha"):
                for field in ("func", "src_factor", "dst_factor"):
                    name = getattr(target, f"{side}_{field}").name
                    seen["blend functions and factors"].add(f"{side} {name}")


# -- syntax ----------------------------------------------------------------------------------------


def _syntax() -> set[str]:
    """Kinds of nodes, with the operators and keywords that they distinguish."""
    from gallette.compiler.glsl.parse import expressions, syntax

    kinds = {
        name
        for name, value in vars(syntax).items()
        if isinstance(value, type) and issubclass(value, syntax.Node)
    } - {"Node", "Expr", "Stmt"}
    found = {f"{kind}" for kind in kinds}
    found |= {f"Binary {op}" for op in expressions._PRECEDENCE}
    found |= {f"Unary {op}" for op in (*expressions._PREFIX, "p++", "p--")}
    found |= {f"Assign {op}" for op in expressions._ASSIGN}
    found |= {f"Jump {word}" for word in ("return", "break", "continue", "discard", "demote")}
    literals = ("int", "uint", "float", "double", "bool", "int64_t", "uint64_t")
    return found | {f"Literal {kind}" for kind in literals}


def _note_syntax(seen: Seen, unit: Any) -> None:
    from gallette.compiler.glsl.builtins.functions import builtin_names
    from gallette.compiler.glsl.parse import syntax

    builtins = frozenset(builtin_names())
    stack: list[Any] = [unit]
    found = seen["GLSL syntax"]
    while stack:
        node = stack.pop()
        if isinstance(node, list | tuple):
            stack.extend(node)
            continue
        if not isinstance(node, syntax.Node):
            continue
        kind = type(node).__name__
        found.add(kind)
        for name in ("op", "kind"):
            word = getattr(node, name, None)
            if isinstance(word, str):
                found.add(f"{kind} {word}")
        callee = getattr(node, "callee", None)
        if isinstance(callee, syntax.Name) and callee.name in builtins:
            seen["GLSL built-in functions"].add(callee.name)
        for field in dataclasses.fields(node):
            stack.append(getattr(node, field.name))


# -- measuring a suite -----------------------------------------------------------------------------


def measure(paths: Sequence[Path], jobs: int) -> Seen:
    """Run tests on numpipe, spread over processes, and merge their coverage."""
    environment = {**child_environment("numpipe"), "GALLETTE_CACHE": "off"}
    children = []
    for number in range(max(1, jobs)):
        child = subprocess.Popen(
            child_command("gallette.coverage"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        assert child.stdin is not None
        child.stdin.write("\n".join(str(path) for path in paths[number::jobs]))
        child.stdin.close()
        children.append(child)
    whole: Seen = {name: set() for name in AREAS}
    for child in children:
        assert child.stdout is not None
        answer = child.stdout.read().rpartition("\n")[2]
        if child.wait() or not answer:
            raise RuntimeError(f"a measuring process ended with status {child.returncode}")
        for name, found in json.loads(answer).items():
            whole[name].update(found)
    return whole


def _child() -> None:
    from gallette.piglit_subset.execute import run_file

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what tests print is not our answer
    with watching() as seen:
        for line in sys.stdin:
            run_file(Path(line.strip()), "numpipe")
    answers.write(json.dumps({name: sorted(found) for name, found in seen.items()}))
    answers.flush()


if __name__ == "__main__":
    _child()

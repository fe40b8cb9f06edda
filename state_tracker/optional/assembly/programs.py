"""ARB_vertex_program and ARB_fragment_program: program objects, parameters, queries.

A program string is parsed and translated to GLSL (`compiler.assembly`), then compiled as a
separable program of one stage, like fixed function. Program parameters become its uniform arrays,
written before a draw if they changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gallette.compiler.assembly import LIMITS, STRICT, AssemblyError, Program, parse, translate
from gallette.compiler.debug import is_set
from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    read_array,
    read_string,
    write_bytes,
)
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import compat_only, gets, gets_indexed
from gallette.state_tracker.object_kinds import objects
from gallette.state_tracker.objects import GLObject, NameTable, swap
from gallette.state_tracker.optional.compatibility.direct_access.selectors import SELECTORS
from gallette.state_tracker.optional.compatibility.matrices import MatrixStack, inverse
from gallette.state_tracker.shading.programs import Executable
from gallette.state_tracker.strings import says

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

PARAMETERS = {which: LIMITS[which] for which in ("env", "local")}
MATRICES = 8
STAGES: dict[int, Stage] = {
    GL.VERTEX_PROGRAM_ARB: Stage.VERTEX,
    GL.FRAGMENT_PROGRAM_ARB: Stage.FRAGMENT,
}
_SAMPLER = re.compile(r"assembly_(\d+)_\w+")


class AssemblyObject(GLObject):
    """A program object: its string, local parameters, and compiled form."""

    kind = "assembly program"

    def __init__(self, name: int, target: int):
        super().__init__(name)
        self.target = target
        self.text = ""
        self.local = np.zeros((PARAMETERS["local"], 4), np.float32)
        self.program: Program | None = None
        self.executable: Executable | None = None

    def destroy(self) -> None:
        if self.executable is not None:
            self.executable.destroy()
            self.executable = None


class AssemblyState:
    """Names, bindings and enables, environment parameters, the last error."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self.names: NameTable[AssemblyObject] = ctx.group.table("assembly program")
        self.defaults = {target: AssemblyObject(0, target) for target in STAGES}
        self.bound = {target: found.retain() for target, found in self.defaults.items()}
        self.environment = {t: np.zeros((PARAMETERS["env"], 4), np.float32) for t in STAGES}
        self.vertex_enabled = self.fragment_enabled = False
        self.matrices = [MatrixStack() for _ in range(MATRICES)]
        ctx.matrices.more |= {GL.MATRIX0_ARB + i: each for i, each in enumerate(self.matrices)}
        ctx.programs.providers.append(self.provide)
        self.error_position, self.error = -1, ""

    def enabled(self, target: int) -> bool:
        return self.vertex_enabled if target == GL.VERTEX_PROGRAM_ARB else self.fragment_enabled

    def provide(self, stages: dict[Stage, Executable]) -> None:
        """Use the enabled programs; an invalid enabled program is an error."""
        for target, stage in STAGES.items():
            if self.enabled(target):
                executable = self.bound[target].executable
                if executable is None:
                    raise invalid_operation(f"the enabled {stage.value} program is not valid")
                stages.setdefault(stage, executable)

    def compile(self, target: int, text: str) -> None:
        """glProgramString: replace the bound program by the compiled text, if it is correct."""
        ctx, program = self._ctx, self.bound[target]
        head = "!!ARBvp1.0" if target == GL.VERTEX_PROGRAM_ARB else "!!ARBfp1.0"
        try:
            if not text.startswith(head):
                raise AssemblyError(f"the program does not begin with {head}", 0)
            parsed = parse(text, STRICT if is_set("glsl:strict") else None)
        except AssemblyError as error:
            self.error_position, self.error = error.position, str(error)
            raise invalid_operation(str(error)) from None
        self.error_position, self.error = -1, ""
        executable = _build(ctx, STAGES[target], parsed)
        program.destroy()
        program.text, program.program, program.executable = text, parsed, executable
        executable.fill = lambda user: user.assembly.fill(program)
        ctx.dirty |= Dirty.ALL

    def fill(self, program: AssemblyObject) -> None:
        """Write parameters into the program's uniforms."""
        executable = program.executable
        assert executable is not None
        data = executable.uniforms.data
        sources = {"assembly_env[0]": self.environment[program.target],
                   "assembly_local[0]": program.local}  # fmt: skip
        for uniform in executable.linked.uniforms:
            values = sources.get(uniform.name)
            if values is not None:
                assert uniform.array_stride == 16
                count = max(1, uniform.array_size)
                data[uniform.offset : uniform.offset + 16 * count] = values[:count].tobytes()
            elif uniform.name == "assembly_matrix[0]":
                self._fill_matrices(data, uniform)

    def _fill_matrices(self, data: bytearray, uniform: Any) -> None:
        """Write four forms of each program matrix; the rows of a form are the columns written."""
        for number in range(MATRICES):
            top = self.matrices[number][-1]
            forms = (top, inverse(top), top.T, inverse(top).T)
            for form, matrix in enumerate(forms):
                at = uniform.offset + (number * 4 + form) * uniform.array_stride
                for row in range(4):
                    start = at + row * uniform.matrix_stride
                    data[start : start + 16] = matrix[row].astype("<f4").tobytes()

    def release_all(self) -> None:
        for target, found in self.bound.items():
            found.release()
            self.defaults[target].release()
        self.bound.clear()


def _build(ctx: Context, stage: Stage, program: Program) -> Executable:
    source = translate(program)
    options = CompileOptions(api="compat", version_limit=120, limits=ctx.limits.glsl_limits)
    compiled = compile_shader(stage, source, options, ["assembly program"])
    bindings = {}
    for binding in program.attributes:
        if binding.startswith("vertex.attrib."):
            number = binding.rpartition(".")[2]
            bindings[f"assembly_attrib{number}"] = int(number)
    linked = link_program(
        [compiled], LinkOptions(attrib_bindings=bindings, separable=True, api="compat")
    )
    if not compiled.ok or not linked.ok:
        raise invalid_operation(f"the program is too large: {compiled.info_log}{linked.info_log}")
    executable = Executable(ctx, linked, 120)
    for index, uniform in enumerate(linked.uniforms):
        match = _SAMPLER.fullmatch(uniform.name)
        if match is not None:
            executable.uniforms.units[index][:] = [int(match[1])]
    return executable


# -- objects ---------------------------------------------------------------------------------------


def _check(target: int) -> None:
    if target not in STAGES:
        raise invalid_enum(target, "assembly program target")


def _named(ctx: Context, name: int, target: int) -> AssemblyObject:
    """The program of that name, created on first use; 0 is the target's default."""
    if not name:
        return cast(AssemblyObject, ctx.assembly.defaults[target])
    names: NameTable[AssemblyObject] = ctx.assembly.names
    found = names.bind(name, lambda n: AssemblyObject(n, target), False)
    if found.target != target:
        raise invalid_operation(f"program {name} belongs to another target")
    return found


def _unbind(ctx: Context, found: AssemblyObject) -> None:
    state = ctx.assembly
    if state.bound[found.target] is found:
        state.bound[found.target] = state.defaults[found.target].retain()
        found.release()
        ctx.dirty |= Dirty.PROGRAM


objects("program_arb", lambda ctx: ctx.assembly.names, _unbind, plural="programs_arb")


@entry
def bind_program_arb(ctx: Context, target: int, program: int) -> None:
    _check(target)
    state, found = ctx.assembly, _named(ctx, program, target)
    state.bound[target] = swap(state.bound[target], found) or found
    ctx.dirty |= Dirty.PROGRAM | Dirty.BUILTINS


@entry
def program_string_arb(ctx: Context, target: int, format: int, length: int, text: Pointer) -> None:
    _check(target)
    if format != GL.PROGRAM_FORMAT_ASCII_ARB:
        raise invalid_enum(format, "program format")
    if length < 0:
        raise invalid_value("negative length")
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    ctx.assembly.compile(target, read_string(text, length))


@entry
def get_program_string_arb(ctx: Context, target: int, pname: int, string: Any) -> str | None:
    _check(target)
    if pname != GL.PROGRAM_STRING_ARB:
        raise invalid_enum(pname, "program string")
    text: str = ctx.assembly.bound[target].text
    if string is OMITTED:
        return text
    if string is not None:
        write_bytes(string, text.encode())
    return None


# -- parameters ------------------------------------------------------------------------------------


def _table(ctx: Context, target: int, which: str) -> Any:
    _check(target)
    if which == "env":
        return ctx.assembly.environment[target]
    return ctx.assembly.bound[target].local


def _store(ctx: Context, target: int, which: str, index: int, values: Any) -> None:
    table = _table(ctx, target, which)
    rows = np.asarray(values, np.float32).reshape(-1, 4)
    if index + len(rows) > len(table):
        raise invalid_value(f"there is no parameter {index + len(rows) - 1}")
    table[index : index + len(rows)] = rows
    ctx.dirty |= Dirty.BUILTINS


def _parameters() -> None:
    for which in ("env", "local"):
        for letter, gl_type in (("f", "float"), ("d", "double")):

            def by_value(
                ctx: Context, target: int, index: int, *v: float, which: str = which
            ) -> None:
                with np.errstate(over="ignore"):
                    _store(ctx, target, which, index, v)

            def by_pointer(
                ctx: Context, target: int, index: int, v: Pointer, t: str = gl_type,
                which: str = which,
            ) -> None:  # fmt: skip
                with np.errstate(over="ignore"):
                    _store(ctx, target, which, index, read_array(v, t, 4))

            def get(ctx: Context, target: int, index: int, which: str = which) -> list[float]:
                table = _table(ctx, target, which)
                if index >= len(table):
                    raise invalid_value(f"there is no parameter {index}")
                return [float(v) for v in table[index]]

            register(f"program_{which}_parameter4{letter}_arb", by_value)
            register(f"program_{which}_parameter4{letter}v_arb", by_pointer)
            register(f"get_program_{which}_parameter{letter}v_arb", get)

        def several(
            ctx: Context, target: int, index: int, count: int, v: Pointer, which: str = which
        ) -> None:
            if count <= 0:
                raise invalid_value("no parameters")
            _store(ctx, target, which, index, read_array(v, "float", 4 * count))

        register(f"program_{which}_parameters4fv_ext", several)


_parameters()


# -- queries ---------------------------------------------------------------------------------------

_LIMITS: dict[int, int] = {
    GL.MAX_PROGRAM_INSTRUCTIONS_ARB: 16384,
    GL.MAX_PROGRAM_NATIVE_INSTRUCTIONS_ARB: 16384,
    GL.MAX_PROGRAM_TEMPORARIES_ARB: 256,
    GL.MAX_PROGRAM_NATIVE_TEMPORARIES_ARB: 256,
    GL.MAX_PROGRAM_PARAMETERS_ARB: PARAMETERS["local"],
    GL.MAX_PROGRAM_NATIVE_PARAMETERS_ARB: PARAMETERS["local"],
    GL.MAX_PROGRAM_ATTRIBS_ARB: 16,
    GL.MAX_PROGRAM_NATIVE_ATTRIBS_ARB: 16,
    GL.MAX_PROGRAM_LOCAL_PARAMETERS_ARB: PARAMETERS["local"],
    GL.MAX_PROGRAM_ENV_PARAMETERS_ARB: PARAMETERS["env"],
}
_VERTEX_LIMITS: dict[int, int] = {
    GL.MAX_PROGRAM_ADDRESS_REGISTERS_ARB: 1,
    GL.MAX_PROGRAM_NATIVE_ADDRESS_REGISTERS_ARB: 1,
}
_FRAGMENT_LIMITS: dict[int, int] = {
    GL.MAX_PROGRAM_ALU_INSTRUCTIONS_ARB: 16384,
    GL.MAX_PROGRAM_NATIVE_ALU_INSTRUCTIONS_ARB: 16384,
    GL.MAX_PROGRAM_TEX_INSTRUCTIONS_ARB: 16384,
    GL.MAX_PROGRAM_NATIVE_TEX_INSTRUCTIONS_ARB: 16384,
    GL.MAX_PROGRAM_TEX_INDIRECTIONS_ARB: 16384,
    GL.MAX_PROGRAM_NATIVE_TEX_INDIRECTIONS_ARB: 16384,
}


def _counts(found: AssemblyObject) -> dict[int, int]:
    """The values of glGetProgramivARB for the bound program."""
    program = found.program
    instructions = len(program.instructions) + 1 if program is not None else 0
    textures = program.texture_instructions if program is not None else 0
    values: dict[int, int] = {
        GL.PROGRAM_LENGTH_ARB: len(found.text.encode()),
        GL.PROGRAM_FORMAT_ARB: GL.PROGRAM_FORMAT_ASCII_ARB,
        GL.PROGRAM_BINDING_ARB: found.name,
        GL.PROGRAM_UNDER_NATIVE_LIMITS_ARB: 1,
    }
    for prefix in ("PROGRAM_", "PROGRAM_NATIVE_"):
        values |= {
            getattr(GL, f"{prefix}INSTRUCTIONS_ARB"): instructions,
            getattr(GL, f"{prefix}TEMPORARIES_ARB"): len(program.temps) if program else 0,
            getattr(GL, f"{prefix}PARAMETERS_ARB"): len(program.parameters) if program else 0,
            getattr(GL, f"{prefix}ATTRIBS_ARB"): len(program.attributes) if program else 0,
        }
        if found.target == GL.VERTEX_PROGRAM_ARB:
            registers = len(program.addresses) if program else 0
            values[getattr(GL, f"{prefix}ADDRESS_REGISTERS_ARB")] = registers
        else:
            arithmetic = max(instructions - 1, 0) - textures  # END is neither
            values[getattr(GL, f"{prefix}ALU_INSTRUCTIONS_ARB")] = arithmetic
            values[getattr(GL, f"{prefix}TEX_INSTRUCTIONS_ARB")] = textures
            values[getattr(GL, f"{prefix}TEX_INDIRECTIONS_ARB")] = min(textures + 1, 2)
    return values


@entry
def get_programiv_arb(ctx: Context, target: int, pname: int) -> list[int]:
    _check(target)
    own = _VERTEX_LIMITS if target == GL.VERTEX_PROGRAM_ARB else _FRAGMENT_LIMITS
    values = _LIMITS | own | _counts(ctx.assembly.bound[target])
    if pname not in values:
        raise invalid_enum(pname, "assembly program parameter")
    return [int(values[pname])]


def _top(ctx: Context) -> Any:
    return ctx.matrices.current[-1]


gets(
    {
        "MAX_PROGRAM_MATRICES_ARB": lambda c: MATRICES,
        "CURRENT_MATRIX_ARB": lambda c: [float(v) for v in _top(c).T.reshape(-1)],
        "TRANSPOSE_CURRENT_MATRIX_ARB": lambda c: [float(v) for v in _top(c).reshape(-1)],
        "CURRENT_MATRIX_STACK_DEPTH_ARB": lambda c: len(c.matrices.current),
    },
    profiles="compat",
)
gets_indexed(
    compat_only(MATRICES),
    {
        "PROGRAM_MATRIX_EXT": lambda c, i: c.assembly.matrices[i][-1].T.reshape(-1).tolist(),
        "TRANSPOSE_PROGRAM_MATRIX_EXT": lambda c, i: (
            c.assembly.matrices[i][-1].reshape(-1).tolist()
        ),
        "PROGRAM_MATRIX_STACK_DEPTH_EXT": lambda c, i: len(c.assembly.matrices[i]),
    },
)
says(GL.PROGRAM_ERROR_STRING_ARB, lambda ctx: str(ctx.assembly.error))


@contextmanager
def _selected(ctx: Context, name: int, target: int) -> Iterator[tuple[Any, ...]]:
    """Select an assembly program, for functions of EXT_direct_state_access."""
    _check(target)
    state = ctx.assembly
    found = _named(ctx, name, target)
    saved, state.bound[target] = state.bound[target], found
    try:
        yield (target,)
    finally:
        state.bound[target] = saved


SELECTORS["program"] = 2, _selected

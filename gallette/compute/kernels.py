"""Programs, kernels and launches on any driver of the stack that has compute shaders.

A kernel is lowered once per workgroup size: pointers to addresses (in the formats asked for),
addresses to the buffers a driver knows. Every array of a launch is a shader buffer; global address
2**32 (n + 1) is the first byte of buffer n, so null and wild pointers lead nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import PassLog, run_passes
from gallette.compiler.spirv.module import Module, read_module
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.kernels import Argument, kernel_arguments
from gallette.compiler.spirv.read.translate import spirv_to_nir
from gallette.pipe.enums import Bind, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.handing import handed_over
from gallette.pipe.loader import create_screen
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import ComputeInfo, ShaderBuffer

__all__ = ["Kernel", "Local", "Program", "lower_kernel"]

Size = "int | Sequence[int]"
FRONT: tuple[str, ...] = (
    "lower_variable_initializers",
    "lower_returns",
    "inline_functions",
    "opt_deref",
    "lower_global_vars_to_local",
    "lower_var_copies",
    "split_struct_vars",
    "lower_array_deref_of_vec",
    "lower_vars_to_ssa",
    "remove_dead_variables",
)
MAX_LOCAL = 1 << 20


@dataclass(frozen=True, slots=True)
class Local:
    """An argument that is memory of the workgroup: so many bytes."""

    size: int


def lower_kernel(shader: Shader, formats: str = "", log: PassLog | None = None) -> None:
    """From what `spirv_to_nir` gives to what drivers take: buffers and workgroup memory."""
    run_passes(shader, FRONT, log)
    optimize(shader, log=log)
    run_passes(shader, ["opt_deref", ("lower_explicit_io", {"formats": formats})], log)
    run_passes(shader, ["lower_system_values", "lower_global_to_ssbo"], log)
    optimize(shader, log=log)
    run_passes(shader, ["gather_info"], log)


class Program:
    """A module of kernels on a driver."""

    def __init__(self, module: Module, driver: str = "numpipe", formats: str = "") -> None:
        self.module = module
        self.formats = formats
        self.declarations = Declarations(module)
        self.screen = create_screen(driver)
        if "compute" not in self.screen.caps.stages:
            self.screen.destroy()
            raise GalletteError(f"driver {driver!r} has no compute shaders")
        self.context = self.screen.context_create()
        self.open: list[Kernel] = []

    @classmethod
    def from_file(cls, path: str | Path, driver: str = "numpipe", formats: str = "") -> Program:
        """From a SPIR-V module in a file."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        return cls(read_module(data), driver, formats)

    @property
    def kernels(self) -> list[str]:
        return [e.name for e in self.declarations.entries if e.model == "Kernel"]

    def kernel(self, name: str = "") -> Kernel:
        """A kernel by name; without one, the only kernel."""
        names = self.kernels
        if not name and len(names) == 1:
            name = names[0]
        if name not in names:
            raise GalletteError(f"no kernel {name!r}; there are: {', '.join(names) or 'none'}")
        kernel = Kernel(self, name)
        self.open.append(kernel)
        return kernel

    def close(self) -> None:
        """Give everything back to the driver."""
        for kernel in self.open:
            kernel.close()
        self.open.clear()
        self.context.destroy()
        self.screen.destroy()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Kernel:
    """One kernel; called with its arguments it runs."""

    def __init__(self, program: Program, name: str) -> None:
        self.program = program
        self.name = name
        entry = next(
            e for e in program.declarations.entries if e.name == name and e.model == "Kernel"
        )
        self.arguments: list[Argument] = kernel_arguments(program.declarations, entry)
        self.handles: dict[tuple[tuple[int, int, int], int], Any] = {}

    def shader(self, block: tuple[int, int, int], local_bytes: int = 0) -> Shader:
        """The lowered shader for a workgroup size; the caller owns its reference."""
        shader = spirv_to_nir(self.program.module, Stage.KERNEL, self.name)
        shader.stage = Stage.COMPUTE
        shader.info.workgroup_size = block
        shader.info.workgroup_size_variable = False
        # Local arguments lie in front of the variables of the kernel itself.
        shader.info.shared_bytes = local_bytes
        lower_kernel(shader, self.program.formats)
        return shader

    def __call__(self, *arguments: Any, grid: Any, block: Any = 1) -> None:
        """Run `grid` workgroups of `block` invocations; arrays change in place."""
        groups, size = _three(grid, "grid"), _three(block, "block")
        if len(arguments) != len(self.arguments):
            raise GalletteError(
                f"{self.name} takes {len(self.arguments)} arguments, not {len(arguments)}"
            )
        if size[0] * size[1] * size[2] > 1024:
            raise GalletteError(f"a workgroup of {size} is larger than 1024")
        packed, arrays, local = self._pack(arguments)
        if 0 in groups:
            return
        self._launch(packed, arrays, local, groups, size)

    def _pack(self, arguments: Sequence[Any]) -> tuple[bytes, list[npt.NDArray[Any]], int]:
        """The block of arguments, the arrays in it, and the bytes of local memory."""
        end = max((a.offset + a.size for a in self.arguments), default=0)
        data = bytearray(end + 16)
        arrays: list[npt.NDArray[Any]] = []
        local = 0
        for argument, value in zip(self.arguments, arguments, strict=True):
            where = f"{self.name}'s argument {argument.name}"
            if argument.kind == "local":
                if not isinstance(value, Local):
                    raise GalletteError(f"{where} is local memory: give a Local(bytes)")
                if not 0 <= value.size <= MAX_LOCAL - local:
                    raise GalletteError(f"{where}: {value.size} bytes of local memory")
                raw = local.to_bytes(8, "little")
                local += (value.size + 15) // 16 * 16
            elif argument.kind == "global":
                raw = b"\0" * 8
                if value is not None:
                    if not isinstance(value, np.ndarray) or not value.flags.c_contiguous:
                        raise GalletteError(f"{where} is a contiguous NumPy array")
                    arrays.append(value)
                    raw = (len(arrays) << 32).to_bytes(8, "little")
            else:
                raw = np.asarray(value).tobytes()
                if len(raw) != argument.size:
                    raise GalletteError(
                        f"{where} is a {argument.type} of {argument.size} bytes, not {len(raw)}"
                    )
            data[argument.offset : argument.offset + len(raw)] = raw
        return bytes(data), arrays, local

    def _launch(
        self,
        packed: bytes,
        arrays: list[npt.NDArray[Any]],
        local: int,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
    ) -> None:
        program, stage = self.program, Stage.COMPUTE
        pipe = program.context
        limit = program.screen.caps.max_shader_buffers
        if len(arrays) > limit:
            raise GalletteError(f"{len(arrays)} arrays, but the driver has {limit} buffers")
        key = (block, local)
        handle = self.handles.get(key)
        if handle is None:
            shader = handed_over(self.shader(block, local), program.screen.caps)
            handle = self.handles[key] = pipe.create_shader_state(stage, shader)
        resources = []
        for array in arrays:
            size = max(array.nbytes, 4)
            resource = program.screen.resource_create(
                ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], size, bind=Bind.SHADER_BUFFER)
            )
            if array.nbytes:
                pipe.buffer_subdata(resource, 0, array.reshape(-1).view(np.uint8))
            resources.append(resource)
        try:
            pipe.set_constant_buffer(stage, 0, packed)
            pipe.set_shader_buffers(stage, 0, [ShaderBuffer(r, 0, r.desc.width) for r in resources])
            pipe.bind_shader_state(stage, handle)
            pipe.launch_grid(ComputeInfo(grid, block))
            for array, resource in zip(arrays, resources, strict=True):
                if array.nbytes and array.flags.writeable:
                    raw = pipe.buffer_read(resource, 0, array.nbytes)
                    array.reshape(-1).view(np.uint8)[:] = np.frombuffer(raw, np.uint8)
        finally:
            pipe.set_shader_buffers(stage, 0, [None] * len(resources))
            pipe.set_constant_buffer(stage, 0)
            pipe.bind_shader_state(stage, None)
            for resource in resources:
                resource.unref()

    def close(self) -> None:
        for handle in self.handles.values():
            self.program.context.delete_shader_state(handle)
        self.handles.clear()


def _three(size: Any, what: str) -> tuple[int, int, int]:
    numbers = [int(size)] if np.ndim(size) == 0 else [int(n) for n in size]
    if not 1 <= len(numbers) <= 3 or any(not 0 <= n < 1 << 16 for n in numbers):
        raise GalletteError(f"{what} is one to three numbers below 65536, not {size!r}")
    if what == "block" and 0 in numbers:
        raise GalletteError("a workgroup has at least one invocation")
    numbers += [1] * (3 - len(numbers))
    return (numbers[0], numbers[1], numbers[2])

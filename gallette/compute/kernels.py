"""Programs and kernels on any driver of the stack that has compute shaders.

A kernel is lowered once per workgroup size: pointers to addresses (in the formats asked for),
addresses to the buffers a driver knows. Every array of a launch is a shader buffer; global address
2**32 (n + 1) is the first byte of buffer n, so null and wild pointers lead nowhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.nir.ir.addresses import AddressModel
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import PassLog, run_passes
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import Module, read_module
from gallette.compiler.spirv.read import printing
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.kernels import Argument, end_of_arguments, kernel_arguments
from gallette.compiler.spirv.read.translate import spirv_to_nir
from gallette.compute.device import Device, Launch, Size, three
from gallette.compute.images import Image, Sampler
from gallette.compute.local import MAX_LOCAL, Local

FRONT: tuple[str, ...] = (
    "lower_variable_initializers",
    "lower_returns",
    "inline_functions",
    "lower_workgroup_collectives",
    "opt_deref",
    "lower_global_vars_to_local",
    "lower_var_copies",
    "split_struct_vars",
    "lower_array_deref_of_vec",
    "lower_vars_to_ssa",
    "remove_dead_variables",
)
MEMORY = ("opt_deref", "opt_copy_prop_vars", "opt_dead_write_vars", "copy_prop", "dce")
PRINT_BYTES = 1 << 20
"""what a launch may print; more is lost"""


def lower_kernel(shader: Shader, formats: str = "", log: PassLog | None = None) -> None:
    """Lower a kernel from the output of `spirv_to_nir` to the input of drivers: buffers and
    workgroup memory.
    """
    run_passes(shader, FRONT, log)
    optimize(shader, log=log)
    # Alias analysis is better while pointers are derefs.
    run_passes(shader, MEMORY, log)
    run_passes(shader, [("lower_explicit_io", {"formats": formats})], log)
    run_passes(shader, ["lower_global_to_ssbo", "lower_io"], log)
    optimize(shader, log=log)
    run_passes(shader, ["gather_info"], log)


class Program:
    """A module of kernels on a driver. `output` is called with the text that kernels print.

    Pointers have the formats of the driver's caps, or `formats` (see `ir.addresses`). Further
    options are the driver's, as `budget=`, the work a launch may do before it is stopped.
    """

    def __init__(
        self,
        module: Module,
        driver: str = "numpipe",
        formats: str | None = None,
        output: Callable[[str], Any] | None = None,
        **options: Any,
    ) -> None:
        self.module = module
        self.declarations = Declarations(module)
        self.printed = printing.formats(self.declarations)
        self.output = output if output is not None else sys.stdout.write
        self.device = Device(driver, **options)
        caps = self.device.screen.caps
        self.formats = caps.address_formats if formats is None else formats
        try:
            AddressModel.parse(self.formats)
        except ValueError as error:
            self.device.close()
            raise InputError(f"formats: {error}") from None
        self.open: list[Kernel] = []

    @classmethod
    def from_file(
        cls, path: str | Path, driver: str = "numpipe", formats: str | None = None
    ) -> Program:
        """A program from a SPIR-V module in a file, binary or text (.spvasm)."""
        path = Path(path)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        if path.suffix == ".spvasm":
            return cls(assemble(data.decode(errors="replace"), str(path)), driver, formats)
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
            what = f"unknown kernel {name!r}" if name else "choose a kernel"
            raise GalletteError(f"{what}; kernels: {', '.join(names) or 'none'}")
        kernel = Kernel(self, name)
        self.open.append(kernel)
        return kernel

    def close(self) -> None:
        """Release everything held by the driver."""
        for kernel in self.open:
            kernel.close()
        self.open.clear()
        self.device.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Kernel:
    """One kernel; calling it with its arguments runs it."""

    def __init__(self, program: Program, name: str) -> None:
        self.program = program
        self.name = name
        entry = next(
            e for e in program.declarations.entries if e.name == name and e.model == "Kernel"
        )
        self.arguments: list[Argument] = kernel_arguments(program.declarations, entry)
        self.handles: dict[tuple[Size, int], Any] = {}

    def shader(self, block: Size, local_bytes: int = 0) -> Shader:
        """The lowered shader for a workgroup size; the caller owns its reference."""
        shader = spirv_to_nir(self.program.declarations, Stage.KERNEL, self.name)
        shader.stage = Stage.COMPUTE
        shader.info.workgroup_size = block
        shader.info.workgroup_size_variable = False
        # Local arguments lie in front of the variables of the kernel itself.
        shader.info.shared_bytes = local_bytes
        lower_kernel(shader, self.program.formats)
        return shader

    def __call__(self, *arguments: Any, grid: Any, block: Any = 1) -> None:
        """Run `grid` workgroups of `block` invocations; arrays change in place."""
        groups, size = three(grid, "grid"), three(block, "block")
        if len(arguments) != len(self.arguments):
            raise GalletteError(
                f"{self.name} takes {len(self.arguments)} arguments, not {len(arguments)}"
            )
        if size[0] * size[1] * size[2] > 1024:
            raise GalletteError(f"a workgroup of {size} has more than 1024 invocations")
        launch = Launch(groups, size)
        local = self._bind(arguments, launch)
        if 0 in groups:
            return
        key = (size, local)
        handle = self.handles.get(key)
        if handle is None:
            handle = self.handles[key] = self.program.device.create(self.shader(size, local))
        printed = self._print_buffer(launch)
        self.program.device.run(handle, launch)
        if printed is not None:
            self._print(printed)

    def _bind(self, arguments: Sequence[Any], launch: Launch) -> int:
        """Store arguments in the launch; returns the bytes of local memory that they request."""
        data = bytearray(end_of_arguments(self.arguments) + 16)
        local = 0
        for argument, value in zip(self.arguments, arguments, strict=True):
            where = f"{self.name}'s argument {argument.name}"
            if argument.kind == "image":
                launch.images[argument.offset] = _image(where, argument, value)
                continue
            if argument.kind == "local":
                if not isinstance(value, Local):
                    raise GalletteError(f"{where} is local memory; pass a Local(bytes)")
                if not 0 <= value.size <= MAX_LOCAL - local:
                    raise GalletteError(f"{where}: {value.size} bytes of local memory")
                raw = local.to_bytes(8, "little")
                local += (value.size + 15) // 16 * 16
            elif argument.kind == "global":
                raw = b"\0" * 8
                if value is not None:
                    if not isinstance(value, np.ndarray) or not value.flags.c_contiguous:
                        raise GalletteError(f"{where} needs a contiguous NumPy array")
                    raw = self._address(launch, value)
            elif argument.kind == "sampler":
                if not isinstance(value, Sampler):
                    raise GalletteError(f"{where} needs a Sampler")
                raw = value.bits.to_bytes(4, "little")
            else:
                raw = np.asarray(value).tobytes()
                if len(raw) != argument.size:
                    raise GalletteError(
                        f"{where} is a {argument.type} of {argument.size} bytes, not {len(raw)}"
                    )
            data[argument.offset : argument.offset + len(raw)] = raw
        launch.constants[0] = bytes(data)
        return local

    @staticmethod
    def _address(launch: Launch, array: npt.NDArray[Any]) -> bytes:
        number = len(launch.arrays)
        launch.arrays[number] = array
        return (number + 1 << 32).to_bytes(8, "little")

    def _print_buffer(self, launch: Launch) -> npt.NDArray[np.uint32] | None:
        if not self.program.printed:
            return None
        buffer = np.zeros(PRINT_BYTES // 4, np.uint32)
        buffer[0] = printing.HEADER
        data = bytearray(launch.constants[0])
        at = end_of_arguments(self.arguments)
        data[at : at + 8] = self._address(launch, buffer)
        launch.constants[0] = bytes(data)
        return buffer

    def _print(self, buffer: npt.NDArray[np.uint32]) -> None:
        words = buffer[printing.HEADER // 4 : min(int(buffer[0]), PRINT_BYTES) // 4]
        for text in printing.text_of(self.program.printed, words):
            self.program.output(text)

    def close(self) -> None:
        for handle in self.handles.values():
            self.program.device.delete(handle)
        self.handles.clear()


def _image(where: str, argument: Argument, value: Any) -> Image:
    image = Image(value) if isinstance(value, np.ndarray) else value
    if not isinstance(image, Image):
        raise GalletteError(f"{where} needs an Image (or a NumPy array of one)")
    if not argument.type.endswith(f"{image.dimensions}D"):
        raise GalletteError(f"{where} is an {argument.type}, not one of {image.dimensions}")
    return image

"""numpipe's code for a variant: NumPy source, generated from the lowered shader."""

from __future__ import annotations

from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.text.lazy_shader import reading
from gallette.drivers.common.variants.compiler import VariantCompiler
from gallette.drivers.common.variants.keys import FragmentKey, VariantKey, VertexKey
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.drivers.numpipe.shader.program import CompiledShader, compile_program, pack, unpack

NumpipeShader = ShaderObject[VariantKey, CompiledShader]


class ShaderCompiler(VariantCompiler[VariantKey, CompiledShader]):
    """NIR to NumPy."""

    name = "numpipe"
    home = "drivers/numpipe"
    tells_time = True

    def null_key(self, stage: Stage) -> VariantKey:
        return FragmentKey() if stage is Stage.FRAGMENT else VertexKey()

    def generate(self, shader: Shader, key: VariantKey) -> CompiledShader:
        flat = isinstance(key, FragmentKey) and key.flat_colors
        return compile_program(reading(shader), flat_colors=flat)

    def pack(self, code: CompiledShader) -> bytes:
        return pack(code)

    def unpack(self, data: bytes, shader: Shader) -> CompiledShader:
        return unpack(data)

    def text(self, code: CompiledShader) -> str:
        return code.code

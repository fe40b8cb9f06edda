"""Every bundled test a person wrote passes, and renders the same image through SPIR-V and back; the
modules on the way are valid for Vulkan 1.2.
"""

from __future__ import annotations

import numpy as np
import pytest
from conversions import FOLDERS, TESTS, expected, render, run_tool, through, undeclared

from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

# Files and whole folders.
NOT_IN_SPIRV = {
    "indirect-and-sized.shader_test": "modules have no work groups of a size given at the call",
    "handles": "modules have no images and samplers that are numbers",
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_same_image(folder: str) -> None:
    modules: list[bytes] = []

    def convert(shader: Shader) -> Shader:
        module = nir_to_spirv(shader)
        assert undeclared(module) == set()
        modules.append(module.to_bytes())
        return spirv_to_nir(read_module(modules[-1]))

    for path in TESTS[folder]:
        verdict, reason, pictures = expected(path)
        if path.name in NOT_IN_SPIRV or folder in NOT_IN_SPIRV:
            continue
        with through(convert):
            got = render(path)
        assert got[:2] == (verdict, reason), path.name
        assert len(got[2]) == len(pictures), path.name
        for ours, theirs in zip(got[2], pictures, strict=True):
            assert np.array_equal(ours, theirs), path.name
    # Some topics have no shaders at all, and those of the preprocessor do not compile.
    shaders = any("shader]" in path.read_text(encoding="utf-8") for path in TESTS[folder])
    assert modules or not shaders or folder in ("preprocessor", *NOT_IN_SPIRV)
    for module in sorted(set(modules)):
        run_tool("spirv-val", "--target-env", "vulkan1.2", "-", data=module)

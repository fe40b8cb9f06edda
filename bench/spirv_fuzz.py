"""Mutated SPIR-V modules: each must be refused with an error or become a valid shader.

    python bench/spirv_fuzz.py --count 20000 module.spv...

Without files, kernels of the tests and bundled shader_tests are the seeds. Words are replaced,
swapped, removed and repeated; ids are exchanged. What is accepted is also validated and
disassembled.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.spirv.disassembler import disassemble
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

INTERESTING = (0, 1, 2, 3, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutate(data: bytes, random_: random.Random) -> bytes:
    """A module a few edits away."""
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]
    for _ in range(random_.choice((1, 1, 1, 2, 3, 8))):
        at = random_.randrange(5, max(len(words), 6))
        at = min(at, len(words) - 1)
        kind = random_.randrange(7)
        if kind == 0:
            words[at] = random_.choice(INTERESTING)
        elif kind == 1:
            words[at] ^= 1 << random_.randrange(32)
        elif kind == 2:
            words[at] = random_.randrange(1, max(words[3], 2))
        elif kind == 3:
            words[at] = words[random_.randrange(5, len(words))]
        elif kind == 4:
            other = random_.randrange(5, len(words))
            words[at], words[other] = words[other], words[at]
        elif kind == 5:
            del words[at : at + random_.randrange(1, 4)]
        else:
            end = min(at + random_.randrange(1, 6), len(words))
            words[at:at] = words[at:end]
    return b"".join(w.to_bytes(4, "little") for w in words)


def attempt(data: bytes) -> str:
    """`refused` or `accepted`; anything but a deliberate error escapes."""
    try:
        module = read_module(data)
        shader = spirv_to_nir(module)
    except GalletteError:
        return "refused"
    try:
        validate(shader)
        disassemble(module)
    except GalletteError as error:
        if "SPIR-V" not in str(error):
            raise AssertionError(f"accepted, but not valid:\n{error}") from error
    finally:
        shader.unref()
    return "accepted"


def seeds() -> list[bytes]:
    """Modules of our own making: kernels, and bundled shader_tests that Vulkan can say."""
    from gallette.commands.spirv import _compile, _module
    from gallette.compiler.spirv.assembler import assemble
    from gallette.piglit_subset.shader_test import parse_file

    root = Path(__file__).parents[1]
    found = []
    for path in sorted((root / "tests" / "kernels").glob("*.spvasm")):
        found.append(assemble(path.read_text(), str(path)).to_bytes())
    suffixes = {"VERTEX": ".vert", "FRAGMENT": ".frag", "COMPUTE": ".comp", "GEOMETRY": ".geom"}
    for path in sorted((root / "piglit_subset" / "spec").rglob("*.shader_test"))[::40]:
        for part in parse_file(path).shaders:
            suffix = suffixes.get(part.stage.removesuffix("_SHADER"))
            if suffix is None or part.form != "glsl":
                continue
            try:
                found.append(_module(_compile(Path(f"a{suffix}"), part.text)).to_bytes())
            except GalletteError:
                continue
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    modules = [path.read_bytes() for path in options.files] or seeds()
    random_ = random.Random(options.seed)
    results: Counter[str] = Counter()
    slowest = 0.0
    start = time.perf_counter()
    for number in range(options.count):
        data = mutate(random_.choice(modules), random_)
        began = time.perf_counter()
        try:
            results[attempt(data)] += 1
        except Exception as error:
            key = f"{type(error).__name__}: {str(error)[:90]}"
            results["crashed"] += 1
            if results[key] == 0:
                print(f"number {number}: {key}")
                traceback.print_exc(limit=-3)
                Path(f"/tmp/spirv_crash_{number}.spv").write_bytes(data)
            results[key] += 1
        slowest = max(slowest, time.perf_counter() - began)
    seconds = time.perf_counter() - start
    print(f"{options.count} modules in {seconds:.0f} s, slowest {slowest:.2f} s: {dict(results)}")
    return int(bool(results["crashed"]))


if __name__ == "__main__":
    sys.exit(main())

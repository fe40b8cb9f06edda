"""Write the files of a new pass, rule set or driver outside of gallette, with a test."""

from __future__ import annotations

import argparse
import keyword
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.compiler.output_files import write_whole
from gallette.terminal import console

KINDS = ("pass", "rule", "driver")
VALUES = {"kinds": KINDS}
_TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "new"


def run(options: argparse.Namespace) -> int:
    name = options.name
    if not name.isidentifier() or keyword.iskeyword(name):
        raise GalletteError(f"gallette new: {name!r} is no Python name")
    files = [options.folder / f"{name}.py", options.folder / f"test_{name}.py"]
    for path in files:
        if path.exists():
            raise GalletteError(f"gallette new: {path} is there already")
    class_name = "".join(part.capitalize() for part in name.split("_"))
    for path, template in zip(files, (options.kind, f"test_{options.kind}"), strict=True):
        text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
        write_whole(path, text.replace("NAME", name).replace("CLASS", class_name), folder=True)
    out = console()
    for path in files:
        out.print(f"wrote {path}", markup=False)
    use = {
        "pass": f"gallette nir-opt shader.nir --load {files[0]} -p {name}",
        "rule": f"gallette nir-opt shader.nir --load {files[0]} -p {name}",
        "driver": f"GALLETTE_LOAD={files[0]} gallette diff gradient --driver {name}",
    }
    out.print(f"try   {use[options.kind]}", markup=False)
    out.print(f"test  python -m pytest {files[1]}", markup=False)
    return 0

"""How a program is started with gallette as its OpenGL: the command and the environment."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.egl import launch


def _is_script(path: str) -> bool:
    """Whether Python runs this file."""
    if path.endswith(".py"):
        return True
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def command_line(program: list[str]) -> list[str]:
    """The command that starts a program; a Python script is started by a launcher, which prepares
    the process.
    """
    name = program[0]
    launcher = [sys.executable, "-P", launch.__file__]  # -P: no modules beside the launcher
    ours = os.path.dirname(name) in ("", os.path.dirname(sys.executable))
    if ours and os.path.basename(name) in ("python", "python3") and len(program) > 1:
        return launcher + program[1:]  # another Python is a program: it has modules of its own
    if name.endswith(".py") and not Path(name).is_file():
        raise GalletteError(f"gallette run: there is no {name}")
    found = name if os.path.sep in name else shutil.which(name)
    if found is None and Path(name).is_file():
        found = name
    if found is None or not Path(found).is_file():
        raise GalletteError(f"gallette run: there is no program {name!r}")
    if _is_script(found):
        return [*launcher, found, *program[1:]]
    if not os.access(found, os.X_OK):
        raise GalletteError(f"gallette run: {found} is neither a program nor a Python script")
    return [*_linker_of(found), found, *program[1:]]


def _linker_of(path: str) -> list[str]:
    """The dynamic linker, to start a program with whose file gives it another user or group: the
    system would keep it from finding gallette's libraries. So started, it runs as the caller.
    """
    about = os.stat(path)
    changes = [about.st_mode & stat.S_ISUID and about.st_uid != os.getuid()]
    changes.append(about.st_mode & stat.S_ISGID and about.st_gid != os.getgid())
    linker = dynamic_linker(path) if any(changes) else None
    return [] if linker is None else [linker]


def dynamic_linker(program: str) -> str | None:
    """The dynamic linker that an ELF program names; None if it names none."""
    try:
        with open(program, "rb") as file:
            head = file.read(64)
            if head[:5] != b"\x7fELF\x02" or len(head) < 64:  # of 64 bits
                return None
            start, size, count = (int.from_bytes(head[a:b], "little") for a, b in _HEADERS)
            file.seek(start)
            table = file.read(size * count)
            for at in range(0, len(table), max(1, size)):
                kind, place, length = (
                    int.from_bytes(table[at + a : at + b], "little") for a, b in _ENTRY
                )
                if kind == 3:  # PT_INTERP
                    file.seek(place)
                    return os.fsdecode(file.read(length).rstrip(b"\0"))
    except (OSError, OverflowError):
        pass
    return None


_HEADERS = ((32, 40), (54, 56), (56, 58))  # of an ELF header: where its table is, size and count
_ENTRY = ((0, 4), (8, 16), (32, 40))  # of that: a kind, where it is in the file, and its length


def prepared(
    program: list[str],
    driver: str | None,
    *,
    frames: int = 0,
    save: str = "",
    size: tuple[int, int] | None = None,
    record: Path | None = None,
) -> tuple[list[str], dict[str, str]]:
    """The command, and its environment."""
    from gallette.egl.install import environment

    if driver is not None and driver.split(":")[0] == "native":
        raise GalletteError(
            "gallette run: 'native' is the machine's own OpenGL; to use that, start the program "
            "without gallette run"
        )
    command = command_line(program)
    variables = dict(os.environ)
    environment(variables, driver, python=os.path.basename(command[0]).startswith("python"))
    if frames or save:
        variables["GALLETTE_FRAMES"] = os.path.abspath(save) if save else os.devnull
    if frames:
        variables["GALLETTE_FRAME_LIMIT"] = str(frames)
    if size is not None:
        variables["GALLETTE_SIZE"] = f"{size[0]}x{size[1]}"
    if record is not None:
        variables["GALLETTE_CAPTURE"] = os.path.abspath(record)
    return command, variables

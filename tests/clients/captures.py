"""Records captures of other people's programs, for `gallette bench --captures`.

    python -m tests.clients.captures -o build/captures

Those are the clients of `test_clients.py` whose packages are installed, and the programs of
`debian.txt` that are. The captures contain shaders and textures of these programs; therefore they
are recorded where they are measured, and not kept in the repository.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.clients import debian
from tests.clients.test_clients import CLIENTS, PROGRAMS, Client

SECONDS = 120


def record(client: Client, to: Path) -> str:
    """Record a client; returns what `gallette trace` says."""
    script = str(PROGRAMS / f"{client.name}.py")
    command = [sys.executable, "-m", "gallette", "trace", "--driver", "jit", "-o", str(to)]
    with tempfile.TemporaryDirectory() as folder:
        picture = str(Path(folder) / "picture.png")
        command += ["--timeout", str(SECONDS), "--", script, picture, *client.arguments]
        done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout.strip() or done.stderr.strip()).splitlines()[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    folder: Path = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    for client in CLIENTS:
        if all(importlib.util.find_spec(package) for package in client.packages):
            name = "-".join((client.name, *client.arguments))
            print(record(client, folder / f"{name}.gcap"), flush=True)
    debian.main(["--captures", str(folder)])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

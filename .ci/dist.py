"""Builds the source archive, the wheel and the list of their dependencies (CycloneDX).

    python .ci/dist.py dist          # or `make dist`; wants setuptools and packaging

Equal sources give equal bytes on every machine: times are SOURCE_DATE_EPOCH (by
default the last commit's), owners and permissions are left out. The wheel is built from the
unpacked source archive, as others would. Names and versions in the list are those of the packages
in this environment, which in continuous integration are those of `.ci/constraints.txt`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])('out'))"
EXTRAS = ("jit", "cluster")  # what users install beside gallette
OLDEST = 315532800  # 1980: a zip archive knows no earlier time


def epoch() -> int:
    """The time that everything is said to be of."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        told = subprocess.run(
            ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True
        )
        given = told.stdout.strip() if told.returncode == 0 else ""
    return max(int(given or OLDEST), OLDEST)


def sources() -> Iterator[str]:
    """The files of the checkout; without git, all but what Python leaves lying about."""
    told = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
    )
    if told.returncode == 0:
        yield from filter(None, told.stdout.decode().split("\0"))
        return
    for path in sorted(ROOT.rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if (path.is_file() or path.is_symlink()) and not name.startswith((".", "build", "dist")):
            if "__pycache__" not in name and ".egg-info" not in name:
                yield name


def copy_sources(place: Path) -> None:
    """The sources with permissions of their own: what setuptools packs has those of the files."""
    for name in sources():
        source, target = ROOT / name, place / name
        if source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(os.readlink(source))
        elif source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    plain(place)


def plain(place: Path) -> None:
    """Permissions that no umask has a say in."""
    for path in (place, *place.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)


def built(what: str, tree: Path, time: int) -> Path:
    """What setuptools makes of a tree."""
    env = {**os.environ, "SOURCE_DATE_EPOCH": str(time), "PYTHONHASHSEED": "0", "TZ": "UTC"}
    done = subprocess.run(
        [sys.executable, "-c", BUILD, what], cwd=tree, env=env, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return tree / "out" / done.stdout.split()[-1]


def repacked(archive: Path, time: int) -> bytes:
    """A source archive without the time, the owner and the order of its making."""
    out = io.BytesIO()
    with (
        tarfile.open(archive) as packed,
        gzip.GzipFile("", "wb", fileobj=out, mtime=time) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as again,
    ):
        for member in sorted(packed.getmembers(), key=lambda m: m.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() else 0o644
            member.pax_headers = {}
            again.addfile(member, packed.extractfile(member) if member.isfile() else None)
    return out.getvalue()


# -- what it needs ---------------------------------------------------------------------------------


def needed(names: list[str]) -> dict[str, tuple[Distribution, list[str]]]:
    """The installed packages of these names and all they need, with what each needs."""
    found: dict[str, tuple[Distribution, list[str]]] = {}
    while names:
        name = canonicalize_name(names.pop())
        if name in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            raise SystemExit(f"{name} is not installed here: make .venv/.ready") from None
        wanted = sorted(wants(package, ""))
        found[name] = (package, wanted)
        names += wanted
    return found


def wants(package: Distribution, extra: str) -> set[str]:
    """The packages that one needs here, for itself or for an extra."""
    wanted = set()
    for line in package.requires or ():
        need = Requirement(line)
        always = need.marker is None or need.marker.evaluate({"extra": ""})
        if need.marker is None or need.marker.evaluate({"extra": extra}):
            if always != bool(extra):
                wanted.add(canonicalize_name(need.name))
    return wanted


def component(name: str, package: Distribution, scope: str) -> dict[str, Any]:
    version = package.version
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"{name}@{version}",
        "name": name,
        "version": version,
        "scope": scope,
        "purl": f"pkg:pypi/{name}@{version}",
    }
    license = package.metadata.get("License-Expression")
    if license:
        found["licenses"] = [{"expression": license}]
    return found


def bill(files: dict[str, bytes], time: int) -> dict[str, Any]:
    """The list, in CycloneDX's JSON."""
    own = distribution("gallette")
    direct = wants(own, "")
    required = needed(sorted(direct))
    every = needed(sorted(direct.union(*(wants(own, extra) for extra in EXTRAS))))
    parts = [
        component(name, package, "required" if name in required else "optional")
        for name, (package, _) in sorted(every.items())
    ]
    refs = {part["name"]: part["bom-ref"] for part in parts}
    root = f"gallette@{own.version}"
    edges = {root: sorted(direct)} | {refs[n]: w for n, (_, w) in sorted(every.items())}
    packed = [
        {
            "type": "file",
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}],
        }
        for name, data in sorted(files.items())
    ]
    stamp = datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([packed, parts]))}",
        "version": 1,
        "metadata": {
            "timestamp": stamp,
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": "gallette",
                "version": own.version,
                "purl": f"pkg:pypi/{root}",
                "licenses": [{"license": {"id": "MIT"}}],
                "components": packed,
            },
        },
        "components": parts,
        "dependencies": [
            {"ref": ref, "dependsOn": [refs[n] for n in wanted]} for ref, wanted in edges.items()
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    os.umask(0o022)  # setuptools writes files of its own, too
    time = epoch()
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        copy_sources(tree)
        archive = built("build_sdist", tree, time)
        files[archive.name] = repacked(archive, time)
        with tarfile.open(fileobj=io.BytesIO(files[archive.name])) as packed:
            packed.extractall(scratch)  # the archive that was made above
        unpacked = Path(scratch) / archive.name.removesuffix(".tar.gz")
        plain(unpacked)
        wheel = built("build_wheel", unpacked, time)
        files[wheel.name] = wheel.read_bytes()
    made = json.dumps(bill(files, time), indent=1) + "\n"
    files[archive.name.removesuffix(".tar.gz") + ".cdx.json"] = made.encode()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (options.folder / name).write_bytes(data)
        print(f"{hashlib.sha256(data).hexdigest()}  {options.folder / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

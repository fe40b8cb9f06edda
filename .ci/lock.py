"""The versions that continuous integration installs, from pip's report of a dry run.

make lock        # resolves everything anew and writes .ci/constraints.txt
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HEAD = """\
# What continuous integration installs, to the version. `make lock` resolves it anew.
"""


def constraints(report: Path) -> str:
    """One line for each package but gallette itself."""
    found = {}
    for item in json.loads(report.read_text())["install"]:
        name = item["metadata"]["name"].lower().replace("_", "-").replace(".", "-")
        found[name] = item["metadata"]["version"]
    del found["gallette"]
    return HEAD + "".join(f"{name}=={version}\n" for name, version in sorted(found.items()))


if __name__ == "__main__":
    sys.stdout.write(constraints(Path(sys.argv[1])))

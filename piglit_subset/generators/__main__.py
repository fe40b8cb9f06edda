"""Write every generated test into `piglit_subset/spec`, and remove those no longer generated."""

from __future__ import annotations

from gallette.piglit_subset.generators.common import MARK, all_tests
from gallette.piglit_subset.suite import BUNDLED


def main() -> None:
    wanted = {BUNDLED / test.place: test.text for test in all_tests()}
    for path in BUNDLED.rglob("*.shader_test"):
        if path not in wanted and MARK in path.read_text(encoding="utf-8"):
            path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    print(f"{len(wanted)} tests in {BUNDLED}")


if __name__ == "__main__":
    main()

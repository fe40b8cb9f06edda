"""WebGL's conformance tests in Chromium, on gallette and on native GL: do the verdicts agree?

    npm install gl-conformance esbuild path-browserify buffer process
    python -m bench.webgl node_modules -o reports/webgl
    python -m bench.webgl node_modules -o reports/webgl --driver jit --match ogles_

npm's package `gl-conformance` is Khronos's suite for WebGL 1, made to run without its own pages;
Playwright (`pip install gallette[browser]`) steers the browser. Each case runs in a page that lives
for forty of them; what a case says is written down at once, so that a run can be resumed. In the
end every case is named that passes less on gallette than on native GL, and the slowest ones.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NATIVE = {
    "EGL_PLATFORM": "surfaceless",
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "GALLIUM_DRIVER": "llvmpipe",
}
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--in-process-gpu",
    "--use-gl=angle",
    "--use-angle=gl-egl",
    "--ignore-gpu-blocklist",
    "--allow-file-access-from-files",
    "--disable-gpu-watchdog",
)
PAGE_LASTS = 40
"""Cases in one page: contexts that are not collected add up."""


def bundle(modules: Path, folder: Path) -> Path:
    """A page with all cases in it."""
    shim = folder / "shim.js"
    shim.write_text(
        'export { Buffer } from "buffer/";\nexport { default as process } from "process/browser";\n'
    )
    source = folder / "page.js"
    shutil.copy(HERE / "page.js", source)
    esbuild = modules / ".bin/esbuild"
    subprocess.run(
        [str(esbuild), str(source), "--bundle", f"--outfile={folder / 'bundle.js'}",
         "--log-level=error", "--alias:path=path-browserify", f"--inject:{shim}",
         "--define:global=window"],
        check=True, env=os.environ | {"NODE_PATH": str(modules)},
    )  # fmt: skip
    page = folder / "index.html"
    page.write_text("<!doctype html><body><script src=bundle.js></script></body>")
    return page


@contextmanager
def browser(driver: str, log: Path) -> Iterator[str]:
    """Chromium on a driver; where it can be steered."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("EGL", "__EGL", "LD_LIB"))}
    if driver == "native":
        command, env = ["chromium"], env | NATIVE
    else:
        command = [sys.executable, "-m", "gallette", "run", "--driver", driver, "chromium"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, log.open("a") as text:
        extra = (f"--remote-debugging-port={port}", f"--user-data-dir={profile}", "about:blank")
        process = subprocess.Popen(
            [*command, *FLAGS, *extra], env=env, stdout=text, stderr=text, start_new_session=True
        )
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def connected(playwright: Any, url: str) -> Any:
    """The browser, once it answers."""
    for _ in range(240):
        try:
            return playwright.chromium.connect_over_cdp(url)
        except Exception:  # not there yet: Playwright has no class of its own for it
            time.sleep(0.25)
    raise SystemExit(f"no browser answers at {url}")


def fresh_page(found: Any, page: Path) -> Any:
    made = (found.contexts[0] if found.contexts else found).new_page()
    made.set_default_timeout(180_000)
    made.goto(page.resolve().as_uri())
    made.wait_for_function("window.caseNames")
    return made


def run(playwright: Any, driver: str, page: Path, results: Path, match: str, limit: float) -> None:
    """All cases that are not done yet; the browser is started anew where one brought it down."""
    left: list[str] | None = None
    while left is None or left:
        log = results.with_suffix(".log")
        with browser(driver, log) as url:
            found = connected(playwright, url)
            tab = fresh_page(found, page)
            if left is None:
                done = read(results)
                names: list[str] = tab.evaluate("caseNames")
                left = [name for name in names if match in name and name not in done]
            for count in range(1, len(left) + 1):
                name = left.pop(0)
                start = time.monotonic()
                try:
                    told = tab.evaluate("([n, l]) => runCase(n, l)", [name, limit * 1000])
                except Exception as error:
                    told = {"name": name, "passed": 0, "failed": [str(error)[:300]], "how": "died"}
                told["seconds"] = round(time.monotonic() - start, 2)
                with results.open("a") as file:
                    file.write(json.dumps(told) + "\n")
                print(f"\r{driver}: {len(left)} left ", end="", file=sys.stderr, flush=True)
                if told["how"] in ("died", "timeout"):
                    break
                if count % PAGE_LASTS == 0:
                    tab.close()
                    tab = fresh_page(found, page)
    print(file=sys.stderr)


def read(results: Path) -> dict[str, dict[str, Any]]:
    """What is known, by case."""
    if not results.exists():
        return {}
    rows = (json.loads(line) for line in results.read_text().splitlines())
    return {row["name"]: row for row in rows}


def compare(ours: dict[str, dict[str, Any]], native: dict[str, dict[str, Any]]) -> int:
    """Print what is worse here; how many cases."""
    worse = 0
    both = [name for name in ours if name in native]
    for name in both:
        here, there = ours[name], native[name]
        new = [text for text in here["failed"] if text not in there["failed"]]
        if len(here["failed"]) > len(there["failed"]) or here["passed"] < there["passed"]:
            worse += 1
            print(f"{name}: {len(here['failed'])} failed, {len(there['failed'])} natively")
            print("".join(f"    {text}\n" for text in new[:3]), end="")
    clean = sum(not ours[name]["failed"] for name in both)
    clean_there = sum(not native[name]["failed"] for name in both)
    print(f"{len(both)} cases: {clean} without a failure, {clean_there} natively; {worse} worse")
    slowest = sorted(both, key=lambda name: -ours[name]["seconds"])[:5]
    print("slowest: " + ", ".join(f"{name} {ours[name]['seconds']} s" for name in slowest))
    return worse


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.webgl",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("modules", type=Path, help="the folder node_modules")
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/webgl"))
    parser.add_argument("--driver", default="numpipe", help="of gallette (numpipe)")
    parser.add_argument("--match", default="", help="only cases whose names have this in them")
    parser.add_argument("--limit", type=float, default=120, help="seconds per case (120)")
    asked = parser.parse_args()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise SystemExit("needs Playwright: pip install 'gallette[browser]'") from None
    if not (asked.modules / "gl-conformance").is_dir():
        raise SystemExit(f"{asked.modules} has no gl-conformance: see --help for what to install")
    if shutil.which("chromium") is None:
        raise SystemExit("needs chromium (Debian's package, or another that has this name)")
    asked.output.mkdir(parents=True, exist_ok=True)
    page = bundle(asked.modules.resolve(), asked.output.resolve())
    files = {d: asked.output / f"{d.replace(':', '_')}.jsonl" for d in ("native", asked.driver)}
    with sync_playwright() as playwright:
        for driver, results in files.items():
            run(playwright, driver, page, results, asked.match, asked.limit)
    wanted = {k: v for k, v in read(files[asked.driver]).items() if asked.match in k}
    return int(compare(wanted, read(files["native"])) > 0)


if __name__ == "__main__":
    sys.exit(main())

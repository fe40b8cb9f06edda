"""How long the explorer takes to show a changed shader: compiled with every pass recorded, drawn
at 256 x 256, the answer as the page gets it.

    python bench/explorer_time.py [--times 9]

Processor time of one question, the median; the promise is less than half a second.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

from gallette.inspector.examples import FRAGMENT, VERTEX
from gallette.inspector.explorer import Explorer
from gallette.inspector.forms import FORMS

# The shader the explorer opens with, and one that bounces a ray among balls.
MARCH = """#version 330
in vec2 uv;
uniform float time;
out vec4 color;
float scene(vec3 p) {
    float d = p.y + 1.0;
    for (int i = 0; i < 4; i++)
        d = min(d, length(p - vec3(float(i) - 1.5, sin(time + float(i)) * 0.5, 3.0)) - 0.5);
    return d;
}
void main() {
    vec3 ray = normalize(vec3(uv * 2.0 - 1.0, 1.5)), at = vec3(0.0);
    for (int i = 0; i < 24; i++)
        at += ray * scene(at);
    color = vec4(vec3(1.0 / (1.0 + at.z * at.z * 0.05)), 1.0);
}
"""


def median(explorer: Explorer, fragment: str, times: int, forms: list[str]) -> float:
    """Seconds of processor time; each time the shader is another one."""
    spent = []
    for i in range(times):
        changed = fragment.replace("void main() {", f"void main() {{ float changed = {i}.5;", 1)
        start = time.process_time()
        answer = explorer.ask("explore", {"vertex": VERTEX, "fragment": changed, "forms": forms})
        json.dumps(answer)
        explorer.picture(answer["picture"])
        spent.append(time.process_time() - start)
        assert answer["picture"] and not answer["log"], answer
    return statistics.median(spent)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=9)
    options = parser.parse_args()
    slow = 0
    for driver in ("numpipe", "jit"):
        explorer = Explorer(driver=driver)
        for name, fragment in (("waves", FRAGMENT), ("balls, marched", MARCH)):
            for forms in ([], list(FORMS)):
                seconds = median(explorer, fragment, options.times, forms)
                slow += seconds >= 0.5
                panes = f"{len(forms)} panes of code" if forms else "passes only"
                print(f"{driver:<8} {name:<16} {panes:<16} {seconds:.3f} s")
        explorer.close()
    return bool(slow)


if __name__ == "__main__":
    raise SystemExit(main())

"""Control flow that is nested more deeply than Python accepts: drawn all the same."""

from __future__ import annotations

import pytest

from gallette.drivers.numpipe.shader import deep_code


def run(body: str, **given: int) -> int:
    """What a text gives that is nested as deeply as it likes."""
    names = ", ".join(given)
    text = f"def run({names}):\n{body}    return x\n"
    made: dict[str, object] = {}
    exec(deep_code.compile_text(text, "<test>"), made)
    result = made["run"](**given)  # type: ignore[operator]
    assert isinstance(result, int)
    return result


def line(level: int, text: str) -> str:
    return "    " * (level + 1) + text + "\n"


@pytest.mark.parametrize("levels", [3, 63, 64, 65, 200, 700])
def test_ifs(levels: int) -> None:
    body = "".join(line(n, f"if x > {n}:") + line(n + 1, "x += 2") for n in range(levels))
    body += "".join(line(n, "else:") + line(n + 1, "x += 1000") for n in reversed(range(levels)))
    assert run(body, x=1) == 1 + 2 * levels
    assert run(body, x=0) == 1000


@pytest.mark.parametrize("loops", [3, 16, 17, 18, 33, 90])
def test_loops(loops: int) -> None:
    """Each runs twice what is in it, the innermost one adds; variables are of all of them."""
    body = line(0, "x = 0")
    for n in range(loops):
        body += line(n, f"i{n} = 0")
        body += line(n, "while True:")
        body += line(n + 1, f"if i{n} == {2 if n < 3 else 1}:")
        body += line(n + 2, "break")
        body += line(n + 1, f"i{n} += 1")
    body += line(loops, "x += 1 + i0")
    assert run(body) == sum(1 + i for i in (1, 2)) * 4


def test_values_of_a_deep_loop_are_available_after_it() -> None:
    body = ""
    for n in range(20):
        body += line(n, "while True:")
    body += line(20, "made = y + 1")
    for n in reversed(range(20)):
        body += line(n + 1, "break")
    assert run(f"{body}    x = made\n", y=4) == 5


def test_lines_keep_their_numbers() -> None:
    body = "".join(line(n, "if x:") for n in range(150)) + line(150, "x = x / 0")
    text = f"def run(x):\n{body}    return x\n"
    made: dict[str, object] = {}
    exec(deep_code.compile_text(text, "<test>"), made)
    with pytest.raises(ZeroDivisionError) as found:
        made["run"](1)  # type: ignore[operator]
    assert found.traceback[-1].lineno + 1 == 152

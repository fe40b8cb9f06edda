"""Commands print what they printed."""

from __future__ import annotations

import pytest

from tests.tools.sessions import FOLDER, commands, run, sessions


@pytest.mark.parametrize("name", sessions())
def test_commands_print_what_is_written_down(name: str) -> None:
    """After an intended change, `python -m tests.tools.sessions` writes them; read the diff."""
    written = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert list(run(commands(name))) == written


def test_there_are_sessions() -> None:
    assert sum(len(commands(name)) for name in sessions()) >= 50

"""Adds to pyproject.toml what depends on the repository's address: its URLs, and the links of the
package's description, which is README.md.

The address is GALLETTE_ADDRESS, or the clone's `origin` if that is a public host. An unpacked
source archive has no clone; its PKG-INFO has kept the address. A build of neither has no address.
"""

import email
import os
import pathlib
import re
import subprocess

from setuptools import setup

ROOT = pathlib.Path(__file__).parent
REMOTE = re.compile(
    r"(?:https://|ssh://git@|git@)(?:[^@/]*@)?([\w.-]+\.\w+)[:/]([\w./-]+?)(?:\.git)?/?"
)
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)")


def address() -> str | None:
    """The https address of the repository, if it is known."""
    if given := os.environ.get("GALLETTE_ADDRESS"):
        return given.rstrip("/")
    if (archive := ROOT / "PKG-INFO").exists():
        urls = email.message_from_string(archive.read_text()).get_all("Project-URL", [])
        return next((url.partition(", ")[2] for url in urls if url.startswith("Repository")), None)
    if not (ROOT / ".git").exists():
        return None  # git would answer for a repository around this folder
    try:
        command = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
        return public(subprocess.run(command, capture_output=True, text=True).stdout.strip())
    except OSError:  # no git on this machine
        return None


def public(remote: str) -> str | None:
    """The page of a remote that git reaches by https or ssh; none of a folder."""
    host = REMOTE.fullmatch(remote)
    return f"https://{host[1]}/{host[2]}" if host else None


def urls(repository: str) -> dict[str, str]:
    """What the page of a package links to; GitHub, GitLab and Gitea share these paths."""
    return {
        "Repository": repository,
        "Documentation": f"{repository}/tree/main/docs",
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }


def description(readme: str, repository: str | None) -> str:
    """README.md for a page elsewhere: with absolute links, or without links into the repository."""

    def absolute(match: re.Match[str]) -> str:
        picture, text, path = match.groups()
        if repository is None:
            return "" if picture else text
        return f"{picture}[{text}]({repository}/{'raw' if picture else 'blob'}/main/{path})"

    return LINK.sub(absolute, readme)


if __name__ == "__main__":
    where = address()
    setup(
        project_urls=urls(where) if where else {},
        long_description=description((ROOT / "README.md").read_text(encoding="utf-8"), where),
        long_description_content_type="text/markdown",
    )

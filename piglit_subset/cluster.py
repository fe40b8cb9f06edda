"""Work on many machines: each item is a task of a dask.distributed cluster.

    with Cluster("tcp://10.0.0.1:8786") as cluster:         # or "local:2": worker processes here
        for item, result in cluster.run(function, items, cost):
            ...

The function, items and results are sent, so they must pickle. Expensive items run first, so that no
worker ends with one. The scheduler gives the task of a worker that dies to another; a task that
fails, or kills several workers, is returned as an exception.

dask.distributed is an extra (`pip install gallette[cluster]`).
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from gallette.compiler.errors import InputError

if TYPE_CHECKING:
    from types import TracebackType

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE = 5.0
"""Seconds to wait for a scheduler."""


class Cluster:
    """A connection to a scheduler, or to workers that this process starts."""

    def __init__(self, address: str) -> None:
        distributed = _distributed()
        self._own: Any = None
        kind, _, count = address.partition(":")
        if kind == "local":
            if count and not (count.isdigit() and int(count)):
                raise InputError(f"--cluster {address}: local:N wants a number of workers")
            security = _credentials(distributed)
            self._own = _started(distributed, int(count or 2), security)
            address = self._own.scheduler_address
        else:
            security = None  # dask's own configuration applies
        self.address: str = address
        try:
            self._client: Any = distributed.Client(address, timeout=PATIENCE, security=security)
        except (OSError, ValueError) as error:
            raise InputError(f"--cluster {address}: no scheduler answers: {error}") from None
        self._check()

    def _check(self) -> None:
        """Refuse workers with another version of gallette, whose results would not be
        comparable.
        """
        self._client.wait_for_workers(1, timeout=30)
        ours = _version()
        for worker, theirs in self._client.run(_version).items():
            if theirs != ours:
                self.close()
                raise InputError(f"--cluster: {worker} has gallette {theirs}, this is {ours}")

    def run(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        cost: Callable[[Item], float],
    ) -> Iterator[tuple[Item, Result | BaseException]]:
        """Every item with its result, as results arrive."""
        sent: dict[Any, Item] = {}
        for item in sorted(items, key=cost, reverse=True):
            sent[self._client.submit(function, item, priority=cost(item), pure=False)] = item
        try:
            for future in _distributed().as_completed(list(sent)):
                error = future.exception()
                yield sent.pop(future), error or future.result()
                future.release()
        finally:
            for future in sent:
                future.cancel()

    def close(self) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            self._client.close()
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise InputError(
            "--cluster needs dask.distributed: pip install 'gallette[cluster]'"
        ) from None


def _credentials(distributed: Any) -> Any:
    """Keys that only this process and its workers have.

    A scheduler runs any code it is sent, and every user of the machine can connect to its port.
    """
    try:
        return distributed.Security.temporary()
    except ImportError:
        raise InputError(
            "--cluster local:N needs cryptography, to keep other users of this machine out: "
            "pip install 'gallette[cluster]'"
        ) from None


def _started(distributed: Any, workers: int, security: Any) -> Any:
    """Start workers on this machine, without importing modules from the working directory and
    without HTTP servers.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    dask = importlib.import_module("dask")
    quiet: dict[str, list[str]] = {
        f"distributed.{part}.http.routes": [] for part in ("scheduler", "worker")
    }
    with dask.config.set(quiet):
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="tls://127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
            security=security,
        )


def _version() -> str:
    """The version of the package and its files, which must be equal on all machines."""
    import hashlib
    from pathlib import Path

    import gallette

    root = Path(gallette.__file__).resolve().parent
    found = hashlib.blake2b(digest_size=6)
    for path in sorted(root.rglob("*.py")):
        found.update(f"{path.relative_to(root)}:".encode() + path.read_bytes())
    return f"{gallette.__version__} ({found.hexdigest()})"

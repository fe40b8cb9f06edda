"""Work on many machines: batches of it on the workers of a dask.distributed cluster.

    with Cluster("tcp://10.0.0.1:8786") as cluster:         # or "local:2": worker processes here
        for item, result in cluster.run(function, items, cost):
            ...

`function` takes a list of items and returns as many results; the function, items and results are
sent, so they must pickle. Items are sent in batches of about equal cost, expensive ones first and
smaller batches towards the end, so that no worker ends with a large one. A batch whose worker dies
is retried once, item by item; an item that then fails is returned as an exception.

dask.distributed is an extra (`pip install gallette[cluster]`).
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gallette.compiler.errors import InputError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Cluster", "batches"]

Item = TypeVar("Item")
Result = TypeVar("Result")

LONGEST_BATCH, SHORTEST_BATCH = 15.0, 0.5
"""Seconds of a batch: short enough for progress, long enough to be worth sending."""

ROUNDS = 3
"""A batch is this part of each worker's share of the remaining work."""


def batches(items: Sequence[Item], cost: Callable[[Item], float], workers: int) -> list[list[Item]]:
    """The items, expensive ones first, in batches that get smaller towards the end."""
    priced = sorted(((cost(item), n) for n, item in enumerate(items)), key=lambda p: (-p[0], p[1]))
    left = sum(price for price, _ in priced)
    made: list[list[Item]] = []
    room = 0.0
    for price, number in priced:
        if not made or price > room:
            share = left / (ROUNDS * max(1, workers))
            room = min(LONGEST_BATCH, max(SHORTEST_BATCH, share))
            made.append([])
        made[-1].append(items[number])
        room -= price
        left -= price
    return made


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

    @property
    def workers(self) -> int:
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def run(
        self,
        function: Callable[[list[Item]], list[Result]],
        items: Sequence[Item],
        cost: Callable[[Item], float],
    ) -> Iterator[tuple[Item, Result | BaseException]]:
        """Every item with its result, as results arrive."""
        sent: dict[Any, tuple[list[Item], bool]] = {}

        def send(batch: list[Item], again: bool) -> Any:
            future = self._client.submit(_apply, function, batch, pure=False)
            sent[future] = (batch, again)
            return future

        waiting = _distributed().as_completed(
            [send(batch, False) for batch in batches(items, cost, self.workers)]
        )
        try:
            for future in waiting:
                batch, again = sent.pop(future)
                error = future.exception()
                if error is None:
                    yield from zip(batch, future.result(), strict=True)
                elif again:
                    yield from ((item, error) for item in batch)
                else:
                    for item in batch:
                        waiting.add(send([item], True))
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


def _apply(function: Callable[[list[Item]], list[Result]], batch: list[Item]) -> list[Result]:
    return function(batch)

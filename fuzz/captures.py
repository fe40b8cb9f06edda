"""Damaged and hostile captures: opening and replaying one gives a result or a `GalletteError`.

    python -m fuzz captures --count 5000 --driver jit
    python -m fuzz captures --first 1234 --show --save bad/      # keep that mutant

Small programs are recorded when a run begins (`capture_programs`). A mutant is one of their files
with bytes changed or cut off, or, mostly, one written anew from changed records: fields, lengths,
addresses, resources, calls that are gone, repeated, moved, of another function. Client memory lies
before pages that cannot be touched.
"""

from __future__ import annotations

import argparse
import copy
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.capture_programs import record_all
from fuzz.damage import NUMBERS, ODD, change_somewhere, damaged, other
from fuzz.guard import fenced
from fuzz.harness import Fuzzer, silenced
from gallette.capture import memory, open_capture, replay
from gallette.capture.container import CaptureReader, CaptureWriter, content_hash
from gallette.capture.snapshot import take_snapshots
from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.functions import FUNCTIONS


@dataclass
class Seed:
    """A capture, taken apart."""

    whole: bytes
    header: dict[str, Any]
    records: list[list[Any]]
    blobs: dict[str, bytes] = field(default_factory=dict)


def read_seed(path: Path) -> Seed:
    reader = CaptureReader(path)
    found = Seed(path.read_bytes(), reader.header, list(reader.records()))
    for name in list(reader._places):
        found.blobs[name] = reader.blob(name)
    reader.close()
    return found


def seeds() -> list[Seed]:
    """Captures of the programs."""
    with tempfile.TemporaryDirectory() as folder:
        return [read_seed(path) for path in record_all(Path(folder))]


# -- mutations -------------------------------------------------------------------------------------


class Mutation:
    """Changes of one seed's records."""

    def __init__(self, seed: Seed, others: list[Seed], random_: random.Random):
        self.records = copy.deepcopy(seed.records)
        self.blobs = dict(seed.blobs)
        self.extra: list[bytes] = []
        self._others, self._random = others, random_

    def change(self) -> None:
        kinds: list[Callable[[], None]] = [
            self._argument, self._argument, self._argument, self._pointer, self._pointer,
            self._event, self._results, self._order, self._function, self._foreign, self._blob,
        ]  # fmt: skip
        if self.records:
            self._random.choice(kinds)()

    def _calls(self) -> list[list[Any]]:
        return [r for r in self.records if not r[0].startswith("@") and len(r) > 1 and r[1]]

    def _argument(self) -> None:
        calls = self._calls()
        if not calls:
            return
        args = self._random.choice(calls)[1]
        at = self._random.randrange(len(args))
        if self._random.random() < 0.2:
            beside = self._random.randrange(len(args))
            args[at], args[beside] = args[beside], args[at]
        elif isinstance(args[at], list) and args[at] and self._random.random() < 0.7:
            inner = self._random.randrange(len(args[at]))
            args[at][inner] = other(args[at][inner], self._random)
        else:
            args[at] = other(args[at], self._random)

    def _addresses(self) -> list[int]:
        found = [a for r in self._calls() if len(r) > 2 for a, _ in r[2].get("m", ())]
        for record in self._calls():
            found += [v["@"] for v in record[1] if isinstance(v, dict) and type(v.get("@")) is int]
        return found or [0]

    def _pointer(self) -> None:
        choose = self._random
        places = [
            (r[1], i)
            for r in self._calls()
            for i, v in enumerate(r[1])
            if isinstance(v, dict | list) or (v is None and choose.random() < 0.3)
        ]
        if not places:
            return
        args, at = choose.choice(places)
        address = choose.choice(self._addresses()) + choose.choice((0, 0, 1, -8, 64, -65536, 4096))
        value = args[at]
        args[at] = choose.choice(
            (
                {"@": address},
                {"@": choose.choice(NUMBERS)},
                {"b": choose.choice(list(self.blobs))} if self.blobs else None,
                None,
                value[: len(value) // 2] if isinstance(value, list) else [0, 0],
                value * 2 if isinstance(value, list) else [choose.choice(NUMBERS)],
                [address] * 2,
            )
        )

    def _event(self) -> None:
        events = [r for r in self.records if r[0].startswith("@")]
        if not events:
            return
        record = self._random.choice(events)
        if self._random.random() < 0.2 or len(record) < 2:
            record[:] = ["@" + self._random.choice(("map", "write", "release", "odd")), 1, 0, 0]
            return
        inner = record[1:]
        change_somewhere(inner, self._random)
        record[1:] = inner

    def _results(self) -> None:
        choose = self._random
        calls = self._calls()
        if not calls:
            return
        record = choose.choice(calls)
        if len(record) < 3:
            record.append({})
        more = record[2]
        key = choose.choice((*more, "r", "o", "w", "m"))
        value: Any = choose.choice((*NUMBERS, *ODD))
        if key == "m":
            blob = choose.choice([*self.blobs, "00"])
            value = [[choose.choice(self._addresses()) + choose.choice((0, 64, -9, 1 << 45)), blob]]
        elif key == "o":
            value = [choose.choice(NUMBERS) for _ in range(choose.randrange(4))]
        elif key == "w":
            value = choose.choice([*self.blobs, "", "zz"])
        more[key] = value

    def _order(self) -> None:
        choose, records = self._random, self.records
        at, other = choose.randrange(len(records)), choose.randrange(len(records))
        kind = choose.randrange(4)
        if kind == 0:
            records[at], records[other] = records[other], records[at]
        elif kind == 1:
            del records[at : at + choose.choice((1, 1, 2, 5))]
        elif kind == 2:
            part = records[at : at + choose.choice((1, 2, 8))]
            records[other:other] = copy.deepcopy(part * choose.choice((1, 2, 20)))
        else:
            records.insert(other, records.pop(at))

    def _function(self) -> None:
        """These arguments for another function, or invented arguments for any function."""
        choose = self._random
        calls = self._calls()
        if not calls:
            return
        record = choose.choice(calls)
        if choose.random() < 0.5:
            alike = [n for n, f in FUNCTIONS.items() if len(f.params) == len(record[1])]
            record[0] = choose.choice(alike)
            return
        name = choose.choice(list(FUNCTIONS))
        args: list[Any] = []
        for param in FUNCTIONS[name].params:
            if param.kind.is_output:
                args.append(choose.choice((None, {"@": choose.choice(NUMBERS[:20])})))
            elif param.stars:
                blob = {"b": choose.choice(list(self.blobs))} if self.blobs else None
                args.append(choose.choice((blob, [1, 0, 2], {"@": choose.choice(NUMBERS[:20])})))
            else:
                args.append(choose.choice(NUMBERS[:26]))
        self.records.insert(choose.randrange(len(self.records)), [name, args])

    def _foreign(self) -> None:
        """A few records of another program."""
        foreign = self._random.choice(self._others)
        at = self._random.randrange(len(foreign.records))
        part = copy.deepcopy(foreign.records[at : at + self._random.choice((1, 1, 3, 10))])
        place = self._random.randrange(len(self.records) + 1)
        self.records[place:place] = part
        self.blobs.update(foreign.blobs)

    def _blob(self) -> None:
        """Other bytes, under the name that they then have."""
        if not self.blobs:
            return
        choose = self._random
        name = choose.choice(list(self.blobs))
        data = bytearray(self.blobs[name])
        kind = choose.randrange(3)
        if kind == 0:
            del data[choose.randrange(len(data) + 1) :]
        elif kind == 1:
            data += bytes(choose.choice((1, 16, 4096)))
        elif data:
            data[choose.randrange(len(data))] = choose.randrange(256)
        self.extra.append(bytes(data))
        self._rename(self.records, name, content_hash(bytes(data)))

    def _rename(self, holder: Any, before: str, after: str) -> None:
        items = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, value in list(items):
            if value == before:
                holder[key] = after
            elif isinstance(value, list | dict):
                self._rename(value, before, after)

    def write(self, seed: Seed, path: Path) -> None:
        writer = CaptureWriter(path, seed.header)
        for data in (*self.blobs.values(), *self.extra):
            writer.blob(data)
        for record in self.records:
            writer.record(record)
        writer.close()


def write_mutant(found: list[Seed], number: int, path: Path) -> None:
    """The file of a case."""
    random_ = random.Random(number)
    chosen = found[number % len(found)]
    if random_.random() < 0.15:
        path.write_bytes(damaged(chosen.whole, random_))
        return
    mutation = Mutation(chosen, found, random_)
    for _ in range(random_.choice((1, 1, 1, 2, 3, 8))):
        mutation.change()
    mutation.write(chosen, path)


# -- replaying -------------------------------------------------------------------------------------


def _zeros(size: int) -> Any:
    """Client memory that ends where a page begins that cannot be touched."""
    area, start = fenced(size)
    return np.frombuffer(area, np.uint8)[start : start + size]


def attempt(path: Path, driver: str, look: bool) -> str:
    """`refused`, or `replayed` with or without complaints."""
    try:
        if look:
            take_snapshots(path, driver)
            return "looked at"
        done = replay(open_capture(path), driver)
    except GalletteError:
        return "refused"
    return "replayed, with errors" if done.errors else "replayed"


class Captures(Fuzzer[bytes]):
    """Mutants of the captures of small programs."""

    @classmethod
    def prepare(cls, options: argparse.Namespace) -> list[Seed]:
        return seeds()

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.found: list[Seed] = prepared
        self._ways = [False, True]  # of a file that is given: it is replayed and looked at
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name) / "mutant.gcap"
        self._zeros, memory.zeros = memory.zeros, _zeros

    def make(self, number: int) -> bytes:
        # One of five mutants of each program is looked at. Lengths cannot decide: addresses vary.
        self._ways = [number // len(self.found) % 5 == 0]
        write_mutant(self.found, number, self._path)
        return self._path.read_bytes()

    def attempt(self, given: bytes) -> str:
        self._path.write_bytes(given)
        with silenced():
            return [attempt(self._path, self.options.driver, look) for look in self._ways][-1]

    def release(self) -> None:
        memory.zeros = self._zeros
        self._folder.cleanup()


FUZZER = Captures

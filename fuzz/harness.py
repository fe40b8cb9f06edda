"""What all fuzzers share: numbered cases, worker processes, and failing inputs made small.

A case is made of its number alone, so any of a million can be had again, and parts of the million
can run one after the other or side by side (`--first`, `--count`; the last line of a run says where
to go on). Each case runs in a worker process. An exception is a finding; so are a process that dies
or does not answer in time, after which another process goes on. The parent makes the input of a new
kind of finding small: it asks a worker about ever smaller inputs and keeps those with a finding of
the same kind.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import mmap
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from gallette.compiler.reduce import Reduction, Step, reduce_text

Input = TypeVar("Input")
Counts = str | Mapping[str, int]
_PROGRESS = 60.0
"""seconds between two lines that say how far a run is"""
_NOTE = 4096
"""bytes of the note that a process leaves about its work, which outlives it"""


class Finding(Exception):
    """What must not happen: `kind` stays while an input shrinks, `text` tells all.

    `inputs`: what to try alone, instead of the input of the case, to see the same again.
    """

    def __init__(self, kind: str, text: str = "", inputs: Iterable[Any] = ()) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind, self.text, self.inputs = kind, text, list(inputs)


class Fuzzer(Generic[Input]):
    """One kind of random input; an instance lives in a worker process."""

    memory: ClassVar[int] = 6 << 30
    """address space of a worker: a size that nothing bounds is a MemoryError; 0: as much as is"""
    batch: ClassVar[int] = 1
    """how many numbers in a row go to the same worker"""
    lasting: ClassVar[bool] = True
    """whether a process may serve several cases"""
    limit: ClassVar[float] = 60.0
    """seconds that a case may take"""
    steps: ClassVar[tuple[Step[Any], ...]] = ()
    """how an input becomes smaller"""
    note: mmap.mmap | None = None

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Options of this fuzzer alone."""

    @classmethod
    def prepare(cls, options: argparse.Namespace) -> Any:
        """What the parent makes once, for all workers; it is pickled."""
        return None

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        self.options = options

    def make(self, number: int) -> Input:
        """The input of a number."""
        raise NotImplementedError

    def attempt(self, given: Input) -> Counts:
        """What becomes of an input: a word that is counted, or several counts.

        What must not happen is raised.
        """
        raise NotImplementedError

    def case(self, number: int) -> Counts:
        """As `attempt`, for the input of a number: what is costly may be shared by cases."""
        return self.attempt(self.make(number))

    def release(self) -> None:
        """Give back what the instance holds."""

    @staticmethod
    def key(given: Any) -> Any:
        """Two inputs with equal keys are the same."""
        return given

    @staticmethod
    def text(given: Any) -> str | bytes:
        """An input as it is shown and saved."""
        return given if isinstance(given, bytes) else str(given)

    @staticmethod
    def read(saved: bytes) -> Any:
        """The input that was saved so."""
        return saved

    def say(self, what: str) -> None:
        """Note the work in progress, to be reported if the process dies of it."""
        if self.note is not None:
            self.note[:] = what.encode(errors="replace")[:_NOTE].ljust(_NOTE, b"\0")


def shorter(state: Reduction[tuple[Any, str]]) -> bool:
    """A step for inputs that are something and a text, which shrinks as texts do."""
    what, text = state.value
    return reduce_text(text, lambda t: t == text or state.accept((what, t))).value != text


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """What the code under test prints is not looked at."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        yield


# -- one case --------------------------------------------------------------------------------------


@dataclass
class Answer:
    """What became of a case: counts, or a finding and the inputs that may show it."""

    counts: Counter[str] = field(default_factory=Counter)
    kind: str = ""
    text: str = ""
    inputs: list[Any] = field(default_factory=list)
    mebibytes: int = 0
    """the most memory that the process has had"""


def place_of(error: BaseException) -> str:
    """Type and place of an exception: the innermost function of the project."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "gallette/" in f.filename] or frames
    if not own:
        return type(error).__name__
    file = own[-1].filename.rpartition("gallette/")[2]
    return f"{type(error).__name__} in {file}:{own[-1].name}"


def judge(fuzzer: Fuzzer[Any], what: str, given: Any) -> Answer:
    """Do a job of a worker: the "case" of a number, an "attempt" at an input, or "make" one."""
    try:
        if what == "make":
            return Answer(inputs=[fuzzer.make(given)])
        found = fuzzer.case(given) if what == "case" else fuzzer.attempt(given)
        return Answer(Counter({found: 1} if isinstance(found, str) else found))
    except Finding as finding:
        return Answer(kind=finding.kind, text=finding.text, inputs=finding.inputs)
    except Exception as error:
        return Answer(kind=place_of(error), text=traceback.format_exc(limit=-12))


def run_here(kind: type[Fuzzer[Any]], numbers: Iterable[int], *arguments: str) -> Counter[str]:
    """Run cases in this process, and add up what became of them; the first finding is raised."""
    options = options_of("here", kind, arguments)
    fuzzer = kind(options, kind.prepare(options))
    total: Counter[str] = Counter()
    try:
        for number in numbers:
            answer = judge(fuzzer, "case", number)
            if answer.kind:
                raise Finding(f"case {number}: {answer.kind}", answer.text)
            total += answer.counts
    finally:
        fuzzer.release()
    return total


# -- processes -------------------------------------------------------------------------------------


def _serve(
    kind: type[Fuzzer[Any]], options: Any, prepared: Any, pipe: Any, log: str, note: str
) -> None:
    """Do the jobs that come through the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if kind.memory:
        resource.setrlimit(resource.RLIMIT_AS, (kind.memory, kind.memory))
    with open(note, "r+b") as file:
        shared = mmap.mmap(file.fileno(), _NOTE)
    fuzzer = kind(options, prepared)
    fuzzer.note = shared
    gc.freeze()
    pipe.send("ready")
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        answer = judge(fuzzer, *job)
        answer.mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        pipe.send(answer)


class Worker:
    """A process that does one job after the other, made again when it has gone."""

    def __init__(self, kind: type[Fuzzer[Any]], options: argparse.Namespace, prepared: Any) -> None:
        self._serves = kind, options, prepared
        self._limit = options.limit
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self._log, self._note = (Path(self._folder.name) / name for name in ("stderr", "note"))
        self._process: Any = None
        self._pipe: Any = None

    def ask(self, what: str, given: Any) -> Answer:
        """What came of a job."""
        try:
            if self._process is None:
                self._start()
                self._pipe.recv()
            self._pipe.send((what, given))
            if self._pipe.poll(self._limit):
                answer: Answer = self._pipe.recv()
                if not self._serves[0].lasting:
                    self.stop()
                return answer
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            return self._ended(f"the process died of {name}")
        os.kill(self._process.pid, signal.SIGABRT)  # faulthandler tells where it is
        self._process.join(5)
        return self._ended(f"no answer in {self._limit:g} s")

    def _start(self) -> None:
        method = multiprocessing.get_context("spawn")
        self._note.write_bytes(bytes(_NOTE))
        self._pipe, theirs = method.Pipe()
        arguments = (*self._serves, theirs, str(self._log), str(self._note))
        self._process = method.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def _ended(self, how: str) -> Answer:
        """The answer of a process that is gone."""
        self.stop()
        log = self._log.read_text(errors="replace") if self._log.exists() else ""
        note = self._note.read_bytes().rstrip(b"\0").decode(errors="replace")
        return Answer(kind=f"{how}{_stack_place(log)}", text=f"{note}\n{log[-6000:]}".strip())

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _stack_place(log: str) -> str:
    """The innermost function of the project in the stack that faulthandler wrote."""
    for line in log.partition("Current thread")[2].splitlines():
        if line.startswith('  File "') and "gallette" in line:
            file, _, function = line.partition(", line ")
            place = file.rpartition("gallette/")[2].rstrip('"')
            return f" in {place}:{function.split(' in ')[-1]}"
    return ""


# -- a run -----------------------------------------------------------------------------------------


class Run:
    """The numbers of a run, handed out to workers, and what was found."""

    def __init__(self, name: str, kind: type[Fuzzer[Any]], options: argparse.Namespace) -> None:
        self.name, self.kind, self.options = name, kind, options
        self.prepared = kind.prepare(options)
        self.next, self.done, self.stopped = options.first, 0, False
        self.counts: Counter[str] = Counter()
        self.findings: dict[str, list[int]] = {}
        self.slowest, self.largest = (0.0, -1), 0
        self.start = self.told = time.monotonic()
        self._lock = threading.Lock()

    def go(self) -> int:
        """Run all cases; 1 if anything was found."""
        jobs = min(self.options.jobs, self.options.count)
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self.stopped = True
        print(self._line())
        for kind, numbers in self.findings.items():
            print(f"  {len(numbers)} x {kind}: cases {numbers[:6]}")
        sys.stdout.flush()
        return int(bool(self.findings))

    def _work(self) -> None:
        worker = Worker(self.kind, self.options, self.prepared)
        try:
            for number in self._numbers():
                began = time.monotonic()
                answer = worker.ask("case", number)
                if self._is_new(number, answer, time.monotonic() - began):
                    self._report(worker, number, answer)
        finally:
            worker.stop()

    def _numbers(self) -> Iterator[int]:
        """The numbers of one worker, taken as it comes to them."""
        options = self.options
        end = options.first + options.count
        while True:
            with self._lock:
                first = self.next
                self.next = min(end, (first // self.kind.batch + 1) * self.kind.batch)
                last = self.next
            for number in range(first, last):
                late = time.monotonic() - self.start > options.seconds
                if self.stopped or late or (self.findings and not options.all):
                    self.next = min(self.next, number)
                    return
                yield number
            if first >= end:
                return

    def _is_new(self, number: int, answer: Answer, took: float) -> bool:
        """Count an answer; whether it is a finding of a new kind."""
        with self._lock:
            self.done += 1
            self.counts += answer.counts
            self.slowest = max(self.slowest, (took, number))
            self.largest = max(self.largest, answer.mebibytes)
            if time.monotonic() > self.told + _PROGRESS:
                self.told = time.monotonic()
                print(self._line(), file=sys.stderr, flush=True)
            if answer.kind:
                self.findings.setdefault(answer.kind, []).append(number)
            return bool(answer.kind) and self.findings[answer.kind] == [number]

    def _line(self) -> str:
        """How far the run is."""
        seconds = max(time.monotonic() - self.start, 1e-9)
        found = sum(map(len, self.findings.values()))
        counts = ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))
        return (
            f"{self.name} on {self.options.driver}: {self.done} cases in {seconds:.0f} s, "
            f"{self.done / seconds:.1f} a second, slowest {self.slowest[0]:.1f} s "
            f"({self.slowest[1]}), at most {self.largest} MiB, next {self.next}: "
            f"{counts or 'none finished'}; {found} findings of {len(self.findings)} kinds"
        )

    def _report(self, worker: Worker, number: int, answer: Answer) -> None:
        """Make the input small, where the finding comes again, and print or save it."""
        kind, text = answer.kind, answer.text
        inputs = answer.inputs or worker.ask("make", number).inputs
        again = Answer()
        for given in inputs:
            again = worker.ask("attempt", given)
            if again.kind == kind:
                break
        else:
            kind += " (not again)"
        if again.kind == kind and not self.options.quick:
            given = self._smaller(worker, given, kind)
            text = worker.ask("attempt", given).text or text
        shown = self.kind.text(given) if inputs else ""
        if self.options.save and inputs:
            save(self.options.save / f"{self.name}_{number}", shown)
        with self._lock:
            shown = shown if isinstance(shown, str) else f"{len(shown)} bytes"
            print(f"case {number}: {kind}\n{text}\n{shown}\n{'-' * 80}", flush=True)

    def _smaller(self, worker: Worker, given: Any, kind: str) -> Any:
        """The smallest input found in the time with the same kind of finding."""

        def fails(candidate: Any) -> bool:
            return worker.ask("attempt", candidate).kind == kind

        state = Reduction(given, fails, self.kind.key, limit=2000, seconds=self.options.shrink)
        state.run(*self.kind.steps)
        return state.value


def save(path: Path, shown: str | bytes) -> None:
    """Write an input into a file that can be replayed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(shown, bytes):
        path.with_suffix(".bin").write_bytes(shown)
    else:
        path.with_suffix(".txt").write_text(shown)


def options_of(name: str, kind: type[Fuzzer[Any]], arguments: Iterable[str]) -> argparse.Namespace:
    """The options of a fuzzer, as the command line says them."""
    module = sys.modules[kind.__module__]
    parser = argparse.ArgumentParser(
        prog=f"python -m fuzz {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many cases")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--limit", type=float, default=kind.limit, help="seconds of a case")
    parser.add_argument("--driver", default="numpipe")
    parser.add_argument("--all", action="store_true", help="go on after a finding")
    parser.add_argument("--quick", action="store_true", help="do not make failing inputs small")
    parser.add_argument("--shrink", type=float, default=120.0, help="seconds to make one small")
    parser.add_argument("--show", action="store_true", help="print the first case, run nothing")
    parser.add_argument("--save", type=Path, help="write failing inputs into this folder")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run a saved input")
    kind.add_options(parser)
    return parser.parse_args(list(arguments))


def main(name: str, kind: type[Fuzzer[Any]], arguments: list[str]) -> int:
    """Do what the command line of a fuzzer says."""
    options = options_of(name, kind, arguments)
    if options.show:
        shown = kind.text(kind(options, kind.prepare(options)).make(options.first))
        if options.save:
            save(options.save / f"{name}_{options.first}", shown)
        else:
            print(shown if isinstance(shown, str) else shown.hex())
        return 0
    if options.replay:
        worker = Worker(kind, options, kind.prepare(options))
        answer = worker.ask("attempt", kind.read(options.replay.read_bytes()))
        worker.stop()
        print(f"{answer.kind}\n{answer.text}" if answer.kind else dict(answer.counts))
        return int(bool(answer.kind))
    return Run(name, kind, options).go()

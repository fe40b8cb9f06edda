"""Work on a cluster: single tasks, and runs on workers of this machine, some of which die."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gallette.piglit_subset.cluster import Cluster
from gallette.piglit_subset.remote import run_on_cluster
from gallette.piglit_subset.suite import find_tests
from gallette.render import render_on_cluster, render_scenes


def _doubled(number: int) -> int:
    if number == 13:
        raise ValueError("unlucky")
    return 2 * number


def _deadly(numbered: tuple[int, str]) -> int:
    """Kills its worker the first time it sees number 5."""
    number, mark = numbered
    if number == 5 and not Path(mark).exists():
        Path(mark).write_text("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def _order(numbered: tuple[int, str]) -> None:
    with open(numbered[1], "a") as file:
        file.write(f"{numbered[0]} ")


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    pytest.importorskip("distributed")
    with Cluster("local:2") as found:
        yield found


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster as others start it, without keys."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
    ) as found:
        yield found.scheduler_address


def test_clients_without_the_keys_of_the_run_are_refused(cluster: Cluster) -> None:
    distributed = pytest.importorskip("distributed")
    assert cluster.address.startswith("tls://127.0.0.1:")
    others = distributed.Security.temporary()
    plain = cluster.address.replace("tls:", "tcp:")
    for address, security in ((cluster.address, others), (plain, None)):
        with pytest.raises(OSError, match=r"Timed out|certificate|in <T"):
            distributed.Client(address, timeout=2, security=security)
    assert dict(cluster.run(_doubled, [1, 2], lambda n: 1.0)) == {1: 2, 2: 4}


def test_an_item_that_fails_is_the_only_one(cluster: Cluster) -> None:
    found = dict(cluster.run(_doubled, range(40), lambda n: 1.0))
    assert {n: r for n, r in found.items() if n != 13} == {n: 2 * n for n in range(40) if n != 13}
    assert isinstance(found[13], ValueError)


def test_expensive_items_run_first(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "order"
    list(cluster.run(_order, [(n, str(file)) for n in range(100)], lambda item: float(item[0])))
    order = [int(n) for n in file.read_text().split()]
    assert sorted(order) == [*range(100)]
    assert sum(order[:50]) > 1.5 * sum(order[50:])


def test_a_worker_that_dies_loses_nothing(cluster: Cluster, tmp_path: Path) -> None:
    mark = str(tmp_path / "died")
    items = [(n, mark) for n in range(12)]
    found = {item[0]: result for item, result in cluster.run(_deadly, items, lambda n: 1.0)}
    assert found == {n: 2 * n for n in range(12)}
    assert Path(mark).exists()


def test_tests_run_on_workers_that_have_no_files(scheduler: str, tmp_path: Path) -> None:
    chosen = find_tests([], ["interpolation/flat-(float|int|vec2)$"])
    gone = tmp_path / "gone.shader_test"
    gone.write_text("[require]\nGLSL >= 3.30\n[test]\ndrwa rect -1 -1 2 2\n")
    tests = [*chosen, ("gone", gone)]
    reports = {}
    for report in run_on_cluster(
        tests, "numpipe", scheduler, timeout=60, use_cache=False, cost=lambda name: 1.0
    ):
        reports[report.name] = report
    assert {name: r.result for name, r in reports.items()} == {
        **{name: "pass" for name, _ in chosen},
        "gone": "fail",
    }
    assert reports["gone"].path == str(gone)
    assert reports["gone"].command == f"gallette piglit run --driver numpipe {gone}"
    assert "gone.shader_test:4:1" in reports["gone"].reason


def test_scenes_come_back_from_workers_as_from_here(scheduler: str) -> None:
    seen: list[str] = []
    names = ["logic_ops", "no such scene"]
    far = render_on_cluster(scheduler, "numpipe", names, seen.append)
    near = render_scenes("numpipe", names[:1])
    assert (
        [p.name for p in far.passes["logic_ops"]]
        == seen
        == [p.name for p in near.passes["logic_ops"]]
    )
    for ours, theirs in zip(far.passes["logic_ops"], near.passes["logic_ops"], strict=True):
        np.testing.assert_array_equal(ours.color, theirs.color)
    assert far.renderer == near.renderer
    assert list(far.errors) == ["no such scene"]


def test_shaders_are_counted_on_workers_as_here(gallette, scheduler: str, tmp_path: Path) -> None:
    for name, value in (("b", "sqrt(2.0 * f)"), ("a", "f")):
        (tmp_path / f"{name}.shader_test").write_text(
            "[require]\nGLSL >= 3.30\n[vertex shader passthrough]\n[fragment shader]\n"
            f"#version 330\nuniform float f;\nout vec4 c;\nvoid main() {{ c = vec4({value}); }}\n"
            "[test]\ndraw rect -1 -1 2 2\n"
        )
    here = gallette("shader-db", tmp_path, "--each")
    there = gallette("shader-db", tmp_path, "--each", "--cluster", scheduler)
    assert here.returncode == there.returncode == 0, there.stderr
    assert here.stdout == there.stdout
    assert "b fragment" in here.stdout
    both = gallette("shader-db", tmp_path, "--driver", "simd", "--cluster", scheduler)
    assert both.returncode == 2
    assert "--cluster" in both.stderr


def test_addresses_that_make_no_sense(gallette, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("gallette.piglit_subset.cluster.PATIENCE", 0.3)  # nobody is there
    for address, why in (("local:none", "a number of workers"), ("tcp://127.0.0.1:1", "scheduler")):
        done = gallette("piglit", "run", "--filter", "flat-float$", "--cluster", address)
        assert done.returncode == 2
        assert why in done.stderr

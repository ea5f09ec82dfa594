"""One-shot calls: what they keep between calls, threads, fork, and the GIL."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import operator_runtime as rt
from operator_runtime._internal.loader import native
from python_process import assert_runs


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    native.cache_clear()
    yield
    native.cache_clear()


def creates() -> int:
    return int(native.cache_info()["creates"])


def test_a_call_like_an_earlier_one_creates_nothing() -> None:
    for _ in range(5):
        rt.copy_(torch.zeros(2, 3), torch.ones(2, 3))
    assert native.cache_info() == {"hits": 4, "creates": 1, "evictions": 0, "size": 1, "capacity": 256}


def test_all_forms_but_the_prepared_one_share_it() -> None:
    out, x = np.zeros(3), np.ones(3)
    rt.copy_(out, x)
    rt.copy(x)
    rt.copy_(torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64))
    assert (creates(), native.cache_info()["hits"]) == (1, 2)
    rt.prepare_copy(out, x)
    rt.is_supported("copy", out, x)
    assert native.cache_info()["creates"] == 1


def test_clearing_it_forgets_descriptors_and_counts() -> None:
    rt.copy(torch.ones(3))
    native.cache_clear()
    assert native.cache_info() == {"hits": 0, "creates": 0, "evictions": 0, "size": 0, "capacity": 256}
    rt.copy(torch.ones(3))
    assert creates() == 1


def differing_calls() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    x, square = torch.ones(4), torch.ones(4, 4)
    cube = torch.arange(64.0).reshape(4, 4, 4)
    return {
        "operator": (lambda: rt.copy(x), lambda: rt.softmax(x)),
        "dtype": (lambda: rt.copy(x), lambda: rt.copy(torch.ones(4, dtype=torch.int32))),
        "out dtype": (
            lambda: rt.reduce_sum(x.bfloat16()),
            lambda: rt.reduce_sum(x.bfloat16(), dtype=torch.float32),
        ),
        "shape": (lambda: rt.copy(square), lambda: rt.copy(square.reshape(2, 8))),
        "rank": (lambda: rt.copy(square), lambda: rt.copy(square.reshape(4, 4, 1))),
        "input strides": (lambda: rt.copy(square), lambda: rt.copy(square.T)),
        "output strides": (lambda: rt.copy_(square.clone(), square), lambda: rt.copy_(square.clone().T, square)),
        "second input": (lambda: rt.vector_add(square, x), lambda: rt.vector_add(square, x[:1])),
        "backend": (lambda: rt.copy(x), lambda: rt.copy(x, backend="cpu")),
        "dim": (lambda: rt.softmax(cube, 0), lambda: rt.softmax(cube, 1)),
        "dims": (lambda: rt.reduce_sum(cube, (0, 1)), lambda: rt.reduce_sum(cube, (0, 2))),
        "number of dims": (lambda: rt.reduce_sum(cube, 0, True), lambda: rt.reduce_sum(cube, (0, 1), True)),
        "keepdim": (
            lambda: rt.reduce_sum_(torch.empty(()), torch.ones(()), keepdim=False),
            lambda: rt.reduce_sum_(torch.empty(()), torch.ones(()), keepdim=True),
        ),
    }


@pytest.mark.parametrize("name", differing_calls())
def test_calls_that_differ_in_one_thing_have_descriptors_of_their_own(name: str) -> None:
    for call in differing_calls()[name] * 2:
        call()
    assert (creates(), native.cache_info()["hits"]) == (2, 2)


def test_a_call_on_another_layout_of_the_same_size_computes_its_own_result() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    layouts = [x, x.T.contiguous().T, x.flip(1), x[:, ::2], x[:, 1::2], x.expand(2, 3, 4)]
    for view in layouts * 2:
        assert torch.equal(rt.copy(view), view)


def test_the_one_not_used_for_longest_leaves_first() -> None:
    tensors = [torch.ones(n) for n in range(1, 258)]
    for x in tensors[:256]:
        rt.copy(x)
    rt.copy(tensors[0])  # now the second is the oldest
    rt.copy(tensors[256])
    info = native.cache_info()
    assert (info["creates"], info["evictions"], info["size"]) == (257, 1, 256)
    rt.copy(tensors[0])
    assert creates() == 257
    rt.copy(tensors[1])
    assert creates() == 258


def test_it_never_grows_past_its_capacity_and_results_stay_right() -> None:
    for n in [*range(1, 600), *range(1, 600)]:
        assert float(rt.reduce_sum(torch.ones(n))) == n
    info = native.cache_info()
    assert (info["size"], info["evictions"]) == (256, info["creates"] - 256)


def test_a_call_that_fails_leaves_nothing_in_it() -> None:
    for _ in range(3):
        with pytest.raises(rt.DimError):
            rt.softmax(torch.ones(3), 7)
    assert native.cache_info() == {"hits": 0, "creates": 0, "evictions": 0, "size": 0, "capacity": 256}


def test_references_are_given_back_by_calls_that_succeed_and_that_fail() -> None:
    out, x, array = torch.zeros(3), torch.ones(3), np.ones(3)
    conjugated = torch.ones(3, dtype=torch.complex64).conj()
    dim, name = 2**70, "nowhere"
    watched = (out, x, array, conjugated, dim, name, torch.Tensor, np.ndarray)

    def calls() -> None:
        rt.copy_(out, x)
        rt.copy(x)
        rt.reduce_sum(array, keepdim=True)
        for fails, exception in (
            (lambda: rt.copy_(out, x[:2]), ValueError),
            (lambda: rt.copy_(out, array), ValueError),
            (lambda: rt.copy(conjugated), ValueError),
            (lambda: rt.softmax(x, dim), rt.DimError),
            (lambda: rt.copy(x, backend=name), ValueError),
            (lambda: rt.copy(array.tolist()), TypeError),
            (lambda: rt.reduce_sum(x, dtype=name), ValueError),
        ):
            with pytest.raises(exception):
                fails()

    calls()
    before = [sys.getrefcount(thing) for thing in watched]
    for _ in range(1000):
        calls()
    assert [sys.getrefcount(thing) for thing in watched] == before


def test_threads_that_start_at_once_in_a_fresh_process_compute_right() -> None:
    code = """
        import threading
        import numpy as np, operator_runtime as rt
        failures, barrier = [], threading.Barrier(8)
        def work(seed):
            x = np.random.default_rng(seed).standard_normal((64, 100 + seed % 2))
            want = x.sum(axis=1)
            barrier.wait()
            for _ in range(50):
                if not np.allclose(rt.reduce_sum(x, 1), want):
                    failures.append(seed)
                if not (rt.copy(x.T) == x.T).all():
                    failures.append(seed)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert not failures, failures
        print(rt._internal.loader.native.cache_info()["size"])
    """
    assert assert_runs(code) == "4\n"


def test_a_descriptor_that_leaves_while_it_executes_stays_alive() -> None:
    x = torch.rand(256, 4096, dtype=torch.float64)
    want = rt.softmax(x)
    stop = threading.Event()

    def clear() -> None:
        while not stop.is_set():
            native.cache_clear()

    clearing = threading.Thread(target=clear)
    clearing.start()
    try:
        for _ in range(20):
            assert torch.equal(rt.softmax(x), want)
    finally:
        stop.set()
        clearing.join()


def test_one_prepared_call_may_be_destroyed_while_another_thread_runs_it() -> None:
    x, out = torch.rand(512, 4096, dtype=torch.float64), torch.zeros(512, 4096, dtype=torch.float64)
    want = torch.softmax(x, -1)
    for _ in range(5):
        written = out.clone()
        prepared = rt.prepare_softmax(written, x.clone())
        outcomes: list[str] = []

        def run(prepared: Any = prepared, outcomes: list[str] = outcomes) -> None:
            try:
                prepared.run()
                outcomes.append("computed")
            except RuntimeError as error:
                outcomes.append(str(error))

        running = threading.Thread(target=run)
        running.start()
        prepared.destroy()
        running.join()
        if outcomes == ["computed"]:
            torch.testing.assert_close(written, want)
        else:
            assert outcomes == ["softmax: run() after destroy()"]
            assert torch.equal(written, out)


def test_a_prepared_call_that_is_destroyed_by_its_own_checks_computes_first() -> None:
    class Meddler(torch.Tensor):
        on_look: Any = staticmethod(lambda: None)

        @property
        def requires_grad(self) -> bool:  # type: ignore[override]
            Meddler.on_look()
            return False

    x = torch.rand(4).as_subclass(Meddler)
    out = torch.zeros(4)
    prepared = rt.prepare_copy(out, x)
    Meddler.on_look = staticmethod(prepared.destroy)
    prepared.run()
    assert torch.equal(out, x.as_subclass(torch.Tensor))
    with pytest.raises(RuntimeError, match="after destroy"):
        prepared.run()


def test_another_thread_makes_progress_while_a_call_computes() -> None:
    x = np.random.default_rng(0).standard_normal(1 << 23)
    out = np.empty_like(x)
    prepared = rt.prepare_softmax(out, x)
    prepared.run()
    times: list[float] = []

    def compute() -> None:
        times.append(time.perf_counter())
        for _ in range(5):  # in case the machine is too busy to run two threads during one
            prepared.run()
            times.append(time.perf_counter())

    thread = threading.Thread(target=compute)
    ticks: list[float] = []
    thread.start()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.0005)
    thread.join()

    def inside(start: float, end: float) -> int:
        margin = (end - start) / 10
        return sum(start + margin < tick < end - margin for tick in ticks)

    assert max(inside(*pair) for pair in itertools.pairwise(times)) >= 2


def test_a_forked_child_computes() -> None:
    code = """
        import os
        import numpy as np, operator_runtime as rt
        x = np.ones((64, 1 << 14))
        rt.reduce_sum(x, 1)
        prepared = rt.prepare_softmax(np.empty_like(x), x)
        child = os.fork()
        if child == 0:
            prepared.run()
            right = float(rt.reduce_sum(x)) == x.size and (rt.copy(x) == x).all()
            os._exit(0 if right else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert float(rt.reduce_sum(x)) == x.size
    """
    assert_runs(code)

"""What only a GPU shows of the Python API: streams, graph capture, device memory. Skipped as a whole on other backends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import operator_runtime as rt
from operator_runtime._internal.loader import native
from operator_runtime.backend import emulated_backends


@pytest.fixture(autouse=True)
def _on_a_gpu(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.config.getoption("--backend") != "nvidia":
        pytest.skip("backend: runs with --backend nvidia")
    if emulated_backends():
        pytest.skip("backend: an emulated one has no streams, graphs or device memory")
    yield
    torch.cuda.synchronize()


def rows(n: int = 4096) -> Any:
    return torch.randn(64, n, device="cuda")


def test_auto_follows_the_tensors_to_the_gpu() -> None:
    x = rows()
    with rt.prepare_softmax(torch.empty_like(x), x) as prepared:
        assert prepared.backend == "nvidia"
    torch.testing.assert_close(rt.softmax(x), torch.softmax(x, -1))


def test_the_cpu_backend_refuses_cuda_tensors() -> None:
    x = rows()
    with pytest.raises(ValueError, match="backend cpu takes cpu tensors"):
        rt.copy(x, backend="cpu")
    with pytest.raises(ValueError, match="device"):
        rt.copy_(torch.empty(64, 4096), x)


def test_a_call_runs_on_the_stream_that_is_current() -> None:
    x, out = rows(), torch.zeros(64, 4096, device="cuda")
    stream = torch.cuda.Stream()
    rt.copy_(out, x)  # loads the kernel, which waits for the device
    out.zero_()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        rt.copy_(out, x)
    assert not stream.query()
    stream.synchronize()
    assert torch.equal(out, x)


def test_the_first_run_of_a_prepared_call_may_be_captured_and_replayed() -> None:
    x, out = torch.randn(2, 1 << 20, device="cuda"), torch.zeros(2, device="cuda")
    prepared = rt.prepare_reduce_sum(out, x, 1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        prepared.run()
    prepared.destroy()
    x.fill_(1.0)
    graph.replay()
    torch.cuda.synchronize()
    assert out.tolist() == [float(1 << 20)] * 2


def test_a_one_shot_call_that_is_new_while_capturing_says_prepare_first() -> None:
    native.cache_clear()
    x, out = rows(777), torch.empty(64, 777, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="prepare"), torch.cuda.graph(graph):
        rt.softmax_(out, x)


def test_a_forked_child_of_a_process_that_used_the_gpu_is_told_so() -> None:
    x, out = rows(), torch.empty(64, 4096, device="cuda")
    rt.copy_(out, x)
    torch.cuda.synchronize()
    child = os.fork()
    if child == 0:
        try:
            rt.copy_(out, x)
        except RuntimeError as error:
            os._exit(0 if "forked from one that used the GPU" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_workspace_on_the_cpu_is_refused() -> None:
    x, out = torch.randn(2, 1 << 20, device="cuda"), torch.zeros(2, device="cuda")
    with pytest.raises(ValueError, match="workspace is on device"):
        rt.prepare_reduce_sum(out, x, 1, workspace=torch.empty(1 << 20))


def test_numpy_is_refused_beside_a_gpu_tensor() -> None:
    x = rows()
    with pytest.raises(ValueError, match=r"expected a torch\.Tensor"):
        rt.copy_(x, x.cpu().numpy())

"""Tensors of any library are read as DLPack says, whatever its version, and results are of the caller's kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import operator_runtime as rt
from dlpack_producers import CUDA, CUDA_HOST, IS_COPIED, READ_ONLY, Immutable, NumpyBacked, Producer, WithoutKeywords

VERSIONS = pytest.mark.parametrize("version", [None, (1, 0), (1, 3)], ids=["0.x", "1.0", "1.3"])


def numbers(n: int = 6) -> Any:
    return np.arange(1, n + 1, dtype=np.float32)


@VERSIONS
def test_a_tensor_of_any_version_is_read_and_written(version: tuple[int, int] | None) -> None:
    x, out = Producer(numbers(), version=version), Producer(np.zeros(6, np.float32), version=version)
    assert rt.copy_(out, x) is out
    assert out.array.tolist() == [1, 2, 3, 4, 5, 6]


@VERSIONS
def test_what_a_producer_hands_over_is_given_back_once_per_call(version: tuple[int, int] | None) -> None:
    x, out = Producer(numbers(), version=version), Producer(np.zeros(6, np.float32), version=version)
    for _ in range(3):
        rt.copy_(out, x)
    assert (x.deleted, out.deleted) == (3, 3)


@VERSIONS
def test_a_refused_call_gives_back_what_it_took(version: tuple[int, int] | None) -> None:
    x, out = Producer(numbers(), version=version), Producer(np.zeros(5, np.float32), version=version)
    with pytest.raises(ValueError, match=r"out has shape \(5,\), expected \(6,\)"):
        rt.copy_(out, x)
    assert (x.deleted, out.deleted) == (1, 1)


def test_a_prepared_call_holds_what_it_was_handed_until_it_is_destroyed() -> None:
    x, out = Producer(numbers()), Producer(np.zeros(6, np.float32))
    prepared = rt.prepare_copy(out, x)
    prepared.run()
    assert (x.deleted, out.deleted) == (0, 0)
    prepared.destroy()
    assert (x.deleted, out.deleted) == (1, 1)


def test_a_producer_on_the_cpu_gets_the_version_and_no_stream() -> None:
    x = Producer(numbers())
    rt.copy_(Producer(np.zeros(6, np.float32)), x)
    assert x.calls == [{"max_version": (1, 3)}]


def test_an_old_producer_is_asked_again_without_the_version() -> None:
    x = Producer(numbers(), version=None)
    rt.copy_(Producer(np.zeros(6, np.float32)), x)
    assert x.calls == [{"max_version": (1, 3)}, {}]


def test_a_producer_that_takes_no_keywords_is_read() -> None:
    out = WithoutKeywords(np.zeros(6, np.float32), version=None)
    rt.copy_(out, WithoutKeywords(numbers(), version=None))
    assert out.array.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(("version", "keywords"), [((1, 0), [{"max_version": (1, 3), "stream": 1}]), (None, [{"stream": 1}])])
def test_a_producer_on_cuda_gets_the_default_stream(version: tuple[int, int] | None, keywords: list[dict[str, Any]]) -> None:
    x, out = (Producer(numbers(), version=version, device_type=CUDA) for _ in range(2))
    rt.is_supported("copy", out, x)  # reads the tensors and computes nothing
    assert x.calls[-1:] == keywords
    assert out.calls[-1:] == keywords
    assert (x.deleted, out.deleted) == (1, 1)


def test_page_locked_memory_is_on_the_cpu_and_gets_no_stream() -> None:
    x = Producer(numbers(), device_type=CUDA_HOST)
    out = Producer(np.zeros(6, np.float32))
    rt.copy_(out, x)
    assert out.array.tolist() == [1, 2, 3, 4, 5, 6]
    assert x.calls == [{"max_version": (1, 3)}]


def test_the_byte_offset_is_applied() -> None:
    buffer = numbers(8)
    out = Producer(np.zeros(4, np.float32))
    rt.copy_(out, Producer(buffer[2:6], byte_offset=8))
    assert out.array.tolist() == [3, 4, 5, 6]


def test_missing_strides_mean_row_major() -> None:
    x = Producer(numbers().reshape(2, 3), strides=None)  # type: ignore[arg-type]
    out = Producer(np.zeros((2, 3), np.float32))
    rt.copy_(out, x)
    assert out.array.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_read_only_memory_is_an_input() -> None:
    out = Producer(np.zeros(6, np.float32))
    rt.copy_(out, Producer(numbers(), flags=READ_ONLY))
    assert out.array.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("flags", "text"), [(READ_ONLY, "copy: out is read-only"), (IS_COPIED, "copy: out was exported as a copy")]
)
def test_memory_that_cannot_take_a_result_is_no_out(flags: int, text: str) -> None:
    out = Producer(np.zeros(6, np.float32), flags=flags)
    with pytest.raises(ValueError, match=text):
        rt.copy_(out, Producer(numbers()))
    assert not out.array.any()
    assert out.deleted == 1


def test_several_lanes_are_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"copy: x has a dtype of 2 lanes, expected 1"):
        rt.copy_(Producer(np.zeros(6, np.float32)), Producer(numbers(), lanes=2))


def test_another_device_is_refused_before_it_is_asked_for_memory() -> None:
    x = Producer(numbers(), device_type=10)
    with pytest.raises(NotImplementedError, match="copy: x is on DLPack device type 10, expected cpu or cuda"):
        rt.copy_(Producer(np.zeros(6, np.float32)), x)
    assert x.calls == []


def test_a_major_version_from_the_future_is_refused_and_given_back() -> None:
    x = Producer(numbers(), version=(2, 0))
    with pytest.raises(ValueError, match=r"copy: x comes as DLPack 2\.0, expected 0\.x or 1\.x"):
        rt.copy_(Producer(np.zeros(6, np.float32)), x)
    assert x.deleted == 1


def test_a_capsule_that_was_used_before_is_refused() -> None:
    class Twice(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            if not self.calls:
                self.capsule = super().__dlpack__(**keywords)
            return self.capsule

    x = Twice(numbers())
    rt.copy_(Producer(np.zeros(6, np.float32)), x)
    with pytest.raises(ValueError, match="no DLPack capsule that is unused"):
        rt.copy_(Producer(np.zeros(6, np.float32)), x)


def test_a_producer_that_fails_is_quoted_as_the_cause() -> None:
    class Failing(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            raise BufferError("it is on fire")

    with pytest.raises(ValueError, match="copy: x cannot be read: it is on fire") as caught:
        rt.copy_(Producer(np.zeros(6, np.float32)), Failing(numbers()))
    assert isinstance(caught.value.__cause__, BufferError)


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_what_is_no_fault_of_the_tensor_passes_through(error: type[BaseException]) -> None:
    class Failing(Producer):
        def __dlpack__(self, **keywords: Any) -> Any:
            raise error

    with pytest.raises(error):
        rt.copy_(Producer(np.zeros(6, np.float32)), Failing(numbers()))


def test_a_result_is_made_by_the_namespace_of_the_input() -> None:
    result = rt.reduce_sum(NumpyBacked(np.ones((2, 3), np.float32)), dim=0)
    assert type(result) is NumpyBacked
    assert result.array.tolist() == [2, 2, 2]


def test_a_result_dtype_that_a_namespace_lacks_is_named() -> None:
    with pytest.raises(NotImplementedError, match=r"the result would be uint8, which .*NumpyBacked has not"):
        rt.copy(NumpyBacked(np.ones(3, np.uint8)))


def test_a_kind_without_a_namespace_cannot_have_a_result_allocated() -> None:
    with pytest.raises(NotImplementedError, match=r"has no __array_namespace__ to allocate the result with; pass an out to copy_"):
        rt.copy(Producer(numbers()))


def test_a_namespace_that_allocates_another_layout_is_noticed() -> None:
    class Fortran(NumpyBacked):
        def __init__(self, array: Any) -> None:
            super().__init__(np.asfortranarray(array))

    with pytest.raises(RuntimeError, match="not row-major contiguous"):
        rt.copy(Fortran(np.ones((2, 3), np.float32)))


def test_an_immutable_kind_gets_its_result_by_from_dlpack() -> None:
    result = rt.softmax(Immutable(np.zeros((2, 4), np.float32)))
    assert type(result) is Immutable
    assert result.array.tolist() == [[0.25] * 4] * 2
    assert not result.array.flags.writeable


def test_the_memory_of_an_immutable_result_outlives_the_call() -> None:
    results = [rt.copy(Immutable(np.full(1000, i, np.float64))) for i in range(50)]
    assert [float(result.array.sum()) for result in results] == [1000.0 * i for i in range(50)]


def test_an_immutable_kind_is_no_out() -> None:
    with pytest.raises(ValueError, match=r"copy: out is a jaxlib\.arrays\.Immutable, which is immutable"):
        rt.copy_(Immutable(numbers()), Immutable(numbers()))


@pytest.mark.parametrize("make", [torch.ones, np.ones], ids=["torch", "numpy"])
def test_allocated_results_are_row_major_whatever_the_input(make: Any) -> None:
    x = make((3, 5)).T
    result = rt.copy(x)
    assert type(result) is type(x)
    assert result.shape == (5, 3)
    strides = result.stride() if isinstance(result, torch.Tensor) else tuple(step // result.itemsize for step in result.strides)
    assert strides == (3, 1)


def test_a_parameter_gives_a_plain_tensor_under_no_grad() -> None:
    with torch.no_grad():
        result = rt.copy(torch.nn.Parameter(torch.ones(3)))
    assert type(result) is torch.Tensor
    assert not result.requires_grad


class Unsearchable:
    def __contains__(self, name: object) -> bool:
        raise KeyboardInterrupt("not now")


def of_odd_class(dictionary: object) -> Any:
    """A tensor of a class whose metaclass gives that for __dict__; the class that it is derived from is as others are."""

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            return dictionary if name == "__dict__" and cls.__name__ == "Odd" else super().__getattribute__(name)

    class Base(Producer, metaclass=Meta):
        pass

    class Odd(Base):
        pass

    return Odd(numbers())


def test_a_class_whose_dictionary_is_none_is_read_as_its_base() -> None:
    out = Producer(np.zeros(6, np.float32))
    rt.copy_(out, of_odd_class(5))
    assert out.array.tolist() == [1, 2, 3, 4, 5, 6]


def test_an_interrupt_while_a_class_is_looked_at_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt, match="not now"):
        rt.copy_(Producer(np.zeros(6, np.float32)), of_odd_class(Unsearchable()))

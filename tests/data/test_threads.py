"""Blocks of work that threads share."""

from __future__ import annotations

import threading
import time

import pytest

from naively.data.threads import map_blocks


@pytest.mark.parametrize("n_jobs", [1, 2, 7, None])
def test_answers_stand_in_the_order_of_their_blocks(n_jobs: int | None) -> None:
    def work(block: int) -> int:
        time.sleep(0.001 * (block % 3))
        return block**2

    assert map_blocks(work, list(range(50)), n_jobs) == [block**2 for block in range(50)]


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_so_many_threads_work_and_the_caller_is_one_of_them(n_jobs: int) -> None:
    together = threading.Barrier(n_jobs, timeout=30)

    def work(_: int) -> int:
        together.wait()  # would time out with fewer threads
        return threading.get_ident()

    threads = set(map_blocks(work, list(range(n_jobs)), n_jobs))
    assert len(threads) == n_jobs
    assert threading.get_ident() in threads


def test_the_error_is_that_of_the_first_block_that_fails() -> None:
    def work(block: int) -> None:
        time.sleep(0.02 if block == 1 else 0.0)  # the later block fails earlier
        raise ValueError(f"block {block}")

    with pytest.raises(ValueError, match="block 0"):
        map_blocks(lambda block: work(block), [0, 1], 2)
    with pytest.raises(ValueError, match="block 1"):
        map_blocks(lambda block: block and work(block), [0, 1, 2], 2)


def test_no_block_is_begun_after_an_error() -> None:
    begun = []

    def work(block: int) -> None:
        begun.append(block)
        time.sleep(0.001)
        raise ValueError("a block failed")

    with pytest.raises(ValueError, match="a block failed"):
        map_blocks(work, list(range(100)), 2)
    assert len(begun) <= 2


def test_an_interrupt_stops_all_threads() -> None:
    caller, begun = threading.get_ident(), []

    def work(block: int) -> None:
        begun.append(block)
        if threading.get_ident() == caller:
            raise KeyboardInterrupt
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        map_blocks(work, list(range(100)), 2)
    assert len(begun) < 100

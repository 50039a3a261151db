"""A short slice of ``make fuzz`` for what the kernel does, which runs under the sanitizers too."""

import pytest

from tests.fuzz import KERNEL
from tests.fuzz.search import search


@pytest.mark.parametrize("target", KERNEL)
def test_random_inputs_give_the_oracles_answer_or_an_error(target):
    search(target, seed=0, examples=200)

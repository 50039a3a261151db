"""A short slice of ``make fuzz`` for what lies above the kernel."""

import pytest

from tests import databases
from tests.fuzz import KERNEL, TARGETS
from tests.fuzz.search import search

pytestmark = databases.QUIET


@pytest.mark.parametrize("target", [target for target in TARGETS if target not in KERNEL])
def test_random_inputs_give_the_oracles_answer_or_an_error(target):
    search(target, seed=0, examples=60)

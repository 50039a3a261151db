"""A short slice of ``make fuzz`` for what lies above the kernel."""

import pytest
from hypothesis import settings

from tests import databases
from tests.fuzz import KERNEL, TARGETS
from tests.fuzz.search import search

pytestmark = databases.QUIET


@pytest.mark.parametrize("target", [target for target in TARGETS if target not in KERNEL])
def test_random_inputs_give_the_oracles_answer_or_an_error(target):
    search(target, seed=0, examples=60)


def test_no_change_is_refused_by_chance():
    drawn = settings.get_profile("suite")
    assert drawn.derandomize
    assert drawn.deadline is None
    assert not settings.get_profile("search").derandomize  # of make fuzz

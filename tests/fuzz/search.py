"""Draw inputs for one target until one fails, by a seed that draws the same inputs again."""

from importlib import import_module

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings


def search(target, seed, examples):
    """Check a target with so many inputs; raise with the minimal input that fails."""
    module = import_module(f"tests.fuzz.{target}")

    @hypothesis.seed(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,  # the seed alone decides what is drawn
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=module.CASES)
    def check(case):
        module.check(case)

    check()

"""Which tests run: those whose packages are installed, or only what a run before did not pass.

What Hypothesis draws is the same in every run, so that no change is refused by chance, and a slow
machine is no fault. The search for new inputs is ``make fuzz``, by the profile ``search``.
"""

import sys
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

PASSED = "naively/passed"  # in pytest's cache: the tests that passed, in the last whole run

# Modules that import an optional package at the top: without it, their doctests are left out. No
# other import may fail: pytest's own option to ignore such errors would skip broken tests, too.
OPTIONAL = {
    "pyspark": ("spark", ["src/naively/*spark/*"]),
    "triton": ("gpu", ["src/naively/engines/gpu/kernels.py"]),
}
ABSENT = {package: OPTIONAL[package] for package in OPTIONAL if find_spec(package) is None}
collect_ignore_glob = [pattern for _, patterns in ABSENT.values() for pattern in patterns]

settings.register_profile(
    "suite", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("suite"), derandomize=False, database=None)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _close_figures():
    """Close what a test or an example has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_report_header():
    """Say which doctests are left out, and what to install."""
    return [
        f"{package} is not installed: doctests of {' '.join(patterns)} are left out; "
        f"pip install '.[{extra}]' brings it"
        for package, (extra, patterns) in ABSENT.items()
    ]


def pytest_addoption(parser):
    """Add the option for a second run, with more packages."""
    parser.addoption(
        "--rest",
        action="store_true",
        help="run only what the last run without this option did not pass; now, a test that is "
        "skipped since something is not installed is a failure",
    )


def pytest_collection_modifyitems(config, items):
    """Leave out what passed before, if asked for the rest."""
    if config.getoption("--rest"):
        passed = set(config.cache.get(PASSED, []))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
        items[:] = [item for item in items if item.nodeid not in passed]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Remember what passed; of the rest, nothing may be absent."""
    config = session.config
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):  # a worker: the first process has all
        return
    if not hasattr(config, "cache"):  # switched off
        return
    if not config.getoption("--rest"):
        config.cache.set(PASSED, [report.nodeid for report in reporter.stats.get("passed", [])])
        return
    absent = {
        r.longrepr[2] for r in reporter.stats.get("skipped", []) if "install" in r.longrepr[2]
    }
    if absent:
        reporter.write_line("not installed: " + "; ".join(sorted(absent)), red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

"""Fixtures that several files share."""

import gc

import pytest

from tests.browser import chromium, look  # noqa: F401


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leave modules and tests out of every later search for garbage: all of them stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_sessionfinish():
    gc.unfreeze()  # or extension modules complain at the end of objects that are left

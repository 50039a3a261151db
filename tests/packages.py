"""Packages that only some tests need."""

import pytest


def installed(package, extra):
    """Return a package, or skip the test and say what to install."""
    reason = f"{package} is not installed: pip install '.[{extra}]'"
    return pytest.importorskip(package, reason=reason)

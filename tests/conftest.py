"""Fixtures that several files share."""

from tests.browser import chromium, look  # noqa: F401

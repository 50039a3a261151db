"""The fixtures of all tests of the command line."""

from tests.commands import fitted, fitted_once, folder, iris

__all__ = ["fitted", "fitted_once", "folder", "iris"]

"""The one root of everything that naively raises on purpose.

A message says what must hold, what came instead, and what to do::

    priors must have one entry per class (3: 'a', 'b', 'c'); got 2.
"""

__all__ = ["NaivelyError"]


class NaivelyError(ValueError):
    """What was asked cannot be done with what was given.

    Examples
    --------
    >>> from naively import GaussianNB, NaivelyError
    >>> try:
    ...     GaussianNB(priors=[0.5, 0.6]).fit([[1.0], [2.0]], ["a", "b"])
    ... except NaivelyError as error:
    ...     print(error)
    The sum of the priors should be 1; got 1.1.
    """

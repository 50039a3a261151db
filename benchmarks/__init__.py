"""How fast, how small and how exact naively is, measured beside its peers.

Run it with ``make bench``, or ``python -m benchmarks speed --only predict --quick``.
"""

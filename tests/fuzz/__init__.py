"""Fuzzing: random inputs, each judged by a slow, obvious oracle.

A target is a file here: ``CASES``, a strategy of Hypothesis that draws an input, and ``check``,
which raises where the answer is wrong. ``make fuzz`` runs every target for some minutes; a short
slice runs with the tests. Hypothesis shrinks an input that fails to a minimal one. A fault that
was found becomes a named test beside its subject.
"""

KERNEL = (
    "numbers",
    "csv_files",
    "statistics",
    "model_files",
    "tokens",
)  # what runs under the sanitizers too
TARGETS = (*KERNEL, "frames", "dates", "sql_names", "routes")

r"""Findings of single columns: leaks, identifiers, missing cells, what was seen once, constants.

A *leak* is a column that alone tells the class in nearly every row,

.. math:: \mathrm{skill} = 1 - \frac{\text{errors of the column alone}}{\text{errors of the priors}}

Rows of a sample are judged by the terms of one column, each row left out; categories by their
tallies, each row left out; and numbers without a sample by the share of their variance that is
within classes. A text is many words, and may well tell the class.

*Missing cells* contribute nothing, so that what they tell of the class is lost. Their shares in the
classes are compared by the likelihood ratio of the table of classes and presence,
:math:`G = 2 \sum n \log (n / \hat n)`.

By Good and Turing, the probability that the next category or word is one *never seen* is about the
share of the cells that were seen once, :math:`n_1 / n`. It is judged less three of its standard
deviations, :math:`\sqrt{n_1} / n`.

References
----------
I. J. Good (1953), The population frequencies of species and the estimation of population
parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, pdtr, xlogy

from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.inspection.diagnosis.evidence import Evidence, terms_in_blocks
from naively.inspection.diagnosis.finding import (
    Finding,
    Severity,
    Skipped,
    listed,
    percent,
    severity_of,
)
from naively.model.row_numbers import counting_columns
from naively.statistics import Documents, MissingCells, Occurrences
from naively.statistics.summary import Summary

_MIN_ROWS, _MIN_WRONG = 50.0, 10.0  # rows, and those that the priors alone get wrong, of a leak
_LEAK_SKILL = 0.98
_LEAK_WITHIN = 1e-4  # of the variance of a column of numbers, where it tells the class
_GOOD_SKILL = 0.9  # of a column that tells much
_GOOD_CHANCE = 0.01  # that such a column makes so few errors
_GOOD_SHARE = 0.1  # of the columns; where more of them tell much, classes are simply far apart
_MIN_IDENTIFIERS = 20  # rows whose categories differ
_OWN_SHARE = 0.9  # of the cells have a category of their own
_MIN_WHOLE = 100  # rows of whole numbers of which none comes twice
_ALL_WHOLE = 2.0**53  # from here on, all float64 are whole
_LEAVE_OUT = "Leave it out: what it holds does not come again in new rows."
_MISSING_CHANCE = 0.001  # of all columns together
_MISSING_GAPS: tuple[tuple[float, Severity], ...] = ((0.5, "high"), (0.2, "medium"), (0.05, "low"))
_MIN_MISSING_ROWS = 10.0  # of a class
_ONCE_CHANCE = 3.0  # standard deviations of the number that were seen once
_ONCE_SHARES: tuple[tuple[float, Severity], ...] = ((0.3, "high"), (0.1, "medium"), (0.01, "low"))


def leaks(evidence: Evidence) -> Iterator[Finding | Skipped]:
    """Find columns that tell the class in nearly every row, alone."""
    weight = evidence.summary.class_weight
    total, wrong = weight.sum(), weight.sum() - weight.max(initial=0.0)
    if total < _MIN_ROWS or wrong < _MIN_WRONG:
        return
    skill = _skills(evidence)
    if evidence.summary.schema.counted == "occurrences":
        yield Skipped("leak", "the summary does not count the rows in which a column occurs.")
    good = np.count_nonzero(np.nan_to_num(skill) >= _GOOD_SKILL)
    alone = skill.size > 1 and good <= max(1, int(_GOOD_SHARE * skill.size))
    for j in np.flatnonzero(skill >= _LEAK_SKILL).tolist():
        right = percent(1 - (1 - skill[j]) * wrong / total)
        seen = (
            f"{evidence.column(j)} alone tells the class in {right} of the rows; the most "
            f"frequent class has {percent(weight.max() / total)} of them."
        )
        advice = "Make sure that it is known before the class is, or else leave it out."
        if not alone:
            advice += " Several columns tell as much: the classes may simply be far apart."
        by_chance = pdtr(np.rint((1 - skill[j]) * wrong), (1 - _GOOD_SKILL) * wrong)
        severity: Severity = "high" if alone and by_chance < _GOOD_CHANCE else "medium"
        yield Finding("leak", severity, seen, advice, (evidence.names[j],), figure=float(skill[j]))


def _skills(evidence: Evidence) -> Floats:
    """Return the skill of each column; NaN where it is not known."""
    summary, schema = evidence.summary, evidence.summary.schema
    skill = np.full(schema.n_columns, np.nan)
    if schema.counted == "documents":
        held = summary[Documents].values[:, : schema.n_columns]
        rest = np.maximum(summary.class_weight[:, np.newaxis] - held, 0.0)
        for j in np.flatnonzero(held.any(axis=0)).tolist():
            skill[j] = skill_of_tallies(np.stack([held[:, j], rest[:, j]], axis=1))
    elif schema.counted is None and evidence.has_sample:
        skill = _of_sample(evidence)
    elif schema.counted is None:
        skill[list(schema.numbers)] = _of_moments(evidence)
    for place, j in enumerate(schema.categories):
        skill[j] = skill_of_tallies(summary.tally(place))
    skill[list(schema.texts)] = np.nan
    return skill


def skill_of_tallies(tally: Floats) -> float:
    """Return the skill of categories, each row judged by the others of its category.

    Of equally frequent classes, the answer is wrong; of a category that has no other row, it is the
    most frequent class of all.

    >>> skill_of_tallies(np.array([[30.0, 0.0], [0.0, 30.0]])), skill_of_tallies(np.eye(60))
    (1.0, 0.0)
    """
    of_class, rows = tally.sum(axis=1), tally.sum(axis=0)
    wrong = tally.sum() - of_class.max(initial=0.0)
    if not wrong > 0:
        return 0.0
    largest, second = np.sort(tally, axis=0)[[-1, -2]]
    right = np.where(largest - 1 > second, largest, 0.0)
    right = np.where(rows <= 1, tally[of_class.argmax()], right)
    return float(1 - (tally.sum() - right.sum()) / wrong)


def _of_moments(evidence: Evidence) -> Floats:
    """Return 1 for columns of numbers that hardly vary within classes, and else 0."""
    moments = evidence.summary.moments
    within, whole = moments.m2.sum(axis=0), moments.pooled()
    varied = np.sqrt(whole.m2) > 1e-12 * np.sqrt(whole.weight) * np.abs(whole.mean)
    return np.where(varied & (within < _LEAK_WITHIN * whole.m2), 1.0, 0.0)


def _of_sample(evidence: Evidence) -> Floats:
    """Return the skill of each column by its own terms, on the rows of a sample."""
    model, sample = evidence.uncalibrated, evidence.sample
    columns = np.array([j for term in model.terms for j in term.columns], dtype=np.intp)
    order = np.argsort(columns, kind="stable")
    known, starts = np.unique(columns[order], return_index=True)
    right = np.full(evidence.summary.schema.n_columns, np.nan)
    right[known] = 0.0
    for rows, terms in terms_in_blocks(model, sample):
        by_column = np.add.reduceat(terms[:, :, order], starts, axis=2) if known.size else terms
        best = (by_column + model.log_prior[:, np.newaxis]).argmax(axis=1)
        right[known] += sample.weight[rows] @ (best == sample.codes[rows, np.newaxis])
    total = np.bincount(sample.codes, sample.weight, model.classes.size)
    wrong = total.sum() - total.max()
    return 1 - (total.sum() - right) / wrong if wrong > 0 else np.full(right.shape, np.nan)


def identifiers(evidence: Evidence) -> Iterator[Finding]:
    """Find categories that hardly come twice, row numbers, and whole numbers that never repeat."""
    summary, schema = evidence.summary, evidence.summary.schema
    for place, j in enumerate(schema.categories):
        tally = summary.tally(place).sum(axis=0)
        if is_identifier(tally):
            share = float((tally == 1).sum() / tally.sum())
            seen = (
                f"{evidence.column(j)} holds {np.count_nonzero(tally):,} categories in "
                f"{tally.sum():,.0f} rows: {percent(share)} of the rows have one of their own."
            )
            yield Finding(
                "identifier", "high", seen, _LEAVE_OUT, (evidence.names[j],), figure=share
            )
    counting = counting_columns(summary)
    for j in counting:
        seen = f"{evidence.column(j)} counts the rows: it holds each number from 0 or 1 on once."
        yield Finding("identifier", "high", seen, _LEAVE_OUT, (evidence.names[j],), figure=1.0)
    for j in _never_twice(summary):
        if j not in counting:
            seen = f"{evidence.column(j)} holds another whole number in every row of the sample."
            advice = "Leave it out if it is an identifier, such as a customer's number."
            yield Finding("identifier", "low", seen, advice, (evidence.names[j],), figure=1.0)


def is_identifier(tally: NDArray[np.float64]) -> bool:
    """Whether nearly every cell has a category of its own, given the weight of each category.

    >>> is_identifier(np.ones(30)), is_identifier(np.array([10.0, 20.0]))
    (True, False)
    """
    total = tally.sum()
    return bool(total >= _MIN_IDENTIFIERS and (tally == 1).sum() >= _OWN_SHARE * total)


def _never_twice(summary: Summary) -> Iterator[int]:
    """Yield the columns of whole numbers of which none comes twice in the sample."""
    sample = summary.sample
    if sample is None or isinstance(sample.numbers, SparseRows):
        return
    for cells, j in zip(sample.numbers.T, summary.schema.numbers, strict=True):
        known = cells[~np.isnan(cells)]
        whole = (known == np.floor(known)) & (np.abs(known) < _ALL_WHOLE)
        if known.size < _MIN_WHOLE or not whole.all():
            continue
        if np.unique(known).size == known.size and (sample.weight == 1).all():
            yield j


def missing_cells(evidence: Evidence) -> Iterator[Finding | Skipped]:
    """Find columns whose cells are missing much more often in some classes than in others."""
    present = _present(evidence)
    if np.isnan(present).any():
        yield Skipped("missing", "the summary does not count missing cells of counts and texts.")
    enough = np.flatnonzero(evidence.summary.class_weight >= _MIN_MISSING_ROWS)
    if enough.size < 2:
        return
    weight = evidence.summary.class_weight[enough, np.newaxis]
    present = np.where(np.isnan(present), np.inf, present)[enough]
    present = np.minimum(present, weight)  # none are missing where nobody counted
    gone = weight - present
    share = gone.sum(axis=0) / weight.sum()
    G = 2 * (_likelihood(gone, weight * share) + _likelihood(present, weight * (1 - share)))
    p = chdtrc(enough.size - 1, np.maximum(G, 0.0)) * np.count_nonzero(share)
    missing = gone / weight
    for j in np.flatnonzero((share > 0) & (p < _MISSING_CHANCE)).tolist():
        most, least = missing[:, j].argmax(), missing[:, j].argmin()
        high, low = float(missing[most, j]), float(missing[least, j])
        severity = severity_of(high - low, _MISSING_GAPS)
        if severity is None:
            continue
        name, classes = evidence.names[j], tuple(evidence.classes[enough[k]] for k in (most, least))
        seen = (
            f"{evidence.column(j)} is missing in {percent(high)} of the rows of class "
            f"{classes[0]!r}, and in {percent(low)} of class {classes[1]!r}. Missing cells "
            "contribute nothing."
        )
        advice = (
            f"Add a column that says whether {name!r} is missing, if it will be missing in new "
            "rows for the same reasons."
        )
        yield Finding("missing", severity, seen, advice, (name,), classes, high - low, float(p[j]))


def _likelihood(observed: Floats, expected: Floats) -> Floats:
    ratio = np.divide(observed, expected, out=np.ones_like(observed), where=expected > 0)
    return np.asarray(xlogy(observed, ratio).sum(axis=0))


def _present(evidence: Evidence) -> Floats:
    """Return the weight of the cells that are not missing, (K, d); NaN where it is unknown."""
    summary, schema = evidence.summary, evidence.summary.schema
    present = np.full((len(evidence.classes), schema.n_columns), np.nan)
    present[:, list(schema.undecided)] = 0.0
    if schema.counted is None:
        present[:, list(schema.numbers)] = summary.moments.weight
    elif schema.counted == "documents":
        gone = summary[MissingCells].values[:, : schema.n_columns]
        present = summary.class_weight[:, np.newaxis] - gone
    for place, j in enumerate(schema.categories):
        present[:, j] = summary.tally(place).sum(axis=1)
    return present


def seen_once(evidence: Evidence) -> Iterator[Finding | Skipped]:
    """Find columns of which many categories, or words, were seen once."""
    summary, schema = evidence.summary, evidence.summary.schema
    for place, j in enumerate(schema.categories):
        tally = summary.tally(place).sum(axis=0)
        if not is_identifier(tally):
            advice = "Join rare categories, or expect that they say little."
            yield from _once(evidence, j, tally, ("categories", "rows"), advice)
    kind = next((one for one in (Documents, Occurrences) if one in summary.statistics), None)
    if kind is None or not schema.texts:
        return
    values = summary[kind].values
    first = values.shape[1] - summary.axes.word_starts[-1]
    for place, j in enumerate(schema.texts):
        if schema.options[place].hashed is not None:
            yield Skipped("seen once", f"the words of {schema.name(j)} are hashed, not counted.")
            continue
        start, end = (first + at for at in summary.axes.word_starts[place : place + 2])
        advice = "Give it shorter n-grams, or more texts: words seen once say little."
        yield from _once(evidence, j, values[:, start:end].sum(axis=0), ("words", "words"), advice)


def _once(
    evidence: Evidence, j: int, tally: Floats, what: tuple[str, str], advice: str
) -> Iterator[Finding]:
    once, total = int((tally == 1).sum()), float(tally.sum())
    share = once / total if total else 0.0
    certain = (once - _ONCE_CHANCE * once**0.5) / total if total else 0.0
    severity = severity_of(certain, _ONCE_SHARES)
    if severity is None:
        return
    seen = (
        f"{once:,} of {np.count_nonzero(tally):,} {what[0]} of {evidence.summary.schema.name(j)} "
        f"were seen once: about {percent(share)} of new {what[1]} will hold one never seen."
    )
    if what[0] == "words":
        severity = "low" if severity != "high" else "medium"
        seen = seen.replace("will hold one never seen", "will be ones never seen")
    yield Finding("seen once", severity, seen, advice, (evidence.names[j],), figure=share)


def constant_columns(evidence: Evidence) -> Iterator[Finding]:
    """Find columns without any cell, and columns whose cells are all equal."""
    summary, schema = evidence.summary, evidence.summary.schema
    empty = list(schema.undecided)
    constant: list[int] = []
    if schema.counted is not None:
        kind = Documents if schema.counted == "documents" else Occurrences
        never = np.flatnonzero(~summary[kind].values[:, : schema.n_columns].any(axis=0))
        yield from _constant(
            evidence, never.tolist(), "never occur in any row", "never occurs in any row"
        )
    else:
        whole = summary.moments.pooled()
        equal = np.sqrt(whole.m2) <= np.finfo(np.float64).eps * np.sqrt(whole.weight) * np.abs(
            whole.mean
        )
        for j, weight, is_equal in zip(schema.numbers, whole.weight, equal, strict=True):
            if not weight > 0:
                empty.append(j)
            elif is_equal:
                constant.append(j)
    for place, j in enumerate(schema.categories):
        held = np.count_nonzero(summary.tally(place).any(axis=0))
        if held < 2:
            (constant if held else empty).append(j)
    yield from _constant(evidence, sorted(empty), "hold no cell at all", "holds no cell at all")
    yield from _constant(evidence, sorted(constant), "hold one value only", "holds one value only")


def _constant(evidence: Evidence, columns: list[int], they: str, it: str) -> Iterator[Finding]:
    if not columns:
        return
    names = tuple(evidence.names[j] for j in columns)
    many = f"Columns {listed(names)} {they}, so that they contribute nothing."
    seen = (
        many
        if len(names) > 1
        else f"{evidence.column(columns[0])} {it}, so that it contributes nothing."
    )
    advice = "Leave them out." if len(names) > 1 else "Leave it out."
    yield Finding("constant", "low", seen, advice, names, figure=float(len(names)))

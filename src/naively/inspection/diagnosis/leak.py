r"""Columns that give the class away: alone they tell it in nearly every row.

.. math:: \mathrm{skill} = 1 - \frac{\text{errors of the column alone}}{\text{errors of the priors}}

Rows of a sample are judged by the terms of one column, each row left out; categories by their
tallies, each row left out; and numbers without a sample by the share of their variance that is
within classes. A text is many words, and may well tell the class.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import pdtr

from naively.data.types import Floats
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, Severity, Skipped, percent
from naively.inspection.diagnosis.left_out import terms_in_blocks
from naively.statistics import Documents

_FEWEST = 50.0  # rows
_FEWEST_WRONG = 10.0  # of them that the priors alone get wrong
_SKILL = 0.98
_WITHIN = 1e-4  # of the variance of a column of numbers, where it tells the class
_GOOD = 0.9  # the skill of a column that tells much
_CHANCE = 0.01  # that such a column makes so few errors
_FEW = 0.1  # of the columns; where more of them tell much, classes are simply far apart


def leaks(evidence: Evidence) -> Iterator[Finding | Skipped]:
    """Find columns that tell the class in nearly every row, alone."""
    weight = evidence.summary.class_weight
    total, wrong = weight.sum(), weight.sum() - weight.max(initial=0.0)
    if total < _FEWEST or wrong < _FEWEST_WRONG:
        return
    skill = _skills(evidence)
    if evidence.summary.schema.counted == "occurrences":
        yield Skipped("leak", "the summary does not count the rows in which a column occurs.")
    good = np.count_nonzero(np.nan_to_num(skill) >= _GOOD)
    alone = skill.size > 1 and good <= max(1, int(_FEW * skill.size))
    for j in np.flatnonzero(skill >= _SKILL).tolist():
        right = percent(1 - (1 - skill[j]) * wrong / total)
        seen = (
            f"{evidence.column(j)} alone tells the class in {right} of the rows; the most "
            f"frequent class has {percent(weight.max() / total)} of them."
        )
        advice = "Make sure that it is known before the class is, or else leave it out."
        if not alone:
            advice += " Several columns tell as much: the classes may simply be far apart."
        by_chance = pdtr(np.rint((1 - skill[j]) * wrong), (1 - _GOOD) * wrong)
        severity: Severity = "high" if alone and by_chance < _CHANCE else "medium"
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
    return np.where(varied & (within < _WITHIN * whole.m2), 1.0, 0.0)


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

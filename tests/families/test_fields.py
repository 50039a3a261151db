"""What families are told: numbers where numbers are meant, and an error that says so otherwise."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from naively import NaivelyError
from naively.data.tokens import TextOptions
from naively.families import FAMILIES, Text

NUMBERS = [
    (name, field.name)
    for name, family in FAMILIES.items()
    for field in fields(family)
    if field.default is None or type(field.default) in (int, float)
]


@pytest.mark.parametrize("value", ["x", [1.0], 10**400, float("nan")], ids=str)
@pytest.mark.parametrize(("family", "field"), NUMBERS)
def test_what_is_no_number_is_refused_by_the_name_of_its_field(
    family: str, field: str, value: Any
) -> None:
    with pytest.raises(NaivelyError, match=field):
        FAMILIES[family](**{field: value})


@pytest.mark.parametrize(
    "given", [3, None, (1,), (1, 2, 3), "12", (1.5, 2), (True, 2), (0, 1), (2, 1), (1, 2**16)]
)
def test_a_range_of_n_grams_is_two_whole_numbers(given: Any) -> None:
    with pytest.raises(NaivelyError, match="ngram_range must be two whole numbers"):
        Text(ngram_range=given)


@pytest.mark.parametrize("field", [{"hashed": 1.5}, {"hashed": True}, {"hashed": 0}])
def test_words_are_hashed_to_a_whole_number_of_places(field: Any) -> None:
    with pytest.raises(NaivelyError, match="hashed must be a whole number"):
        Text(**field)


@pytest.mark.parametrize("value", [None, "no", 1])
def test_lower_case_is_wanted_or_not(value: Any) -> None:
    with pytest.raises(NaivelyError, match="lowercase must be True or False"):
        TextOptions(lowercase=value)


def test_numbers_of_numpy_are_numbers() -> None:
    text = Text(ngram_range=(np.int64(1), np.int32(2)), hashed=np.int64(64), alpha=np.float32(0.5))
    assert text == Text(ngram_range=(1, 2), hashed=64, alpha=0.5)

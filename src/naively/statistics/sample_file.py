"""The rows of a sample in a file, and what they must satisfy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from naively.axes import Axes
from naively.statistics.sampled_cells import numbers_from
from naively.tensors import Tensors, UnsoundError
from naively.text_rows import TextRows

if TYPE_CHECKING:
    from naively.statistics.sample import Sample

__all__ = ["check_sample", "read_rows"]


def read_rows(
    tensors: Tensors, n_rows: int, n_numbers: int, n_categories: int, is_sparse: int, *sizes: int
) -> dict[str, Any]:
    """Return the rows of a sample, with the sizes of the vocabularies of text."""
    return {
        "hashes": tensors.take("sample.hashes", np.uint64, (n_rows,)),
        "weight": tensors.weights("sample.weight", (n_rows,)),
        "codes": tensors.take("sample.codes", np.int32, (n_rows,)),
        "numbers": numbers_from(tensors, (n_rows, n_numbers), bool(is_sparse)),
        "categories": tensors.take("sample.categories", np.int32, (n_rows, n_categories)),
        "texts": TextRows.from_tensors(tensors, "sample.texts", n_rows, sizes) if sizes else None,
    }


def check_sample(sample: Sample, axes: Axes) -> None:
    """Raise where rows are too many, without weight, equal, not in order, or of no class."""
    sizes = np.array([column.size for column in axes.vocabularies], dtype=np.int64)
    codes, cells, hashes = sample.codes, sample.categories, sample.hashes
    outside = (codes < 0) | (codes >= axes.classes.size)
    if outside.any() or ((cells < -1) | (cells >= sizes)).any():
        raise UnsoundError("its sample holds codes of no class or no category")
    numbers = getattr(sample.numbers, "values", sample.numbers)
    if np.isinf(numbers).any() or (len(sample) and int(hashes[-1]) >= sample.bound):
        raise UnsoundError("its sample holds infinity, or a hash beyond its bound")
    same = hashes[1:] == hashes[:-1]
    order = (hashes[1:] > hashes[:-1]) | (same & (codes[1:] > codes[:-1]))
    few = len(sample.least(sample.size)) == len(sample)
    if not (few and order.all() and (sample.weight > 0).all()):
        raise UnsoundError("its sample must be few rows of weight, by ascending hashes")

r"""Scores rows on a GPU by a model's forms.

Gaussian rows are screened by matrix products, with a bound of the error. With :math:`z_j = (x_j -
o_j)\,t_j`, a sum of squares is a sum of products,

.. math::

    c_k + \sum_j A_{kj} - B_{kj} (x_j - \mu_{kj})^2 = c'_k + \sum_j b_{kj} z_j + q_{kj} z_j^2

and what all classes share is taken from b and q: the less they are, the smaller is the error. With
u the relative and v the absolute error of numbers in float16, and :math:`\beta, \gamma` the largest
:math:`|b|, |q|` of a column, no score is wrong by more than

.. math:: \sum_j u (\beta |z| + \gamma z^2) + v (\beta + \gamma + |z| + z^2),
          \qquad |z| \le \tfrac12 (1 + z^2)

which is linear in :math:`z^2`, as the score of a class is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import NUMBER
from naively.data.types import Floats
from naively.engines.gpu.rows import DeviceRows
from naively.engines.memory.devices import power_of_two, processors, sent, torch_for
from naively.families.forms import Form, Lines, Pieces, Quadratics, Students, Tables
from naively.model.model import Model

_MOST_CENTRED = 1024  # classes whose terms are centred in one tile
_MOST_SCREENED = 255  # classes that the screen knows; the bound of the error is one more
_MOST_CELLS = 1 << 26  # of rows and classes, that are scored together in float64
_FIRST_CELLS = 1 << 19  # that are scored again before the host knows how many are in doubt
_LIMIT = 1e-3  # of the error of a log-probability: rows beyond are scored in float64


def is_scored_here(model: Model, want: str) -> bool:
    """Whether a GPU knows all forms of a model."""
    if model.interactions is not None or model.words:
        return False
    if model.tables is not None and not model.coded:
        return False
    forms = [term.form for term in model.terms if term.family.kind is NUMBER]
    return all(_is_known(form, want) for form in forms)


def _is_known(form: Form, want: str) -> bool:
    if isinstance(form, Quadratics | Students):
        return form.weight is None or form.B.shape[1] <= _MOST_CENTRED
    if isinstance(form, Lines):  # what all classes share needs a beta function
        return want not in ("joint", "evidence") or form.carrier is None
    return isinstance(form, Pieces)


class DeviceScorer:
    """A model on a GPU."""

    def __init__(self, model: Model, device: Any) -> None:
        self.torch = torch_for("scoring rows on a GPU")
        self.model, self.device = model, device
        self.constant = self._sent(model.constant)
        self.possible = self._sent((model.constant > -np.inf).astype(np.int32))
        self.numbers = [(t.at, t.form) for t in model.terms if t.family.kind is NUMBER]
        self._screens: dict[bool, Any] = {}

    @cached_property
    def _adders(self) -> list[Callable[[Any, Any, bool], None]]:
        forms: list[Any] = [*self.numbers]
        if self.model.tables is not None:
            forms.append(((), self.model.tables))
        return [self._adder(at, form) for at, form in forms]

    @cached_property
    def names(self) -> Any:
        """The labels of the classes, or their places where labels are no numbers."""
        classes = self.model.classes
        return self._sent(classes if classes.dtype.kind in "iuf" else np.arange(classes.size))

    def answers(self, want: str, rows: DeviceRows, out: Any) -> Any:
        """Write what is wanted into a tensor, and return which rows are left to the host."""
        here = self.torch.cuda.device_of(rows.tensor)
        with here, np.errstate(all="ignore"):  # Triton's interpreter computes by NumPy
            return self._answers(want, rows, out)

    def _answers(self, want: str, rows: DeviceRows, out: Any) -> Any:
        X, torch = rows.tensor, self.torch
        screened = None
        if want in ("labels", "proba") and rows.dtype == np.float32:
            screened = self._screened(X, out, exact=want == "proba")
        if screened is None:
            return self._in_float64(want, X, torch.arange(len(X), device=self.device), out)
        doubtful, counts = screened
        first = doubtful[: self._rows_of(_FIRST_CELLS)]
        bad = self._again(want, X, first, out, counts[1:])
        n_doubtful, n_bad = counts.tolist()  # the only time that the host waits, if these were all
        rest = self._in_float64(want, X, doubtful[len(first) : n_doubtful], out)
        return torch.cat([bad[:n_bad], rest]) if len(rest) else bad[:n_bad]

    def _rows_of(self, cells: int) -> int:
        return max(1, cells // self.constant.numel())

    def _in_float64(self, want: str, X: Any, index: Any, out: Any) -> Any:
        """Score some rows; return those of them that are left to the host."""
        bad = [index[:0]]
        for part in index.split(self._rows_of(_MOST_CELLS)) if len(index) else ():
            count = self.torch.zeros(1, dtype=self.torch.int32, device=self.device)
            found = self._again(want, X, part, out, count)
            bad.append(found[: int(count)])
        return self.torch.cat(bad)

    def _sent(self, array: Any) -> Any:
        return sent(array, self.device)

    def _screened(self, X: Any, out: Any, *, exact: bool) -> Any:
        """Score Gaussian rows by matrix products, or return None where they cannot be.

        Return a list of the doubtful rows, which -1 ends; and a place for their number, and for the
        number of those that will be left to the host.
        """
        from naively.engines.gpu.kernels import OutOfResources, score_rows

        (n, d), K = X.shape, self.constant.numel()
        C, P = min(64, power_of_two(d)), power_of_two(K + 1)
        shape = -(-d // C) * C, P
        if exact not in self._screens:
            self._screens[exact] = self._screen(shape, exact)
        weights = self._screens[exact]
        if weights is None:
            return None
        torch = self.torch
        doubtful = torch.empty(n, dtype=torch.int64, device=self.device)
        doubtful[: self._rows_of(_FIRST_CELLS)] = -1
        counts = torch.zeros(2, dtype=torch.int32, device=self.device)
        n_tiles = -(-n // 64)
        many = exact and P > 128 and d > C  # three stages need 427 kB of shared memory, one 131 kB
        try:
            score_rows[min(n_tiles, 8 * processors(self.device)),](
                X, *X.stride(), *weights, self.names, out, doubtful, counts, n, d, K, shape[0],
                n_tiles, EXACT=exact, ONE=d <= C, R=64, C=C, P=P,
                num_warps=4, num_stages=1 if many else 3,
            )  # fmt: skip
        except OutOfResources:  # on a GPU with less shared memory: all rows in float64
            self._screens[exact] = None
            return None
        return doubtful, counts

    def _screen(self, shape: tuple[int, int], exact: bool) -> Any:
        """Return the weights of the screen on the GPU; None where the model is no Gaussian's."""
        model = self.model
        if len(self.numbers) != 1 or model.tables is not None or shape[1] > _MOST_SCREENED + 1:
            return None
        at, form = self.numbers[0]
        if not isinstance(form, Quadratics) or [*at] != [*range(model.schema.n_columns)]:
            return None
        if not form.is_plain or not np.isfinite(model.constant).any():
            return None
        weights = screen_weights(form, model.constant, shape, exact=exact, limit=_LIMIT)
        return None if weights is None else [self._sent(part) for part in weights]

    def _again(self, want: str, X: Any, index: Any, out: Any, count: Any) -> Any:
        """Score some rows; return a place for those that are left to the host, and count them."""
        from naively.engines.gpu import kernels

        torch, K, n = self.torch, self.constant.numel(), index.numel()
        joint = torch.empty((n, K), dtype=torch.float64, device=self.device)
        for i, add in enumerate(self._adders):
            add((X, *X.stride(), index), joint, i == 0)
        bad = torch.empty(n, dtype=torch.int64, device=self.device)
        P = min(64, power_of_two(K))
        given = joint, self.possible, self.names, index, out, bad, count, n, K
        kernels.finish[-(-n // 64),](*given, WANT=want, R=64, P=P)
        return bad

    def _adder(self, at: Sequence[int], form: Form) -> Callable[[Any, Any, bool], None]:
        """Return what adds the terms of a form, whose arrays are on the GPU from now on."""
        from naively.engines.gpu import kernels

        columns, K = self._sent(np.asarray(at, np.int64)), self.constant.numel()
        P, m = min(64, power_of_two(K)), len(at)
        sizes: tuple[int, ...]
        options: dict[str, Any] = {}
        if isinstance(form, Tables):
            kernel, sizes = kernels.add_tables, (len(form.offsets) - 1, K)
            arrays = [self._sent(form.offsets), self._sent(form.values)]
        elif isinstance(form, Pieces):
            n_knots = form.knots.shape[1]
            kernel, sizes = kernels.add_pieces, (m, K, n_knots, n_knots.bit_length() + 1)
            arrays = [columns, self._sent(form.knots), self._sent(form.values)]
        else:
            kind, parts, weight = _arrays(form)
            P = P if weight is None else power_of_two(K)  # the mean is of all classes
            kernel, sizes = kernels.add_terms, (m, K)
            options = {"FORM": kind, "CENTRED": weight is not None}
            arrays = [columns, *map(self._sent, [*parts, parts[0] if weight is None else weight])]

        def add(place: Any, joint: Any, first: bool) -> None:
            n, half = joint.shape[0], place[0].dtype.itemsize == 2
            given = *place, *arrays, self.constant, joint, n, *sizes
            kernel[-(-n // 64), -(-K // P)](*given, FIRST=first, HALF=half, R=64, P=P, **options)

        return add


def _arrays(form: Any) -> tuple[str, list[Any], Any]:
    """Return the kernel's name of a form, its arrays, and weights that differ by class."""
    if isinstance(form, Lines):
        step = np.array([np.nan if form.step is None else form.step])
        kind = "lines" if form.step is None else "steps"
        return kind, [form.A, form.B, np.array([form.lowest]), step], None
    s = np.ones_like(form.B) if form.s is None else form.s
    parts = form.A, form.B, form.mu, s
    known = ~np.isnan(sum(parts))
    arrays = [np.where(known, part, 0.0) for part in parts]  # what is unknown adds nothing
    return "students" if isinstance(form, Students) else "quadratics", arrays, form.weight


# --- The weights of the screen, and a bound of its error ------------------------------------------


_LARGEST = 6e4  # in float16
_ONE = 2.0**-10  # of a product of two float16: each is rounded to 11 bits
_TWO = 2.0**-20  # where both are sums of two
_TINY = 2.0**-24  # what rounding may change of the least numbers
_SUM = 2.0**-22  # of a sum in float32, for each of its terms


class ScreenWeights(NamedTuple):
    """Arrays as the kernel reads them, with zeros beyond the columns and classes of the model."""

    columns: NDArray[np.float32]  # origins, and scales
    linear: NDArray[np.float16]  # firsts and seconds, by column and class; the last is the bound
    square: NDArray[np.float16]
    constant: NDArray[np.float32]  # by class
    limits: NDArray[np.float32]  # the unit of the bound, and the largest error of probabilities


def screen_weights(
    form: Quadratics, constant: Floats, shape: tuple[int, int], *, exact: bool, limit: float
) -> ScreenWeights | None:
    """Return the weights of a model, for so many columns and classes; None where they are too far.

    Exact ones are for probabilities, whose bound is what errors typically are: sums of float32
    are taken as right.
    """
    d, K = form.B.shape
    s = np.ones_like(form.B) if form.s is None else form.s
    known = ~np.isnan(form.A + form.B + form.mu + s)
    with np.errstate(all="ignore"):
        A, B, mu = (np.where(known, part, 0.0) for part in (form.A, form.B * s * s, form.mu))
        count = np.maximum(known.sum(axis=1), 1)
        origin = (mu.sum(axis=1) / count).astype(np.float32)
        width = np.sqrt(2 * B.sum(axis=1) / count)
        scale = np.exp2(np.round(np.log2(np.where(width > 0, width, 1.0))))
        m = np.where(known, mu - origin[:, np.newaxis], 0.0)
        possible, t = constant > -np.inf, scale[:, np.newaxis]
        b, q = (_centred(part, possible) for part in (2 * B * m / t, -B / t**2))
        c = constant + (A - B * m * m).sum(axis=0)
        c -= c.max()
        u = _TWO if exact else _ONE + 2 * d * _SUM
        beta, gamma = (np.abs(part).max(axis=1) for part in (b, q))
        bound = u * (gamma + beta / 2) + 2 * _TINY
        rest = (u * beta / 2 + _TINY * (beta + gamma + 1)).sum()
        rest += 2 * d * _SUM * np.abs(c[possible]).max()
        columns = np.zeros((2, shape[0]), np.float32)
        columns[0, :d], columns[1, :d] = origin, scale
        unit = np.exp2(np.ceil(np.log2(bound.max())))
        lines = np.zeros((2, *shape))
        lines[0, :d, :K], lines[1, :d, :K] = b, q
        lines[1, :d, -1] = 1.01 * bound / unit + _TINY
        constants = np.full(shape[1], -np.inf, np.float32)
        constants[:K], constants[-1] = c, 1.01 * rest / unit
        limits = np.array([unit, limit], np.float32)
    fine = [np.isfinite(part).all() for part in (columns, lines, c[possible], limits)]
    if not all(fine) or np.abs(lines).max() > _LARGEST or not (columns[1, :d] > 0).all():
        return None
    first = lines.astype(np.float16)
    second = (lines - first).astype(np.float16)
    linear, square = np.stack([first, second], axis=1)
    return ScreenWeights(columns, linear, square, constants, limits)


def _centred(part: Floats, possible: NDArray[np.bool_]) -> Floats:
    """Return weights without the middle of their range over possible classes; 0 for others."""
    some = part[:, possible]
    middle = (some.max(axis=1) + some.min(axis=1)) / 2
    return np.where(possible, part - middle[:, np.newaxis], 0.0)

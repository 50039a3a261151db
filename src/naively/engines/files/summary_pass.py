"""Files become a summary, in one pass, bounded memory, and on all cores.

The pass that summarizes files: summaries of pieces are added in the order of the rows.

The order of the sum is that of the files and of the rows in them, whatever the threads do and
wherever the pass was interrupted: the same bits always.

How far a pass has come, kept in a file that is always whole.

The file is written like a model's: safetensors, with a JSON text in its header. It holds two
summaries, one after the other: of all that was read, and of the files before the one that is
being read. If that one turns out to be bad, or has changed when the pass goes on, nothing of
it counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from naively import __version__
from naively.data import remote
from naively.data.remote import shown
from naively.data.schema import Schema
from naively.data.tensors import UnsoundError
from naively.data.whole_files import write_atomically
from naively.engines.files.cells import RowError, pa, settled, typed
from naively.engines.files.csv import CsvDialect
from naively.engines.files.file_pass import FilePass, FileStep, Progress, errors_in, pieces
from naively.engines.files.piece_summary import (
    BatchSum,
    PieceSummary,
    Regroup,
    SharedCounts,
    Summarizer,
    absorbed,
)
from naively.engines.files.plan import (
    LABEL_TYPES,
    ColumnPlan,
    Request,
    SchemaFromFirstRows,
    check_form,
)
from naively.engines.files.readers import FirstRows
from naively.engines.files.sources import BadFileError, File, Position, are_text
from naively.engines.memory.columns import LeftOut
from naively.errors import NaivelyError, need, warn
from naively.statistics import model_file
from naively.statistics.hashed_texts import are_hashed_words
from naively.statistics.sample import EVERYTHING
from naively.statistics.summary import Summary


@dataclass(frozen=True)
class Scan:
    """What a pass over files has found.

    Attributes
    ----------
    summary : Summary
        Of all rows.
    left_out : tuple of LeftOut
        The columns that were not learned from, and why.
    bad_files : tuple of (str, str)
        The files that were skipped, and why.
    rows, bytes : int
        How much was read.
    unlabelled : int
        How many rows of this pass were left out, since they have no label.
    """

    summary: Summary
    left_out: tuple[LeftOut, ...]
    bad_files: tuple[tuple[str, str], ...]
    rows: int
    bytes: int
    unlabelled: int = 0


def summarize(source: Any, *, target: str, **options: Any) -> Summary:
    """Summarize files by their labels; `scan` says what the options are, and returns more."""
    return scan(source, target=target, **options).summary


def scan(
    source: Any,
    *,
    target: str | None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    weight: str | None = None,
    schema: Schema | SchemaFromFirstRows | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    skip_bad_files: bool = False,
    skip_columns: bool = False,
    drop_missing_target: bool = False,
    progress: Progress | None = None,
    n_jobs: int | None = None,
    label_type: str | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: str = ".",
    missing: Sequence[str] = (),
    encoding: str | None = None,
) -> Scan:
    r"""Summarize files by their labels, in one pass and little memory.

    Parameters
    ----------
    source : str, path-like, list of those, an Arrow stream, or FirstRows
        Files of CSV or JSON lines (also compressed: gzip, zstd, bz2, xz, lz4), Parquet or Arrow: a
        path, a folder, a glob, here or remote ("s3://bucket/a.csv"), "-" for standard input. What a
        path says, as in ``year=2024/a.parquet``, is a column. Or an object with
        ``__arrow_c_stream__``: a data frame, a relation of DuckDB, a reader; or a lazy frame of
        polars, which is streamed. Or files that have been looked at already.
    target : str or None
        The column of labels; None where there is none: then all rows are of one class.
    columns : sequence of str, optional
        The columns to learn from; None for all, but those without a name.
    exclude : sequence of str
        Not from these.
    weight : str, optional
        A column of weights, finite and >= 0.
    schema : Schema, optional
        What is measured, such as that of a summary to which this one will be added: its columns
        are found by name. None: what the types say. It may be `SchemaFromFirstRows`. A CSV file has
        no types: what its first rows look like counts.
    checkpoint : path-like, optional
        A file to which the state of the pass is saved every few seconds. If it is there, the
        pass goes on from it, and the result has the bits of an uninterrupted pass.
    skip_bad_files : bool, default=False
        Leave out files that cannot be read to their end, wholly, instead of stopping there.
    skip_columns : bool, default=False
        Leave out columns that cannot be learned from, such as lists, and those that are empty in
        the first rows, instead of raising; `Scan.left_out` names them.
    drop_missing_target : bool, default=False
        Leave out rows without a label, instead of raising; `Scan.unlabelled` counts them.
    progress : callable, optional
        Called with the numbers of rows and bytes so far, and of all bytes (None if unknown).
    n_jobs : int, optional
        Threads; None for all cores. It does not change a bit.
    label_type : {"str", "int", "float", "bool"}, optional
        What the labels of CSV files are; None for what all of them look like.
    types : mapping, optional
        The same for columns of categories, by name; otherwise, what their first rows look like.
    separator, decimal, missing
        How CSV is written: the character between cells (None: a tab in .tsv, else a comma), the
        one before a fraction, and further texts that mean a missing cell.
    encoding : str, optional
        How CSV and JSON lines are encoded, as Python calls it: "latin-1", "cp1252", "utf-16". None:
        UTF-8, or what a byte-order mark says.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("height,name,sex\n1.7,Ada,f\n1.8,Bob,m\n,Cleo,f\n")
    >>> found = scan(path, target="sex")
    >>> found.summary
    <Summary of weight 3: 2 columns, 2 classes ('f', 'm')>
    >>> found.summary.schema.kinds
    ('number', 'category')
    """
    check_form(label_type)
    request = Request.of(
        target,
        schema,
        columns=columns,
        exclude=exclude,
        weight=weight,
        types=types,
        skip_columns=skip_columns,
        drop_missing_target=drop_missing_target,
    )
    first = FirstRows.of(source, CsvDialect(separator, decimal, tuple(missing), encoding))
    how: dict[str, Any] = {"skip_bad_files": skip_bad_files, "checkpoint": checkpoint}
    passing = SummaryPass(first, request, schema, progress=progress, **how)
    return _scanned(passing, n_jobs, label_type)


def scan_planned(
    first: FirstRows, plan: ColumnPlan, schema: Schema | SchemaFromFirstRows | None, **options: Any
) -> Scan:
    """Summarize files whose columns have been chosen; `scan` says what the options are."""
    return _scanned(SummaryPass(first, plan.request, schema, plan=plan, **options))


def _scanned(
    passing: SummaryPass, n_jobs: int | None = None, label_type: str | None = None
) -> Scan:
    state, files = passing.run(n_jobs), passing.first.files
    is_text = are_text(files, passing.request.target)
    summary = typed(state.summary, label_type) if is_text else settled(state.summary)
    n_bytes = sum(file.size or 0 for file in files)
    unlabelled = passing.plan.n_unlabelled([name for name, _ in state.bad])
    return Scan(summary, passing.plan.left_out, state.bad, state.rows, n_bytes, unlabelled)


# --- The pass that summarizes files -------------------------------------------------------------


SECONDS = 3.0  # between two checkpoints
FIRST = 1 << 15  # rows that are looked at where they decide what is measured


class SummaryPass:
    """A pass over files that summarizes them, and how far it has come."""

    def __init__(
        self,
        first: FirstRows,
        request: Request,
        schema: Schema | SchemaFromFirstRows | None = None,
        *,
        plan: ColumnPlan | None = None,
        skip_bad_files: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        regroup: Regroup | None = None,
    ) -> None:
        self.first, self.request, self.schema = first, request, schema
        self.regroup = regroup
        self.skip_bad_files, self.checkpoint, self.progress = skip_bad_files, checkpoint, progress
        self._saved_at = monotonic()
        resumed = self._resumed()
        self.plan = self._decided(self._checked(plan), resumed)
        self.state = resumed or PassState.beginning(self.plan.schema)
        # Where the state need not be whole after each piece, the sum is made beside it.
        apart = checkpoint is not None or skip_bad_files
        self._sum = None if apart else BatchSum(self.plan.schema)
        if not _agree(self.state.summary.schema, self.plan.schema):
            raise NaivelyError(
                f"the checkpoint {str(checkpoint)!r} is of other columns. Remove it to start again."
            )

    def run(self, n_jobs: int | None) -> PassState:
        """Read everything, from the checkpoint on if there is one."""
        state, files = self.state, self.first.files
        start = len(state.finished)
        goes_on = start < len(files) and state.current == files[start].identity
        position = state.position if goes_on else None
        try:
            with FilePass(self.first, n_jobs) as passing:
                passing.skipped |= {name for name, _ in state.bad}
                counts = self._shared_counts(passing.threads)
                summarizer = Summarizer(self.plan, self._bound, counts, self.regroup)
                for step in passing.steps(self.plan, summarizer.tasks, start, position):
                    self._take(step, summarizer, passing)
            self._finish(counts)
        finally:
            self._save()
        return self.state

    # --- before: what to read, and from where -------------------------------------------------

    def _resumed(self) -> PassState | None:
        if self.checkpoint is None:
            return None
        if any(file.size is None for file in self.first.files):
            raise NaivelyError("a checkpoint needs files, which can be read again; got a stream.")
        if remote.is_remote(self.checkpoint):
            raise NaivelyError(
                f"a checkpoint must be a file of this machine; got {shown(self.checkpoint)!r}."
            )
        if not Path(self.checkpoint).exists():
            return None
        state = load(self.checkpoint, self._asked())
        return state.resumed(self.first.files, str(self.checkpoint))

    def _asked(self) -> dict[str, Any]:
        """Return what must be the same when a pass goes on, as JSON knows it."""
        return json.loads(json.dumps(asdict(self.request) | asdict(self.first.dialect)))

    def _checked(self, plan: ColumnPlan | None) -> ColumnPlan:
        """Choose the columns, if the caller has not."""
        if plan is None:
            self._check_first_files()
            fixed = self.schema if isinstance(self.schema, Schema) else None
            plan = ColumnPlan.of(self.first, self.request, fixed)
        self._check_first_files()  # more of them may have been looked at
        plan.check_some(self.first.where)
        return plan

    def _check_first_files(self) -> None:
        if not self.skip_bad_files:
            self.first.check_sound()

    def _decided(self, plan: ColumnPlan, resumed: PassState | None) -> ColumnPlan:
        """Return what is measured: if it depends on the first rows, they are measured before."""
        if not isinstance(self.schema, SchemaFromFirstRows) or self.schema.complete is None:
            return plan
        sampling = replace(plan, schema=replace(plan.schema, sample=self.schema.sample))
        first = self._summary_of_first_rows(sampling)
        text = are_text(self.first.files, self.request.target)
        decided = self.schema.complete(typed(first, None) if text else settled(first))
        before = None if resumed is None else resumed.summary.schema
        if before is not None and (before.edges is None) == (decided.edges is None):
            # Its edges may be of rows that have been skipped since.
            before = before.decided(decided.held, decided)
            decided = replace(decided, edges=before.edges, knots=before.knots)
        found = zip(first.schema.categories, first.categories, strict=True)
        forms = {plan.features[j]: LABEL_TYPES.get(names.dtype.kind, "str") for j, names in found}
        return replace(plan, schema=decided, categories=forms | plan.categories)

    def _summary_of_first_rows(self, plan: ColumnPlan) -> Summary:
        """Summarize the first rows. Whatever is wrong with a file, the pass itself will say."""
        summarizer = Summarizer(plan, lambda: EVERYTHING)
        total, rows = Summary.zero(plan.schema), 0
        for file in self.first.files if plan.schema.sample else []:
            its = Summary.zero(plan.schema)
            try:
                for piece in pieces(self.first, file, plan, {}, again=True):
                    for summary, n in summarizer.summaries(*piece):
                        its, rows = its + summary, rows + n
                        if rows >= FIRST:
                            return total + its
                total = total + its
            except (NaivelyError, RowError, OSError, UnicodeDecodeError, pa.ArrowException):
                if not self.skip_bad_files:
                    break
        return total

    # --- in turn ------------------------------------------------------------------------------

    def _take(self, step: FileStep, summarizer: Summarizer, passing: FilePass) -> None:
        """Add the result of a step; skip its file, if that is bad and may be skipped."""
        file = step.file
        if file.name not in passing.skipped:
            try:
                with errors_in(step, self.state.rows - self.state.before[1]):
                    self._add(step, summarizer)
            except BadFileError as error:
                if not self.skip_bad_files:
                    raise
                self.state = self.state.skipped(file, error.reason)
                passing.skipped.add(file.name)
        if self.progress is not None:
            self.progress(self.state.rows, step.bytes, self.first.n_bytes)
        if monotonic() - self._saved_at > SECONDS:
            self._save()

    def _add(self, step: FileStep, summarizer: Summarizer) -> None:
        if step.piece is None:
            self.state = self.state.ended(step.file)
            return
        found: PieceSummary = summarizer.joined([result.result() for result in step.results])
        if self._sum is None:
            self.state = self.state.added(*found, step.file, step.piece.after)
            return
        self._sum.add(found.summary)
        self.state = replace(self.state, now=(self.state.summary, self.state.rows + found.n_rows))

    def _finish(self, counts: SharedCounts | None) -> None:
        """Put together what was added outside the state."""
        total = self.state.summary
        if self._sum is not None:
            total = total + self._sum.total()
        if counts is not None:
            total = total + counts.summary()
        self.state = replace(self.state, now=(total, self.state.rows))

    def _shared_counts(self, threads: int) -> SharedCounts | None:
        """Return where threads count hashed words, if it does not matter of which piece they are.

        Sums of weights depend on their order.
        """
        if self._sum is None or self.request.weight or not are_hashed_words(self.plan.schema):
            return None
        return SharedCounts(self.plan.schema, threads)

    def _bound(self) -> int:
        """Return the hash below which rows may still come into the sample of the whole pass.

        The rows of the current file are ignored: it may still be skipped.
        """
        if self._sum is not None:
            return self._sum.bound
        sample = (self.state.before[0] if self.skip_bad_files else self.state.summary).sample
        return EVERYTHING if sample is None else sample.bound

    def _save(self) -> None:
        if self.checkpoint is not None:
            save(self.checkpoint, self.state, self._asked())
        self._saved_at = monotonic()


def _agree(before: Schema, now: Schema) -> bool:
    """Whether a pass goes on: with the same schema, but for what was decided on the way."""
    try:
        before.united(now)
    except NaivelyError:
        return False
    return True


# --- How far a pass has come, kept in a file that is always whole -------------------------------


_FORMAT = 4


@dataclass(frozen=True)
class PassState:
    """How far a pass has come."""

    # the summary of all pieces so far, and how many rows they have; the same for finished files
    now: tuple[Summary, int]
    before: tuple[Summary, int]
    finished: tuple[list[Any], ...] = ()  # name, size and time of each file that is finished
    bad: tuple[tuple[str, str], ...] = ()  # name of and reason for each of them that was skipped
    current: list[Any] | None = None  # name, size and time of the file that is being read
    position: Position | None = None  # where it goes on in that file

    @classmethod
    def beginning(cls, schema: Schema) -> PassState:
        """Nothing has been read."""
        nothing = Summary.zero(schema), 0
        return cls(nothing, nothing)

    @property
    def summary(self) -> Summary:
        """The summary so far."""
        return self.now[0]

    @property
    def rows(self) -> int:
        """How many rows have been read."""
        return self.now[1]

    def added(self, summary: Summary, rows: int, file: File, position: Position) -> PassState:
        """Add a piece of a file; the summary so far is given up, unless it is also that before."""
        total, n_rows = self.now
        shared = total is self.before[0]
        now = total + summary if shared else absorbed(total, summary), n_rows + rows
        return replace(self, now=now, current=file.identity, position=position)

    def ended(self, file: File) -> PassState:
        """Finish a file."""
        return PassState(self.now, self.now, (*self.finished, file.identity), self.bad)

    def skipped(self, file: File, reason: str) -> PassState:
        """Finish a file of which nothing is to count."""
        finished, bad = (*self.finished, file.identity), (*self.bad, (file.name, reason))
        return PassState(self.before, self.before, finished, bad)

    def resumed(self, files: Sequence[File], path: str) -> PassState:
        """Return where to go on with these files, of which those finished must be the first."""
        for old, file in zip(self.finished, files, strict=False):
            if old != file.identity:
                raise NaivelyError(
                    f"the checkpoint {path!r} is of other files: it has read {old[0]!r} "
                    f"({old[1]} bytes), and now there is {file.name!r} ({file.size} bytes, "
                    "changed since, or another). Remove the checkpoint to start again."
                )
        if len(files) < len(self.finished):
            raise NaivelyError(
                f"the checkpoint {path!r} is of other files: it has read "
                f"{self.finished[len(files)][0]!r}, which is not among them. "
                "Remove the checkpoint to start again."
            )
        rest = files[len(self.finished) :]
        if self.current is None or (rest and rest[0].identity == self.current):
            return self
        warn(
            f"{self.current[0]!r} has changed since the checkpoint {path!r} was written, or is "
            "not the next file: it is read again from its beginning.",
        )
        return PassState(self.before, self.before, self.finished, self.bad)


def save(path: str | os.PathLike[str], state: PassState, asked: dict[str, Any]) -> None:
    """Write a checkpoint, whole or not at all; only a pass that asks for the same may go on."""
    write = need("safetensors.numpy", "saving a checkpoint", extra="files").save
    sums = state.now, state.before
    packed = [model_file.pack(summary) for summary, _ in sums]
    header = {
        "format": _FORMAT,
        "kind": "checkpoint",
        "naively": __version__,
        "asked": asked,
        "summaries": [words for words, _ in packed],
        "rows": [rows for _, rows in sums],
        "finished": state.finished,
        "bad": state.bad,
        "current": state.current,
        "position": state.position,
    }
    tensors = {
        f"{i}.{name}": tensor for i, (_, its) in enumerate(packed) for name, tensor in its.items()
    }
    text = model_file.as_json(header)
    for words, its in packed:
        model_file.check(json.loads(model_file.as_json(words)), its)
    write_atomically(path, write(tensors, {"naively": text}))


def load(path: str | os.PathLike[str], asked: dict[str, Any]) -> PassState:
    """Read a checkpoint of a pass that was asked for the same."""
    try:
        header, tensors = model_file.parse(path)
        if header.get("kind") != "checkpoint":
            raise UnsoundError("it is something else")
        model_file.check_format(header.get("format"), _FORMAT, header)
        if header["format"] != _FORMAT:
            raise UnsoundError("it was written by an older version")
        state = _state(header, tensors)
    except OSError as error:
        raise NaivelyError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    except model_file.NewerError as error:
        raise NaivelyError(f"{str(path)!r} {error}, or remove it to start again.") from None
    except (UnsoundError, KeyError, TypeError, ValueError, IndexError) as error:
        raise NaivelyError(
            f"{str(path)!r} is not a valid checkpoint: {error}. Remove it to start again."
        ) from None
    for name, value in asked.items():
        if header["asked"].get(name) != value:
            raise NaivelyError(
                f"the checkpoint {str(path)!r} is of another pass: {name} was "
                f"{header['asked'].get(name)!r} and is now {value!r}. "
                "Remove the checkpoint to start again."
            )
    return state


def _state(header: dict[str, Any], tensors: dict[str, Any]) -> PassState:
    sums = [
        model_file.unpack(
            words, {n[2:]: tensor for n, tensor in tensors.items() if n.startswith(f"{i}.")}
        )
        for i, words in enumerate(header["summaries"])
    ]
    now, before = zip(sums, header["rows"], strict=True)
    return PassState(
        now,
        before,
        tuple(header["finished"]),
        tuple((name, reason) for name, reason in header["bad"]),
        header["current"],
        header["position"],
    )

"""One random table, learned and asked about on many routes: there is one model, and one answer.

The model that `fit` gives for an Arrow table in memory is the judge of all others. Where it cannot
be fitted, no route may give a model. A route that cannot take a table stands in `CANNOT`, with the
reason, and must say so in a `NaivelyError`.
"""

import json
import pickle
import re
import tempfile
from dataclasses import dataclass
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from hypothesis import strategies as st

import naively
from naively import NaivelyError, summarize
from naively.data.schema import Schema
from naively.engines.files import predict
from naively.export import to_onnx, to_sql
from tests import databases, oracles, postgres
from tests.every_engine import IN_MEMORY, as_pandas, as_polars, by_name, labelled, written
from tests.fuzz.tables import ESTIMATORS, Rows, cases

MISSING_IN_CSV = {*pacsv.ConvertOptions().null_values}
CANNOT = [  # the route, what it says, and why
    ("csv", "texts that mean a missing cell", "CSV has no others"),
    ("objects", "families names a column", "arrays have no names"),
    (
        "duckdb|sqlite|postgres|merged|batches|forgotten|repeated",
        "CategoricalNB reads columns of codes",
        "summaries of booleans hold categories",
    ),
    (
        "sqlite|postgres",
        r"must hold numbers; got text \(string\)",
        "a column of nothing is text there",
    ),
    ("csv|jsonl|arrow|parquet|stream", "CategoricalNB learns from codes", "files have no codes"),
    (
        "csv|jsonl|arrow|parquet",
        "labelled by GaussianNB or NaiveBayes; got Cat",
        "files have no codes",
    ),
    ("duckdb|sqlite|onnx", "a model of text cannot be exported", "words are not cut there"),
    (
        "batches|merged|forgotten|one by one",
        "has no variance with ddof=1",
        "the first rows of a column may be one, and are a model",
    ),
    ("batches|merged|forgotten|one by one", "needs more rows than classes times ddof", "as there"),
    ("onnx", "an empty text is a category", "and a missing cell, so it is one of both"),
    ("onnx", "a graph needs a column of which a cell has been seen", "it has no input"),
]


@dataclass
class Route:
    """What a route needs: how to begin, the rows to learn, and what the judge has measured."""

    new: Any
    rows: Rows
    rng: Any
    folder: str
    schema: Schema | None  # None where the judge could not be fitted

    def fit(self, table, y=None, w=None):
        y, w = (self.rows.y, self.rows.w) if y is None else (y, w)
        return self.new().fit(table, y, sample_weight=w)

    @property
    def is_plain(self):
        """Whether the types of columns alone say what is measured, whatever cells a part has."""
        if self.schema is not None and self.schema.texts:
            return False
        return self.schema in (None, summarize(self.rows.table, self.rows.y).schema)

    def begun(self, rows):
        """Return a model of some rows, which measures what the judge has measured."""
        if self.is_plain:
            return self.new(open_classes=True).partial_fit(rows.table, rows.y, sample_weight=rows.w)
        return self.summarized(rows.table, rows.y, sample_weight=rows.w)

    def summarized(self, X, *args, **options):
        schema = None if self.is_plain else self.schema
        found = summarize(X, *args, schema=schema, **options)
        return type(self.new()).from_summary(found, **self.new(open_classes=True).get_params())

    def from_files(self, source, **options):
        params = self.new().get_params()
        return type(self.new()).from_files(source, **options, **by_name(self.rows.w), **params)

    def whole(self):
        return labelled(self.rows.table, self.rows.y, self.rows.w)


# --- routes to a model --------------------------------------------------------------------------


def in_memory(name):
    return lambda route: route.fit(IN_MEMORY[name](route.rows.table))


def in_file(form, write=None):
    def learn(route):
        if write is None:
            path = as_file(route.whole(), form, route.folder)
        else:
            write(route.whole(), path := Path(route.folder, f"other.{form}"))
        return route.from_files(path, **(csv_types(route) if form == "csv" else {}))

    return learn


def as_file(table, form, folder):
    """Write a table in which every number has one spelling: that of a float32 is shorter."""
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    if form == "csv" and any(MISSING_IN_CSV & {*column.to_pylist()} for column in texts):
        raise NaivelyError("texts that mean a missing cell")
    types = [pa.float64() if pa.types.is_float32(f.type) else f.type for f in table.schema]
    return written(table.cast(pa.schema(zip(table.column_names, types, strict=True))), form, folder)


def csv_types(route):
    """Return what the cells of a CSV file are, where they look like something else."""
    names = [f.name for f in route.rows.table.schema if pa.types.is_string(f.type)]
    y = {"U": "str", "i": "int", "b": "bool"}[route.rows.y.dtype.kind]
    return {"label_type": y, "types": dict.fromkeys(names, "str")}


def chunked(route):
    table, cut = route.rows.table, route.rng.integers(0, len(route.rows.y), 2)
    pieces = [table[: min(cut)], table[min(cut) : max(cut)], table[max(cut) :]]
    return route.fit(pa.concat_tables(pieces))


def by_dask(route):
    with dask.config.set({"dataframe.convert-string": False}):
        return route.fit(dd.from_pandas(as_pandas(route.rows.table), npartitions=3))


def in_database(name):
    def learn(route):
        return route.summarized(databases.opened(name).load(route.whole()), **by_name(route.rows.w))

    return learn


def one_by_one(route):
    model, (table, y, w) = route.new(), (route.rows.table, route.rows.y, route.rows.w)
    for i, row in enumerate(table.to_pylist()):
        model.learn_one(row, y[i].item(), 1.0 if w is None else w[i])
    return model


def in_batches(route):
    first, *others = route.rows.parts(route.rng)
    model = route.begun(first)
    for part in others:
        model.partial_fit(part.table, part.y, sample_weight=part.w)
    return model


def merged(route):
    first, *others = route.rows.parts(route.rng)
    model, schema = route.begun(first), None if route.is_plain else route.schema
    for part in others:
        model.update(summarize(part.table, part.y, sample_weight=part.w, schema=schema))
    return model


def forgotten(route):
    first, *others = route.rows.parts(route.rng)
    model = route.begun(first)
    for rows in (first, *others):
        model.partial_fit(rows.table, rows.y, sample_weight=rows.w)
    return model.forget(first.table, first.y, sample_weight=first.w)


def with_rows_of_no_weight(route):
    rows, more = route.rows, route.rows.take(route.rng.integers(0, len(route.rows.y), 3))
    w = np.ones(len(rows.y)) if rows.w is None else rows.w
    table, y = pa.concat_tables([rows.table, more.table]), np.concatenate([rows.y, more.y])
    return route.fit(table, y, np.concatenate([w, np.zeros(3)]))


def repeated(route):
    """Learn a row of weight 2 as two rows, which tell no categories from text."""
    rows, w = route.rows, route.rows.w
    if route.schema is None or w is None or (w % 1).any():
        return route.fit(rows.table)
    rows = rows.take(np.repeat(np.arange(len(w)), w.astype(int)))
    summary = summarize(rows.table, rows.y, schema=route.schema)
    return type(route.new()).from_summary(summary, **route.new().get_params())


def permuted(route):
    rows = route.rows.take(route.rng.permutation(len(route.rows.y)))
    return route.fit(rows.table, rows.y, rows.w)


def saved(route):
    return reloaded(route.fit(route.rows.table), route.folder)


def reloaded(model, folder):
    model.save(path := Path(folder, "model.safetensors"))
    return naively.load(path)


LEARN = {
    "pandas": in_memory("pandas"),
    "pandas of Arrow": lambda route: route.fit(
        route.rows.table.to_pandas(types_mapper=pd.ArrowDtype)
    ),
    "polars": in_memory("polars"),
    "objects": in_memory("array of objects"),
    "chunks": chunked,
    "csv": in_file("csv"),
    "jsonl": in_file("jsonl"),
    "arrow": in_file("arrow"),
    "parquet": in_file("parquet"),
    "parquet of pandas": in_file("parquet", lambda table, path: as_pandas(table).to_parquet(path)),
    "parquet of polars": in_file(
        "parquet", lambda table, path: as_polars(table).write_parquet(path)
    ),
    "stream": lambda route: route.from_files(route.whole().to_reader(max_chunksize=7)),
    "dask": by_dask,
    "duckdb": in_database("duckdb"),
    "sqlite": in_database("sqlite"),
    **({} if postgres.binaries() is None else {"postgres": in_database("postgres")}),
    "one by one": one_by_one,
    "in batches": in_batches,
    "merged": merged,
    "forgotten": forgotten,
    "rows of weight 0": with_rows_of_no_weight,
    "repeated": repeated,
    "permuted": permuted,
    "saved": saved,
    "pickled": lambda route: pickle.loads(pickle.dumps(route.fit(route.rows.table))),
}

# --- routes to an answer ------------------------------------------------------------------------

TABLES = (f"rows_{n}" for n in count())  # PostgreSQL remembers how it read a table of that name


def answers_of(model, rows):
    return model.predict(rows), model.predict_proba(rows)


def in_frame(read):
    return lambda model, table, folder: answers_of(model, read(table))


def each(model, table, folder):
    rows = table.to_pylist()
    labels = [model.predict_one(row) for row in rows]
    return labels, np.array([model.predict_proba_one(row) for row in rows])


def to_file(form):
    def ask(model, table, folder):
        out = Path(folder, "answers.parquet")
        table = table.append_column("id", pa.array(range(len(table))))  # no line of CSV is empty
        predict(model, as_file(table, form, folder), out, proba=True)
        labels, *probabilities = pq.read_table(out).columns
        return labels.to_pylist(), np.column_stack(probabilities)

    return ask


def by_query(name):
    def ask(model, table, folder):
        rows = table.append_column("id", pa.array(range(len(table))))
        databases.opened(name).load(rows, its := next(TABLES))
        query = f"SELECT * FROM ({to_sql(model, its, keep=['id'], dialect=name)}) AS s ORDER BY id"
        cursor = databases.opened(name).connection.con.cursor()
        cursor.execute(query)
        _, labels, *probabilities = zip(*cursor.fetchall(), strict=True)
        databases.opened(name).run(f"DROP TABLE {its}")
        return labels, np.array(probabilities, dtype=float).T

    return ask


def by_graph(model, table, folder):
    session = onnxruntime.InferenceSession(to_onnx(model, dtype="float64"))
    columns = session.get_modelmeta().custom_metadata_map
    rows = [row | parts_of(row) for row in table.to_pylist()]
    numbers = [[row[name] for name in json.loads(columns["numbers"])] for row in rows]
    texts = [[row[name] for name in json.loads(columns["categories"])] for row in rows]
    if any("" in row for row in texts) or any("" in its for its in model.summary_.categories):
        raise NaivelyError("an empty text is a category")
    texts = [["" if cell is None else str(cell) for cell in row] for row in texts]
    given = {"X": np.array(numbers, dtype=float), "categories": np.array(texts, dtype=object)}
    wanted = {one.name: given[one.name] for one in session.get_inputs()}
    return session.run(["prediction", "probabilities"], wanted)


def parts_of(row):
    """Return the parts of all cells that may be dates."""
    dates = {c: cell for c, cell in row.items() if cell is None or isinstance(cell, date)}
    parts = {c: oracles.date_parts(cell) for c, cell in dates.items()}
    return {f"{c}.{part}": cell for c, its in parts.items() for part, cell in its.items()}


ASK = {
    "pandas": in_frame(as_pandas),
    "polars": in_frame(as_polars),
    "each": each,
    **{form: to_file(form) for form in ("csv", "jsonl", "parquet", "arrow")},
    "duckdb": by_query("duckdb"),
    "sqlite": by_query("sqlite"),
    "onnx": by_graph,
    "saved": lambda model, table, folder: answers_of(reloaded(model, folder), table),
}
CASES = st.sampled_from(list(ESTIMATORS)).flatmap(
    lambda name: cases(name, learned=LEARN, asked=ASK)
)


def check(case):
    rng = np.random.default_rng(case["seed"])
    rows, asked = Rows.drawn(rng, case, case["n"]), Rows.drawn(rng, case, 20).table
    kind = getattr(naively, case["estimator"])

    def new(**more):
        return kind(**case["options"], **more)

    judge, refusal = found(new().fit, rows.table, rows.y, rows.w)
    schema = None if judge is None else judge.summary_.schema
    for name in case["learned"]:
        with tempfile.TemporaryDirectory() as folder:
            route = Route(new, rows, np.random.default_rng(case["seed"]), folder, schema)
            model, told = found(LEARN[name], route)
        if model is None or not model.__sklearn_is_fitted__():
            assert judge is None or is_known(name, told), f"{name}: {told}"
        else:
            assert judge is not None, f"{name} gives a model, but: {refusal}"
            compare(name, judge, model, asked)
    for name in case["asked"] if judge is not None else []:
        with tempfile.TemporaryDirectory() as folder:
            answers, told = found(ASK[name], judge, asked, folder)
        if answers is None:
            assert is_known(f"answers of {name}", told), f"answers of {name}: {told}"
        else:
            agree(f"answers of {name}", judge, *answers, asked)


def found(route, *args):
    """Return what a route gives, or its error; a model that would be read later is read now."""
    try:
        given = route(*args)
        if hasattr(given, "fit") and given.__sklearn_is_fitted__():
            _ = given.model_
        return given, None
    except NaivelyError as error:
        return None, str(error)


def compare(name, judge, model, asked):
    its = IN_MEMORY["array of objects"](asked) if name == "objects" else asked
    classes = [(m.classes_.dtype.kind, m.classes_.tolist()) for m in (model, judge)]
    assert classes[0] == classes[1], f"{name}: classes {classes[0]} are to be {classes[1]}"
    agree(name, judge, model.predict(its), model.predict_proba(its), asked)


def agree(name, judge, labels, probabilities, asked):
    """Compare answers, to some roundings of the logarithms that they come from."""
    expected, sizes = judge.predict_proba(asked), np.abs(judge.predict_joint_log_proba(asked))
    tolerance = 1e-9 if getattr(judge, "calibration", None) is None else 1e-6
    if np.float32 in (probabilities.dtype, expected.dtype):  # as for columns of NumPy's float32
        tolerance = 1e-6
    if getattr(judge, "alpha", 1.0) == 0.0:  # exports write an impossible term as -1e9
        tolerance = 1e-6
    tolerances = tolerance + 1e-14 * sizes.max(axis=1, keepdims=True)
    worst = np.abs(expected - probabilities) - tolerances
    assert worst.max() <= 0, f"{name}: probabilities differ by {worst.max()}"
    places = np.array([judge.classes_.tolist().index(label) for label in labels])
    behind = expected.max(axis=1) - expected[np.arange(len(places)), places]
    assert (behind <= 2 * tolerances[:, 0]).all(), f"{name}: labels differ"


def is_known(name, told):
    return any(re.search(r, name) and re.search(m, told) for r, m, _ in CANNOT)

"""Decimals are the float64 nearest to them, whoever reads them; the judge is Python's `float`."""

import random
from decimal import Context, Decimal

import numpy as np
import pytest

from naively import NaiveBayes, NaivelyError, summarize
from naively.data.schema import Schema
from tests import databases
from tests.every_engine import ENGINES, IN_DATABASES, OF_NUMBERS, POORLY_TYPED, as_polars

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = databases.QUIET

EXACT = Context(prec=100)
N = 300
# digits and scale: prices, shares, what Spark and databases take by default, the longest
SHAPES = [(9, 2), (18, 3), (15, 15), (18, 18), (38, 10), (38, 18), (38, 38), (38, 0)]
WIDE = [(50, 22), (76, 23), (76, 76), (40, -4)]


def halfway(rng, digits, scale):
    """Return a decimal halfway between two float64, or next to that, if its digits can hold it."""
    for _ in range(100):
        x = rng.uniform(0.1, 1) * 10.0 ** (digits - scale)
        middle = EXACT.divide(EXACT.add(Decimal(x), Decimal(np.nextafter(x, np.inf))), Decimal(2))
        unscaled = int(EXACT.scaleb(middle, scale)) + rng.choice((-1, 0, 1))
        if unscaled < 10**digits:
            return EXACT.scaleb(Decimal(unscaled), -scale)
    raise AssertionError


def random_cells(digits, scale, n=N):
    rng = random.Random(f"{digits}, {scale}")
    sizes = [10 ** rng.randint(1, digits) for _ in range(n - 50)]
    cells = [EXACT.scaleb(Decimal(rng.randrange(-size + 1, size)), -scale) for size in sizes]
    return cells + [halfway(rng, digits, scale) for _ in range(50)]


def table_of(shapes, kind=None):
    return pa.table(
        {
            f"{digits}, {scale}": pa.array(
                random_cells(digits, scale),
                (kind or (pa.decimal128 if digits <= 38 else pa.decimal256))(digits, scale),
            )
            for digits, scale in shapes
        }
    )


def nearest(table):
    """Return the cells as Python makes floats of decimals."""
    cells = [column.to_pylist() for column in table.columns]
    return np.array([[np.nan if c is None else float(c) for c in column] for column in cells]).T


def cells_of(summary):
    """Return the cells of a summary in which every row is a class."""
    moments = summary.moments
    return np.where(moments.weight > 0, moments.mean, np.nan)


TABLE, WIDER = table_of(SHAPES), table_of(WIDE)
NARROW = {32: [(9, 2), (9, 9), (5, 0)], 64: [(18, 3), (18, 18), (15, 2)]}
LAYOUTS = {
    "decimal32": lambda: table_of(NARROW[32], pa.decimal32),
    "decimal64": lambda: table_of(NARROW[64], pa.decimal64),
    "decimal256": lambda: WIDER,
    "sliced": lambda: TABLE.slice(7, 200),
    "in chunks": lambda: pa.concat_tables([TABLE.slice(0, 100), TABLE.slice(100)]),
    "with nulls": lambda: pa.table(
        [pa.array([None, *column.to_pylist()[1:-1], None], column.type) for column in TABLE],
        names=TABLE.column_names,
    ),
}
FRAMES = {
    "pyarrow": lambda table: table,
    "pandas of Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "stream": lambda table: table.append_column("y", pa.array(range(table.num_rows))).to_reader(),
}


@pytest.mark.parametrize(
    "where", [e for e in ENGINES if e not in IN_DATABASES | OF_NUMBERS | POORLY_TYPED]
)
def test_every_engine_reads_decimals_as_the_nearest_floats(where, tmp_path):
    found = ENGINES[where](TABLE, np.arange(N), tmp_path)
    assert np.array_equal(cells_of(found), nearest(TABLE))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("frame", FRAMES)
def test_every_layout_of_decimals_is_read_as_the_nearest_floats(frame, layout, tmp_path):
    table = LAYOUTS[layout]()
    how = {"target": "y"} if frame == "stream" else {"y": np.arange(table.num_rows)}
    found = cells_of(summarize(FRAMES[frame](table), **how))
    assert np.array_equal(found, nearest(table), equal_nan=True)


def test_no_decimals_are_no_floats():
    assert summarize(TABLE.slice(0, 0), np.zeros(0, int)).weight == 0


@pytest.fixture(scope="module")
def learned():
    """Return the default model of floats, and their labels."""
    y = np.arange(N) % 3
    return NaiveBayes().fit(pd.DataFrame(nearest(TABLE), columns=TABLE.column_names), y), y


@pytest.mark.parametrize("where", ["pandas", "polars", "pyarrow", "pandas of Arrow"])
def test_decimals_teach_the_model_of_the_floats_and_are_forgotten_by_it(where, learned):
    floats, y = learned
    X = {"polars": as_polars, "pandas": lambda t: t.to_pandas(), **FRAMES}[where](TABLE)
    model = NaiveBayes().fit(X, y)
    assert model.summary_ == floats.summary_
    assert np.array_equal(model.predict_proba(X), floats.predict_proba(nearest(TABLE)))
    both = model.partial_fit(nearest(TABLE)[:7], y[:7])
    assert both.forget(X, y).summary_.weight == 7


def test_decimals_in_a_file_are_forgotten_by_what_was_learned_from_a_frame(learned, tmp_path):
    floats, y = learned
    parquet.write_table(TABLE.append_column("y", pa.array(y)), tmp_path / "rows.parquet")
    rows = summarize(tmp_path / "rows.parquet", target="y", schema=floats.summary_.schema)
    assert rows == floats.summary_
    assert (floats.summary_ - rows).weight == 0


IDS = [Decimal(n) for n in (2**53, 2**53 + 1, 2**63, 2**63 + 1)] * 2
OF_IDS = pa.array(IDS, pa.decimal128(20, 0))
AS_IDS = {
    "objects": lambda: pd.Series(IDS, dtype=object),
    "pandas of Arrow": lambda: pd.Series(OF_IDS.to_pylist(), dtype=pd.ArrowDtype(OF_IDS.type)),
    "polars": lambda: as_polars(pa.table({"k": OF_IDS}))["k"],
    "pyarrow": lambda: pa.chunked_array([OF_IDS]),
    "dictionary": lambda: pa.chunked_array([OF_IDS.dictionary_encode()]),
}


@pytest.mark.parametrize("held", AS_IDS)
def test_whole_decimals_are_labels_and_categories_that_never_merge(held, tmp_path):
    ids, distinct = AS_IDS[held](), [int(n) for n in IDS[:4]]
    assert summarize(np.ones((8, 1)), ids).classes.tolist() == distinct
    frame = pa.table({"k": ids}) if held in ("pyarrow", "dictionary") else {"k": ids}
    if held == "polars":
        frame = ids.to_frame()
    elif isinstance(frame, dict):
        frame = pd.DataFrame(frame)
    model = NaiveBayes(families={"k": "categorical"}).fit(frame, ids)
    assert model.summary_.categories[0].tolist() == distinct
    assert model.predict(frame).tolist() == distinct * 2
    path = tmp_path / "ids.parquet"
    parquet.write_table(pa.table({"k": OF_IDS, "y": OF_IDS}), path)
    again = NaiveBayes.from_files(path, target="y", families={"k": "categorical"})
    assert again.summary_ == model.summary_


@pytest.mark.parametrize("sample", [0, 50], ids=["counts", "sample"])
@pytest.mark.parametrize("where", ["spark", *sorted(IN_DATABASES - {"sqlite"})])
def test_whole_decimals_are_categories_that_never_merge_in_any_engine(where, sample, tmp_path):
    cells = pa.array([*IDS[:4], None, Decimal(3), *IDS[2:4]], OF_IDS.type)
    prices = pa.array([Decimal("0.1"), None, Decimal("-2.25"), Decimal(3)] * 2, pa.decimal128(9, 2))
    table, y = pa.table({"k": cells, "price": prices}), [0, 1, 0, 1, 1, 0, 0, 1]
    schema = Schema(2, ("k", "price"), ("category", "category"), sample=sample)
    found = ENGINES[where](table, y, tmp_path, schema=schema)
    assert found == summarize(table, y, schema=schema)


def test_decimals_that_are_measurements_are_no_labels(tmp_path):
    halves = pa.array([Decimal("1.5"), Decimal("2.5")])
    with pytest.raises(NaivelyError, match=r"labels must be .*; got Decimal\('1.5'\)"):
        summarize([[0.0], [1.0]], halves)
    parquet.write_table(pa.table({"x": [0.0, 1.0], "y": halves}), tmp_path / "halves.parquet")
    with pytest.raises(NaivelyError, match=r"target 'y' is 1[.]5 in row 1"):
        summarize(tmp_path / "halves.parquet", target="y")

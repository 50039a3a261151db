"""A column of every dtype of NumPy, pandas, polars and pyarrow, of the same few values.

What each should be to each estimator and engine stands in ``dtypes.csv``; the page of the
documentation is rendered from it by ``python -m tests.dtypes``.
"""

import csv
import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

N = 24
Y = np.array(["no", "yes"])[(np.arange(N) % 3 == 0).astype(int)]
HOLES = [5, 6, 18]
RNG = np.random.default_rng(0)
VALUES = {
    "numbers": RNG.integers(0, 4, N).tolist(),
    "booleans": (RNG.random(N) < 0.4).tolist(),
    "texts": RNG.choice(["Ulm", "Bonn", "Köln"], N).tolist(),
    "nothing": [None] * N,
    "days": [dt.date(1969, 12, 20) + dt.timedelta(int(day)) for day in RNG.integers(0, 999, N)],
    "moments": [
        dt.datetime(1968, 2, 27, 22, 59) + dt.timedelta(hours=int(hour))
        for hour in RNG.integers(0, 30_000, N)
    ],
    "spans": [dt.timedelta(hours=int(hours)) for hours in RNG.integers(0, 9, N)],
    "times": [dt.time(int(hour)) for hour in RNG.integers(0, 9, N)],
    "others": None,
}
BOUNDS = [(0, 2), (2, 4), (4, 10)]
VALUES["ranges"] = RNG.choice([f"({a}, {b}]" for a, b in BOUNDS], N).tolist()


class Dtype(NamedTuple):
    """What a column is called, the values in it, and how it is made of them."""

    library: str
    name: str
    values: str
    make: Callable[[list], Any]
    holes: bool = True  # whether cells can be missing

    def cells(self, values=None):
        """Return plain cells: those given or the usual ones, None where one is missing."""
        values = list(VALUES[self.values] or range(N)) if values is None else list(values)
        if self.holes and self.values != "nothing" and len(values) == N:
            values = [None if i in HOLES else value for i, value in enumerate(values)]
        return values

    def column(self, values=None):
        return self.make(self.cells(values))

    def frame(self, name="c", values=None):
        """Return a table of this column alone, in its own library."""
        column = self.column(values)
        if self.library == "NumPy":
            return column.reshape(-1, 1)
        return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[self.library](
            {name: column}
        )


def plain(dtype, values=None):
    """Return the oracle: the same cells as a frame of float64, of text or of booleans."""
    cells = dtype.cells(values)
    if dtype.values == "numbers":
        return pd.DataFrame({"c": np.array([np.nan if c is None else c for c in cells], float)})
    return pd.DataFrame({"c": pd.Series(cells, dtype=object)})


# --- the columns --------------------------------------------------------------------------------


def numpy_dtypes():
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        yield Dtype("NumPy", name, "numbers", lambda v, n=name: np.array(v, n), False)
    for name in ("float16", "float32", "float64", "longdouble", ">f8"):
        yield Dtype("NumPy", name, "numbers", lambda v, n=name: np.array(v, dtype=float).astype(n))
    yield Dtype("NumPy", ">i4", "numbers", lambda v: np.array(v, ">i4"), False)
    yield Dtype("NumPy", "masked float64", "numbers", lambda v: masked(v, float))
    yield Dtype("NumPy", "masked int64", "numbers", lambda v: masked(v, np.int64))
    yield Dtype("NumPy", "bool", "booleans", lambda v: np.array(v, bool), False)
    yield Dtype("NumPy", "str", "texts", lambda v: np.array(v, str), False)
    yield Dtype(
        "NumPy", "StringDType", "texts", lambda v: np.array(v, np.dtypes.StringDType()), False
    )
    for values in ("numbers", "booleans", "texts", "nothing"):
        yield Dtype("NumPy", f"object of {values}", values, lambda v: np.array(v, object))
    yield Dtype("NumPy", "bytes", "others", lambda v: np.array([b"a", b"b"] * (N // 2)), False)
    yield Dtype("NumPy", "complex128", "others", lambda v: np.arange(N) * 1j, False)
    yield Dtype("NumPy", "datetime64", "moments", lambda v: np.array(v, "datetime64[s]"))
    yield Dtype("NumPy", "timedelta64", "spans", lambda v: np.array(v, "timedelta64[s]"))
    yield Dtype("NumPy", "object of dates", "days", lambda v: np.array(v, object))


def masked(values, dtype):
    mask = [value is None for value in values]
    return np.ma.array(
        [9 if hole else v for v, hole in zip(values, mask, strict=True)], dtype, mask=mask
    )


def pandas_dtypes():
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        yield Dtype("pandas", name, "numbers", lambda v, n=name: pd.Series(v, dtype=n), False)
    for name in ("float16", "float32", "float64", "longdouble"):
        yield Dtype(
            "pandas", name, "numbers", lambda v, n=name: pd.Series(np.array(v, float).astype(n))
        )
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"):
        yield Dtype("pandas", name, "numbers", lambda v, n=name: pd.Series(v, dtype=n))
    for name in ("Float32", "Float64", "Sparse[float64]"):
        yield Dtype("pandas", name, "numbers", lambda v, n=name: pd.Series(v, dtype=n))
    yield Dtype(
        "pandas", "Sparse[int64]", "numbers", lambda v: pd.Series(v, dtype="Sparse[int64]"), False
    )
    yield Dtype("pandas", "bool", "booleans", lambda v: pd.Series(v, dtype=bool), False)
    yield Dtype("pandas", "boolean", "booleans", lambda v: pd.Series(v, dtype="boolean"))
    yield Dtype(
        "pandas", "Sparse[bool]", "booleans", lambda v: pd.Series(v, dtype="Sparse[bool]"), False
    )
    yield Dtype(
        "pandas", "str", "texts", lambda v: pd.Series(v, dtype=pd.StringDtype(na_value=np.nan))
    )
    for name in ("string[python]", "string[pyarrow]"):
        yield Dtype("pandas", name, "texts", lambda v, n=name: pd.Series(v, dtype=n))
    for values in ("numbers", "booleans", "texts", "nothing"):
        yield Dtype("pandas", f"object of {values}", values, lambda v: pd.Series(v, dtype=object))
    yield Dtype("pandas", "object of intervals", "ranges",
                lambda v: pd.Series(ranges(v), dtype=object))  # fmt: skip
    yield Dtype("pandas", "category of texts", "texts", lambda v: pd.Series(v, dtype="category"))
    yield Dtype("pandas", "category of numbers", "codes", lambda v: pd.Series(v, dtype="category"))
    yield Dtype("pandas", "category of booleans", "flags", lambda v: pd.Series(v, dtype="category"))
    yield Dtype("pandas", "category of intervals", "ranges",
                lambda v: pd.Series(ranges(v), dtype="category"))  # fmt: skip
    yield Dtype("pandas", "category of dates", "moments",
                lambda v: pd.Series(v, dtype="datetime64[us]").astype("category"))  # fmt: skip
    yield Dtype("pandas", "complex128", "others", lambda v: pd.Series(np.arange(N) * 1j), False)
    yield Dtype(
        "pandas", "datetime64[ns]", "moments", lambda v: pd.Series(v, dtype="datetime64[ns]")
    )
    yield Dtype("pandas", "datetime64[ns, UTC]", "moments",
                lambda v: pd.Series(v, dtype="datetime64[ns]").dt.tz_localize("UTC"))  # fmt: skip
    yield Dtype(
        "pandas", "timedelta64[ns]", "spans", lambda v: pd.Series(v, dtype="timedelta64[ns]")
    )
    yield Dtype("pandas", "period[D]", "days", lambda v: pd.Series(v, dtype="period[D]"))
    interval = pd.IntervalDtype("int64")
    yield Dtype(
        "pandas", "interval", "ranges", lambda v: pd.Series(ranges(v), dtype=interval), False
    )
    yield Dtype("pandas", "object of dates", "days", lambda v: pd.Series(v, dtype=object))
    yield Dtype(
        "pandas", "object of lists", "others", lambda v: pd.Series([[1]] * N, dtype=object), False
    )
    for dtype in arrow_dtypes():
        if dtype.name in IN_PANDAS:
            yield Dtype("pandas", f"ArrowDtype {dtype.name}", dtype.values,
                        lambda v, d=dtype: in_pandas(d.make(v)), dtype.holes)  # fmt: skip


IN_PANDAS = (
    "int64",
    "double",
    "decimal128",
    "decimal256",
    "bool",
    "string",
    "large_string",
    "date32",
)
IN_PANDAS += ("dictionary of string", "timestamp", "time64", "list", "struct", "binary", "null")


def in_pandas(array):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))


def ranges(texts):
    intervals = {f"({a}, {b}]": pd.Interval(a, b) for a, b in BOUNDS}
    return [intervals.get(text) for text in texts]


def polars_dtypes():
    for name in (
        "Int8",
        "Int16",
        "Int32",
        "Int64",
        "Int128",
        "UInt8",
        "UInt16",
        "UInt32",
        "UInt64",
    ):
        yield Dtype("polars", name, "numbers", lambda v, n=name: pl.Series(v, dtype=getattr(pl, n)))
    for name in ("Float32", "Float64"):
        yield Dtype("polars", name, "numbers", lambda v, n=name: pl.Series(v, dtype=getattr(pl, n)))
    yield Dtype(
        "polars", "Decimal", "numbers", lambda v: pl.Series(decimals(v), dtype=pl.Decimal(20, 2))
    )
    yield Dtype("polars", "Boolean", "booleans", lambda v: pl.Series(v, dtype=pl.Boolean))
    yield Dtype("polars", "String", "texts", lambda v: pl.Series(v, dtype=pl.String))
    yield Dtype("polars", "Categorical", "texts", lambda v: pl.Series(v, dtype=pl.Categorical))
    yield Dtype(
        "polars", "Enum", "texts", lambda v: pl.Series(v, dtype=pl.Enum(sorted({*v} - {None})))
    )
    yield Dtype("polars", "Null", "nothing", lambda v: pl.Series(v, dtype=pl.Null))
    yield Dtype("polars", "Date", "days", lambda v: pl.Series(v, dtype=pl.Date))
    yield Dtype("polars", "Datetime", "moments", lambda v: pl.Series(v, dtype=pl.Datetime))
    yield Dtype("polars", "Duration", "spans", lambda v: pl.Series(v, dtype=pl.Duration))
    yield Dtype("polars", "Time", "times", lambda v: pl.Series(v, dtype=pl.Time))
    yield Dtype("polars", "List", "others", lambda v: pl.Series([[1.0]] * N), False)
    yield Dtype(
        "polars",
        "Array",
        "others",
        lambda v: pl.Series([[1.0]] * N, dtype=pl.Array(pl.Float64, 1)),
        False,
    )
    yield Dtype("polars", "Struct", "others", lambda v: pl.Series([{"a": 1.0}] * N), False)
    yield Dtype("polars", "Binary", "others", lambda v: pl.Series([b"a"] * N), False)
    yield Dtype(
        "polars", "Object", "others", lambda v: pl.Series([object()] * N, dtype=pl.Object), False
    )


def decimals(values):
    return [None if value is None else Decimal(value) for value in values]


def arrow(name, values, kind, cells=None, holes=True):
    def make(given):
        return pa.array(given if cells is None else cells(given), kind)

    return Dtype("pyarrow", name, values, make, holes)


def arrow_dtypes():
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        yield arrow(name, "numbers", getattr(pa, name)())
    yield arrow("halffloat", "numbers", pa.float16(),
                lambda v: [None if x is None else np.float16(x) for x in v])  # fmt: skip
    yield arrow("float", "numbers", pa.float32())
    yield arrow("double", "numbers", pa.float64())
    for bits, digits in ((32, 9), (64, 18), (128, 20), (256, 40)):
        kind = getattr(pa, f"decimal{bits}")(digits, 2)
        yield arrow(f"decimal{bits}", "numbers", kind, decimals)
    yield Dtype("pyarrow", "run_end_encoded of double", "numbers", lambda v: runs(v, pa.float64()))
    yield arrow("bool", "booleans", pa.bool_())
    yield arrow("string", "texts", pa.string())
    yield arrow("large_string", "texts", pa.large_string())
    yield arrow("string_view", "texts", pa.string_view())
    yield arrow("dictionary of string", "texts", pa.dictionary(pa.int32(), pa.string()))
    yield Dtype(
        "pyarrow",
        "dictionary of int64",
        "codes",
        lambda v: pa.array(v, pa.int64()).dictionary_encode(),
    )
    yield Dtype("pyarrow", "run_end_encoded of string", "texts", lambda v: runs(v, pa.string()))
    yield arrow("null", "nothing", pa.null())
    yield arrow("date32", "days", pa.date32())
    yield arrow("date64", "days", pa.date64())
    yield arrow("timestamp", "moments", pa.timestamp("us"))
    yield arrow("timestamp, UTC", "moments", pa.timestamp("us", tz="UTC"))
    yield Dtype("pyarrow", "dictionary of timestamp", "moments",
                lambda v: pa.array(v, pa.timestamp("us")).dictionary_encode())  # fmt: skip
    yield arrow("time32", "times", pa.time32("s"))
    yield arrow("time64", "times", pa.time64("us"))
    yield arrow("duration", "spans", pa.duration("us"))
    yield arrow(
        "month_day_nano_interval",
        "others",
        pa.month_day_nano_interval(),
        lambda v: [(1, 2, 3)] * N,
        False,
    )
    yield arrow("binary", "others", pa.binary(), lambda v: [b"a"] * N, False)
    yield arrow("large_binary", "others", pa.large_binary(), lambda v: [b"a"] * N, False)
    yield arrow("fixed_size_binary", "others", pa.binary(1), lambda v: [b"a"] * N, False)
    yield arrow("list", "others", pa.list_(pa.float64()), lambda v: [[1.0]] * N, False)
    yield arrow("large_list", "others", pa.large_list(pa.float64()), lambda v: [[1.0]] * N, False)
    yield arrow(
        "struct", "others", pa.struct({"a": pa.float64()}), lambda v: [{"a": 1.0}] * N, False
    )
    yield arrow(
        "map", "others", pa.map_(pa.string(), pa.float64()), lambda v: [[("a", 1.0)]] * N, False
    )


def runs(values, kind):
    return pc.run_end_encode(pa.array(values, kind))


VALUES |= {"codes": VALUES["numbers"], "flags": VALUES["booleans"]}  # categories by declaration
ALL = [*numpy_dtypes(), *pandas_dtypes(), *polars_dtypes(), *arrow_dtypes()]
DTYPES = {(dtype.library, dtype.name): dtype for dtype in ALL}

# --- what they should be ------------------------------------------------------------------------

TABLE = Path(__file__).with_name("dtypes.csv")
PAGE = Path(__file__).parent.parent / "docs" / "dtypes.md"
ESTIMATORS = ("GaussianNB", "CategoricalNB", "NaiveBayes", "summarize")
ENGINES = ("Dask", "Parquet", "Arrow", "CSV", "JSON lines", "Spark", "DuckDB")


def expected():
    """Return, by library and dtype, what each estimator and engine should find."""
    with TABLE.open(newline="") as file:
        return {(row["library"], row["dtype"]): row for row in csv.DictReader(file)}


# --- the page -----------------------------------------------------------------------------------

MARK = "<!-- from tests/dtypes.csv by python -m tests.dtypes -->"


def rendered():
    """Return the page with its tables as the data has them."""
    text, _, _ = PAGE.read_text().partition(MARK)
    parts = [section("NumPy", ESTIMATORS), section("pandas", (*ESTIMATORS, "Dask"))]
    parts += [section("polars", ESTIMATORS), section("pyarrow", (*ESTIMATORS, *ENGINES[1:]))]
    return "\n".join([text + MARK, *parts])


def section(library, columns):
    """Return a table of a library's dtypes, with one line for dtypes of the same cells."""
    lines = {}
    for (owner, name), row in expected().items():
        if owner == library:
            lines.setdefault(tuple(row[column] or "-" for column in columns), []).append(name)
    head = f"\n## {library}\n\n| dtype | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}"
    rows = [
        f"| {', '.join(f'`{n}`' for n in names)} | {' | '.join(c)} |" for c, names in lines.items()
    ]
    return "\n".join([head, *rows])


if __name__ == "__main__":
    PAGE.write_text(rendered() + "\n")

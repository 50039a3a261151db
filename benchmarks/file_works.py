"""What a fresh interpreter does with a file: ``python -m benchmarks.file_works naively fit FILE``.

It works twice, and prints, as JSON, the seconds that each pass took once everything was imported,
the peak of its memory, and an answer that can be compared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["WORKS"]

_TARGET = "y"


def _naively_fit(path: Path) -> Any:
    from naively import GaussianNB
    from naively.engines import files

    return lambda: _answer(GaussianNB.from_summary(files.summarize(path, target=_TARGET)))


def _naively_predict(path: Path) -> Any:
    from naively import load
    from naively.engines import files

    model = load(path.with_name("model.safetensors"))
    return lambda: files.predict(model, path, path.with_name("naively.parquet"))


def _naively_fit_text(path: Path) -> Any:
    from naively import NaiveBayes
    from naively.families import Text

    families = {"text": Text(hashed=2**20)}

    def work() -> Any:
        model = NaiveBayes.from_files(path, target=_TARGET, families=families)
        return int(model.summary_.weight)

    return work


def _naively_evaluate(path: Path) -> Any:
    from naively import GaussianNB, evaluate

    return lambda: evaluate(GaussianNB(), path, target=_TARGET, folds=10).n_rows


def _naively_report(path: Path) -> Any:
    from naively import GaussianNB, report

    return lambda: report(GaussianNB(), path, target=_TARGET, compare=False).data["data"]["rows"]


def _sklearn_fit(path: Path) -> Any:
    import pandas
    from sklearn.naive_bayes import GaussianNB

    def work() -> Any:
        read = pandas.read_csv if path.suffix == ".csv" else pandas.read_parquet
        frame = read(path)
        return _answer(GaussianNB().fit(frame.drop(columns=_TARGET), frame[_TARGET]))

    return work


def _h2o_fit(path: Path) -> Any:
    """Start the server beforehand; its memory is not that of this process."""
    import h2o
    from h2o.estimators import H2ONaiveBayesEstimator

    h2o.init(max_mem_size="8g", verbose=False)
    h2o.no_progress()

    def work() -> Any:
        frame = h2o.import_file(str(path), col_types={_TARGET: "enum"})
        names = [name for name in frame.columns if name != _TARGET]
        model = H2ONaiveBayesEstimator()
        model.train(x=names, y=_TARGET, training_frame=frame)
        return _h2o_answer(model, frame.nrow, len(names))

    return work


def _h2o_answer(model: Any, n_rows: int, n_columns: int) -> Any:
    """Return its means and variances; it divides by one row less."""
    found = model._model_json["output"]
    tables = found["pcond"][:n_columns]
    counts = n_rows * np.array(found["apriori"].cell_values[0][1:], dtype=float)[:, np.newaxis]
    cells = np.array([[row[1:3] for row in table.cell_values] for table in tables], dtype=float)
    means, deviations = np.moveaxis(cells, (2, 1), (0, 1))
    return {"theta": means.tolist(), "var": (deviations**2 * (1 - 1 / counts)).tolist()}


def _scan(path: Path) -> Any:
    """Decode every column and throw it away."""
    return lambda: sum(batch.num_rows for batch in _batches(path))


def _scan_twice(path: Path) -> Any:
    def work() -> Any:
        first, second = (sum(batch.num_rows for batch in _batches(path)) for _ in range(2))
        assert first == second
        return first

    return work


def _scan_by_default(path: Path) -> Any:
    import pyarrow.parquet as pq

    return lambda: sum(batch.num_rows for batch in pq.ParquetFile(path).iter_batches())


def _scan_and_write(path: Path) -> Any:
    """Decode every column, and write as many numbers as there would be labels."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def work() -> Any:
        rows, held = 0, []
        with pq.ParquetWriter(
            path.with_name("bare.parquet"), pa.schema([(_TARGET, pa.int64())])
        ) as writer:
            for batch in _batches(path):
                rows += batch.num_rows
                held.append(batch.select([_TARGET]))
                if sum(one.num_rows for one in held) >= 1 << 20:
                    writer.write_table(pa.Table.from_batches(held))
                    held.clear()
            writer.write_table(pa.Table.from_batches(held, writer.schema))
        return rows

    return work


def _batches(path: Path) -> Any:
    """Stream a file as fast as pyarrow does: without holding whole row groups."""
    if path.suffix == ".csv":
        import pyarrow.csv

        return pyarrow.csv.open_csv(path)
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 16).iter_batches()


def _answer(model: Any) -> Any:
    return {"theta": model.theta_.tolist(), "var": model.var_.tolist()}


WORKS: dict[tuple[str, str], Callable[[Path], Any]] = {
    ("naively", "fit"): _naively_fit,
    ("naively", "predict"): _naively_predict,
    ("naively", "fit text"): _naively_fit_text,
    ("naively", "evaluate"): _naively_evaluate,
    ("naively", "report"): _naively_report,
    ("pyarrow's scan, twice", "evaluate"): _scan_twice,
    ("pyarrow's scan, twice", "report"): _scan_twice,
    ("pyarrow's scan", "fit text"): _scan,
    ("pandas + scikit-learn", "fit"): _sklearn_fit,
    ("H2O", "fit"): _h2o_fit,
    ("pyarrow's scan", "fit"): _scan,
    ("pyarrow's scan, by default", "fit"): _scan_by_default,
    ("pyarrow's scan and write", "predict"): _scan_and_write,
}


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024


def main(name: str, verb: str, path: str) -> None:
    """Do one work, and print how it went."""
    np.array([0.0])  # NumPy is there for all
    work = WORKS[name, verb](Path(path))
    passes = []
    for _ in range(2):
        start = perf_counter()
        answer = work()
        passes.append(perf_counter() - start)
    print(json.dumps({"passes": passes, "peak": _peak(), "answer": answer}))


if __name__ == "__main__":
    main(*sys.argv[1:])

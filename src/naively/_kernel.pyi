from typing import Any, TypeAlias

from numpy import float64, int32, int64, uint8, uint64
from numpy.typing import NDArray

Table: TypeAlias = NDArray[Any] | list[NDArray[Any]]
Doubles: TypeAlias = NDArray[float64]

def summarize(
    X: Table,
    codes: NDArray[int32],
    weights: Doubles | None,
    class_weight: Doubles,
    moments: Doubles,
    origin: Doubles | None = None,
) -> bool: ...
def add(a: Doubles, b: Doubles) -> None: ...
def subtract(a: Doubles, b: Doubles) -> None: ...
def count_lines(text: NDArray[uint8]) -> int: ...
def parse_csv(
    text: NDArray[uint8],
    separator: str,
    cells: NDArray[uint8],
    missing: list[bytes],
    values: Doubles,
    codes: NDArray[int32],
) -> tuple[int, list[bytes]] | None: ...
def encode(labels: NDArray[Any], codes: NDArray[int32]) -> list[int]: ...
def tally(
    X: Table,
    y_codes: NDArray[int32],
    weights: Doubles | None,
    offsets: NDArray[int64],
    out: Doubles,
) -> None: ...
def tally_bins(
    X: Table, y_codes: NDArray[int32], weights: Doubles | None, edges: Doubles, out: Doubles
) -> bool: ...
def hash_rows(
    X: Table,
    codes: Table | None,
    code_hashes: list[NDArray[uint64]],
    y_codes: NDArray[int32],
    label_hashes: NDArray[uint64],
    out: NDArray[uint64],
) -> None: ...
def add_students(
    X: Table,
    A: Doubles,
    B: Doubles,
    mu: Doubles,
    s: Doubles,
    joint: Doubles,
    weights: Doubles | None = None,
) -> bool: ...
def add_quadratics(
    X: Table, A: Doubles, B: Doubles, mu: Doubles, joint: Doubles, weights: Doubles | None = None
) -> bool: ...
def add_pieces(X: Table, knots: Doubles, values: Doubles, joint: Doubles) -> bool: ...
def add_tables(X: Table, offsets: NDArray[int64], values: Doubles, joint: Doubles) -> None: ...
def finish(joint: Doubles, want: str, out: NDArray[Any]) -> None: ...

class GaussianModel:
    def __init__(self, mean: Doubles, variance: Doubles, log_prior: Doubles) -> None: ...
    def labels(self, X: Table, out: NDArray[int64]) -> bool: ...
    def joint(self, X: Table, out: NDArray[Any]) -> bool: ...
    def log_proba(self, X: Table, out: NDArray[Any]) -> bool: ...
    def proba(self, X: Table, out: NDArray[Any]) -> bool: ...
    def evidence(self, X: Table, out: NDArray[Any]) -> bool: ...
    def label_one(self, row: Doubles) -> int: ...

from typing import Any, TypeAlias

from numpy import float64, int32, int64, uint8, uint16, uint32, uint64
from numpy.typing import NDArray

Table: TypeAlias = NDArray[Any] | list[NDArray[Any]]
Doubles: TypeAlias = NDArray[float64]

def summarize(
    X: Table,
    codes: NDArray[int32],
    weights: Doubles | None,
    class_weight: Doubles,
    moments: Doubles,
) -> bool: ...
def add(a: Doubles, b: Doubles) -> bool: ...
def subtract(a: Doubles, b: Doubles) -> bool: ...
def largest_mean(values: Doubles) -> float: ...
def pool(values: Doubles, out: Doubles) -> None: ...
def moments_without(
    x: Doubles, codes: NDArray[int32], weights: Doubles, values: Doubles, out: Doubles
) -> None: ...
def plain_variances(
    values: Doubles,
    part: float,
    by_column: bool,
    ddof: float,
    variance: Doubles,
    epsilon: Doubles,
) -> bool: ...
def plain_quadratics(mean: Doubles, variance: Doubles, weight: Doubles, out: Doubles) -> bool: ...
def count_lines(text: NDArray[uint8]) -> int: ...
def record_ends(text: NDArray[uint8], separator: str) -> tuple[int, int, bool]: ...
def parse_csv(
    text: NDArray[uint8],
    separator: str,
    cells: NDArray[uint8],
    missing: list[bytes],
    values: Doubles,
    codes: NDArray[int32],
) -> tuple[int, list[bytes]] | None: ...
def log_gamma(x: Doubles, out: Doubles) -> None: ...
def limit_registers(bits: int) -> int: ...
def encode(labels: NDArray[Any], codes: NDArray[int32]) -> list[int]: ...
def encode_text(cells: list[Any], codes: NDArray[int32]) -> list[int] | None: ...
def encode_fixed(texts: NDArray[uint32], codes: NDArray[int32]) -> list[int]: ...
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
def scatter(
    X: Table,
    y_codes: NDArray[int32],
    weights: Doubles | None,
    centre: Doubles,
    weight: Doubles,
    mean: Doubles,
    products: Doubles,
) -> None: ...
def add_scatter(
    weight: Doubles,
    mean: Doubles,
    products: Doubles,
    its_weight: Doubles,
    its_mean: Doubles,
    its_products: Doubles,
    places: NDArray[int64],
) -> bool: ...
def hash_rows(
    X: Table,
    codes: Table | None,
    code_hashes: list[NDArray[uint64]],
    out: NDArray[uint64],
) -> None: ...
def hash_texts(
    addresses: NDArray[uint64], lengths: NDArray[int64], out: NDArray[uint64]
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
    X: Table,
    A: Doubles,
    B: Doubles,
    mu: Doubles,
    joint: Doubles,
    weights: Doubles | None = None,
    s: Doubles | None = None,
) -> bool: ...
def add_lines(X: Table, A: Doubles, B: Doubles, lowest: float, joint: Doubles) -> bool: ...
def add_pieces(X: Table, knots: Doubles, values: Doubles, joint: Doubles) -> bool: ...
def add_tables(X: Table, offsets: NDArray[int64], values: Doubles, joint: Doubles) -> None: ...
def group_rows(
    y_codes: NDArray[int32], n_classes: int, order: NDArray[uint32], ends: NDArray[int64]
) -> None: ...
def count_sparse(
    X: Any,
    y_codes: NDArray[int32],
    weights: Doubles | None,
    measure: str,
    threshold: float,
    is_distinct: bool,
    out: Doubles,
    offset: int,
    order: NDArray[uint32] | None = None,
) -> tuple[str, int] | None: ...
def list_sparse(
    X: Any,
    y_codes: NDArray[int32],
    weights: Doubles | None,
    measure: str,
    threshold: float,
    is_distinct: bool,
    classes: NDArray[int32],
    entries: NDArray[int64],
    values: Doubles,
    offset: int,
) -> tuple[tuple[str, int] | None, int]: ...
def add_listed(
    classes: NDArray[int32], entries: NDArray[int64], values: Doubles, out: Doubles
) -> None: ...
def count_table(
    X: Table,
    y_codes: NDArray[int32],
    weights: Doubles | None,
    measure: str,
    threshold: float,
    out: Doubles,
    offset: int,
) -> tuple[str, int] | None: ...
def hash_sparse(
    X: Any, hashes: NDArray[uint64] | None, inout: NDArray[uint64]
) -> tuple[str, int] | None: ...
def add_sparse_moments(
    X: Any,
    y_codes: NDArray[int32],
    weights: Doubles | None,
    class_weight: Doubles,
    order: NDArray[uint32],
    out: Doubles,
) -> tuple[str, int] | None: ...
def add_sparse_quadratics(
    X: Any, A: Doubles, B: Doubles, C: Doubles, joint: Doubles
) -> tuple[str, int] | None: ...
def add_sparse_lines(
    X: Any, A: Doubles | None, B: Doubles, step: float | None, joint: Doubles
) -> tuple[str, int] | None: ...

class LineScreen:
    def __init__(self, B: Doubles) -> None: ...
    def labels(
        self, X: Any, constant: Doubles, labels: NDArray[int64]
    ) -> tuple[str, int] | None: ...

def left_out_of_bins(
    X: Table,
    codes: NDArray[int32],
    cuts: Doubles,
    knots: Doubles,
    values: Doubles,
    out: Doubles,
) -> None: ...
def centre_term(
    values: Doubles,
    own: Doubles,
    codes: NDArray[int32],
    floor: float,
    place: int,
    out: Doubles,
) -> None: ...
def add_scores(
    distance: Doubles,
    offset: Doubles,
    codes: NDArray[int32],
    weights: Doubles | None,
    score: str,
    total: Doubles,
) -> None: ...
def finish(joint: Doubles, want: str, out: NDArray[Any]) -> None: ...

class GaussianModel:
    def __init__(
        self, A: Doubles, B: Doubles, mu: Doubles, constant: Doubles, s: Doubles | None = None
    ) -> None: ...
    def labels(self, X: Table, out: NDArray[int64]) -> bool: ...
    def joint(self, X: Table, out: NDArray[Any]) -> bool: ...
    def log_proba(self, X: Table, out: NDArray[Any]) -> bool: ...
    def proba(self, X: Table, out: NDArray[Any]) -> bool: ...
    def evidence(self, X: Table, out: NDArray[Any]) -> bool: ...
    def label_one(self, row: Doubles) -> int: ...

class RowStream:
    names: list[str] | None
    n_columns: int
    n_classes: int
    has_columns: bool

    def learn(self, row: Any, label: Any, weight: float, /) -> int: ...
    def forget(self, row: Any, label: Any, weight: float, /) -> int: ...
    def label(self, row: Any, /) -> Any: ...
    def proba(self, row: Any, out: Doubles, /) -> bool: ...
    def add_class(self, label: Any) -> None: ...
    def accept(self, label: Any) -> None: ...
    def tables(self) -> list[Doubles]: ...
    def load(
        self,
        names: list[str] | None,
        n_columns: int,
        classes: list[Any],
        tables: list[Doubles],
        window: list[tuple[Any, Any, float]],
        is_all: bool,
    ) -> None: ...
    def kept(self) -> list[tuple[Any, Any, float]]: ...

def gaussian_stream(
    var_smoothing: float, by_column: bool, decay: float, window: int
) -> RowStream: ...
def count_stream(
    terms: int, alpha: float, threshold: float, priors: bool, decay: float, window: int
) -> RowStream: ...
def code_stream(alpha: float, priors: bool, decay: float, window: int) -> RowStream: ...
def standardize(X: Table, mean: Doubles, scale: Doubles, out: Doubles) -> bool: ...
def project(f: Doubles, W: Doubles, z: Doubles) -> None: ...
def add_multivariate_students(
    f: Doubles,
    A: Doubles,
    B: Doubles,
    s: Doubles,
    mean: Doubles,
    factor: Doubles,
    joint: Doubles,
    weights: Doubles | None = None,
) -> None: ...
def add_pairs(
    X: Table,
    codes: Table,
    knots: Doubles,
    knot_offsets: NDArray[int64],
    bins: NDArray[int32],
    bin_offsets: NDArray[int64],
    pairs: NDArray[int32],
    n_bins: NDArray[int32],
    offsets: NDArray[int64],
    values: Doubles,
    joint: Doubles,
) -> bool: ...
def judge_pairs(
    bins: NDArray[int32],
    low: NDArray[int32],
    share: Doubles,
    n_bins: NDArray[int32],
    codes: NDArray[int32],
    weight: Doubles,
    p: Doubles,
    pairs: NDArray[int32],
    scores: Doubles,
) -> None: ...

class Alphabet:
    def __init__(
        self,
        blocks: NDArray[uint16],
        entries: NDArray[int32],
        expansions: list[tuple[int, list[int]]],
        lowers: bool,
    ) -> None: ...

class WordIndex:
    def __init__(self, block: NDArray[uint8], offsets: NDArray[int64]) -> None: ...

class CountedTokens:
    @property
    def status(self) -> tuple[int, int]: ...
    def sort_words(self) -> tuple[NDArray[uint8], NDArray[int64]]: ...
    def move_places(self, places: NDArray[int32]) -> None: ...
    def take_rows(
        self,
    ) -> tuple[NDArray[int64], NDArray[int32], NDArray[uint32], NDArray[int64]]: ...

def count_tokens(
    addresses: NDArray[uint64],
    lengths: NDArray[int64],
    alphabet: Alphabet,
    by_characters: bool,
    least_n: int,
    greatest_n: int,
    known: WordIndex | None,
    width: int,
) -> CountedTokens: ...
def tally_hashed(
    addresses: NDArray[uint64],
    lengths: NDArray[int64],
    classes: NDArray[int32],
    alphabet: Alphabet,
    least_n: int,
    greatest_n: int,
    out: NDArray[uint32],
    start: int,
    last: NDArray[uint32],
    number: int,
) -> tuple[int, int]: ...
def unite_words(
    a_block: NDArray[uint8],
    a_offsets: NDArray[int64],
    b_block: NDArray[uint8],
    b_offsets: NDArray[int64],
) -> tuple[NDArray[uint8], NDArray[int64]]: ...
def word_positions(
    a_block: NDArray[uint8],
    a_offsets: NDArray[int64],
    b_block: NDArray[uint8],
    b_offsets: NDArray[int64],
    positions: NDArray[int32],
) -> None: ...
def text_addresses(
    cells: list[Any], addresses: NDArray[uint64], lengths: NDArray[int64]
) -> tuple[int, list[bytes]]: ...

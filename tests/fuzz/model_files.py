"""Model files with bytes flipped, cut or exchanged, and headers that say something else.

What is loaded answers with probabilities that are finite; everything else is a `NaivelyError`.
"""

import json
import struct
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import naively
from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError

RNG = np.random.default_rng(0)
Y = np.array(["a", "b", "c"])[np.arange(40) % 3]
NUMBERS = RNG.normal(size=(40, 2)) + (np.arange(40) % 3)[:, np.newaxis]
MIXED = pd.DataFrame(
    {"x": NUMBERS[:, 0], "town": np.array(["Ulm", "Bonn"])[RNG.integers(0, 2, 40)]}
)
MODELS = {
    "gaussian": lambda: GaussianNB().fit(NUMBERS, Y),
    "weights": lambda: GaussianNB(calibration="weights").fit(NUMBERS, Y),
    "mixed": lambda: NaiveBayes().fit(MIXED, Y),
    "histogram": lambda: NaiveBayes(families={"x": "histogram"}, calibration=None).fit(MIXED, Y),
    "codes": lambda: CategoricalNB().fit(RNG.integers(0, 3, (40, 2)), Y),
}
HOSTILE = [None, True, False, -1, 0, 1, 2, 3, 2**31, 2**63, 2**64, 10**30, -0.0, 0.5, 1e308, -1e308]
HOSTILE += [
    float("inf"),
    float("nan"),
    "",
    "a",
    "number",
    "category",
    "int",
    "float",
    "bool",
    "str",
]
HOSTILE += [
    "F32",
    "I64",
    "BOOL",
    "\0",
    "\ud800",
    [],
    {},
    [None],
    ["a"],
    [0, 1],
    ["a", "a"],
    {"a": 1},
]
DOUBLES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    1e-300,
    1e100,
    1e154,
    1e300,
    1.7e308,
    np.inf,
    -np.inf,
    np.nan,
]

places = st.floats(0.0, 1.0, exclude_max=True)  # of the file, whatever its size
CASES = st.tuples(
    st.sampled_from(list(MODELS)),
    st.lists(
        st.one_of(
            st.tuples(st.just("flip"), places, st.integers(0, 7)),
            st.tuples(st.just("cut"), places, st.integers(0, 64)),
            st.tuples(st.just("number"), places, st.sampled_from(DOUBLES)),
            st.tuples(st.just("listed"), places, st.sampled_from(HOSTILE)),
            st.tuples(st.just("header"), places, st.sampled_from(HOSTILE)),
            st.tuples(st.just("header"), places, st.sampled_from(HOSTILE)),
        ),
        min_size=1,
        max_size=3,
    ),
)


@cache
def saved(name):
    with tempfile.TemporaryDirectory() as folder:
        MODELS[name]().save(Path(folder, "model"))
        return Path(folder, "model").read_bytes()


def check(case):
    name, mutations = case
    content = saved(name)
    for mutation in mutations:
        content = mutated(content, *mutation)
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        Path(file.name).write_bytes(content)
        try:
            model = naively.load(file.name)
        except NaivelyError:
            return
    with suppress(NaivelyError):  # what was seen may be too little for a model, or too large
        answers(model)


def answers(model):
    """Ask the model about rows, such as they are."""
    n = model.n_features_in_
    kinds = model.summary_.schema.kinds or ("number",) * n
    names = model.summary_.schema.names or [str(j) for j in range(n)]
    if len(set(names)) < n:
        return  # a frame cannot hold it
    columns = {
        name: [0.5, -3.0, 2.0] if kind == "number" else ["Ulm", "new", None]
        for name, kind in zip(names, kinds, strict=True)
    }
    rows = pd.DataFrame(columns) if model.summary_.schema.names else np.ones((2, n))
    probabilities = model.predict_proba(rows)
    assert np.isfinite(probabilities).all(), probabilities
    assert np.abs(probabilities.sum(axis=1) - 1).max(initial=0.0) < 1e-9, probabilities
    assert set(model.predict(rows)) <= set(model.classes_)


# --- mutations ----------------------------------------------------------------------------------


def mutated(content, how, place, value):
    if len(content) < 16:
        return content
    return {"flip": flip, "cut": cut, "number": number, "listed": listed, "header": header}[how](
        content, place, value
    )


def flip(content, place, bit):
    data = bytearray(content)
    data[int(place * len(data))] ^= 1 << bit
    return bytes(data)


def cut(content, place, more):
    at = int(place * len(content))
    return content[:at] + bytes(more)


def parts(content):
    """Return the header of safetensors and the bytes behind it; None where there is none."""
    (length,) = struct.unpack("<Q", content[:8])
    try:
        return json.loads(content[8 : 8 + length]), content[8 + length :]
    except (ValueError, RecursionError):
        return None, content


def joined(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def number(content, place, value):
    """Put a double where there is one."""
    _, data = parts(content)
    if len(data) < 8 or len(data) == len(content):
        return content
    at = len(content) - len(data) + 8 * int(place * (len(data) // 8))
    return content[:at] + struct.pack("<d", value) + content[at + 8 :]


def listed(content, place, value):
    """Change what safetensors lists: names, types, shapes and offsets of tensors."""
    found, data = parts(content)
    return content if found is None else joined(changed(found, place, value), data)


def header(content, place, value):
    """Change what naively says of itself."""
    found, data = parts(content)
    try:
        inner = json.loads(found["__metadata__"]["naively"])
    except (TypeError, KeyError, ValueError):
        return content
    found["__metadata__"]["naively"] = json.dumps(changed(inner, place, value))
    return joined(found, data)


def changed(tree, place, value):
    """Replace one node of a JSON tree."""
    paths = list(nodes(tree, ()))
    if not paths:
        return tree
    *path, last = paths[int(place * len(paths))]
    node = tree
    for key in path:
        node = node[key]
    node[last] = value
    return tree


def nodes(tree, path):
    inside = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    for key, value in inside:
        yield (*path, key)
        yield from nodes(value, (*path, key))

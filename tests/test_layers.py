"""Imports point downwards, and importing the package costs next to nothing."""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import naively

SOURCE = Path(naively.__file__).parent

# Lower rooms first: a module may import what stands before its room, and its own room.
ROOMS = [
    {"errors", "tabular", "_kernel", "__version__"},
    {"data"},
    {"statistics"},
    {"families"},
    {"model"},
    {"engines"},
    {"estimators"},
    {"export", "river"},
    {"evaluation", "spark"},
    {"inspection"},
    {"display", "plots", "results"},
    {"cli", "__main__"},
]


def height_of(module):
    return next(i for i, room in enumerate(ROOMS) if module in room)


# The only file that imports what stands above it, when it is asked for: explanations and exports of
# an estimator.
UPWARD = {SOURCE / "estimators" / "upward.py"}


def imports_of(path):
    """Yield what a file imports, and whether it does so when it is imported itself."""
    tree = ast.parse(path.read_text())
    blocks = [node for node in tree.body if isinstance(node, ast.If)]  # what is for types alone
    for_types = {node for block in blocks for node in ast.walk(block)}
    for node in set(ast.walk(tree)) - for_types:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("naively"):
            parts = node.module.split(".")
            for module in [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]:
                yield module, node in tree.body


FILES = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_downwards(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for module, at_once in imports_of(path):
        if not at_once and path in UPWARD:
            continue
        assert height_of(module) <= height_of(own), f"{own} must not import {module}"


def test_rooms_above_call_no_private_method_of_estimators():
    trees = {path: ast.parse(path.read_text()) for path in FILES}
    room = SOURCE / "estimators"
    functions = {
        path: {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for path, tree in trees.items()
    }
    names = set().union(*(functions[path] for path in FILES if room in path.parents))
    hidden = {name for name in names if name.startswith("_") and not name.endswith("_")}
    for path in (path for path in FILES if room not in path.parents):
        nodes = [node for node in ast.walk(trees[path]) if isinstance(node, ast.Attribute)]
        called = {n.attr for n in nodes if getattr(n.value, "id", "") not in ("self", "cls")}
        assert not (called & hidden) - functions[path], path


def modules_after(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_package_imports_nothing_heavy():
    assert not modules_after("import naively") & {"numpy", "sklearn", "pandas", "scipy"}


def test_summarizing_an_array_needs_numpy_alone():
    loaded = modules_after("from naively import summarize; summarize([[1.0]], ['a'])")
    assert not loaded & {"sklearn", "pandas", "scipy", "narwhals", "pyarrow"}


def test_every_public_name_is_there():
    for name in naively.__all__:
        assert getattr(naively, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'NaiveBayesian'"):
        _ = naively.NaiveBayesian


ECOSYSTEMS = {"GaussianNB", "NaiveBayes"}  # scikit-learn's and Spark's own names, for their own


def test_no_name_stands_for_two_things():
    """Classes of the package, wherever they are, have names of their own."""
    owners = defaultdict(set)
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                owners[node.name].add(str(path.relative_to(SOURCE)))
    shared = {name: sorted(paths) for name, paths in owners.items() if len(paths) > 1}
    assert shared.keys() <= ECOSYSTEMS, shared


def test_the_summary_needs_no_scikit_learn():
    assert not modules_after("import naively.statistics.summary") & {"sklearn", "scipy", "pandas"}


def test_the_help_of_the_command_line_needs_no_numpy():
    assert not modules_after("import naively.cli.program") & {"numpy", "sklearn", "pyarrow"}


def test_a_name_that_has_a_home_of_its_own_says_where_it_is():
    with pytest.raises(AttributeError, match=r"from naively\.families import Histogram"):
        _ = naively.Histogram
    with pytest.raises(AttributeError, match=r"from naively\.results import Drift"):
        _ = naively.Drift

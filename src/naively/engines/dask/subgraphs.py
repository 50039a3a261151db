"""The part of Dask's graph that makes one partition.

The tasks that serve one partition alone become a subgraph, which a single task runs. So there is
one task per partition, and an error in it, also one of reading files, can name the partition.
Tasks that several partitions need, and what a cluster already holds, stay in the graph.

>>> graph = {"all": [1, 2], "a": (max, "all"), "b": (min, "all"), "c": (abs, "b")}
>>> shared, (first, second) = split(graph, [("a",), ("c",)])
>>> shared, first.needs
({'all': [1, 2]}, ('all',))
>>> first([1, 2]), second([1, 2])
([2], [1])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from naively.errors import need

core: Any = need("dask.core", "reading Dask collections", extra="dask")

Key: TypeAlias = Any  # a string, or a tuple that begins with one
Graph: TypeAlias = dict[Key, Any]
_SHARED = -1


@dataclass(frozen=True)
class Subgraph:
    """Tasks that one partition alone needs."""

    tasks: Graph  # a graph of Dask's
    keys: tuple[Key, ...]  # those of the results
    # keys of what must be given: results of tasks that are not in this subgraph
    needs: tuple[Key, ...]

    def __call__(self, *shared: Any) -> list[Any]:
        """Run the tasks in this thread, and return their results."""
        given = dict(zip(self.needs, shared, strict=True))
        made = {key: given[key] for key in self.keys if key in given}
        wanted = [key for key in self.keys if key not in given]
        made.update(zip(wanted, core.get(self.tasks, wanted, given), strict=True))
        return [made[key] for key in self.keys]


def split(graph: Graph, wanted: Sequence[tuple[Key, ...]]) -> tuple[Graph, list[Subgraph]]:
    """Return the tasks that are shared, and a subgraph for each group of keys."""
    owner = _owners(graph, wanted)
    own: list[Graph] = [{} for _ in wanted]
    shared: Graph = {}
    for key, i in owner.items():
        (shared if i == _SHARED else own[i])[key] = graph[key]
    found = []
    for tasks, keys in zip(own, wanted, strict=True):
        used = [key for task in tasks for key in _dependencies(graph, task)]
        needs = dict.fromkeys(key for key in (*keys, *used) if key not in tasks)
        found.append(Subgraph(tasks, tuple(keys), tuple(needs)))
    return shared, found


def _owners(graph: Graph, wanted: Sequence[tuple[Key, ...]]) -> dict[Key, int]:
    """Return which group needs each task, or that it is shared; visit each task twice at most."""
    owner: dict[Key, int] = {}
    left = [(key, i) for i, keys in enumerate(wanted) for key in keys]
    while left:
        key, i = left.pop()
        before = owner.get(key)
        if key not in graph or before in (i, _SHARED):
            continue
        used = _dependencies(graph, key)
        alone = (
            before is None and _is_task(graph[key]) and not any(_is_held(graph, k) for k in used)
        )
        owner[key] = i if alone else _SHARED
        left += [(k, owner[key]) for k in used]
    return owner


def _dependencies(graph: Graph, key: Key) -> list[Key]:
    """Return the keys that a node refers to, also those of what a cluster holds."""
    node = graph[key]
    known = getattr(node, "dependencies", None)  # older graphs have tuples, which have none
    found = core.get_dependencies(graph, key) if known is None else known
    return sorted(found, key=str)  # in the same order in every process


def _is_task(node: Any) -> bool:
    """Whether a node computes something, and does not wait for a result of the cluster."""
    return not _is_of_cluster(node) and (callable(node) or bool(core.istask(node)))


def _is_held(graph: Graph, key: Key) -> bool:
    """Whether a cluster holds it, such as a shuffled partition, and decides where it goes."""
    return key not in graph or _is_of_cluster(graph[key])


def _is_of_cluster(node: Any) -> bool:
    return type(node).__module__.partition(".")[0] == "distributed"

"""How each partition is made, taken out of Dask's graph.

The tasks that serve one partition alone become its recipe, which a single task carries out. So
there is one task per partition, and whatever goes wrong in it is known to have gone wrong there.
Tasks that several partitions need, and what a cluster already holds, stay where they are.

>>> graph = {"all": [1, 2], "a": (max, "all"), "b": (min, "all"), "c": (abs, "b")}
>>> shared, (first, second) = recipes(graph, [("a",), ("c",)])
>>> shared, first.needs
({'all': [1, 2]}, ('all',))
>>> first([1, 2]), second([1, 2])
([2], [1])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from naively._optional import need

__all__ = ["Graph", "Key", "Recipe", "recipes"]

core: Any = need("dask.core", "reading Dask collections", extra="dask")

Key: TypeAlias = Any  # a string, or a tuple that begins with one
Graph: TypeAlias = dict[Key, Any]
_SHARED = -1


@dataclass(frozen=True)
class Recipe:
    """Tasks that make something out of nothing, or out of what is shared.

    Attributes
    ----------
    tasks : dict
        A graph of Dask's.
    keys : tuple
        Those of the results.
    needs : tuple
        Keys of what must be given: the results of tasks that are not this recipe's alone.
    """

    tasks: Graph
    keys: tuple[Key, ...]
    needs: tuple[Key, ...]

    def __call__(self, *shared: Any) -> list[Any]:
        """Carry the recipe out, in this thread."""
        given = dict(zip(self.needs, shared, strict=True))
        made = {key: given[key] for key in self.keys if key in given}
        wanted = [key for key in self.keys if key not in given]
        made.update(zip(wanted, core.get(self.tasks, wanted, given), strict=True))
        return [made[key] for key in self.keys]


def recipes(graph: Graph, wanted: Sequence[tuple[Key, ...]]) -> tuple[Graph, list[Recipe]]:
    """Return the tasks that are shared, and a recipe for each of the groups of keys."""
    owner = _owners(graph, wanted)
    own: list[Graph] = [{} for _ in wanted]
    shared: Graph = {}
    for key, i in owner.items():
        (shared if i == _SHARED else own[i])[key] = graph[key]
    found = []
    for tasks, keys in zip(own, wanted, strict=True):
        used = [key for task in tasks for key in _dependencies(graph, task)]
        needs = dict.fromkeys(key for key in (*keys, *used) if key not in tasks)
        found.append(Recipe(tasks, tuple(keys), tuple(needs)))
    return shared, found


def _owners(graph: Graph, wanted: Sequence[tuple[Key, ...]]) -> dict[Key, int]:
    """Return which group needs each task, or that it is shared; each is looked at twice at most."""
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
    known = getattr(node, "dependencies", None)  # of a tuple, as graphs used to be written
    found = core.get_dependencies(graph, key) if known is None else known
    return sorted(found, key=str)  # or it would differ from one process to the next


def _is_task(node: Any) -> bool:
    """Whether a node says how to make something, and not whom to wait for."""
    return not _is_of_cluster(node) and (callable(node) or bool(core.istask(node)))


def _is_held(graph: Graph, key: Key) -> bool:
    """Whether a cluster holds it, as what it shuffles, and decides who gets it."""
    return key not in graph or _is_of_cluster(graph[key])


def _is_of_cluster(node: Any) -> bool:
    return type(node).__module__.partition(".")[0] == "distributed"

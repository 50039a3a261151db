"""The values of arguments and options, made of the words on the command line.

typer makes them by pydantic, whose import takes as long as NumPy's. What the commands take is
little: texts, paths, numbers within bounds, one of some words, and lists of those.
"""

from __future__ import annotations

from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer


def read_plainly(parameter: Any) -> Any:
    """Return a parameter of typer's that reads its values here, if they are plain."""
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        return parameter
    is_list = get_origin(described.annotation) is list
    kind = get_args(described.annotation)[0] if is_list else described.annotation
    if kind in (bool, str, Path, int, float) or _words_of(kind):
        parameter._runtime_param = PlainValue(kind)
    return parameter


class PlainValue:
    """A value, or several where the parameter may come again, of one type."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of the words, or raise what is wrong with them."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        try:
            return [self._one(v, param) for v in value] if several else self._one(value, param)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None

    def _one(self, value: Any, param: Any) -> Any:
        words = _words_of(self._kind)
        if words:
            if value not in words:
                close = get_close_matches(str(value), words, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise ValueError(f"it must be one of {', '.join(words)}; got {str(value)!r}.{hint}")
            return words[value]
        if self._kind not in (int, float):
            return self._kind(value)
        what = "a whole number" if self._kind is int else "a number"
        try:
            number = self._kind(value)
        except ValueError:
            raise ValueError(f"it must be {what}; got {value!r}.") from None
        if param.min is not None and not number >= param.min:
            raise ValueError(f"it must be at least {param.min:g}; got {value}.")
        return number


def _words_of(kind: Any) -> dict[str, Any]:
    """Return the words of which one must be given, and what each means; none for other types."""
    if get_origin(kind) is Literal:
        return {word: word for word in get_args(kind)}
    is_enum = isinstance(kind, type) and issubclass(kind, Enum)
    return {one.value: one for one in kind} if is_enum else {}

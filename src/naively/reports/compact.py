r"""Scripts and styles without comments and needless spaces, so that a page stays small.

Strings, templates and the ends of lines are kept.

>>> compact_script('const a = [ 1, 2 ]; // some\nsay(`${ a + 1 } = b`, " = ");')
'const a=[1,2];\nsay(`${a+1} = b`," = ");'
>>> compact_style('/* Type. */\n  .a > b, i { color: red; margin: 0 auto }')
'.a>b,i{color:red;margin:0 auto}'
"""

from __future__ import annotations

import re

_PIECE = re.compile(r""""(?:\\.|[^"\\])*"|//[^\n]*|[`{}]|(?:(?!//)[^"`{}])+""")
_TEMPLATE = re.compile(r"(?:\\.|(?!\$\{)[^`\\])*(?:`|\$\{)", re.DOTALL)
_LITERAL = "\0"


def compact_script(script: str) -> str:
    """Take comments and spaces out of a script, which has no strings in single quotes."""
    code, literals = _apart(script)
    code = re.sub(r" *([{}()\[\];,:?=<>&|!*\0]) *", r"\1", code)
    code = re.sub(r"(?<=[\w)\]\0]) ([+-]) (?=[\w(\[\0])", r"\1", code)
    code = re.sub(r"\n\s*", "\n", code)
    kept = iter(literals)
    return re.sub(_LITERAL, lambda _: next(kept), code).strip("\n")


def _apart(script: str) -> tuple[str, list[str]]:
    """Return the code with a mark for each literal, and the literals."""
    code: list[str] = []
    literals: list[str] = []
    templates: list[bool] = []  # for each open brace, whether a template goes on after it
    at = 0
    while at < len(script):
        piece = _PIECE.match(script, at)
        assert piece is not None
        text, at = piece[0], piece.end()
        if text == "`" or (text == "}" and templates.pop()):
            part = _TEMPLATE.match(script, at)
            assert part is not None
            text, at = text + part[0], part.end()
            if text.endswith("{"):
                templates.append(True)
        elif text == "{":
            templates.append(False)
        elif text.startswith("//"):
            continue
        is_literal = text[0] in '"`' or (text[0] == "}" and len(text) > 1)
        literals += [text] * is_literal
        code.append(_LITERAL if is_literal else text)
    return "".join(code), literals


def compact_style(style: str) -> str:
    """Take comments and spaces out of a style sheet."""
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    style = re.sub(r"\s*([{};,]|(?<= )>(?= ))\s*|(?<=:) +", r"\1", style)
    return style.strip()

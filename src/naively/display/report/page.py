"""The page, made of the collected dict: a few scripts that draw it, and the notes at its end.

The dict travels as JSON inside the page, with ``<`` written as an escape, so that no label can
end the element it stands in; the scripts put it into the page as text, never as markup.
"""

from __future__ import annotations

import json
from typing import Any

from naively.display.pages import asset, shell

_SCRIPTS = (
    "forms",
    "arithmetic",
    "elements",
    "words",
    "interactions",
    "no_interactions",
    "explorer",
    "controls",
    "curves",
    "nomogram",
    "map",
    "figures",
    "theme",
    "address",
    "sections",
    "glance",
    "diagnosis",
    "start",
)
_SHOWN = ("average", "spread", "share", "importance")
_COMPARED = ("method", "n_rows", "classes", "confusion", "loss", "brier", "calibration_error")
_BRANDS = {"GaussianNB": "Gaussian naive Bayes"}
_AGREE = {
    True: "with the same numbers in the same order; the two agree to nine decimals and more",
    False: "with rounded logarithms; the two agree to nine decimals",
}
_IMPORTANCE = (
    "The importance of a column is by how much the log loss grows, in nats for each row, when the "
    "column is missing, each row being predicted as if the model had not seen it. Below 0, the "
    "model predicts better without it: it is noise, or what other columns say is counted twice."
)
_TOGETHER = (
    "The importance of a column holds what it tells together with others. A direction and the "
    "quadratic term treat a missing number as the mean of its column, a pair with a missing "
    "cell adds nothing."
)
_FITTED = (
    "The model came fitted. The explorer shows it as it is; the evaluation is of models "
    "with the same parameters, fitted on these rows without those that they predict."
)
_CONFIDENCE = (
    "Confidence is the probability of the predicted class. The calibration error compares it "
    "with the share of right answers, in ten bins; the Brier score is the mean squared "
    "distance of the probabilities from the truth, between 0 and 2."
)
_TERMS = (
    "A column may be described by several families. Each says how likely a value is in a class, "
    "and has its weight, which multiplies the logarithm of that; where weights differ by class, "
    "less its mean over the classes. A histogram says how much likelier a value is in a class "
    "than in all of them together."
)


def render(data: dict[str, Any]) -> str:
    """Return the page of a collected dict."""
    unused = set() if any("words" in column for column in data["columns"]) else {"words"}
    unused.add("no_interactions" if data["interactions"] else "interactions")
    scripts = [asset(f"{name}.js") for name in _SCRIPTS if name not in unused]
    lead, main = asset("report.html").split("<!-- main -->")
    return shell(
        data["title"],
        main,
        brand=_BRANDS.get(data["model"]["name"], "Naive Bayes"),
        lead=lead,
        style=asset("report.css"),
        script="\n".join(['"use strict";', "(() => {", *scripts, "})();"]),
        data=_json(_needed(data)),
    )


def _needed(data: dict[str, Any]) -> dict[str, Any]:
    """Return the dict with as many figures and digits as the page shows."""
    found = {**data, "columns": [_rounded(column) for column in data["columns"]]}
    if data["sample"] is not None:
        pairs = zip(data["sample"]["values"], data["columns"], strict=False)
        found["sample"] = {**data["sample"], "values": [_places(*pair) for pair in pairs]}
    if data["comparison"] and "evaluations" in data["comparison"]:
        judged = data["comparison"]["evaluations"]
        short = [{key: one[key] for key in _COMPARED} for one in judged]
        found["comparison"] = {**data["comparison"], "evaluations": short}
    return found


def _rounded(column: dict[str, Any]) -> dict[str, Any]:
    short = {key: column[key] for key in _SHOWN if column.get(key) is not None}
    return column | {key: float(f"{value:.6g}") for key, value in short.items()}


def _places(values: list[float | None] | None, column: dict[str, Any]) -> list[int | None] | None:
    """Return where the points of the map are, in thousandths of the slider's range."""
    if values is None:
        return None
    low, high = column["slider"]["low"], column["slider"]["high"]
    across = high / 1000 - low / 1000
    return [None if v is None else round((v / 1000 - low / 1000) / across * 1000) for v in values]


def _json(data: dict[str, Any]) -> str:
    """Write JSON that no HTML parser can take for markup; ASCII, so that any text survives."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


# --- how to read it, and what was left out ---


def notes_of(data: dict[str, Any], reason: str | None, most_points: int) -> list[str]:
    """Return the notes on all that the page shows; the reason is why no rows could be held out."""
    model, columns, together = data["model"], data["columns"], data["interactions"]
    rows, textbook = data["data"]["rows"], "terms" not in columns[0]
    notes = [
        f"The explorer does {model['name']}.predict_proba's arithmetic in your browser, "
        f"{_AGREE[textbook]}.",
        _IMPORTANCE,
        *([] if textbook else [_TERMS]),
    ]
    if together is not None:
        notes.append(_TOGETHER)
    if together is not None and together["left_out"]:
        notes.append(
            f"The page has no room for some interactions ({', '.join(together['left_out'])}): the "
            "explorer's probabilities leave them out, but for the rows of the surest mistakes."
        )
    notes.append(_CONFIDENCE)
    method = data["evaluation"]["method"]
    if reason is not None:
        notes.append(f"No rows were held out, so the figures flatter the model: {reason}")
    elif method == "the training rows":
        notes.append("No rows were held out, so the figures flatter the model.")
    elif model["fitted"] and method != "the given rows":
        notes.append(_FITTED)
    if model.get("costs") is not None:
        notes.append("Costs were given: the evaluation is of predictions at least expected cost.")
    if model.get("reject") is not None:
        least, label = model["reject"]
        notes.append(
            f"Below a probability of {least:g} the model answers {label!r}. The evaluation is of "
            "the class that it would have predicted."
        )
    notes += _left_out(columns, data["data"]["columns"])
    if data["comparison"] and "skipped" in data["comparison"]:
        notes.append(data["comparison"]["skipped"])
    if data["drawn"] != rows:
        notes.append(
            f"The model, the metrics and the counts are those of all {rows:,} rows. The "
            f"histograms, the surest mistakes and the comparison with scikit-learn use "
            f"{data['drawn']:,} rows drawn at random."
        )
    if data["sample"] is None:
        more = "" if textbook else ", categories, and values in the middle of bins"
        notes.append(f"No single row is in this page: only means, variances and counts{more}.")
    else:
        drawn = f"{most_points} of {rows:,} rows, drawn at random,"
        notes.append(
            f"This page holds single rows: {drawn if rows > most_points else 'all rows'} as points "
            "of the map, the first five, and the surest mistakes. "
            "naively.report(..., show_rows=False) leaves them out."
        )
    return notes


def _left_out(columns: list[dict[str, Any]], n_columns: int) -> list[str]:
    """Return what the page does not know of columns."""
    notes = []
    if n_columns > len(columns):
        notes.append(
            f"To keep the page small, {n_columns - len(columns):,} of {n_columns:,} columns were "
            "left out, the least important ones. A row of the surest mistakes brings what they add "
            "with it; for other rows the explorer takes them as missing, which is the exact "
            "marginal. The evaluation and the comparison use them all."
        )
    many = [c for c in columns if c.get("n_categories", 0) > len(c.get("categories", ()))]
    if many:
        named = ", ".join(f"{c['name']} has {c['n_categories']:,}" for c in many[:5])
        notes.append(
            "Of columns with very many categories the page names the most frequent ones, and "
            "those of the surest mistakes; shares are of all categories: "
            f"{named}{', ...' if len(many) > 5 else ''}."
        )
    texts = [c for c in columns if "words" in c]
    notes += [
        f"Of the {c['n_words']:,} words of {c['name']} the explorer knows {len(c['words']):,}, "
        "those that say most; it takes others for words never seen."
        for c in texts
        if len(c["words"]) < c["n_words"]
    ]
    if texts:
        notes.append(
            "A row of the surest mistakes brings its text, and what exactly that adds; other text "
            "adds what those of its words do that the page knows."
        )
    guessed = {t["family"] for c in columns for t in c.get("terms", ()) if "approximate" in t}
    if guessed:
        notes.append(
            f"The page does not know the formula of {', '.join(sorted(guessed))}: it reads it off "
            "a table of values, and the explorer is not exact there."
        )
    return notes

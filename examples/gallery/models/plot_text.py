"""
Topics of short texts
=====================

A column of text needs no vectorizer. The picture shows what the text contributes to the answer.
"""

import pandas as pd

from naively import NaiveBayes

texts = {
    "sport": [
        "the team won the match",
        "a late goal in the final",
        "the coach praised the players",
    ],
    "food": ["bake the bread for an hour", "a soup of beans and onions", "fry onions in butter"],
    "weather": ["rain and wind tomorrow", "a sunny morning with little wind", "snow and fog"],
}
rows = [(text, topic) for topic, several in texts.items() for text in several]
frame = pd.DataFrame(rows, columns=["text", "topic"])
model = NaiveBayes(families={"text": "text"}).fit(frame[["text"]], frame["topic"])

new = pd.DataFrame({"text": ["the players ate fresh bread after the match"]})
print(model.predict(new))
model.explain(new).plot(0)

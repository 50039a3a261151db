"""
An ONNX graph for other runtimes
================================

`to_onnx` writes a graph that gives the same probabilities in ONNX Runtime, in any language it
has.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_wine

from naively import GaussianNB

X, y = load_wine(return_X_y=True)
model = GaussianNB().fit(X, y)
path = Path(tempfile.mkdtemp()) / "wine.onnx"
model.to_onnx(path)
session = onnxruntime.InferenceSession(path)
label, probabilities = session.run(None, {session.get_inputs()[0].name: X.astype(np.float32)})[:2]
print("same labels:", (label == model.predict(X)).all())

fig, ax = plt.subplots()
ax.plot(model.predict_proba(X).ravel(), np.asarray(probabilities).ravel(), "o")
_ = ax.set(xlabel="predict_proba", ylabel="ONNX Runtime")

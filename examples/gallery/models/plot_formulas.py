"""
The formulas of the lecture
===========================

Prior, density and posterior of one column, computed by hand and by the model.
"""

import matplotlib.pyplot as plt
import numpy as np

from naively import GaussianNB
from naively.families.gaussian import density as gaussian_density
from naively.families.gaussian import log_density as gaussian_log_density

height = np.array([110, 115, 120, 122, 125, 128, 130, 133, 135, 138, 140, 145, 160, 170, 175, 185])
age = np.array(["child"] * 12 + ["adult"] * 4)
model = GaussianNB(ddof=1, var_smoothing=0).fit(height[:, np.newaxis], age)

x = np.linspace(90, 210, 400)
density = gaussian_density(x[:, np.newaxis], model.theta_.T, model.var_.T)  # adult, child
joint = model.class_prior_ * density
posterior = joint / joint.sum(axis=1, keepdims=True)
assert np.allclose(posterior, model.predict_proba(x[:, np.newaxis]))

logs = gaussian_log_density(x[:, np.newaxis], model.theta_.T, model.var_.T)
assert np.allclose(np.log(density), logs)

fig, axes = plt.subplots(3, 1, sharex=True, figsize=(6, 7), layout="constrained")
titles = ["density f(x | class)", "prior times density", "posterior p(class | x)"]
for ax, lines, title in zip(axes, (density, joint, posterior), titles, strict=True):
    ax.plot(x, lines, label=model.classes_)
    ax.set(title=title)
axes[0].legend()
_ = axes[-1].set(xlabel="height in cm")

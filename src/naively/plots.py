"""Pictures of models, by scikit-learn's convention for displays.

``from_estimator`` computes once and draws; ``plot`` draws again elsewhere, and sets ``ax_`` and
``figure_``. matplotlib is imported when something is drawn, and nothing global is changed: no
style, no backend.
"""

from naively.display.plots import *  # noqa: F403
from naively.display.plots import __all__ as __all__

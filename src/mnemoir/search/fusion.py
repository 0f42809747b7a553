"""Fusion: a weighted mean of the stages' scores, on one scale for any set of stages."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Signal = NDArray[np.floating]


def fuse(signals: Mapping[str, Signal], weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Σ weight · signal / Σ weight for each row: in [0, 1] when the signals are.

    A stage missing from `signals` did not run for this query and is in neither sum. NaN means that a row has no value
    yet (its vector is still to be made): such a row gets the upper quartile of the others, so that its words decide.
    """
    rows = len(next(iter(signals.values())))
    total, in_play = np.zeros(rows), 0.0
    for name, values in signals.items():
        known = np.isfinite(values)
        weight = weights.get(name, 0.0)
        if not weight or not known.any():
            continue
        filled = values if known.all() else np.where(known, values, np.quantile(values[known], 0.75))
        total += weight * filled
        in_play += weight
    # Rows that are equal differ by the last bits of their sums, and would not tie.
    return np.round(total / (in_play or 1.0), 6)

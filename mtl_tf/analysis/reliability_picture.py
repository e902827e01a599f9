"""Draws how often what was probable came true."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.figures import style

_SIDE = 3.2


def reliability_picture(bins: Sequence[Mapping[str, float]]) -> Any:
    """A `matplotlib.figure.Figure`: a reliability diagram.

    As figure 1 of Guo et al. 2017: on the diagonal probabilities are what
    they say; below it they are too high.

    Args:
        bins: what `probabilities.reliability` returns.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = style.new_figure(_SIDE + 0.8, _SIDE + 0.4)
    axes = figure.subplots()
    look = next(style.looks(1))
    axes.plot([0, 1], [0, 1], color="0.6", linestyle=":", linewidth=1)
    confidence = [row["confidence"] for row in bins]
    axes.plot(confidence, [row["accuracy"] for row in bins], **look)
    total = max(sum(row["count"] for row in bins), 1)
    axes.bar(
        confidence,
        [row["count"] / total for row in bins],
        width=0.02,
        color="0.8",
        zorder=0,
    )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("probability (grey: share of the predictions)", fontsize=8)
    axes.set_ylabel("share that came true", fontsize=8)
    axes.tick_params(labelsize=7)
    figure.tight_layout()
    return figure

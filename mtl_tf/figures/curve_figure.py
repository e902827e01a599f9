"""Draws training and development loss by epoch."""

from collections.abc import Sequence
from typing import Any

from mtl_tf.figures import style
from mtl_tf.figures.curves import Curve


def curve_figure(curves: Sequence[Curve]) -> Any:
    """A `matplotlib.figure.Figure`: training left, development right.

    Figure 5 of Chen et al. (2018).

    Args:
        curves: one a run.
    """
    # Labels may be long and many: the legend has rows of its own below.
    rows = -(-len(curves) // 3)
    legend = 0.3 * rows + 0.2
    height = 3.6 + legend
    figure = style.new_figure(9.0, height)
    both = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, part in zip(both, ("train", "development")):
        _draw(axes, curves, part)
    # Once both are drawn: a limit that is set stops growing with the data.
    both[0].set_ylim(bottom=0)
    both[0].set_ylabel("mean cross-entropy of the tasks")
    both[0].set_title("training loss (mean over the epoch)", fontsize=10)
    both[1].set_title("development loss (at the epoch's end)", fontsize=10)
    figure.subplots_adjust(
        left=0.08,
        right=0.98,
        top=1 - 0.35 / height,
        bottom=(legend + 0.55) / height,
        wspace=0.06,
    )
    lines, labels = both[0].get_legend_handles_labels()
    figure.legend(
        lines, labels, loc="lower center", ncol=min(3, len(curves)), fontsize=9
    )
    return figure


def _draw(axes: Any, curves: Sequence[Curve], part: str) -> None:
    for curve, look in zip(curves, style.looks(len(curves))):
        points = [
            (epoch, loss)
            for epoch, loss in zip(curve.epochs, getattr(curve, part))
            if loss is not None
        ]
        epochs, losses = zip(*points) if points else ((), ())
        axes.plot(epochs, losses, label=curve.label, markersize=4, **look)
    axes.set_xlabel("epoch")
    axes.grid(color="#dddddd", linewidth=0.5)
    axes.xaxis.get_major_locator().set_params(integer=True)

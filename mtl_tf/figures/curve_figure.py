"""Draws training and development loss by epoch."""

from collections.abc import Sequence
from typing import Any

from mtl_tf.figures import style
from mtl_tf.figures.curves import Curve
from mtl_tf.figures.page import DEFAULT, FULL_WIDTH, Page, wrapped

_PANEL = 19.0  # ems of a panel's height
_TITLES = {
    "train": "training loss",
    "development": "development loss",
}
_NARROW = 40.0  # ems of a page that has no room for two panels in a row


def curve_figure(curves: Sequence[Curve], page: Page = DEFAULT) -> Any:
    """A `matplotlib.figure.Figure`: training left, development right.

    Figure 5 of Chen et al. (2018). On a narrow page development is below.

    Args:
        curves: one a run.
        page: what it is drawn for.
    """
    width = page.width or FULL_WIDTH
    columns = 1 if width < _NARROW * page.em else 2
    height = _PANEL * (3 - columns) * page.em
    figure = style.new_figure(width, page.height or height, "constrained")
    panels = figure.subplots(3 - columns, columns, sharex=True, sharey=True)
    for axes, part in zip(panels, _TITLES):
        _draw(axes, curves, part, page)
        title = wrapped(
            figure, _TITLES[part], page.font_size, 0.8 * width / columns
        )
        axes.set_title(title, fontsize=page.font_size)
    for axes in panels[: 3 - columns]:
        axes.set_ylabel("mean loss of the tasks", fontsize=page.font_size)
    for axes in panels[-columns:]:
        axes.set_xlabel("epoch", fontsize=page.font_size)
    lines, labels = panels[0].get_legend_handles_labels()
    legend = style.legend(figure, lines, labels, page)
    style.fit_height(figure, legend, height, page)
    return figure


def _draw(axes: Any, curves: Sequence[Curve], part: str, page: Page) -> None:
    for curve, look in zip(curves, style.looks(len(curves))):
        points = [
            (epoch, loss)
            for epoch, loss in zip(curve.epochs, getattr(curve, part))
            if loss is not None
        ]
        epochs, losses = zip(*points) if points else ((), ())
        axes.plot(epochs, losses, label=curve.label, markersize=4, **look)
    style.plain_axes(axes, page)
    axes.xaxis.get_major_locator().set_params(integer=True)

"""What makes a figure fit for a paper, as far as it can be measured."""

import itertools

import numpy as np

_INCH = 40  # squares of the page that are looked at, an inch
_LITTLE = 0.02  # inches by which type may meet other type's box


def _drawn_ticks(axes):
    """The labels of ticks within the limits: others are not drawn."""
    for axis, limits in (
        (axes.xaxis, sorted(axes.get_xlim())),
        (axes.yaxis, sorted(axes.get_ylim())),
    ):
        for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels()):
            if label.get_visible() and limits[0] <= place <= limits[1]:
                yield label


def texts(figure):
    """Every text of a figure that shows something."""
    found = list(figure.texts)
    for axes in figure.axes:
        found += [*_drawn_ticks(axes), axes.xaxis.label, axes.yaxis.label]
        found += [*axes.texts, axes.title, axes._left_title, axes._right_title]
    for legend in figure.legends:
        found += legend.get_texts()
    return [text for text in found if text.get_text().strip()]


def _boxes(figure):
    """The boxes of texts and of axes, in inches."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()

    def box(artist):
        found = artist.get_window_extent(renderer)
        return np.array([found.x0, found.y0, found.x1, found.y1]) / figure.dpi

    shown = texts(figure)
    return shown, [box(t) for t in shown], [box(a) for a in figure.axes]


def _meet(one, two):
    width = min(one[2], two[2]) - max(one[0], two[0])
    height = min(one[3], two[3]) - max(one[1], two[1])
    return width > _LITTLE and height > _LITTLE


def check(figure, blank=0.15):
    """Fails where a text is cut or covered, or much of the page is empty.

    Args:
        figure: a `matplotlib.figure.Figure`.
        blank: the greatest share of the page that an empty rectangle has.
    """
    shown, written, pictures = _boxes(figure)
    width, height = figure.get_size_inches()
    for text, box in zip(shown, written):
        inside = box[0] >= 0 and box[1] >= 0
        inside = inside and box[2] <= width and box[3] <= height
        assert inside, f"{text.get_text()!r} leaves the page: {box}"
    for (one, a), (two, b) in itertools.combinations(zip(shown, written), 2):
        assert not _meet(a, b), f"{one.get_text()!r} on {two.get_text()!r}"
    for one, two in itertools.combinations(pictures, 2):
        assert not _meet(one, two), "axes meet"
    beside = {id(t) for axes in figure.axes for t in axes.texts}
    for text, box in zip(shown, written):
        if id(text) not in beside:
            covered = any(_meet(box, picture) for picture in pictures)
            assert not covered, f"{text.get_text()!r} lies on axes"
    empty = largest_empty(figure, [*written, *pictures])
    assert empty <= blank, f"{empty:.0%} of the page are one empty rectangle"


def largest_empty(figure, boxes):
    """The share of the page that the largest empty rectangle has."""
    width, height = figure.get_size_inches()
    page = np.ones(
        (max(1, int(height * _INCH)), max(1, int(width * _INCH))), bool
    )
    for x0, y0, x1, y1 in boxes:
        rows = slice(int(max(0, y0) * _INCH), int(np.ceil(y1 * _INCH)))
        page[rows, int(max(0, x0) * _INCH) : int(np.ceil(x1 * _INCH))] = False
    best, heights = 0, np.zeros(page.shape[1], int)
    for row in page:
        heights = np.where(row, heights + 1, 0)
        best = max(best, _largest_below(heights))
    return best / page.size


def _largest_below(heights):
    """The largest rectangle below a skyline."""
    best, stack = 0, []
    for place, height in enumerate([*heights, 0]):
        start = place
        while stack and stack[-1][1] >= height:
            start, high = stack.pop()
            best = max(best, high * (place - start))
        stack.append((start, height))
    return best


def norms(figure):
    """The limits of the colours of all maps; colour bars are none."""
    return {
        (image.norm.vmin, image.norm.vmax)
        for axes in figure.axes
        for image in axes.images
    }

"""Figures: what is drawn, that it can be read, and the files."""

import dataclasses
import itertools

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from mtl_tf.core.errors import ConfigError
from mtl_tf.figures import (
    curve_figure,
    drawing,
    panels,
    sheet,
    style,
    token_figure,
)
from mtl_tf.figures.curves import Curve
from mtl_tf.figures.page import DEFAULT, Page, extent, wrapped
from mtl_tf.figures.traces import Trace
from tests.figures import layout


def trace(label="ARC-I", tokens=5, gates=("forward/gate",), size=6):
    rng = np.random.default_rng(tokens)
    words = [
        f"word{n}" if n % 7 else "incomprehensibilities" for n in range(tokens)
    ]
    return Trace(
        label=label,
        tokens=tuple(words),
        known=np.arange(tokens) != 1,
        scores=rng.uniform(-1, 1, tokens),
        poles=("negative", "positive"),
        inspect={name: rng.uniform(0, 1, (tokens, size)) for name in gates},
    )


def gate_panel(tokens):
    lstm = trace("LSTM", tokens, gates=())
    return panels.fusion_gate([lstm, trace("ARC-I", tokens)])


def test_a_fusion_gate_panel_has_neurons_by_tokens():
    one = trace()
    panel = panels.fusion_gate([trace("LSTM", gates=()), one])
    assert list(panel.scores) == ["LSTM", "ARC-I"]
    [heat] = panel.heats
    np.testing.assert_array_equal(heat.values, one.inspect["forward/gate"].T)
    assert heat.limits == (heat.values.min(), heat.values.max())
    assert panel.tokens[1] == "[word1]" and panel.tokens[2] == "word2"
    assert panel.tokens[0] == "incomprehensibi…"


def test_both_directions_are_named():
    both = ("forward/gate", "backward/gate")
    heats = panels.fusion_gate([trace(gates=both)]).heats
    assert [h.title.split(", ")[-1] for h in heats] == ["forward", "backward"]


def test_runs_without_what_is_asked_for_are_named():
    with pytest.raises(ConfigError, match=r"none of the runs \(LSTM\)"):
        panels.fusion_gate([trace("LSTM", gates=())])
    with pytest.raises(ConfigError, match="give one of meta_lstm"):
        panels.generated_weights([trace()], lambda trace: None, ())


def test_generated_weights_are_scaled_by_what_there_is():
    values = np.array([[np.nan, 2.0, 5.0]])
    one = trace(tokens=3, gates=("forward/meta_vector",))
    panel = panels.generated_weights([one], lambda trace: values, ("gate",))
    assert panel.heats[0].limits == (0.0, 5.0)
    single = trace(tokens=1, gates=("forward/meta_vector",))
    nothing = np.array([[np.nan]])
    panel = panels.generated_weights([single], lambda trace: nothing, ("g",))
    assert panel.heats[0].limits == (0.0, 1.0)
    token_figure.token_figure([panel])


def test_one_great_change_does_not_hide_the_others():
    values = np.array([[np.nan, *np.linspace(1.0, 2.0, 19), 1100.0]])
    one = trace(tokens=21, gates=("forward/meta_vector",))
    panel = panels.generated_weights([one], lambda trace: values, ("gate",))
    (heat,) = panel.heats
    assert 1.5 < heat.limits[1] < 2.5
    assert "top colour" in heat.unit


PAGES = [
    DEFAULT,
    Page(width=3.3, font_size=8),
    Page(width=12.0, font_size=14),
]


@pytest.mark.parametrize("tokens", [1, 2, 30, 31, 95, 400])
@pytest.mark.parametrize("page", PAGES)
def test_lines_cover_the_text_once_and_are_of_like_length(tokens, page):
    paper = sheet.Sheet(page)
    paper.margin(["negative -1"], 2)
    parts = paper.wrap(tokens)
    covered = [n for part in parts for n in range(part.start, part.stop)]
    assert covered == list(range(tokens))
    # A column has room for a name that is turned by a quarter.
    each = paper.inner / max(part.stop - part.start for part in parts)
    assert each >= 1.5 * page.em
    assert len(parts) == -(-tokens // (parts[0].stop - parts[0].start))


@pytest.mark.by_default("page0-12", "page1-1")
@pytest.mark.parametrize("tokens", [1, 12, 70])
@pytest.mark.parametrize("page", PAGES)
def test_every_token_is_readable(tokens, page):
    """No label leaves the figure, meets another one or lies on a picture."""
    panel = gate_panel(tokens)
    figure = token_figure.token_figure([panel, gate_panel(3)], "Task x", page)
    layout.check(figure)
    shown = [
        label.get_text()
        for axes in figure.axes[:-1]
        for label in axes.get_xticklabels()
        if label.get_text()
    ]
    assert shown == [*panel.tokens, *gate_panel(3).tokens]


def test_the_text_is_the_title_and_colours_have_one_scale():
    one = dataclasses.replace(trace(tokens=5), text="As it was given")
    other = trace(tokens=3)
    other.inspect["forward/gate"][0, 0] = 7.5
    drawn = [panels.fusion_gate([one]), panels.fusion_gate([other])]
    figure = token_figure.token_figure(drawn, "Task x")
    written = [text.get_text() for text in figure.texts]
    assert "“As it was given”" in written
    assert "“" + " ".join(other.tokens) + "”" in written
    low = min(float(t.inspect["forward/gate"].min()) for t in (one, other))
    assert layout.norms(figure) == {(low, 7.5)}


def test_small_scores_fill_their_axis():
    quiet = dataclasses.replace(trace(), scores=np.full(5, 0.12))
    figure = token_figure.token_figure([panels.fusion_gate([quiet])])
    assert figure.axes[0].get_ylim()[1] < 0.25
    loud = dataclasses.replace(trace(), scores=np.full(5, -0.97))
    figure = token_figure.token_figure(
        [panels.fusion_gate([one]) for one in (quiet, loud)]
    )
    assert figure.axes[0].get_ylim() == figure.axes[2].get_ylim()
    assert figure.axes[0].get_ylim()[0] < -0.97


def test_axes_are_labelled():
    loud = dataclasses.replace(trace(), scores=np.linspace(-1, 1, 5))
    panel = panels.fusion_gate([trace("LSTM", gates=()), loud])
    figure = token_figure.token_figure([panel], "Task x")
    scores, heat, _ = figure.axes
    assert "score" in scores.get_ylabel()
    assert [t.get_text() for t in scores.get_yticklabels()] == [
        "negative -1",
        "0",
        "positive 1",
    ]
    assert heat.get_ylabel() == "neuron"
    written = [text.get_text() for text in figure.texts]
    assert "ARC-I: fusion gate" in written
    unit = "activation of the fusion gate"
    assert unit in [" ".join(one.split()) for one in written]
    assert "[word]: not in the vocabulary" in written
    [legend] = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["LSTM", "ARC-I"]


@pytest.mark.by_default("9-page0", "9-page1")
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("runs", [1, 9])
def test_curves_are_readable(page, runs):
    curves = [
        Curve(f"A run with a long label, {n}", (1.0, 2.0), (n, 1), (n, 2))
        for n in range(runs)
    ]
    layout.check(curve_figure.curve_figure(curves, page))


def test_the_page_is_what_was_asked_for(tmp_path):
    from matplotlib import image

    path = str(tmp_path / "a.png")
    page = Page(width=4.0, height=3.0, dpi=100, font="serif", font_size=7)
    with style.drawing(page):
        figure = curve_figure.curve_figure(CURVES, page)
        style.save(figure, [path], page)
        families = {t.get_fontfamily()[0] for t in layout.texts(figure)}
        sizes = {round(t.get_fontsize(), 2) for t in layout.texts(figure)}
    assert image.imread(path).shape[:2] == (300, 400)
    assert families == {"serif"}
    assert sizes == {7, 6.16}
    with (
        pytest.raises(ConfigError, match="--font=Nohow is no font .* DejaVu"),
        style.drawing(Page(font="Nohow")),
    ):
        pass


def test_a_wrapped_text_keeps_its_words():
    figure = style.new_figure(2, 1)
    text = "a text of several words which no line of this page holds"
    lines = wrapped(figure, text, 9, 1.5, 9).split("\n")
    assert " ".join(lines) == text and len(lines) > 1
    assert all(extent(figure, line, 9)[0] <= 1.5 for line in lines)
    short = wrapped(figure, text, 9, 1.5, 2).split("\n")
    assert len(short) == 2 and short[1].endswith("…")
    assert wrapped(figure, "x" * 99, 9, 0.5, 1).endswith("x…")
    assert wrapped(figure, "", 9, 0.5) == ""


def test_lines_differ_in_more_than_colour():
    looks = list(style.looks(9))
    assert len({tuple(look.values()) for look in looks}) == 9
    for one, two in itertools.combinations(looks[:4], 2):
        assert one["color"] != two["color"]
        assert one["linestyle"] != two["linestyle"]


CURVES = [
    Curve("one", (1.0, 2.0), (0.6, 0.3), (0.5, 2.5)),
    Curve("two", (1.0, 2.0), (0.7, 0.4), (None, None)),
]


def test_learning_curves_show_all_points():
    figure = curve_figure.curve_figure(CURVES)
    train, development = figure.axes
    np.testing.assert_array_equal(
        train.lines[0].get_xydata(), [[1.0, 0.6], [2.0, 0.3]]
    )
    assert len(development.lines[1].get_xydata()) == 0
    # The axis that both share reaches the higher of the two.
    assert train.get_ylim()[1] > 2.5
    # And no more: what lies below all losses is no part of it.
    assert 0.1 < train.get_ylim()[0] < 0.3
    assert train.get_ylabel() and train.get_xlabel()


def test_files_are_written_whole_and_always_alike(tmp_path):
    paths = [str(tmp_path / name) for name in ("a.png", "a.svg", "a.pdf")]
    style.check_paths(paths)
    contents = []
    for _ in range(2):
        style.save(curve_figure.curve_figure(CURVES), paths)
        contents.append([open(path, "rb").read() for path in paths])  # noqa: SIM115
    assert contents[0] == contents[1]
    png, svg, pdf = contents[0]
    assert png.startswith(b"\x89PNG") and pdf.startswith(b"%PDF")
    assert b"<svg" in svg


def test_dollar_signs_are_no_formulas(tmp_path):
    import matplotlib

    one = trace("a $ b $", tokens=3)
    one = dataclasses.replace(
        one, tokens=("$$", "$_$", "$5-$10"), poles=("$ $", "$$")
    )
    figure = token_figure.token_figure([panels.fusion_gate([one])], "$_$")
    path = tmp_path / "a.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        style.save(figure, [str(path)])
    svg = path.read_text()
    for text in (">$$<", ">$_$<", ">$5-$10<", ">a $ b $<", ">$ $ -"):
        assert text in svg


@pytest.mark.parametrize("paths", [[], ["a.jpg"], ["a.png", "b"]])
def test_other_endings_are_refused(paths):
    with pytest.raises(ConfigError, match="--output"):
        style.check_paths(paths)


def test_characters_that_the_font_lacks_are_boxes_without_a_word(recwarn):
    from matplotlib.figure import Figure

    figure = Figure()
    figure.text(0.5, 0.5, "parcel \N{PACKAGE} \u4f60")
    assert style.png(figure)
    assert not [one for one in recwarn if "font" in str(one.message)]


@pytest.mark.parametrize("items", [["", ""], ["x", ""], ["A="]])
def test_an_item_without_a_folder_is_refused(items):
    with pytest.raises(ConfigError, match="must name a folder before and"):
        drawing.all_named(items)

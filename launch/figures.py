"""Draws the papers' pictures of trained runs: `python -m launch.figures`."""

from typing import Any

from absl import flags

from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError
from mtl_tf.figures import drawing
from mtl_tf.figures.drawing import (
    ANSWER,
    ATTENTION,
    FUSION_GATE,
    GENERATED_WEIGHTS,
    SOURCES,
    TABLES,
    Named,
)
from mtl_tf.programs import common_flags, runner, streams, text_input

LEARNING_CURVES, LAYERS = "learning_curves", "layers"
ALIGNMENT = "alignment"
SCORE_CURVES, NEIGHBOURS = "score_curves", "neighbours"
FIGURES = (
    FUSION_GATE,
    GENERATED_WEIGHTS,
    ATTENTION,
    ALIGNMENT,
    LEARNING_CURVES,
    SCORE_CURVES,
    LAYERS,
    NEIGHBOURS,
    SOURCES,
    ANSWER,
)
FREE_HEIGHT = (LEARNING_CURVES, SCORE_CURVES, LAYERS)
LEAST_SIZE = 16  # ems of a page
_OF_TEXTS = (FUSION_GATE, GENERATED_WEIGHTS, ATTENTION, ALIGNMENT, ANSWER)
# The figures that read a flag; all read the others.
_READERS = {
    "task": (*_OF_TEXTS, NEIGHBOURS, SOURCES),
    "text": _OF_TEXTS,
    "input": _OF_TEXTS,
    "axis": (SCORE_CURVES,),
    "metric": (SCORE_CURVES,),
    "split": (SOURCES,),
    "examples": (SOURCES,),
    "words": (NEIGHBOURS,),
    "count": (NEIGHBOURS,),
}


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_enum(
        "figure", None, FIGURES, "figure to draw", flag_values=values
    )
    flags.DEFINE_list(
        "model_dir",
        [],
        "folders of trained runs, each as PATH or LABEL=PATH, separated by "
        "commas",
        flag_values=values,
    )
    flags.DEFINE_string(
        "task",
        None,
        "task whose weights read the texts. Needed for figures of texts if "
        "the runs have several tasks",
        flag_values=values,
    )
    flags.DEFINE_multi_string(
        "text", [], "a text to read; may be repeated", flag_values=values
    )
    flags.DEFINE_string(
        "input",
        None,
        "file of more texts, one per line; - for standard input",
        flag_values=values,
    )
    _define_choices(values)
    _define_page(values)
    common_flags.define_data(values)
    flags.DEFINE_list(
        "output",
        [],
        "files to write: names that end with .png, .svg or .pdf, separated by "
        "commas. neighbours can also be written as a table, .md or .json",
        flag_values=values,
    )


def _define_choices(values: flags.FlagValues) -> None:
    """Defines the flags of single figures."""
    flags.DEFINE_enum(
        "axis",
        "minibatches",
        ("minibatches", "hours"),
        "horizontal axis of score_curves: minibatches of the task itself, or "
        "hours of training of finished runs",
        flag_values=values,
    )
    flags.DEFINE_string(
        "metric",
        "",
        "metric of score_curves, such as bleu_lc. If empty: the primary "
        "metric of each task",
        flag_values=values,
    )
    flags.DEFINE_string(
        "split",
        "validation",
        "split whose examples sources answers",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "examples",
        200,
        "number of examples of each task that sources answers, from the first "
        "one",
        lower_bound=1,
        flag_values=values,
    )
    flags.DEFINE_list(
        "words",
        [],
        "words whose neighbours to show, separated by commas",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "count",
        3,
        "number of neighbours of each word",
        lower_bound=1,
        flag_values=values,
    )


def _define_page(values: flags.FlagValues) -> None:
    """Defines what the figure is drawn for."""
    for name, most, about in (
        (
            "width",
            40,
            "width of the figure in inches; 0 for the width that it needs",
        ),
        (
            "height",
            100,
            "height of the figure in inches, for "
            f"{', '.join(FREE_HEIGHT)}; 0 for the height that it needs, which "
            "all other figures have",
        ),
    ):
        flags.DEFINE_float(
            name,
            0.0,
            about,
            lower_bound=0,
            upper_bound=most,
            flag_values=values,
        )
    flags.DEFINE_float(
        "font_size",
        9.0,
        "font size in points",
        lower_bound=4,
        upper_bound=40,
        flag_values=values,
    )
    flags.DEFINE_string(
        "font",
        "",
        "font family, such as serif, or name of an installed font. If empty: "
        "the font of matplotlib",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "dpi",
        300,
        "dots per inch of a .png",
        lower_bound=30,
        upper_bound=1200,
        flag_values=values,
    )


def _page(values: flags.FlagValues) -> Any:
    """The page of the flags.

    Raises:
        ConfigError: it is too small for its type, or the height of the figure
            is not free.
    """
    from mtl_tf.figures.page import Page

    if values.height and values.figure not in FREE_HEIGHT:
        raise ConfigError(
            f"--height={values.height:g}: {values.figure} is as high as what "
            f"it shows; only {', '.join(FREE_HEIGHT)} have a free height"
        )
    least = LEAST_SIZE * values.font_size / 72
    for name in ("width", "height"):
        value = values[name].value
        if 0 < value < least:
            raise ConfigError(
                f"--{name}={value:g} is too little for a type of "
                f"{values.font_size:g} points: give {least:.1f} inches at "
                "least, or a smaller --font_size"
            )
    return Page(
        values.width, values.height, values.font_size, values.font, values.dpi
    )


def _check_read(values: flags.FlagValues) -> None:
    """Refuses flags that the figure does not read.

    Raises:
        ConfigError: there is one.
    """
    for name, readers in _READERS.items():
        if values[name].present and values.figure not in readers:
            raise ConfigError(
                f"--{name} does nothing for --figure={values.figure}: it is "
                f"for {', '.join(readers)}"
            )


def main(values: flags.FlagValues) -> None:
    """Draws the figure and writes it."""
    from mtl_tf.figures import style

    _check_read(values)
    page = _page(values)
    with style.drawing(page):
        _draw(values, page)
    for path in values.output:
        print(path)


def _draw(values: flags.FlagValues, page: Any) -> None:
    """Draws the figure and writes its files."""
    from mtl_tf.figures import style

    runs = drawing.all_named(values.model_dir)
    style.check_paths(
        values.output, TABLES if values.figure == NEIGHBOURS else ()
    )
    if values.figure == NEIGHBOURS:
        words = [word.strip() for word in values.words]
        drawing.neighbours(
            runs, values.task, words, values.count, values.output, page
        )
    else:
        style.save(_figure(values, runs, page), values.output, page)


def _figure(values: flags.FlagValues, runs: list[Named], page: Any) -> Any:
    if values.figure == LEARNING_CURVES:
        return drawing.learning_curves(runs, page)
    if values.figure == SCORE_CURVES:
        return drawing.score_curves(runs, values.axis, values.metric, page)
    if values.figure == LAYERS:
        return drawing.layers(runs, page)
    if values.figure == SOURCES:
        directories = Directories(values.data_dir, values.manual_dir)
        return drawing.sources(
            runs, values.task, values.split, values.examples, directories, page
        )
    texts = read_texts(values.text, values.input)
    if values.figure == ANSWER:
        return drawing.answer(runs, values.task, texts, page)
    if values.figure == ATTENTION:
        return drawing.attention(runs, values.task, texts, page)
    if values.figure == ALIGNMENT:
        return drawing.alignment(runs, values.task, texts, page)
    return drawing.token_figure(values.figure, runs, values.task, texts, page)


def read_texts(texts_of_flags: list[str], source: str | None) -> list[str]:
    """The texts of the flags, then those of the file.

    Raises:
        ConfigError: there are none.
    """
    texts = list(texts_of_flags)
    if source:
        with streams.reading(source) as (stream, name):
            reader = text_input.TextReader(stream, name)
            for batch in reader.batches(64):
                lines = (item.fields["text"] for item in batch)
                texts += [text for text in lines if text.strip()]
    if not texts:
        raise ConfigError("this figure needs texts: give --text or --input")
    return texts


PROGRAM = runner.Program(
    name="figures",
    summary="""
    Draws the papers' figures from trained runs as PNG, SVG or PDF:

    * fusion_gate: the score after each token, and the activation of the fusion
      gates of runs with an external memory
    * generated_weights: the score after each token, and how much the weights
      that a Meta-LSTM generates change
    * attention: what the task columns of an L-E Transformer attend to in each
      layer, the words and each other
    * alignment: what each word of a translation attends to in its source
    * learning_curves: training and development loss by epoch
    * score_curves: validation scores of each task, such as BLEU of single and
      multi-target translation
    * layers: the scores of finished runs by their number of layers, with a line
      for each structure or label
    * neighbours: the words whose vectors are most similar to those of given
      words, as a picture or a table
    * sources: for each task of a run that answers questions, whether it writes
      words from its vocabulary or copies them from the context or the question
    * answer: the same for each word of answers; a text is a question and a
      context with a tab between them
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "An LSTM and ARC-I reading a sentence",
            "--figure=fusion_gate --model_dir=LSTM=runs/lstm,ARC-I=runs/arc_i "
            "--task=sst2 --text='not a bad film .' --output=gate.png,gate.svg",
        ),
        (
            "The matrices that Meta-MTL generates, for a file of sentences",
            "--figure=generated_weights --model_dir=runs/meta "
            "--task=toys_games --input=texts.txt --output=weights.png",
        ),
        (
            "What the task columns of L-E attend to",
            "--figure=attention --model_dir=runs/l_e "
            "--text='not a bad film .' --output=attention.png,attention.svg",
        ),
        (
            "What the words of a translation attend to",
            "--figure=alignment --model_dir=runs/multi30k --task=en-de "
            "--text='a dog runs on the beach .' --output=alignment.png",
        ),
        (
            "BLEU of one model per pair and of one model for all pairs, "
            "trained on the same data",
            "--figure=score_curves --model_dir=Single=runs/table/single/seed_1,"
            "Multi=runs/table/multi/seed_1 --output=curves.png,curves.svg",
        ),
        (
            "The nearest neighbours of words in both runs",
            "--figure=neighbours --model_dir=Multi=runs/table/multi/seed_1,"
            "Single=runs/table/single/seed_1 --task=en-de "
            "--words=dog,beach,three --output=nearest.md,nearest.png",
        ),
        (
            "Scores by number of layers, for two structures with 2 and 4 "
            "layers",
            "--figure=layers --model_dir=runs/l_i_2,runs/l_i_4,runs/s_c_2,"
            "runs/s_c_4 --output=layers.png",
        ),
        (
            "Where the words of a run's answers come from, by task",
            "--figure=sources --model_dir=runs/decanlp --manual_dir=FOLDER "
            "--output=sources.png",
        ),
        (
            "Where each word of an answer comes from, for a file of questions",
            "--figure=answer --model_dir=runs/decanlp --task=squad "
            "--input=questions.txt --output=answer.png",
        ),
        (
            "Curves that fit a column of a paper, with its font",
            "--figure=score_curves --model_dir=runs/meta,runs/lstm "
            "--width=3.3 --font=serif --font_size=8 --output=column.pdf",
        ),
        (
            "The losses of two runs",
            "--figure=learning_curves --model_dir=runs/meta,runs/lstm "
            "--output=curves.svg",
        ),
    ),
    required=("figure", "model_dir"),
)


def run() -> None:
    """Entry point of `mtl-figures`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()

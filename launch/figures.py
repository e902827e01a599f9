"""Draws the papers' pictures of trained runs: `python -m launch.figures`."""

from typing import Any

from absl import flags

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
    *(FUSION_GATE, GENERATED_WEIGHTS, ATTENTION, ALIGNMENT),
    *(LEARNING_CURVES, SCORE_CURVES, LAYERS, NEIGHBOURS),
    *(SOURCES, ANSWER),
)
FREE_HEIGHT = (LEARNING_CURVES, SCORE_CURVES, LAYERS)
LEAST_SIZE = 16  # ems of a page


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_enum("figure", None, FIGURES, "what", flag_values=values)
    flags.DEFINE_list(
        "model_dir",
        [],
        "folders of trained runs, each as PATH or LABEL=PATH, comma-separated",
        flag_values=values,
    )
    flags.DEFINE_string(
        "task",
        None,
        "whose weights read the texts; needed for texts where the runs have "
        "several tasks",
        flag_values=values,
    )
    flags.DEFINE_multi_string(
        "text", [], "a text to read; may be repeated", flag_values=values
    )
    flags.DEFINE_string(
        "input",
        None,
        "file of more texts, a text a line; - for standard input",
        flag_values=values,
    )
    _define_choices(values)
    _define_page(values)
    common_flags.define_data(values)
    flags.DEFINE_list(
        "output",
        [],
        "where the figure goes: names ending with .png, .svg or .pdf, "
        "comma-separated; of neighbours also .md and .json, the same as a "
        "table",
        flag_values=values,
    )


def _define_choices(values: flags.FlagValues) -> None:
    """Defines the flags of single figures."""
    flags.DEFINE_enum(
        "axis",
        "minibatches",
        ("minibatches", "hours"),
        "what score_curves stand against: minibatches of the task itself, or "
        "hours of training of finished runs",
        flag_values=values,
    )
    flags.DEFINE_string(
        "metric",
        "",
        "whose score_curves, such as bleu_lc; each task's primary one if empty",
        flag_values=values,
    )
    flags.DEFINE_string(
        "split",
        "validation",
        "whose examples sources answers, --examples of each task",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "examples",
        200,
        "examples of each task that sources answers, the first ones",
        lower_bound=1,
        flag_values=values,
    )
    flags.DEFINE_list(
        "words", [], "words whose neighbours to show", flag_values=values
    )
    flags.DEFINE_integer(
        "count",
        3,
        "neighbours of a word",
        lower_bound=1,
        flag_values=values,
    )


def _define_page(values: flags.FlagValues) -> None:
    """Defines what the figure is drawn for."""
    for name, most, about in (
        ("width", 40, "inches of the figure's width, 0 for what it needs"),
        (
            "height",
            100,
            f"inches of the height of {', '.join(FREE_HEIGHT)}; 0 for their "
            "own, as of all others, which are as high as what they show",
        ),
    ):
        flags.DEFINE_float(
            *(name, 0.0, about),
            lower_bound=0,
            upper_bound=most,
            flag_values=values,
        )
    flags.DEFINE_float(
        "font_size",
        9.0,
        "points of the type",
        lower_bound=4,
        upper_bound=40,
        flag_values=values,
    )
    flags.DEFINE_string(
        "font",
        "",
        "family of the type, such as serif or the name of an installed font; "
        "matplotlib's own if empty",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "dpi",
        300,
        "dots an inch of a .png",
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


def main(values: flags.FlagValues) -> None:
    """Draws the figure and writes it."""
    from mtl_tf.figures import style

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
        directories = (values.data_dir, values.manual_dir)
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
    Draws the papers' pictures of trained runs as PNG, SVG or PDF.

    fusion_gate: the score after each token, and the activation of the fusion
    gates of the runs with external memory. generated_weights: the score after
    each token, and how much the weights that a Meta-LSTM generates change.
    attention: what the tasks' columns of an L-E Transformer attend to in
    every layer, the words and each other. alignment: what each word of a
    translation attends to in its source. learning_curves: training and
    development loss by epoch. score_curves: validation scores of every task,
    such as BLEU of single and of multi-target translation. layers: the scores
    of finished runs against their numbers of layers, one line a structure or
    label. neighbours: the words with the most similar vectors to given ones,
    as a picture or a table. sources: whether a run that answers questions
    writes words from its vocabulary or copies them from contexts or
    questions, task by task. answer: the same of each word of answers; a text
    is a question and a context with a tab between them.
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
            "What the columns of L-E attend to",
            "--figure=attention --model_dir=runs/l_e "
            "--text='not a bad film .' --output=attention.png,attention.svg",
        ),
        (
            "What the words of translations look at",
            "--figure=alignment --model_dir=runs/multi30k --task=en-de "
            "--text='a dog runs on the beach .' --output=alignment.png",
        ),
        (
            "BLEU of a model a pair against one for all, at equal data",
            "--figure=score_curves --model_dir=Single=runs/table/single/seed_1,"
            "Multi=runs/table/multi/seed_1 --output=curves.png,curves.svg",
        ),
        (
            "The nearest neighbours of words in both",
            "--figure=neighbours --model_dir=Multi=runs/table/multi/seed_1,"
            "Single=runs/table/single/seed_1 --task=en-de "
            "--words=dog,beach,three --output=nearest.md,nearest.png",
        ),
        (
            "Scores against layers, two structures with 2 and 4",
            "--figure=layers --model_dir=runs/l_i_2,runs/l_i_4,runs/s_c_2,"
            "runs/s_c_4 --output=layers.png",
        ),
        (
            "Where the words of a run's answers come from, task by task",
            "--figure=sources --model_dir=runs/decanlp --manual_dir=FOLDER "
            "--output=sources.png",
        ),
        (
            "The same of each word of the answers to questions in a file",
            "--figure=answer --model_dir=runs/decanlp --task=squad "
            "--input=questions.txt --output=answer.png",
        ),
        (
            "Curves for a column of a paper, in its type",
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

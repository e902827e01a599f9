"""Draws the papers' pictures of trained runs: `python -m launch.figures`."""

import dataclasses
import os
from typing import Any

from absl import flags

from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import runner, streams

from . import text_input

FUSION_GATE, GENERATED_WEIGHTS = "fusion_gate", "generated_weights"
LEARNING_CURVES, LAYERS = "learning_curves", "layers"
ATTENTION = "attention"
FIGURES = (
    *(FUSION_GATE, GENERATED_WEIGHTS, ATTENTION),
    *(LEARNING_CURVES, LAYERS),
)


@dataclasses.dataclass(frozen=True)
class Named:
    """A run directory with its name in the figure."""

    label: str
    path: str

    @property
    def given(self) -> str:
        """The label, "" if it is no more than the path's last part."""
        return "" if self.label == _last_part(self.path) else self.label


def _last_part(path: str) -> str:
    return os.path.basename(os.path.normpath(path))


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
    flags.DEFINE_list(
        "output",
        [],
        "where the figure goes: names ending with .png, .svg or .pdf, "
        "comma-separated",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> None:
    """Draws the figure and writes it."""
    from mtl_tf.figures import style

    runs = [named(item) for item in values.model_dir]
    style.check_paths(values.output)
    if values.figure == LEARNING_CURVES:
        figure = learning_curves(runs)
    elif values.figure == LAYERS:
        figure = layers(runs)
    elif values.figure == ATTENTION:
        texts = read_texts(values.text, values.input)
        figure = attention(runs, values.task, texts)
    else:
        texts = read_texts(values.text, values.input)
        figure = token_figure(values.figure, runs, values.task, texts)
    style.save(figure, values.output)
    for path in values.output:
        print(path)


def named(item: str) -> Named:
    """Reads `PATH` or `LABEL=PATH`; a path has its last part as label."""
    label, equals, path = item.strip().partition("=")
    if not equals or os.sep in label:
        label, path = "", item.strip()
    return Named(label or _last_part(path), path)


def read_texts(given: list[str], source: str | None) -> list[str]:
    """The texts of the flags, then those of the file.

    Raises:
        ConfigError: there are none.
    """
    texts = list(given)
    if source:
        with streams.reading(source) as (stream, name):
            reader = text_input.TextReader(stream, name)
            for batch in reader.batches(64):
                texts += [item.text for item in batch if item.text.strip()]
    if not texts:
        raise ConfigError("this figure needs texts: give --text or --input")
    return texts


def learning_curves(runs: list[Named]) -> Any:
    """The figure of the runs' losses by epoch."""
    from mtl_tf.figures import curve_figure, curves

    return curve_figure.curve_figure(
        [curves.read(run.path, run.label) for run in runs]
    )


def layers(runs: list[Named]) -> Any:
    """The figure of the runs' scores against their numbers of layers.

    Runs with the same label, or without one of the same structure, are on
    one line.
    """
    from mtl_tf.figures import depth, depth_figure

    return depth_figure.depth_figure(
        [depth.read(run.path, run.given) for run in runs]
    )


def attention(runs: list[Named], task: str | None, texts: list[str]) -> Any:
    """The figure of what the tasks' columns of a run attend to.

    Raises:
        ConfigError: there are several runs, or the run has no such columns.
    """
    from mtl_tf.figures import attention as reading
    from mtl_tf.figures import attention_figure

    if len(runs) > 1:
        raise ConfigError(
            f"--model_dir: {ATTENTION} shows one run, got {len(runs)}"
        )
    run = _load(runs[0], task)
    # The weights differ between tasks only after fine-tuning.
    run.weights_for(task or run.tasks[0]["name"])
    return attention_figure.attention_figure(
        [reading.read(run, text, runs[0].label) for text in texts],
        f"Attention of the tasks' columns, {runs[0].label}",
    )


def token_figure(
    figure: str, runs: list[Named], task: str | None, texts: list[str]
) -> Any:
    """A figure of texts, token by token.

    Args:
        figure: `FUSION_GATE` or `GENERATED_WEIGHTS`.
        runs: whose scores to show.
        task: the task, or None where the runs have one only.
        texts: what they read.
    """
    from mtl_tf.figures import generated_weights, panels, traces
    from mtl_tf.figures.token_figure import token_figure as draw

    loaded = {run.label: _load(run, task) for run in runs}
    if len(loaded) < len(runs):
        raise ConfigError("--model_dir: every run needs a label of its own")
    task = task or _only_task(next(iter(loaded.values())))

    def change(trace: Any) -> Any:
        run = loaded[trace.label]
        run.weights_for(task)
        layer = run.model.scheme.forward
        p, q = generated_weights.factors(layer, run.task_index(task))
        vectors = trace.inspect["forward/meta_vector"]
        return generated_weights.changes(vectors, p, q)

    made = []
    for text in texts:
        found = [
            traces.trace(run, task, text, label)
            for label, run in loaded.items()
        ]
        if figure == FUSION_GATE:
            made.append(panels.fusion_gate(found))
        else:
            rows = generated_weights.GATES
            made.append(panels.generated_weights(found, change, rows))
    return draw(made, f"Task {task}")


def _load(run: Named, task: str | None) -> Any:
    """Loads a run; of a run of a model per task, the task's."""
    import mtl_tf

    own = os.path.join(run.path, "tasks", task or "")
    if task and os.path.isfile(os.path.join(own, "config.json")):
        return mtl_tf.load(own)
    return mtl_tf.load(run.path)


def _only_task(run: Any) -> str:
    names = [task["name"] for task in run.tasks]
    if len(names) > 1:
        raise ConfigError(f"--task is missing: give one of {', '.join(names)}")
    return names[0]


PROGRAM = runner.Program(
    name="figures",
    summary="""
    Draws the papers' pictures of trained runs as PNG, SVG or PDF.

    fusion_gate: the score after each token, and the activation of the fusion
    gates of the runs with external memory. generated_weights: the score after
    each token, and how much the weights that a Meta-LSTM generates change.
    attention: what the tasks' columns of an L-E Transformer attend to in
    every layer, the words and each other. learning_curves: training and
    development loss by epoch. layers: the scores of finished runs against
    their numbers of layers, one line a structure or label.
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
            "Scores against layers, two structures with 2 and 4",
            "--figure=layers --model_dir=runs/l_i_2,runs/l_i_4,runs/s_c_2,"
            "runs/s_c_4 --output=layers.png",
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

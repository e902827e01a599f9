"""From trained runs to the figures of `launch.figures`.

They are drawn within `style.drawing` of the same page.
"""

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError
from mtl_tf.figures.page import DEFAULT, Page

if TYPE_CHECKING:
    from mtl_tf.runs.loaded.loaded_run import Run

FUSION_GATE, GENERATED_WEIGHTS = "fusion_gate", "generated_weights"
ATTENTION = "attention"
SOURCES, ANSWER = "sources", "answer"
# What neighbours can be beside a picture.
TABLES = ("md", "json")


@dataclasses.dataclass(frozen=True)
class Named:
    """A run directory with its name in the figure."""

    label: str
    path: str

    @property
    def explicit_label(self) -> str:
        """The label, "" if it is no more than the path's last part."""
        return "" if self.label == _last_part(self.path) else self.label


def _last_part(path: str) -> str:
    return os.path.basename(os.path.normpath(path))


def named(item: str) -> Named:
    """Reads `PATH` or `LABEL=PATH`; a path has its last part as label."""
    label, equals, path = item.strip().partition("=")
    if not equals or os.sep in label:
        label, path = "", item.strip()
    return Named(label or _last_part(path), path)


def all_named(items: Sequence[str]) -> list[Named]:
    """Reads the items of a list; a folder whose name has commas is one.

    Args:
        items: `PATH` or `LABEL=PATH` each.

    Raises:
        ConfigError: an item names no folder.
    """
    runs: list[Named] = []
    start = 0
    while start < len(items):
        stop = start + 1
        for end in range(len(items), stop, -1):
            if os.path.isdir(named(",".join(items[start:end])).path):
                stop = end
                break
        runs.append(named(",".join(items[start:stop])))
        if not runs[-1].path:
            raise ConfigError(
                f"--model_dir={','.join(items)} must name a folder before and "
                "after each comma"
            )
        start = stop
    return runs


def learning_curves(runs: list[Named], page: Page = DEFAULT) -> Any:
    """The figure of the runs' losses by epoch."""
    from mtl_tf.figures import curve_figure, curves

    return curve_figure.curve_figure(
        [curves.read(run.path, run.label) for run in runs], page
    )


def score_curves(
    runs: list[Named], axis: str, metric: str, page: Page = DEFAULT
) -> Any:
    """The figure of the runs' validation scores, a panel a task."""
    from mtl_tf.figures import score_curve_figure
    from mtl_tf.figures import score_curves as reading

    curves = [
        curve
        for run in runs
        for curve in reading.read(run.path, run.label, axis, metric)
    ]
    return score_curve_figure.score_curve_figure(curves, axis, page)


def alignment(
    runs: list[Named],
    task: str | None,
    texts: list[str],
    page: Page = DEFAULT,
) -> Any:
    """The figure of what the runs' translations of texts attend to."""
    from mtl_tf.figures import alignment as reading
    from mtl_tf.figures import alignment_figure

    loaded = _load_all(runs, task)
    task = task or _only_task(next(iter(loaded.values())))
    return alignment_figure.alignment_figure(
        [
            [
                reading.read(run, task, text, label)
                for label, run in loaded.items()
            ]
            for text in texts
        ],
        f"Attention of translations, {task}",
        page,
    )


def sources(
    runs: list[Named],
    task: str | None,
    split: str,
    count: int,
    directories: Directories,
    page: Page = DEFAULT,
) -> Any:
    """The figure of where the words of a run's answers come from."""
    from mtl_tf.figures import sources as reading
    from mtl_tf.figures import sources_figure

    label, run = _only_run(runs, SOURCES)
    shares = reading.of_tasks(run, task, split, count, directories, label)
    return sources_figure.sources_figure(shares, page)


def answer(
    runs: list[Named],
    task: str | None,
    texts: list[str],
    page: Page = DEFAULT,
) -> Any:
    """The figure of where each word of answers comes from."""
    from mtl_tf.figures import sources as reading
    from mtl_tf.figures import sources_figure

    label, run = _only_run(runs, ANSWER)
    task = task or _only_task(run)
    answers = [reading.of_answer(run, task, text, label) for text in texts]
    return sources_figure.answer_figure(answers, page)


def _only_run(runs: list[Named], figure: str) -> tuple[str, Any]:
    if len(runs) > 1:
        raise ConfigError(
            f"--model_dir: {figure} shows one run, got {len(runs)}"
        )
    return next(iter(_load_all(runs, None).items()))


def neighbours(
    runs: list[Named],
    task: str | None,
    words: list[str],
    count: int,
    paths: list[str],
    page: Page = DEFAULT,
) -> None:
    """Writes the words nearest to some, in the form of each file."""
    from mtl_tf.core import files
    from mtl_tf.figures import neighbour_figure, style
    from mtl_tf.figures import neighbours as reading

    if not words:
        raise ConfigError("this figure needs words: give --words")
    neighbours_of = {
        label: reading.read(run, words, count, label)
        for label, run in _load_all(runs, task).items()
    }
    pictures = [path for path in paths if style.form_of(path) not in TABLES]
    if pictures:
        figure = neighbour_figure.neighbour_figure(neighbours_of, page)
        style.save(figure, pictures, page)
    for path in paths:
        if style.form_of(path) == "md":
            files.write_text(path, reading.markdown(neighbours_of))
        elif style.form_of(path) == "json":
            files.write_json(path, reading.to_json(neighbours_of))


def layers(runs: list[Named], page: Page = DEFAULT) -> Any:
    """The figure of the runs' scores against their numbers of layers.

    Runs with the same label, or without one of the same structure, are on
    one line.
    """
    from mtl_tf.figures import depth, depth_figure

    return depth_figure.depth_figure(
        [depth.read(run.path, run.explicit_label) for run in runs], page
    )


def attention(
    runs: list[Named],
    task: str | None,
    texts: list[str],
    page: Page = DEFAULT,
) -> Any:
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
        page,
    )


def token_figure(
    figure: str,
    runs: list[Named],
    task: str | None,
    texts: list[str],
    page: Page = DEFAULT,
) -> Any:
    """A figure of texts, token by token.

    Args:
        figure: `FUSION_GATE` or `GENERATED_WEIGHTS`.
        runs: whose scores to show.
        task: the task, or None where the runs have one only.
        texts: what they read.
        page: what it is drawn for.
    """
    from mtl_tf.figures import generated_weights, panels, traces
    from mtl_tf.figures.token_figure import token_figure as draw

    loaded = _load_all(runs, task)
    task = task or _only_task(next(iter(loaded.values())))

    def change(trace: Any) -> Any:
        run = loaded[trace.label]
        run.weights_for(task)
        layer = run.model.scheme.forward
        p, q = generated_weights.factors(layer, run.task_index(task))
        vectors = trace.inspect["forward/meta_vector"]
        return generated_weights.changes(vectors, p, q)

    drawn = []
    for text in texts:
        of_runs = [
            traces.trace(run, task, text, label)
            for label, run in loaded.items()
        ]
        if figure == FUSION_GATE:
            drawn.append(panels.fusion_gate(of_runs))
        else:
            rows = generated_weights.GATES
            drawn.append(panels.generated_weights(of_runs, change, rows))
    return draw(drawn, f"Task {task}", page)


def _load_all(runs: list[Named], task: str | None) -> dict[str, Any]:
    """The runs by label."""
    labels = [run.label for run in runs]
    if len(set(labels)) < len(labels):
        raise ConfigError("--model_dir: every run needs a label of its own")
    return {run.label: _load(run, task) for run in runs}


def _load(run: Named, task: str | None) -> Any:
    """Loads a run; of a run of a model per task, the task's."""
    from mtl_tf.runs.loaded.loading import load

    single_run = os.path.join(run.path, "tasks", task or "")
    if task and os.path.isfile(os.path.join(single_run, "config.json")):
        return load(single_run)
    return load(run.path)


def _only_task(run: "Run") -> str:
    names = [task["name"] for task in run.tasks]
    if len(names) > 1:
        raise ConfigError(f"--task is missing: give one of {', '.join(names)}")
    return names[0]

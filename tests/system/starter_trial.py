"""Three tasks on few examples: a joint model, each task alone, yardsticks.

    python -m tests.system.starter_trial --directory=trial \
        --manual_dir=corpora --examples=1500 --seeds=3

draws so many training texts of SST with five classes (`stars`, csv), chunks of
CoNLL-2000 (`chunks`, jsonl) and SUBJ (`subj`, tsv), writes them as a user's
own files beside their whole test sets, trains the starter on them as
`launch.train --compare_single` does, and prints each score with the standard
error of its test set. The same command continues where it was stopped.
"""

import argparse
import csv
import io
import json
import pathlib
import random
import statistics
import subprocess
import sys

from mtl_tf.core import files

_CONFIG = '''"""Three tasks of {examples} examples each."""

from mtl_tf.configs import starter


def get_config():
    """Returns the config."""
    config = starter.get_config()
    config.name = "three_tasks"
    config.text.tokenizer.name = "whitespace"  # The corpora are tokenised.
    config.tasks = {tasks!r}
    return config
'''


def _split(corpus, split, manual_dir, data_dir):
    """The examples of a split of a corpus: texts, and names of labels."""
    import tensorflow_datasets as tfds

    from mtl_tf.datasets import building

    builder = building.prepare(corpus, data_dir, manual_dir)
    features = builder.info.features
    for example in tfds.as_numpy(builder.as_dataset(split=split)):
        if "tokens" in example:
            name = features["tags"].feature.int2str
            tokens = [token.decode() for token in example["tokens"]]
            yield {"tokens": tokens, "tags": list(map(name, example["tags"]))}
        else:
            label = features["label"].int2str(example["label"])
            yield {"text": example["text"].decode(), "label": label}


def _csv(row):
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow((_text(row), row["label"]))
    return line.getvalue()


def _tsv(row):
    return f"{_text(row)}\t{row['label']}"


def _tagged(row):
    return json.dumps({"tokens": row["tokens"], "tags": row["tags"]})


def _text(row):
    return " ".join(row["text"].split())


_TASKS = {
    "stars": ("sst/sst1", "csv", _csv, "text,label"),
    "chunks": ("conll2000/chunk", "jsonl", _tagged, ""),
    "subj": ("subj", "tsv", _tsv, "text\tlabel"),
}


def write(directory, manual_dir, examples):
    """Writes the files of the three tasks; returns the config's entries."""
    entries, data_dir = [], str(directory / "tfds")
    for name, (corpus, ending, line_of, header) in _TASKS.items():
        paths = {}
        for split in ("train", "test"):
            rows = list(_split(corpus, split, manual_dir, data_dir))
            if split == "train":
                random.Random(f"trial {name}").shuffle(rows)
                rows = rows[:examples]
            paths[split] = str(directory / f"{name}.{split}.{ending}")
            lines = [header] * bool(header) + [line_of(row) for row in rows]
            files.write_text(paths[split], "\n".join(lines) + "\n")
        entry = {"name": name, "files": paths}
        if name == "chunks":
            entry["type"] = "tagging"
        entries.append(entry)
    return tuple(entries)


def _train(directory, config, seed):
    """Trains a joint model and single ones; the contents of results.json."""
    run = directory / f"seed{seed}"
    command = [
        sys.executable,
        "-m",
        "launch.train",
        f"--config={config}",
        f"--model_dir={run}",
        f"--config.seed={seed}",
        "--compare_single",
    ]
    with open(directory / f"seed{seed}.log", "a") as log:
        subprocess.run(command, check=True, stdout=log, stderr=log)
    return json.loads((run / "results.json").read_text())


def _row(task):
    """A task's scores: joint, alone, linear, and an error of the test set."""
    score, others = task[task["primary"]], task["yardsticks"]
    error = 100 * (score / 100 * (1 - score / 100) / task["examples"]) ** 0.5
    plain = others.get("linear", others.get("majority"))
    return score, others["single"], plain, error


def table(results):
    """A line for each task, with the means over the seeds, and of the mean."""
    lines = ["| task | joint | alone | plain | standard error |"]
    lines.append("|---|---|---|---|---|")
    sums = []
    for name in results[0]["tasks"]:
        rows = [_row(result["tasks"][name]) for result in results]
        means = [statistics.mean(column) for column in zip(*rows)]
        sums.append(means)
        each = " ".join(f"{row[0]:.1f}/{row[1]:.1f}" for row in rows)
        cells = " | ".join(f"{mean:.1f}" for mean in means)
        lines.append(f"| {name} ({each}) | {cells} |")
    means = [statistics.mean(column) for column in zip(*sums)]
    cells = " | ".join(f"{mean:.1f}" for mean in means[:3])
    lines.append(f"| mean | {cells} | |")
    return "\n".join(lines)


def main() -> None:
    """Runs the trial and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", required=True, type=pathlib.Path)
    parser.add_argument("--manual_dir", required=True)
    parser.add_argument("--examples", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=3)
    values = parser.parse_args()
    directory = values.directory.absolute() / str(values.examples)
    directory.mkdir(parents=True, exist_ok=True)
    config = directory / "three_tasks.py"
    if not config.exists():
        tasks = write(directory, values.manual_dir, values.examples)
        page = _CONFIG.format(examples=values.examples, tasks=tasks)
        files.write_text(str(config), page)
    results = []
    for seed in range(values.seeds):
        results.append(_train(directory, config, seed))
        print(f"{seed + 1} seeds, {values.examples} examples a task")
        print(table(results), flush=True)


if __name__ == "__main__":
    main()

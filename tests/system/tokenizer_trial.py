"""Does `starter` read texts better by `regex` or by `whitespace`?

    apt-get -o Acquire::Languages=en,ja,zh_CN update
    python -m tests.system.tokenizer_trial --directory=trial \
        --manual_dir=corpora --apt_lists=/var/lib/apt/lists --texts=raw

draws few examples of raw texts (reviews of IMDB, the questions of SQuAD by
their articles, descriptions of Debian packages by section and by language)
or of tokenised ones (`--texts=tokenised`: two tasks of FDU-MTL, SUBJ) or of
such without spaces between words (`--texts=unspaced`: descriptions of packages
in Japanese and Chinese, by section), writes them as a user's own files, trains
`starter` on them with either tokenizer, and prints the scores. Texts are their
first 50 words, as spaces part them, so that both read the same, or their first
150 characters. The same command continues where it was stopped.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tarfile

from mtl_tf.core import files

_CONFIG = '''"""Raw or tokenised texts, 300 examples a task."""

from mtl_tf.configs import starter


def get_config():
    """Returns the config."""
    config = starter.get_config()
    config.name = {name!r}
    config.tasks = {tasks!r}
    config.training.epochs = {epochs}
    return config
'''
_SETS = {
    "raw": ("imdb", "questions", "sections", "languages"),
    "tokenised": ("books", "kitchen_housewares", "subj"),
    "unspaced": ("japanese", "chinese"),
}
_TOKENIZERS = ("whitespace", "regex")
_TRAIN, _VALIDATION, _TEST, _WORDS, _CHARACTERS = 300, 200, 2000, 50, 150
_SUITES = "deb.debian.org_debian_dists_bookworm_main_"


def _imdb(values):
    """Raw reviews: those of the archive's test folder are tested on."""
    rows = {"train": [], "test": []}
    archive = values.manual_dir / "imdb" / "aclImdb_v1_labelled.tar.gz"
    with tarfile.open(archive) as members:
        for member in members:
            parts = member.name.split("/")
            if member.isfile() and parts[-2] in ("pos", "neg"):
                text = members.extractfile(member).read().decode()
                rows[parts[1]].append((text, parts[-2]))
    for split in rows:
        rows[split].sort()
        random.Random("imdb").shuffle(rows[split])
    return rows["train"], rows["train"][3000:], rows["test"]


def _questions(values):
    """Raw questions, and which article's they are."""
    rows = set()
    for path in sorted((values.manual_dir / "squad").glob("*.json")):
        for article in json.loads(path.read_text())["data"]:
            title = re.sub(r"\W+", "_", article["title"])
            for paragraph in article["paragraphs"]:
                asked = [one["question"] for one in paragraph["qas"]]
                rows |= {(question, title) for question in asked}
    return _drawn("questions", sorted(rows), 1500)


def _sections(values):
    """Raw descriptions of packages, and their sections."""
    packages = _packages(values.apt_lists)
    return _common("sections", [(p[0], p[1]) for p in packages], 800)


def _languages(values):
    """Raw descriptions, and the language that the package is written in."""
    rows = []
    for text, _, tags in _packages(values.apt_lists):
        names = [tag for tag in tags if tag.startswith("implemented-in::")]
        if len(names) == 1:
            rows.append((text, names[0].partition("::")[2]))
    return _common("languages", rows, 60)


def _unspaced(name, language, least):
    """Reads descriptions in a language without spaces, and their sections."""

    def read(values):
        rows = [
            (text[:_CHARACTERS], section)
            for text, section, _ in _packages(values.apt_lists, language)
            if re.search(r"[\u3040-\u9fff]", text)
        ]
        rest = _TRAIN + _VALIDATION
        return _common(name, rows, least, validation=_TRAIN, rest=rest)

    return read


def _packages(folder, language="en"):
    """Description, section and tags; of equal descriptions the first."""
    texts, file = {}, language.replace("_", "%5f")
    for name, block in _blocks(folder, f"i18n_Translation-{file}.lz4"):
        start = f"^Description-{language}: "
        found = re.search(rf"{start}(.*(?:\n .*)*)", block, re.M)
        if found:
            plain = found[1].replace("\n .\n", "\n")
            texts[name] = " ".join(plain.split())
    about = {}
    for name, block in _blocks(folder, "binary-amd64_Packages.lz4"):
        tags = re.search(r"^Tag: (.*(?:\n .*)*)", block, re.M)
        section = re.search(r"^Section: (.*)$", block, re.M)
        if name in texts:
            split = re.split(r",\s*", tags[1]) if tags else []
            about[name] = (section[1], split)
    seen = set()
    for name in sorted(about):
        text = texts[name]
        if text[40:120] not in seen:
            seen.add(text[40:120])
            yield text, *about[name]


def _blocks(folder, name):
    """Each package's name and block of one of apt's lists."""
    path = str(folder / f"{_SUITES}{name}")
    command = ["/usr/lib/apt/apt-helper", "cat-file", path]
    text = subprocess.run(command, capture_output=True, check=True).stdout
    for block in text.decode("utf-8", "replace").split("\n\n"):
        found = re.search(r"^Package: (.*)$", block, re.M)
        if found:
            yield found[1], block


def _common(name, rows, least, **options):
    """Drawn from the labels that at least so many rows have."""
    sizes = collections.Counter(label for _, label in rows)
    sizes["TODO"] = 0  # of packages whose language nobody has named yet
    rows = [row for row in rows if sizes[row[1]] >= least]
    return _drawn(name, rows, **options)


def _drawn(name, rows, test=_TEST, validation=1500, rest=2000):
    """Rows to train on, to validate on and to test on."""
    random.Random(f"{name} 0").shuffle(rows)
    known = {label for _, label in rows[:_TRAIN]}
    splits = (rows, rows[validation:rest], rows[rest : rest + test])
    return [[row for row in split if row[1] in known] for split in splits]


def _fdu_mtl(name, values):
    """A tokenised task; spare training rows are tested on, too."""
    splits = []
    for split in ("train", "test"):
        path = values.manual_dir / "fdu_mtl" / f"{name}.task.{split}"
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")
        rows = [line.split("\t", 1) for line in lines if "\t" in line]
        names = {"0": "neg", "1": "pos"}
        rows = [(text, names[n]) for n, text in rows if text.strip()]
        random.Random(name + split).shuffle(rows)
        splits.append(rows)
    train, test = splits
    return train, train[_TRAIN:], test + train[500:1100]


def _subj(values):
    """Tokenised sentences, subjective or not."""
    rows = []
    for path in sorted((values.manual_dir / "subj").iterdir()):
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")
        label = path.name.split(".")[0]
        rows += [(line, label) for line in lines if line.strip()]
    random.Random("subj").shuffle(rows)
    return rows, rows[_TRAIN:], rows[_TRAIN + _VALIDATION :]


_READ = {
    "imdb": _imdb,
    "questions": _questions,
    "sections": _sections,
    "languages": _languages,
    "subj": _subj,
    "japanese": _unspaced("japanese", "ja", 100),
    "chinese": _unspaced("chinese", "zh_CN", 25),
}


def write(name, values):
    """Writes a task's files; returns its entry of the config."""
    read, paths = _READ.get(name), {}
    splits = read(values) if read else _fdu_mtl(name, values)
    sizes = (_TRAIN, _VALIDATION, _TEST)
    for split, size, rows in zip(
        ("train", "validation", "test"), sizes, splits
    ):
        paths[split] = str(values.directory / f"{name}.{split}.jsonl")
        lines = [
            json.dumps(
                {"text": " ".join(text.split()[:_WORDS]), "label": label}
            )
            for text, label in rows[:size]
        ]
        files.write_text(paths[split], "\n".join(lines) + "\n")
    return {"name": name, "files": paths}


def _train(directory, config, tokenizer, seed):
    """Trains; accuracies by task."""
    run = directory / tokenizer / f"seed_{seed}"
    options = {"name": tokenizer, "lowercase": True}
    command = [
        sys.executable,
        "-m",
        "launch.train",
        f"--config={config}",
        f"--model_dir={run}",
        f"--config.seed={seed}",
        f"--config.text.tokenizer={options}",
    ]
    with open(directory / "log", "a") as log:
        subprocess.run(command, check=True, stdout=log, stderr=log)
    tasks = json.loads((run / "results.json").read_text())["tasks"]
    scores = {name: task["accuracy"] for name, task in tasks.items()}
    return scores | {"mean": statistics.mean(scores.values())}


def _table(results):
    """A line for each task: the mean of the seeds, and each of them."""
    lines = [f"| task | {' | '.join(_TOKENIZERS)} |", "|---|---|---|"]
    for task in results[_TOKENIZERS[0]][0]:
        cells = []
        for tokenizer in _TOKENIZERS:
            scores = [seed[task] for seed in results[tokenizer]]
            each = ", ".join(f"{score:.1f}" for score in scores)
            cells.append(f"{statistics.mean(scores):.1f} ({each})")
        lines.append(f"| {task} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Runs the trial and prints its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", required=True, type=pathlib.Path)
    parser.add_argument("--manual_dir", required=True, type=pathlib.Path)
    parser.add_argument("--apt_lists", required=True, type=pathlib.Path)
    parser.add_argument("--texts", required=True, choices=list(_SETS))
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    values = parser.parse_args()
    name = f"{values.texts}_{values.epochs}"
    values.directory = values.directory.absolute() / name
    values.directory.mkdir(parents=True, exist_ok=True)
    config = values.directory / f"{name}.py"
    if not config.exists():
        tasks = tuple(write(task, values) for task in _SETS[values.texts])
        page = _CONFIG.format(name=name, tasks=tasks, epochs=values.epochs)
        files.write_text(str(config), page)
    results = {tokenizer: [] for tokenizer in _TOKENIZERS}
    for seed in values.seeds:
        for tokenizer in _TOKENIZERS:
            scores = _train(values.directory, config, tokenizer, seed)
            results[tokenizer].append(scores)
    print(_table(results))


if __name__ == "__main__":
    main()

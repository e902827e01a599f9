"""Small made corpora in official file formats."""

import os

TRAIN, TEST, UNLABEL = 203, 6, 4


def line(label: int, text: str) -> bytes:
    return f"{label}\t{text}\n".encode()


def make_fdu_mtl(directory, tasks=("books",), **replaced: bytes) -> str:
    """Writes the three official files of each task.

    Args:
        directory: where the files go; made if needed.
        tasks: names of tasks.
        **replaced: contents of `train`, `test` or `unlabel` instead of the
            usual ones.
    """
    os.makedirs(directory, exist_ok=True)
    for task in tasks:
        contents = {
            "train": b"".join(
                line(i % 2, f"{task} train {i}") for i in range(TRAIN)
            ),
            "test": b"".join(
                line(i % 2, f"{task} test {i}") for i in range(TEST)
            ),
            "unlabel": b"".join(
                f"{task} Unlabelled {i}\n".encode() for i in range(UNLABEL)
            ),
        } | replaced
        for end, content in contents.items():
            path = os.path.join(directory, f"{task}.task.{end}")
            with open(path, "wb") as file:
                file.write(content)
    return os.fspath(directory)


def rows(builder, split: str) -> list[tuple[str, int]]:
    """Text and label of every example of a prepared builder's split."""
    dataset = builder.as_dataset(split=split)
    return [
        (example["text"].decode(), int(example["label"]))
        for example in dataset.as_numpy_iterator()
    ]

"""Files of Multi30k and Europarl as they are published."""

import gzip
import os

PARTS = {"train": 5, "val": 2, "test_2016_flickr": 3}


def multi30k(directory, packed=False, languages=("en", "de"), **contents):
    """Writes files; `contents` are given by part and language: `train_en`."""
    os.makedirs(directory, exist_ok=True)
    for part, size in PARTS.items():
        for language in languages:
            text = "".join(f"{part} {language} {i}\n" for i in range(size))
            text = contents.get(f"{part}_{language}", text)
            write(directory, f"{part}.lc.norm.tok.{language}", text, packed)
    return os.fspath(directory)


def europarl(directory, english, others, language="fr"):
    os.makedirs(directory, exist_ok=True)
    name = f"europarl-v7.{language}-en"
    write(directory, f"{name}.en", "".join(english))
    write(directory, f"{name}.{language}", "".join(others), packed=True)
    return os.fspath(directory)


def write(directory, name, text, packed=False):
    content = text if isinstance(text, bytes) else text.encode()
    with open(os.path.join(directory, name + ".gz" * packed), "wb") as file:
        file.write(gzip.compress(content) if packed else content)

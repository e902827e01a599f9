"""Files of the tagged corpora as they are published."""

import gzip
import os

CHUNKS = "He PRP B-NP\nreads VBZ B-VP\nbooks NNS B-NP\n. . O\n\n"

CONLL2000 = {
    "train.txt": (
        "".join(CHUNKS.replace("books", f"book{i}") for i in range(19))
        + "# # B-NP\n1.5 CD I-NP\nu\u00a0v NN I-NP\n\n\n"
    ),
    "test.txt": "\n" + CHUNKS + "Well UH B-INTJ\n \n",
}

# The shared task's own release is IOB1, and has four columns.
IOB1 = {
    "eng.train": (
        "-DOCSTART- -X- O O\n\n"
        "EU NNP I-NP I-ORG\nrejects VBZ I-VP O\nGerman JJ I-NP I-MISC\n"
        "call NN I-NP O\n\n"
        "-DOCSTART- -X- O O\n\n"
        "Bonn NNP I-NP I-LOC\nParis NNP B-NP B-LOC\n"
    ),
    "eng.testa": "-DOCSTART- -X- -X- O\n\nLONDON NNP I-NP I-LOC\n",
    "eng.testb": "-DOCSTART- -X- O O\n\nJAPAN NNP I-NP I-LOC\n\n",
}

# Others have it in IOB2, and an O that is not in the first token.
IOB2 = {
    "train.txt": (
        "-DOCSTART- -X- -X- O\n\n"
        "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\nGerman JJ B-NP B-MISC\n"
        "call NN I-NP O\n\n"
        "Bonn NNP B-NP B-LOC\nParis NNP B-NP B-LOC\n\n"
    ),
    "valid.txt": "LONDON NNP B-NP B-LOC\n\n",
    "test.txt": "JAPAN NNP B-NP B-LOC\n\n",
}


def word(number, form, upos, xpos="X"):
    cells = (number, form, "_", upos, xpos, "_", "0", "root", "_", "_")
    return "\t".join(map(str, cells)) + "\n"


UD = {
    "xx_tree-ud-train.conllu": (
        "# sent_id = 1\n# text = don't #\n"
        + word("1-2", "don't", "_", "_")
        + word(1, "do", "AUX", "VB")
        + word(2, "n't", "PART", "RB")
        + word("2.1", "left", "VERB", "VBD")
        + word(3, "#", "SYM", "NN")
        + "\n"
        + word(1, "10 000", "NUM", "CD")
    ),
    "xx_tree-ud-dev.conllu": word(1, "a", "DET", "DT") + "\n",
    "xx_tree-ud-test.conllu": word(1, "b", "X", "FW") + "\n\n\n",
}


def write(directory, files, packed=False, **replaced: str):
    """Writes files; `replaced` has contents by a part of the name."""
    os.makedirs(directory, exist_ok=True)
    for name, text in files.items():
        for part, content in replaced.items():
            text = content if part in name else text
        content = text.encode()
        path = os.path.join(directory, name + ".gz" * packed)
        with open(path, "wb") as file:
            file.write(gzip.compress(content) if packed else content)
    return os.fspath(directory)

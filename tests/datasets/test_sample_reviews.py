import collections
import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest
import tensorflow_datasets as tfds

from mtl_tf.datasets import building
from mtl_tf.datasets.sample_reviews import DOMAINS, grammar, words
from mtl_tf.datasets.sample_reviews.sample_reviews_dataset_builder import (
    Builder,
)
from tests.datasets.corpora import rows

DIGEST = "1bb7f048023f6e625926f066b26d395a8bdf41c3c3e52d2efa4cd978ae781a2d"


@pytest.mark.extended
class SampleReviewsTest(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = Builder
    BUILDER_CONFIG_NAMES_TO_TEST = ["books"]  # the others differ in words
    SPLITS = grammar.SIZES
    EXAMPLE_DIR = "."  # it reads no file


def all_rows(split: str = "") -> list[tuple[str, str, int]]:
    """Domain, text and label of one split, or of all."""
    return [
        (domain, text, label)
        for domain, splits in grammar.corpus().items()
        for name, split_rows in splits.items()
        if split in ("", name)
        for text, label in split_rows
    ]


def test_builder_gives_the_corpus_in_order(tmp_path):
    builder = building.prepare("sample_reviews/films", str(tmp_path))
    corpus = grammar.corpus()["films"]
    for split in ("train", "validation", "test"):
        assert rows(builder, split) == list(corpus[split])
    assert rows(builder, "unlabelled") == [
        (text, -1) for text, _ in corpus["unlabelled"]
    ]


def digest() -> str:
    content = json.dumps(all_rows()).encode()
    return hashlib.sha256(content).hexdigest()


def test_the_corpus_never_changes():
    # Scores in the documentation hold for these texts. Whoever changes the
    # grammar measures again and raises the builder's version.
    assert digest() == DIGEST


def test_the_same_in_another_process():
    code = (
        "from mtl_tf.datasets.sample_reviews import grammar\n"
        "import hashlib\n"
        "texts = repr(grammar.corpus()).encode()\n"
        "print(hashlib.sha256(texts).hexdigest())\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    here = hashlib.sha256(repr(grammar.corpus()).encode()).hexdigest()
    assert printed.strip() == here


def test_another_seed_gives_other_texts():
    other = grammar.corpus(7)["books"]["train"]
    shared = {t for t, _ in other} & {t for _, t, _ in all_rows("train")}
    assert len(shared) < len(other) / 4
    grammar.corpus.cache_clear()


def test_no_text_occurs_twice():
    texts = [text for _, text, _ in all_rows()]
    assert len(texts) == len(DOMAINS) * sum(grammar.SIZES.values())
    assert len(set(texts)) == len(texts)


def test_lengths_and_tokens():
    for _, text, _ in all_rows():
        assert 5 <= len(text.split(" ")) <= 40, text
        assert text == text.lower().strip()
        assert "{" not in text
        assert "" not in text.split(" ")


def test_balance():
    for splits in grammar.corpus().values():
        for split_rows in splits.values():
            assert 2 * sum(label for _, label in split_rows) == len(split_rows)


def test_labels_are_not_in_a_pattern():
    labels = [label for _, label in grammar.corpus()["books"]["train"]]
    changes = sum(a != b for a, b in zip(labels, labels[1:]))
    assert 100 < changes < 200


def test_words_are_in_one_list_only():
    lists = [words.GOOD, words.BAD, tuple(words.FLIPPING)]
    counts = collections.Counter(word for each in lists for word in each)
    assert [word for word, count in counts.items() if count > 1] == []


def test_flipping_words_praise_and_blame():
    for word, (praised, blamed) in words.FLIPPING.items():
        assert praised and blamed, word
        assert not set(praised) & set(blamed), word
        assert set(praised) | set(blamed) <= set(DOMAINS), word


def read(domain: str, text: str) -> int:
    """The verdict by the rules that the grammar states; written apart."""
    for filler in words.FILLERS[domain]:
        text = text.replace(f"{filler} .", "")
    text = text.strip()
    for mark in (" , but ", " . still , "):
        if mark in text:
            return clause(domain, text.split(mark)[1].split(" . ")[0])
    for mark in (" , although ", " , even if ", " , despite the fact that "):
        if mark in text:
            return clause(domain, text.split(mark)[0])
    if text.split()[0] in ("although", "even", "while"):
        return clause(domain, text.split(" , ")[1].split(" . ")[0])
    first = text.split(" . ")[0]
    parts = first.split(" and ")
    weak = [any(f" {w} " in part for w in words.DOWNTONERS) for part in parts]
    return clause(domain, parts[1 if weak[0] else 0])


def clause(domain: str, text: str) -> int:
    for templates, verdict in ((words.PRAISES, 1), (words.BLAMES, 0)):
        for template in templates:
            pieces = template.split("{it}")
            if all(piece.strip() in text for piece in pieces):
                return verdict
    polarity = dict.fromkeys(words.GOOD, 1) | dict.fromkeys(words.BAD, 0)
    for word, (praised, blamed) in words.FLIPPING.items():
        if domain in praised + blamed:
            polarity[word] = int(domain in praised)
    word = next(word for word in text.split() if word in polarity)
    denied = any(f" {denial} {word}" in text for denial in words.DENIALS)
    return polarity[word] ^ denied


def test_every_verdict_can_be_read():
    wrong = [row for row in all_rows() if read(row[0], row[1]) != row[2]]
    assert wrong == []


def test_order_alone_can_decide():
    verdicts = collections.defaultdict(set)
    for template in words.CONTRASTS:
        text = template.format(
            win="the plot is vivid", lose="the prose is dull"
        )
        verdicts[read("books", text)].add(template)
    assert len(verdicts[1]) == len(words.CONTRASTS)
    assert (
        read("books", "although the plot is dull , the prose is vivid .") == 1
    )
    assert (
        read("books", "although the prose is vivid , the plot is dull .") == 0
    )


def bag_of_words(vocabulary: dict[str, int], texts: list[str]) -> np.ndarray:
    bags = np.zeros((len(texts), len(vocabulary) + 1))
    bags[:, -1] = 1
    for row, text in enumerate(texts):
        for word in text.split():
            if word in vocabulary:
                bags[row, vocabulary[word]] = 1
    return bags


def accuracy(domain: str, train_domains: tuple[str, ...]) -> float:
    """Test accuracy of a regularised logistic regression on bags of words."""
    train = [row for row in all_rows("train") if row[0] in train_domains]
    test = [row for row in all_rows("test") if row[0] == domain]
    tokens = sorted({word for _, text, _ in train for word in text.split()})
    vocabulary = {word: i for i, word in enumerate(tokens)}
    bags = bag_of_words(vocabulary, [text for _, text, _ in train])
    labels = np.array([label for _, _, label in train])
    weights = np.zeros(bags.shape[1])
    for _ in range(8):  # Newton's steps; the penalty is half the squared norm
        scores = 1 / (1 + np.exp(-bags @ weights))
        slope = bags.T @ (scores - labels) + weights
        curvature = bags.T @ (bags * (scores * (1 - scores))[:, None])
        curvature += np.eye(len(weights))
        weights -= np.linalg.solve(curvature, slope)
    bags = bag_of_words(vocabulary, [text for _, text, _ in test])
    truth = np.array([label for _, _, label in test])
    return 100 * np.mean((bags @ weights > 0) == truth)


@pytest.fixture(scope="module")
def linear_scores():
    return {
        domain: (accuracy(domain, (domain,)), accuracy(domain, DOMAINS))
        for domain in DOMAINS
    }


@pytest.mark.extended
def test_bag_of_words_learns_much_but_not_all(linear_scores):
    for domain, (alone, shared) in linear_scores.items():
        assert 65 < alone < 90, domain
        assert 70 < shared < 95, domain


@pytest.mark.extended
def test_the_other_domains_help(linear_scores):
    alone, shared = np.mean(list(linear_scores.values()), axis=0)
    assert shared > alone + 1


def test_unseen_words_of_a_domain_are_seen_in_others():
    """Most test words that a domain's training lacks occur in the others'."""
    seen = {
        domain: {
            word
            for text, _ in grammar.corpus()[domain]["train"]
            for word in text.split()
        }
        for domain in DOMAINS
    }
    everywhere = set().union(*seen.values())
    for domain in DOMAINS:
        test = grammar.corpus()[domain]["test"]
        unseen = {word for text, _ in test for word in text.split()}
        unseen -= seen[domain]
        assert len(unseen) > 5
        assert len(unseen & everywhere) > 0.8 * len(unseen)

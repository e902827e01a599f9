"""The task groups that come with the library."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from mtl_tf.core.task_types import DEFAULT
from mtl_tf.datasets import (
    europarl,
    iwslt2016,
    kotzias_reviews,
    multi30k,
)
from mtl_tf.tasks.source import SPLITS
from mtl_tf.tasks.task import NO_FOLDS, WHOLE_CORPUS, WITHOUT_TEST

_TWO = ("negative", "positive")
_FIVE = ("very negative", "negative", "neutral", "positive", "very positive")


@dataclasses.dataclass(frozen=True)
class Member:
    """One task of a group.

    Attributes:
        dataset: TFDS name of its dataset.
        labels: names of its labels; () for those of the prepared dataset.
        splits: which of our splits the dataset has, or a mapping to its own
            names; without "validation", a part of "train" is held out.
        pool: see `mtl_tf.tasks.task.Task`.
        type: name of its task type.
        settings: further fields of an entry of its type.
        metrics: names of its metrics, the primary one first; () for its
            type's usual ones.
    """

    dataset: str
    labels: tuple[str, ...] = _TWO
    splits: tuple[str, ...] | Mapping[str, str] = SPLITS
    pool: tuple[str, ...] = WITHOUT_TEST
    type: str = DEFAULT
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    metrics: tuple[str, ...] = ()

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of an entry that say the same."""
        labels = {"labels": list(self.labels)} if self.labels else {}
        return {**labels, **self.settings}


@dataclasses.dataclass(frozen=True)
class Group:
    """Tasks of a corpus, or that a paper trains together.

    Attributes:
        name: of the group.
        members: by task name, in the paper's order.
        usual: of a corpus whose tasks are columns of the same sentences, or
            pairs in both directions, the tasks that the corpus's name alone
            stands for; else ().
    """

    name: str
    members: Mapping[str, Member]
    usual: tuple[str, ...] = ()

    @property
    def datasets(self) -> dict[str, str]:
        """TFDS name of each task, by task name."""
        return {name: member.dataset for name, member in self.members.items()}


def _reviews(name: str, configs: tuple[str, ...]) -> Group:
    # Task names are lower case throughout: the corpus's "MR" is task "mr".
    return Group(name, {c.lower(): Member(f"{name}/{c}") for c in configs})


def _columns(name: str, configs: tuple[str, ...]) -> Group:
    """A tagging corpus; its first column is the one that it is known for."""
    members = {
        config: Member(f"{name}/{config}", labels=(), type="tagging")
        for config in configs
    }
    return Group(name, members, usual=configs[:1])


def _pairs(corpus: str, pairs: Iterable[str], **settings) -> dict[str, Member]:
    """Pairs of a parallel corpus."""
    return {
        pair: Member(f"{corpus}/{pair}", (), type="translation", **settings)
        for pair in pairs
    }


def _questions(
    dataset: str, *metrics: str, splits: Any = SPLITS, **settings: Any
) -> Member:
    """A corpus that is put as question answering (McCann et al. 2018)."""
    # Parts of a dialogue, and questions of a text, hang together.
    return Member(
        dataset,
        (),
        splits,
        pool=NO_FOLDS,
        type="question_answering",
        settings=settings,
        metrics=metrics,
    )


_FDU_MTL = (
    *("books", "electronics", "dvd", "kitchen_housewares", "apparel"),
    *("camera_photo", "health_personal_care", "music", "toys_games", "video"),
    *("baby", "magazines", "software", "sports_outdoors", "imdb", "MR"),
)
_SST = {
    "sst1": Member("sst/sst1", _FIVE),
    "sst2": Member("sst/sst2"),
}
# A phrase of a tested sentence must not be trained on.
_SST_PHRASES = {
    "sst1": Member("sst/sst1_phrases", _FIVE, pool=NO_FOLDS),
    "sst2": Member("sst/sst2_phrases", pool=NO_FOLDS),
}
_PARTS = ("train", "test")
_SUBJ = {
    "subj": Member(
        "subj", ("objective", "subjective"), _PARTS, pool=WHOLE_CORPUS
    )
}
_MR = {"mr": Member("mr", splits=_PARTS, pool=WHOLE_CORPUS)}
_IMDB = {"imdb": Member("imdb", splits=_PARTS)}
# "Books" and so on of Liu et al. 2016, tables 2 and 4.
_PRODUCTS = {
    "books": Member("fdu_mtl/books"),
    "dvd": Member("fdu_mtl/dvd"),
    "electronics": Member("fdu_mtl/electronics"),
    "kitchen": Member("fdu_mtl/kitchen_housewares"),
}

# Its texts are lower-cased tokens: BLEU is of these.
_MULTI30K = _pairs(
    "multi30k",
    multi30k.CONFIGS,
    splits={
        "train": "train",
        "validation": "validation",
        "test": "test_2016_flickr",
    },
    settings={"bleu_tokenizer": "none"},
)
_EUROPARL = _pairs("europarl", europarl.CONFIGS)
# The targets of Dong et al. (2015).
_FOUR = {pair: _EUROPARL[pair] for pair in ("en-es", "en-fr", "en-nl", "en-pt")}

# The paper's order (table 1). The released tests of SQuAD and MultiNLI have no
# answers: the validation split, and the mismatched one, are tested.
_DECANLP = {
    "squad": _questions(
        *("squad", "nf1", "nem"),
        splits={"train": "train", "validation": "validation"}
        | {"test": "validation"},
        long_contexts="left_out",
    ),
    "iwslt": _questions("iwslt2016/en-de", "bleu", language="de"),
    "cnn_dailymail": _questions("decanlp_cnn_dailymail", "rouge"),
    "multinli": _questions(
        *("decanlp_multi_nli", "em"),
        splits={"train": "train", "validation": "validation_matched"}
        | {"test": "validation_mismatched"},
    ),
    "sst": _questions("decanlp_sst", "em"),
    "qa_srl": _questions("qa_srl/wiki1", "nf1"),
    "qa_zre": _questions("qa_zre", "cf1"),
    "woz": _questions("woz", "dsem", "turn_em", "request_em"),
    "wikisql": _questions("wikisql", "lfem", "execution"),
    "mwsc": _questions("mwsc", "em"),
}
# Of sections 4.2 and 4.3, and what has the form of decaNLP's tasks.
_DECANLP_TRANSFER = {
    "snli": _questions("decanlp_snli", "em"),
    "ner": _questions("decanlp_conll2003", "nf1", "em"),
    "qa_srl_bank2": _questions(
        *("qa_srl/bank2", "nf1"),
        splits={"train": "train", "validation": "validation", "test": "test"},
    ),
    **{
        f"reviews_{name}": _questions(
            f"kotzias_reviews/{name}", "em", splits=("test",)
        )
        for name in kotzias_reviews.CONFIGS
    },
}


def _translations(corpus: str, pairs: Iterable[str], **test: str) -> Group:
    """Pairs of a parallel corpus, put as question answering."""
    members = {
        pair: _questions(
            *(f"{corpus}/{pair}", "bleu"),
            splits={split: split for split in SPLITS} | test,
            language=pair.partition("-")[2],
        )
        for pair in pairs
    }
    return Group(corpus, members, usual=("en-de",))


GROUPS: Mapping[str, Group] = {
    group.name: group
    for group in (
        _reviews("fdu_mtl", _FDU_MTL),
        _reviews("sample_reviews", ("books", "films", "gadgets", "kitchen")),
        Group("movie_reviews", {**_SST, **_SUBJ, **_IMDB}),
        # The same tasks; those of SST train on phrases, too.
        Group("movie_reviews_phrases", {**_SST_PHRASES, **_SUBJ, **_IMDB}),
        Group("product_reviews", _PRODUCTS),
        Group("sst", _SST),
        Group("sst_phrases", _SST_PHRASES),
        Group("subj", _SUBJ),
        Group("mr", _MR),
        Group("imdb", _IMDB),
        _columns("conll2000", ("chunk", "pos")),
        _columns("conll2003", ("ner", "chunk", "pos")),
        _columns("ud_pos", ("upos", "xpos")),
        Group("multi30k", _MULTI30K),
        # The other way round, pairs have no source language in common.
        Group(
            "europarl",
            _EUROPARL,
            usual=tuple(p for p in _EUROPARL if p.startswith("en-")),
        ),
        Group("multi_target_nmt", _FOUR),
        Group("decanlp", _DECANLP),
        Group("decanlp_transfer", _DECANLP_TRANSFER),
        _translations("iwslt2016", iwslt2016.CONFIGS),
        _translations(
            *("decanlp_multi30k", multi30k.CONFIGS), test="test_2016_flickr"
        ),
    )
}


def pool_of(dataset: str) -> tuple[str, ...]:
    """What cross-validation divides of a dataset, by its TFDS name."""
    for group in GROUPS.values():
        for member in group.members.values():
            if member.dataset == dataset.strip():
                return member.pool
    return WITHOUT_TEST

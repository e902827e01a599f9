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
        dataset: its TFDS dataset name.
        labels: its label names; () for those of the prepared dataset.
        splits: which of our splits the dataset has, or a mapping to its own
            split names. Without "validation", a part of "train" is held out.
        pool: see `mtl_tf.tasks.task.Task`.
        type: the name of its task type.
        settings: further entry fields of its type.
        metrics: its metric names, the primary one first; () for the type's
            defaults.
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
        """The fields of an equivalent config entry."""
        labels = {"labels": list(self.labels)} if self.labels else {}
        return {**labels, **self.settings}


@dataclasses.dataclass(frozen=True)
class Group:
    """The tasks of a corpus, or tasks that a paper trains together.

    Attributes:
        name: the group's name.
        members: members by task name, in the paper's order.
        usual: the tasks that the corpus's name alone stands for, if its tasks
            are columns of the same sentences or pairs in both directions; else
            ().
    """

    name: str
    members: Mapping[str, Member]
    usual: tuple[str, ...] = ()

    @property
    def datasets(self) -> dict[str, str]:
        """The TFDS dataset name of each task, by task name."""
        return {name: member.dataset for name, member in self.members.items()}


def _reviews(name: str, configs: tuple[str, ...]) -> Group:
    # Task names are all lower case: the corpus's "MR" is the task "mr".
    return Group(name, {c.lower(): Member(f"{name}/{c}") for c in configs})


def _columns(name: str, configs: tuple[str, ...]) -> Group:
    """A tagging corpus; its first column is its best-known task."""
    members = {
        config: Member(f"{name}/{config}", labels=(), type="tagging")
        for config in configs
    }
    return Group(name, members, usual=configs[:1])


def _pairs(corpus: str, pairs: Iterable[str], **settings) -> dict[str, Member]:
    """Language pairs of a parallel corpus."""
    return {
        pair: Member(f"{corpus}/{pair}", (), type="translation", **settings)
        for pair in pairs
    }


def _questions(
    dataset: str, *metrics: str, splits: Any = SPLITS, **settings: Any
) -> Member:
    """A corpus in the form of question answering (McCann et al. 2018)."""
    # Parts of a dialogue, and questions about a text, must stay together.
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
# Phrases of a tested sentence must not be trained on.
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

# Its texts are lower-cased tokens, and so BLEU is computed on these.
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

# In the paper's order (table 1). The released tests of SQuAD and MultiNLI have
# no answers, so the (mismatched) validation split is tested.
_DECANLP = {
    "squad": _questions(
        "squad",
        "nf1",
        "nem",
        splits={"train": "train", "validation": "validation"}
        | {"test": "validation"},
        long_contexts="left_out",
    ),
    "iwslt": _questions("iwslt2016/en-de", "bleu", language="de"),
    "cnn_dailymail": _questions("decanlp_cnn_dailymail", "rouge"),
    "multinli": _questions(
        "decanlp_multi_nli",
        "em",
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
# The tasks of sections 4.2 and 4.3, and others in decaNLP's form.
_DECANLP_TRANSFER = {
    "snli": _questions("decanlp_snli", "em"),
    "ner": _questions("decanlp_conll2003", "nf1", "em"),
    "qa_srl_bank2": _questions(
        "qa_srl/bank2",
        "nf1",
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
    """Pairs of a parallel corpus, in the form of question answering."""
    members = {
        pair: _questions(
            f"{corpus}/{pair}",
            "bleu",
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
        # The same tasks; those of SST also train on phrases.
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
        # In the reverse direction the pairs share no source language.
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
            "decanlp_multi30k", multi30k.CONFIGS, test="test_2016_flickr"
        ),
    )
}


def pool_of(dataset: str) -> tuple[str, ...]:
    """The splits of a dataset that cross-validation divides."""
    for group in GROUPS.values():
        for member in group.members.values():
            if member.dataset == dataset.strip():
                return member.pool
    return WITHOUT_TEST

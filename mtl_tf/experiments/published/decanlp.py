"""Tables 2 and 3 of McCann et al. (2018): decaNLP."""

from mtl_tf.experiments.published.rows import (
    MULTI,
    SINGLE,
    PublishedRow,
    PublishedTable,
    PublishedTask,
)

_TASKS = (
    PublishedTask("squad", "SQuAD", 10_570, metric="nf1"),
    PublishedTask("iwslt", "IWSLT", 993, metric="bleu"),
    PublishedTask("cnn_dailymail", "CNN/DM", 13_368, metric="rouge"),
    PublishedTask("multinli", "MNLI", 20_000, metric="em"),
    PublishedTask("sst", "SST", 872, metric="em"),
    PublishedTask("qa_srl", "QA-SRL", 2183, metric="nf1"),
    PublishedTask("qa_zre", "QA-ZRE", 600, metric="cf1"),
    PublishedTask("woz", "WOZ", 830, metric="dsem"),
    PublishedTask("wikisql", "WikiSQL", 8421, metric="lfem"),
    PublishedTask("mwsc", "MWSC", 82, metric="em"),
)
_TITLES = {
    "s2s": "S2S",
    "s2s_self_attention": "S2S, self-attention",
    "coattention": "+ coattention",
    "mqan": "+ question pointer (MQAN)",
}
# Tasks in the order above.
_ALONE = {
    "s2s": (48.2, 25.0, 19.0, 67.5, 86.4, 63.5, 20.0, 85.3, 60.0, 43.9),
    "s2s_self_attention": (
        68.2,
        23.3,
        20.0,
        68.5,
        86.8,
        67.8,
        19.9,
        86.0,
        72.4,
        46.3,
    ),
    "coattention": (74.6, 26.0, 25.1, 34.7, 86.2, 74.8, 16.6, 86.5, 72.3, 40.4),
    "mqan": (75.5, 25.5, 24.0, 72.8, 88.1, 75.2, 15.6, 84.4, 72.6, 52.4),
}
_JOINT = {
    "s2s": (47.5, 14.2, 25.7, 60.9, 85.9, 68.7, 28.5, 84.0, 45.8, 52.4),
    "s2s_self_attention": (
        66.8,
        13.6,
        14.0,
        69.0,
        84.7,
        75.1,
        31.7,
        82.8,
        64.8,
        43.9,
    ),
    "coattention": (71.8, 9.0, 15.7, 70.4, 86.5, 76.1, 28.5, 75.1, 62.9, 37.8),
    "mqan": (70.8, 16.1, 23.9, 70.5, 86.2, 75.8, 28.0, 80.6, 62.0, 48.8),
}
_STRATEGIES = {
    "curriculum": (
        "Curriculum",
        (43.4, 4.3, 21.3, 58.9, 84.5, 70.6, 24.6, 81.9, 68.6, 41.5),
    ),
    "anti_curriculum": (
        "Anti-curriculum: SQuAD",
        (74.3, 13.7, 24.6, 69.2, 86.4, 77.6, 34.7, 84.1, 58.7, 48.4),
    ),
    "anti_curriculum_3": (
        "Anti-curriculum: + IWSLT, CNN/DM",
        (74.5, 18.7, 20.8, 69.6, 83.6, 77.5, 30.1, 81.7, 54.8, 34.9),
    ),
    "anti_curriculum_4": (
        "Anti-curriculum: + MNLI",
        (74.6, 19.0, 21.6, 72.7, 86.8, 75.1, 37.7, 85.6, 42.6, 41.5),
    ),
}
_NOTES = (
    "The paper reports validation scores, by which checkpoints are chosen, "
    "too; so do we (`evaluation.splits` names test second).",
    "The paper does not say how long it trained (its curves run to hundreds "
    "of thousands of batches); ours have training.steps batches, which the "
    "models of single tasks share evenly, so that each sees as many batches of "
    "its task as a joint model in rounds.",
    "Without --vectors, ours starts from random vectors of words and of hashed "
    "character n-grams, and trains them; the paper has those of "
    "GloVe and character n-grams, which it does not train.",
    "An answer's loss is the mean over its words.",
)
_SLIP = (
    "The paper prints a decaScore of 473.6 for S2S; its scores add up to 513.6."
)


def _row(name: str) -> PublishedRow:
    title, scores = _STRATEGIES[name]
    return PublishedRow(name, f"MQAN, {title}", MULTI, scores)


_ANTI = _row("anti_curriculum")

DECANLP_2 = PublishedTable(
    name="decanlp/2",
    config="decanlp",
    paper="McCann et al. 2018, table 2",
    vectors="GloVe 840B, 300 dimensions, and character n-grams, 100",
    tasks=_TASKS,
    rows=(
        *(
            PublishedRow(f"single_{name}", _TITLES[name], SINGLE, scores)
            for name, scores in _ALONE.items()
        ),
        *(
            PublishedRow(name, _TITLES[name], MULTI, scores)
            for name, scores in _JOINT.items()
        ),
        _ANTI,
    ),
    notes=(*_NOTES, _SLIP),
    partial=True,
    total="decaScore",
)

DECANLP_3 = PublishedTable(
    name="decanlp/3",
    config="decanlp",
    paper="McCann et al. 2018, table 3",
    vectors=DECANLP_2.vectors,
    tasks=_TASKS,
    rows=(
        PublishedRow("mqan", "MQAN, fully joint", MULTI, _JOINT["mqan"]),
        *map(_row, _STRATEGIES),
    ),
    notes=_NOTES,
    partial=True,
    total="decaScore",
)

"""Tables 3 and 5 of Chen et al. (2018), meta multi-task learning."""

from mtl_tf.experiments.published.rows import (
    ADAGRAD_NOTE,
    FDU_MTL_TASKS,
    MULTI,
    SELECTION_NOTE,
    SINGLE,
    TEXTS_NOTE,
    TRANSFER,
    PublishedRow,
    PublishedTable,
    PublishedTask,
    baseline,
    quoted,
)

_VECTORS_NOTE = (
    "Matrices are drawn by Glorot, word vectors within 0.5, and where there "
    "are pretrained ones, those of other words within 0.1: the paper does not "
    "say."
)


def _tagging(
    name: str, title: str, test: int | None, metric: str
) -> PublishedTask:
    return PublishedTask(name, title, test, unit="tokens", metric=metric)


META_MTL_3 = PublishedTable(
    name="meta_mtl/3",
    config="meta_mtl_3",
    paper="Chen et al. 2018, table 3",
    vectors="200-d GloVe vectors",
    tasks=FDU_MTL_TASKS,
    rows=(
        PublishedRow(
            "lstm",
            "LSTM",
            SINGLE,
            (
                *(79.5, 80.5, 81.7, 78.0, 83.2, 85.2, 84.5, 76.7),
                *(83.2, 81.5, 84.7, 89.2, 84.7, 81.7, 81.7, 72.7),
            ),
            120_000,
        ),
        PublishedRow(
            "hyper_lstm",
            "HyperLSTM",
            SINGLE,
            (
                *(78.3, 80.7, 80.3, 80.0, 85.8, 88.3, 84.0, 78.5),
                *(83.7, 83.7, 85.5, 91.3, 86.5, 82.0, 77.0, 73.0),
            ),
            321_000,
        ),
        PublishedRow(
            "meta_lstm",
            "Meta-LSTM",
            SINGLE,
            (
                *(83.0, 82.3, 82.3, 83.3, 86.5, 88.3, 86.3, 80.0),
                *(84.3, 84.3, 84.0, 92.3, 88.3, 82.5, 83.5, 74.3),
            ),
            134_000,
        ),
        PublishedRow(
            "asp",
            "ASP-MTL",
            MULTI,
            (
                *(87.0, 89.0, 87.4, 87.2, 88.7, 91.3, 88.1, 82.6),
                *(88.8, 85.5, 89.8, 92.4, 87.3, 86.7, 85.8, 77.3),
            ),
            5_490_000,
            source="Liu, Qiu and Huang 2017",
        ),
        PublishedRow(
            "psp",
            "PSP-MTL",
            MULTI,
            (
                *(84.3, 85.7, 83.0, 84.5, 83.7, 86.5, 86.5, 81.3),
                *(83.5, 83.3, 86.5, 88.3, 84.0, 82.0, 82.0, 74.5),
            ),
            2_056_000,
        ),
        PublishedRow(
            "ssp",
            "SSP-MTL",
            MULTI,
            (
                *(85.3, 87.5, 86.5, 86.5, 86.0, 87.5, 87.5, 85.8),
                *(87.0, 85.5, 87.0, 88.0, 86.0, 85.0, 84.5, 75.8),
            ),
            1_411_000,
        ),
        PublishedRow(
            "meta_mtl",
            "Meta-MTL",
            MULTI,
            (
                *(87.5, 89.5, 88.0, 91.3, 87.0, 89.7, 90.3, 86.3),
                *(88.5, 88.3, 88.0, 91.0, 88.5, 86.7, 88.0, 77.0),
            ),
            1_339_000,
        ),
        PublishedRow(
            "transfer",
            "Meta-MTL, transfer",
            TRANSFER,
            (
                *(86.3, 86.0, 86.5, 86.3, 86.0, 87.0, 88.7, 85.7),
                *(85.3, 85.5, 86.0, 90.3, 86.5, 85.7, 87.3, 75.5),
            ),
            1_339_000,
            config_row="meta_mtl",
        ),
        PublishedRow(
            "transfer_random",
            "control: word vectors of transfer, random frozen meta network",
            TRANSFER,
            config_row="meta_mtl",
            control="random",
            control_of="transfer",
        ),
        PublishedRow(
            "transfer_fresh_vectors",
            "control: meta network of transfer, fresh word vectors",
            TRANSFER,
            config_row="meta_mtl",
            control="fresh_vectors",
            control_of="transfer",
        ),
        baseline("meta_mtl"),
    ),
    notes=(
        "The paper does not give epochs: joint models have 8; models of one "
        "task at most 30, fewer when validation does not improve in 6.",
        "Single rows: the parameters are those of one of the models.",
        ADAGRAD_NOTE,
        TEXTS_NOTE,
        _VECTORS_NOTE,
        SELECTION_NOTE,
    ),
)

META_MTL_5 = PublishedTable(
    name="meta_mtl/5",
    config="meta_mtl_5",
    paper="Chen et al. 2018, table 5",
    vectors="GloVe vectors, here of 100 dimensions",
    tasks=(
        _tagging("chunk", "CoNLL-2000 chunks", 47_377, "span_f1"),
        _tagging("ner", "CoNLL-2003 entities", 46_666, "span_f1"),
        _tagging("wsj", "WSJ parts of speech", 129_654, "token_accuracy"),
        # Replaces the paper's task if the WSJ is not available.
        _tagging("xpos", "UD parts of speech", None, "token_accuracy"),
    ),
    rows=(
        PublishedRow(
            "lstm",
            "LSTM+CRF",
            SINGLE,
            (93.67, 89.91, 97.25, None),
            source="as built by Huang, Xu and Yu 2015",
        ),
        PublishedRow(
            "meta_lstm",
            "Meta-LSTM+CRF",
            SINGLE,
            (93.71, 90.08, 97.30, None),
        ),
        PublishedRow(
            "ssp",
            "LSTM-SSP-MTL+CRF",
            MULTI,
            (94.32, 90.38, 97.23, None),
        ),
        PublishedRow(
            "meta_mtl",
            "Meta-LSTM-MTL+CRF",
            MULTI,
            (95.11, 90.72, 97.45, None),
        ),
        quoted(
            "Collobert et al.",
            "Collobert et al. 2011",
            94.32,
            89.59,
            97.29,
            None,
        ),
    ),
    notes=(
        "F1 is that of spans, as conlleval counts it; a mean over tasks takes "
        "each one's metric.",
        "The Penn tags of a UD treebank stand in for the WSJ, where that is "
        "not at hand; the paper's figures for the WSJ are of other texts.",
        "The paper counts CoNLL-2003's 231 -DOCSTART- lines as test tokens.",
        "CoNLL-2000 has no validation part: a tenth of its training sentences "
        "is held out, on which the checkpoint is chosen; the paper does not "
        "say how it chooses one.",
        "Words are lower-cased, and models read nothing but words: the paper "
        "names no features of spelling, with which Huang et al. have theirs.",
        ADAGRAD_NOTE,
        _VECTORS_NOTE,
        SELECTION_NOTE,
    ),
    partial=True,
    decimals=2,
)

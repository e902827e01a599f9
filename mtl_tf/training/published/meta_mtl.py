"""Table 3 of Chen et al. (2018), meta multi-task learning."""

from mtl_tf.training.published.rows import (
    ADAGRAD_NOTE,
    FDU_MTL_TASKS,
    MULTI,
    SELECTION_NOTE,
    SINGLE,
    TRANSFER,
    PublishedRow,
    PublishedTable,
    baseline,
)

_VECTORS_NOTE = (
    "Matrices are drawn by Glorot, word vectors without a pretrained one "
    "within 0.5: the paper does not say."
)

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
        baseline("meta_mtl"),
    ),
    notes=(
        "The paper does not give epochs: ours are 8.",
        "Single rows: the parameters are those of one of the models.",
        ADAGRAD_NOTE,
        _VECTORS_NOTE,
        SELECTION_NOTE,
    ),
)

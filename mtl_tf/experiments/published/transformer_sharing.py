"""Table 4.3 of Sun (2019), multi-task Transformers."""

from mtl_tf.experiments.published.rows import (
    FDU_MTL_TASKS,
    MULTI,
    SINGLE,
    PublishedRow,
    PublishedTable,
    baseline,
)

TRANSFORMER_SHARING_4_3 = PublishedTable(
    name="transformer_sharing/4.3",
    config="transformer_sharing_4_3",
    paper="Sun 2019, table 4.3",
    vectors="300-d GloVe vectors (840B)",
    tasks=FDU_MTL_TASKS,
    rows=(
        PublishedRow(
            "single",
            "Transformer, single",
            SINGLE,
            (
                *(83.5, 79.5, 82.75, 79.5),
                *(82.75, 81.75, 86.0, 76.5),
                *(80.0, 84.75, 81.0, 89.0),
                *(86.5, 80.25, 80.75, 75.25),
            ),
        ),
        PublishedRow(
            "s_p",
            "S-P",
            MULTI,
            (
                *(82.5, 82.5, 84.5, 83.5),
                *(85.5, 84.25, 85.5, 83.0),
                *(84.75, 81.25, 87.75, 85.0),
                *(86.0, 84.25, 84.75, 76.0),
            ),
        ),
        PublishedRow(
            "s_c",
            "S-C",
            MULTI,
            (
                *(84.0, 83.5, 85.5, 85.0),
                *(86.75, 85.0, 87.5, 83.0),
                *(86.25, 85.5, 85.5, 91.0),
                *(88.75, 83.75, 85.0, 75.75),
            ),
        ),
        PublishedRow(
            "l_i",
            "L-I",
            MULTI,
            (
                *(85.0, 84.75, 85.75, 89.0),
                *(86.0, 87.0, 88.0, 82.75),
                *(88.25, 86.5, 87.25, 89.75),
                *(86.5, 86.0, 84.5, 78.0),
            ),
        ),
        PublishedRow(
            "l_e",
            "L-E",
            MULTI,
            (
                *(84.5, 85.75, 85.75, 87.75),
                *(85.75, 89.0, 86.75, 81.5),
                *(86.5, 84.25, 87.5, 89.25),
                *(87.75, 85.5, 84.5, 76.5),
            ),
        ),
        baseline("l_i"),
    ),
    notes=(
        "Blocks are pre-norm with a final normalisation, and texts are cut at "
        "400 tokens: the text prints post-norm and no limit, the code that "
        "made the table has both.",
        "The mean over the tokens leaves padding out; the original code "
        "averages it in.",
        "The paper gives no size of the MLP above S-P and the single model: "
        "one hidden layer of 300.",
        "Matrices are drawn from a normal distribution with deviation 0.05, "
        "word vectors without a pretrained one uniformly within 0.05; at the "
        "paper's rate for word vectors, 5e-5, those learn slowly.",
        "As in the paper's code the checkpoint with the best mean validation "
        "score is the one tested; the number of epochs is the config's.",
        "The paper gives one figure a task, without a spread over seeds.",
    ),
)

"""Tables 3 and 4 of Liu, Qiu and Huang (2016), shared memory."""

from mtl_tf.experiments.published.rows import (
    ADAGRAD_NOTE,
    MULTI,
    SELECTION_NOTE,
    SINGLE,
    TEXTS_NOTE,
    PublishedRow,
    PublishedTable,
    PublishedTask,
    baseline,
    quoted,
)

_SIZES_NOTE = (
    "The paper gives no sizes of MT-CNN and MT-DNN: 100 filters of each of the "
    "widths 3, 4 and 5, 50 dimensions of a task's own beside the 100 shared "
    "ones, and 100 hidden units. MT-DNN's bag of words is the mean of their "
    "vectors: a sum saturates the hidden layer, which stayed at chance."
)

SHARED_MEMORY_3 = PublishedTable(
    name="shared_memory/3",
    config="shared_memory_3",
    paper="Liu, Qiu and Huang 2016, table 3",
    vectors="100-d GloVe vectors",
    tasks=(
        PublishedTask("sst1", "SST-1", 2210),
        PublishedTask("sst2", "SST-2", 1821),
        PublishedTask("subj", "SUBJ", 1000),
        PublishedTask("imdb", "IMDB", 25000),
    ),
    rows=(
        PublishedRow("lstm", "LSTM", SINGLE, (45.9, 85.8, 91.6, 88.5)),
        PublishedRow("me_lstm", "ME-LSTM", SINGLE, (46.4, 85.5, 91.0, 88.7)),
        PublishedRow("nbow", "NBOW", SINGLE, (42.4, 80.5, 91.3, 83.6)),
        PublishedRow("arc_i", "ARC-I", MULTI, (48.6, 87.0, 93.8, 89.8)),
        PublishedRow("arc_ii", "ARC-II", MULTI, (49.5, 87.8, 95.0, 91.2)),
        PublishedRow("mt_cnn", "MT-CNN", MULTI, (46.7, 86.1, 92.2, 88.4)),
        PublishedRow("mt_dnn", "MT-DNN", MULTI, (44.5, 84.0, 90.1, 85.6)),
        baseline("arc_i"),
        quoted("RAE", "Socher et al. 2011", 43.2, 82.4, None, None),
        quoted("MV-RNN", "Socher et al. 2012", 44.4, 82.9, None, None),
        quoted("RNTN", "Socher et al. 2013", 45.7, 85.4, None, None),
        quoted(
            "DCNN",
            "Kalchbrenner et al. 2014; IMDB: Denil et al. 2014",
            48.5,
            86.8,
            None,
            89.3,
        ),
        quoted("CNN-multichannel", "Kim 2014", 47.4, 88.1, 93.2, None),
        quoted("Tree-LSTM", "Tai et al. 2015", 50.6, 86.9, None, None),
    ),
    notes=(
        "SUBJ and IMDB have no validation part: the paper takes 10-fold "
        "cross-validation to choose settings, here a seeded part of the "
        "training texts is held out; SUBJ is split 9,000 to 1,000 by a seed.",
        "The paper does not give epochs: ours are at most 30, fewer when the "
        "validation mean has not risen for 6.",
        "IMDB is raw, the others are tokenised: all are split as the Penn "
        "Treebank does.",
        _SIZES_NOTE,
        ADAGRAD_NOTE,
        TEXTS_NOTE,
        SELECTION_NOTE,
    ),
)

SHARED_MEMORY_4 = PublishedTable(
    name="shared_memory/4",
    config="shared_memory_4",
    paper="Liu, Qiu and Huang 2016, table 4",
    vectors="100-d GloVe vectors",
    tasks=(
        PublishedTask("books", "Books", 400),
        PublishedTask("dvd", "DVDs", 400),
        PublishedTask("electronics", "Electronics", 400),
        PublishedTask("kitchen_housewares", "Kitchen", 400, ("kitchen",)),
    ),
    rows=(
        PublishedRow("lstm", "LSTM", SINGLE, (78.0, 79.5, 81.2, 81.8)),
        PublishedRow("me_lstm", "ME-LSTM", SINGLE, (77.5, 80.2, 81.5, 82.1)),
        PublishedRow("arc_i", "ARC-I", MULTI, (81.2, 82.0, 84.5, 84.3)),
        PublishedRow("arc_ii", "ARC-II", MULTI, (82.8, 83.0, 85.5, 84.0)),
        PublishedRow("mt_cnn", "MT-CNN", MULTI, (80.2, 81.0, 83.4, 83.0)),
        PublishedRow("mt_dnn", "MT-DNN", MULTI, (79.7, 80.5, 82.5, 82.8)),
        baseline("arc_i"),
    ),
    notes=(
        "The split is FDU-MTL's, where these four tasks come from; the "
        "paper's own is not published.",
        "The paper does not give epochs: ours are at most 30, fewer when the "
        "validation mean has not risen for 5, of single models for 6.",
        _SIZES_NOTE,
        ADAGRAD_NOTE,
        TEXTS_NOTE,
        SELECTION_NOTE,
    ),
)

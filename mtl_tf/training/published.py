"""The papers' own figures, table by table: pure data."""

import dataclasses
from collections.abc import Mapping

SINGLE, MULTI, TRANSFER = "single", "mtl", "transfer"
BASELINE, QUOTED = "baseline", "quoted"
# The kinds of row that can be run, in the order in which a table shows them.
COLUMNS = (SINGLE, MULTI, TRANSFER, BASELINE)


@dataclasses.dataclass(frozen=True)
class PublishedTask:
    """A task of a table.

    Attributes:
        name: ours.
        title: the paper's.
        test: how many test texts the paper has.
        also: other names of ours for it.
    """

    name: str
    title: str
    test: int
    also: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class PublishedRow:
    """A model of a table.

    Attributes:
        name: of our row.
        title: the paper's.
        column: one of `COLUMNS`, or `QUOTED` for what nobody runs here.
        scores: percentages in the order of the table's tasks; None where the
            paper has none, and no scores at all where it lacks the row.
        parameters: the paper's count without embeddings, None where it gives
            none.
        source: who measured it, where the paper quotes somebody else.
        config_row: the argument of the table's config, `name` if "".
        seeded: whether a seed changes anything.
    """

    name: str
    title: str
    column: str
    scores: tuple[float | None, ...] = ()
    parameters: int | None = None
    source: str = ""
    config_row: str = ""
    seeded: bool = True


@dataclasses.dataclass(frozen=True)
class PublishedTable:
    """A table of a paper.

    Attributes:
        name: such as `meta_mtl/3`.
        config: the name of the config that has its rows as arguments.
        paper: authors, year and number of the table.
        vectors: the pretrained vectors that the paper starts from.
        tasks: its tasks.
        rows: its models, and the linear baseline.
        notes: what differs between the paper's setting and ours, always.
    """

    name: str
    config: str
    paper: str
    vectors: str
    tasks: tuple[PublishedTask, ...]
    rows: tuple[PublishedRow, ...]
    notes: tuple[str, ...] = ()

    def row(self, name: str) -> PublishedRow:
        """The row of that name; there must be one."""
        return next(row for row in self.rows if row.name == name)


def _baseline(config_row: str) -> PublishedRow:
    # scikit-learn's linear models have no randomness worth a second run.
    return PublishedRow(
        "tfidf",
        "TF-IDF, linear (not in the paper)",
        BASELINE,
        config_row=config_row,
        seeded=False,
    )


def _quoted(title: str, source: str, *scores: float | None) -> PublishedRow:
    name = title.lower().replace("-", "_")
    return PublishedRow(name, title, QUOTED, scores, source=source)


_ADAGRAD_NOTE = (
    "Adagrad's sums start at 0.001 and gradients are clipped at norm 1: the "
    "paper says neither."
)
_VECTORS_NOTE = (
    "Matrices are drawn by Glorot, word vectors without a pretrained one "
    "within 0.5: the paper does not say."
)
_SIZES_NOTE = (
    "The paper gives no sizes of MT-CNN and MT-DNN: 100 filters of each of the "
    "widths 3, 4 and 5, 50 dimensions of a task's own beside the 100 shared "
    "ones, and 100 hidden units. MT-DNN's bag of words is the mean of their "
    "vectors: a sum saturates the hidden layer, which stayed at chance."
)
_SELECTION_NOTE = (
    "The checkpoint with the best mean validation score of the run's tasks is "
    "the one tested; the paper does not say which it tests."
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
        _baseline("arc_i"),
        _quoted("RAE", "Socher et al. 2011", 43.2, 82.4, None, None),
        _quoted("MV-RNN", "Socher et al. 2012", 44.4, 82.9, None, None),
        _quoted("RNTN", "Socher et al. 2013", 45.7, 85.4, None, None),
        _quoted(
            "DCNN",
            "Kalchbrenner et al. 2014; IMDB: Denil et al. 2014",
            *(48.5, 86.8, None, 89.3),
        ),
        _quoted("CNN-multichannel", "Kim 2014", 47.4, 88.1, 93.2, None),
        _quoted("Tree-LSTM", "Tai et al. 2015", 50.6, 86.9, None, None),
    ),
    notes=(
        "SUBJ and IMDB have no validation part: the paper takes 10-fold "
        "cross-validation to choose settings, here a seeded part of the "
        "training texts is held out; SUBJ is split 9,000 to 1,000 by a seed.",
        "The paper does not give epochs: ours are at most 8, fewer when the "
        "validation mean has not risen for 3.",
        _SIZES_NOTE,
        _ADAGRAD_NOTE,
        _SELECTION_NOTE,
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
        _baseline("arc_i"),
    ),
    notes=(
        "The split is FDU-MTL's, where these four tasks come from; the "
        "paper's own is not published.",
        "The paper does not give epochs: ours are at most 15, fewer when the "
        "validation mean has not risen for 5.",
        _SIZES_NOTE,
        _ADAGRAD_NOTE,
        _SELECTION_NOTE,
    ),
)

_META_TASKS = {
    "books": "Books",
    "electronics": "Electronics",
    "dvd": "DVD",
    "kitchen_housewares": "Kitchen",
    "apparel": "Apparel",
    "camera_photo": "Camera",
    "health_personal_care": "Health",
    "music": "Music",
    "toys_games": "Toys",
    "video": "Video",
    "baby": "Baby",
    "magazines": "Magazines",
    "software": "Software",
    "sports_outdoors": "Sports",
    "imdb": "IMDB",
    "mr": "MR",
}

META_MTL_3 = PublishedTable(
    name="meta_mtl/3",
    config="meta_mtl_3",
    paper="Chen et al. 2018, table 3",
    vectors="200-d GloVe vectors",
    tasks=tuple(
        PublishedTask(name, title, 400) for name, title in _META_TASKS.items()
    ),
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
        _baseline("meta_mtl"),
    ),
    notes=(
        "The paper does not give epochs: ours are 8.",
        "Single rows: the parameters are those of one of the models.",
        _ADAGRAD_NOTE,
        _VECTORS_NOTE,
        _SELECTION_NOTE,
    ),
)

TABLES: Mapping[str, PublishedTable] = {
    table.name: table
    for table in (SHARED_MEMORY_3, SHARED_MEMORY_4, META_MTL_3)
}

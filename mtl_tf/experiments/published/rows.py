"""The parts of a published table, and parts that several tables share."""

import dataclasses

SINGLE, MULTI, TRANSFER = "single", "mtl", "transfer"
BASELINE, QUOTED = "baseline", "quoted"
# The kinds of rows that can be run, in table order.
COLUMNS = (SINGLE, MULTI, TRANSFER, BASELINE)
# The name prefix of metrics that are computed as in a paper.
PAPER = "paper_"


@dataclasses.dataclass(frozen=True)
class PublishedTask:
    """A task of a table.

    Attributes:
        name: our name of it.
        title: the paper's name of it.
        test: the paper's number of test texts or tokens; None if our task
            replaces another one of the paper.
        also: other names of ours for it.
        unit: the unit of `test`: "examples" or "tokens".
        metric: our name of the paper's metric.
    """

    name: str
    title: str
    test: int | None
    also: tuple[str, ...] = ()
    unit: str = "examples"
    metric: str = "accuracy"


@dataclasses.dataclass(frozen=True)
class PublishedRow:
    """A model of a table.

    Attributes:
        name: our name of the row.
        title: the paper's name of it.
        column: one of `COLUMNS`, or `QUOTED` for rows that are not run.
        scores: percentages in the order of the table's tasks; None for missing
            scores, and empty if the paper lacks the row.
        parameters: the paper's count without embeddings, or None.
        source: who measured it, if the paper quotes others.
        config_row: the argument of the table's config; "" for `name`.
        seeded: whether the result depends on the seed.
        control: for a transfer row that the paper lacks, one of
            `experiments.transfer.CONTROLS`, on the models of `control_of`.
        control_of: the name of the row with these models.
    """

    name: str
    title: str
    column: str
    scores: tuple[float | None, ...] = ()
    parameters: int | None = None
    source: str = ""
    config_row: str = ""
    seeded: bool = True
    control: str = ""
    control_of: str = ""


@dataclasses.dataclass(frozen=True)
class PublishedTable:
    """A table of a paper.

    Attributes:
        name: its name, such as `meta_mtl/3`.
        config: the name of the config that takes its rows as arguments.
        paper: authors, year and number of the table.
        vectors: the pretrained vectors that the paper starts from, or "".
        tasks: its tasks.
        rows: its models, and the linear baseline.
        notes: constant differences between the paper's setting and ours.
        partial: whether tasks with missing corpora are left out.
        decimals: the decimals of percentages.
        metrics: the metrics to show, first the one to compare with the paper;
            () for only each task's primary metric. The paper's figures are also
            shown for metrics whose name begins with `PAPER`.
        total: the paper's name of the sum over tasks; "" without one.
        gain: a row and the row to compare it with, or ().
        corpus: the corpus of the scores, if another table names this one in
            `orientation`.
        orientation: for a table on another corpus, the paper's own table.
    """

    name: str
    config: str
    paper: str
    vectors: str
    tasks: tuple[PublishedTask, ...]
    rows: tuple[PublishedRow, ...]
    notes: tuple[str, ...] = ()
    partial: bool = False
    decimals: int = 1
    metrics: tuple[str, ...] = ()
    total: str = ""
    gain: tuple[str, str] | tuple[()] = ()
    corpus: str = ""
    orientation: "PublishedTable | None" = None

    def row(self, name: str) -> PublishedRow:
        """The row of that name; there must be one."""
        return next(row for row in self.rows if row.name == name)


def baseline(config_row: str) -> PublishedRow:
    """The linear baseline on the tasks of a row's config."""
    # scikit-learn's linear models have too little randomness for a second run.
    return PublishedRow(
        "tfidf",
        "TF-IDF, linear (not in the paper)",
        BASELINE,
        config_row=config_row,
        seeded=False,
    )


def quoted(title: str, source: str, *scores: float | None) -> PublishedRow:
    """A row that the paper quotes from others, and that is not run here."""
    name = title.lower().replace("-", "_")
    return PublishedRow(name, title, QUOTED, scores, source=source)


ADAGRAD_NOTE = (
    "Adagrad's sums start at 0.001, gradients are clipped at norm 1, and "
    "pretrained word vectors are fine-tuned at a rate of their own "
    "(training.optimizer.pretrained_learning_rate): the paper says none of "
    "these."
)
TEXTS_NOTE = (
    "Texts are lower-cased and cut at 400 tokens (text.max_length): the paper "
    "says neither."
)
SELECTION_NOTE = (
    "The checkpoint with the best mean validation score of the run's tasks is "
    "the one tested; the paper does not say which it tests."
)

_FDU_MTL = {
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
FDU_MTL_TASKS = tuple(
    PublishedTask(name, title, 400) for name, title in _FDU_MTL.items()
)

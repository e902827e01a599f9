"""What a published table consists of, and what several of them share."""

import dataclasses

SINGLE, MULTI, TRANSFER = "single", "mtl", "transfer"
BASELINE, QUOTED = "baseline", "quoted"
# The kinds of row that can be run, in the order in which a table shows them.
COLUMNS = (SINGLE, MULTI, TRANSFER, BASELINE)
# What the names of metrics begin with that score as a paper does.
PAPER = "paper_"


@dataclasses.dataclass(frozen=True)
class PublishedTask:
    """A task of a table.

    Attributes:
        name: ours.
        title: the paper's.
        test: how many test texts, or tokens, the paper has; None where it has
            no such task and another stands in for one of its own.
        also: other names of ours for it.
        unit: what `test` counts: "examples" or "tokens".
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
        control: of a row of transfer that the paper lacks: one of
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
        name: such as `meta_mtl/3`.
        config: the name of the config that has its rows as arguments.
        paper: authors, year and number of the table.
        vectors: the pretrained vectors that the paper starts from, "" if it
            starts from none.
        tasks: its tasks.
        rows: its models, and the linear baseline.
        notes: what differs between the paper's setting and ours, always.
        partial: whether tasks whose corpora the user lacks are left out.
        decimals: of the percentages.
        metrics: what is shown, first what compares with the paper; () for
            each task's primary metric alone. Of those whose name begins with
            `PAPER` the paper's figures stand beside ours, too.
        total: how the paper calls the sum over tasks; "" if it has none.
        gain: a row and the one that it is compared with, or ().
        corpus: what the scores are of, where a table of another corpus names
            this one in `orientation`.
        orientation: the paper's own table, of one on another corpus.
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
    """The linear baseline, on the tasks of a row's config."""
    # scikit-learn's linear models have no randomness worth a second run.
    return PublishedRow(
        "tfidf",
        "TF-IDF, linear (not in the paper)",
        BASELINE,
        config_row=config_row,
        seeded=False,
    )


def quoted(title: str, source: str, *scores: float | None) -> PublishedRow:
    """A row that the paper took from somebody else and nobody runs here."""
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

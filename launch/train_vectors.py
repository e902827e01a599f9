"""Learns word vectors from tasks' texts: `python -m launch.train_vectors`."""

from absl import flags, logging

from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner

_ALGORITHMS = ("skipgram", "cbow", "fasttext")
_SPACINGS = ("auto", "treebank", "none")


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_list(
        "tasks",
        [],
        "groups or tasks whose texts to learn from, in place of the config's: "
        "fdu_mtl, or fdu_mtl/books,fdu_mtl/dvd",
        flag_values=values,
    )
    flags.DEFINE_string(
        "output", None, "text file for the vectors", flag_values=values
    )
    common_flags.define_data(values)
    flags.DEFINE_enum(
        "algorithm",
        "skipgram",
        _ALGORITHMS,
        "skipgram and cbow are word2vec's; fasttext is skipgram over words and "
        "their character n-grams",
        flag_values=values,
    )
    _define_numbers(values)
    flags.DEFINE_enum(
        "unlabelled_spacing",
        "auto",
        _SPACINGS,
        "treebank puts spaces into unlabelled texts as the Penn Treebank does "
        "(did n't); auto does so where they are raw and training texts are not",
        flag_values=values,
    )


def _define_numbers(values: flags.FlagValues) -> None:
    numbers = (
        ("dimension", 0, "numbers a word; 0 for config.model.embedding_dim"),
        ("epochs", 10, "passes over the texts"),
        ("window", 5, "words on either side that are predicted"),
        ("min_count", 2, "occurrences that a word needs"),
        ("seed", 0, "of the first vectors and of all draws"),
        ("workers", 1, "threads; the same command repeats only with 1"),
    )
    for name, default, text in numbers:
        flags.DEFINE_integer(name, default, text, flag_values=values)


def main(values: flags.FlagValues) -> None:
    """Reads the texts, learns, writes the file."""
    from mtl_tf.configs import validation
    from mtl_tf.core import files

    files.check_file(values.output)
    config = validation.validate(values.config.to_dict())
    if values.tasks:
        config["tasks"] = [name.strip() for name in values.tasks]
    elif not values["config"].present:
        raise ConfigError("give --tasks or --config: whose texts to learn from")

    from mtl_tf.pipelines import vector_corpus
    from mtl_tf.tasks import registry
    from mtl_tf.text import learning

    learning.require()
    tasks = registry.resolve(
        config["tasks"],
        values.data_dir,
        values.manual_dir,
        config["cross_validation"],
    )
    texts = vector_corpus.collect(
        tasks, config["text"], values.unlabelled_spacing
    )
    logging.info("%s texts, %s tokens", f"{len(texts):,}", f"{texts.tokens:,}")
    words, vectors = learning.learn(
        texts,
        dimension=values.dimension or config["model"]["embedding_dim"],
        algorithm=values.algorithm,
        epochs=values.epochs,
        window=values.window,
        min_count=values.min_count,
        seed=values.seed,
        workers=values.workers,
    )
    learning.write_vectors(values.output, words, vectors)
    print(
        f"{len(words):,} vectors of {vectors.shape[1]} numbers in "
        f"{values.output}"
    )


PROGRAM = runner.Program(
    name="train_vectors",
    summary="""
    Learns word vectors from the training and the unlabelled texts of tasks and
    writes them in the standard text format, for config.text.vectors. Validation
    and test texts are not used, nor unlabelled texts that repeat them. Texts
    are tokenised by the config's text.tokenizer, so that the words are the
    run's.

    It needs the package gensim (the extra `vectors`). With --workers=1, the
    default, the same command writes the same file; more threads are faster.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "Vectors for FDU-MTL, whose files you have in corpora/fdu_mtl",
            "--tasks=fdu_mtl --output=vectors/fdu.txt --manual_dir=corpora",
        ),
        (
            "The same for the text and the sizes of a config",
            "--config=fdu_mtl_meta --output=vectors/fdu.txt "
            "--manual_dir=corpora --workers=4",
        ),
        (
            "A quick try on the texts that come with the package",
            "--config=quickstart --output=vectors/sample.txt --dimension=50",
        ),
    ),
    required=("output",),
    takes_config=True,
    config_optional=True,
)


def run() -> None:
    """Entry point of `mtl-train-vectors`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()

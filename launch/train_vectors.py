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
        "groups or tasks whose texts to learn from, instead of the config's: "
        "fdu_mtl, or fdu_mtl/books,fdu_mtl/dvd",
        flag_values=values,
    )
    flags.DEFINE_string(
        "output", None, "text file to write the vectors to", flag_values=values
    )
    common_flags.define_data(values)
    flags.DEFINE_enum(
        "algorithm",
        "skipgram",
        _ALGORITHMS,
        "training algorithm: skipgram and cbow are those of word2vec, "
        "fasttext is skipgram on words and their character n-grams",
        flag_values=values,
    )
    _define_numbers(values)
    flags.DEFINE_enum(
        "unlabelled_spacing",
        "auto",
        _SPACINGS,
        "whether to split unlabelled texts like the Penn Treebank (did n't): "
        "treebank does, none does not, auto does if they are raw and the "
        "training texts are not",
        flag_values=values,
    )


def _define_numbers(values: flags.FlagValues) -> None:
    numbers = (
        (
            "dimension",
            0,
            0,
            "size of each vector; 0 for config.model.embedding_dim",
        ),
        ("epochs", 10, 1, "passes over the texts"),
        ("window", 5, 1, "number of words to predict on either side of a word"),
        ("min_count", 2, 1, "minimum number of occurrences of a word"),
        (
            "seed",
            0,
            None,
            "seed of the initial vectors and of all random draws",
        ),
        (
            "workers",
            1,
            1,
            "number of threads. Only with 1, the same command gives the same "
            "vectors",
        ),
    )
    for name, default, least, text in numbers:
        flags.DEFINE_integer(
            name, default, text, lower_bound=least, flag_values=values
        )


def main(values: flags.FlagValues) -> None:
    """Reads the texts, learns, writes the file."""
    from mtl_tf.config_fields import validation
    from mtl_tf.core import files

    files.check_file(values.output)
    config = validation.validate(values.config.to_dict())
    if values.tasks:
        config["tasks"] = [name.strip() for name in values.tasks]
    elif not values["config"].present:
        raise ConfigError("give --tasks or --config: whose texts to learn from")

    from mtl_tf.pipelines.unlabelled import vector_corpus
    from mtl_tf.tasks import registry
    from mtl_tf.text.vectors import learning

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
    Learns word vectors from the training texts and the unlabelled texts of
    tasks. It writes them in the standard text format, for config.text.vectors.
    It uses no validation or test texts, nor unlabelled texts that repeat them.
    The config's text.tokenizer splits the texts, so that the words are those of
    a run with this config.

    It needs the package gensim (pip install 'mtl_tf[vectors]'). With
    --workers=1, the default, the same command writes the same file. More
    threads are faster.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "Vectors for FDU-MTL, with the corpus in corpora/fdu_mtl",
            "--tasks=fdu_mtl --output=vectors/fdu.txt --manual_dir=corpora",
        ),
        (
            "The same with the tokenizer and the vector size of a config",
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

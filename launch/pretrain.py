"""Pre-trains on texts without labels: `python -m launch.pretrain`."""

import dataclasses
from collections.abc import Iterable
from typing import Any

from absl import flags

from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner

_OBJECTIVES = ("masked_pieces", "next_words")
#: The highest learning rate where none is given.
_RATES = {"masked_pieces": 1e-4, "next_words": 2e-3}
_PRECISIONS = ("float32", "mixed_bfloat16")
# Of an encoder with random weights.
_SIZES = (
    ("vocabulary_size", 8000, "word pieces to learn from the texts, at most"),
    ("layers", 4, "Transformer layers"),
    ("hidden", 256, "size of their states"),
    ("heads", 4, "heads of their attention"),
)
# Of --objective=next_words.
_OF_WORDS = (
    ("min_count", 2, "occurrences that a word needs; the others are unknown"),
    ("samples", 1024, "words that a step tells the right one from"),
    ("dropout", 0.2, "share of vectors and states that a step drops"),
)
_INTEGERS = (
    ("length", 128, "pieces, or words, of a block of text"),
    ("batch_size", 32, "blocks in a batch"),
    ("accumulate_steps", 1, "batches whose gradients an update sums"),
    ("steps", 10000, "updates"),
    ("evaluate_every", 500, "steps between evaluations"),
    ("seed", 0, "of whatever is drawn at random"),
)
_NUMBERS = (
    (
        "learning_rate",
        None,
        "the highest learning rate; by default 1e-4 for masked_pieces, 2e-3 "
        "for next_words",
    ),
    ("warmup", 0.1, "share of the steps in which it comes from 0"),
    ("held_out", 0.02, "share of the texts to score, not to train on"),
)


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_string(
        "output",
        None,
        "folder of the new preset, or of vectors and weights",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "objective",
        "masked_pieces",
        _OBJECTIVES,
        "what is learnt: an encoder tells masked pieces, or the recurrent "
        "layer of --config, config.model.scheme, tells the words before and "
        "after",
        flag_values=values,
    )
    flags.DEFINE_list(
        "tasks",
        [],
        "groups or tasks whose training texts to learn from, in place of the "
        "config's",
        flag_values=values,
    )
    flags.DEFINE_list(
        "texts",
        [],
        "text files to learn from, a text a line, UTF-8",
        flag_values=values,
    )
    common_flags.define_data(values)
    flags.DEFINE_string(
        "preset",
        "",
        "the encoder to start from, as of config.model.encoder.preset; without "
        "it a BERT with random weights",
        flag_values=values,
    )
    _define_numbers(values, _SIZES, "without --preset")
    flags.DEFINE_bool(
        "lowercase",
        True,
        "whether texts are lower-cased, without --preset",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "mixed_precision",
        "float32",
        _PRECISIONS,
        "what an encoder computes in, on float32 weights",
        flag_values=values,
    )
    _define_numbers(values, _OF_WORDS, "for --objective=next_words")
    _define_numbers(values, _INTEGERS)
    _define_numbers(values, _NUMBERS)


def _define_numbers(
    values: flags.FlagValues,
    numbers: Iterable[tuple[str, int | float | None, str]],
    condition: str = "",
) -> None:
    """Defines flags of names, defaults and meanings, some on a condition."""
    for name, default, text in numbers:
        is_count = isinstance(default, int)
        define = flags.DEFINE_integer if is_count else flags.DEFINE_float
        about = f"{text}; {condition}" if condition else text
        define(name, default, about, flag_values=values)


def main(values: flags.FlagValues) -> None:
    """Reads the texts, trains, writes the preset."""
    from mtl_tf.configs import validation

    config = validation.validate(values.config.to_dict())
    if values.tasks:
        config["tasks"] = [name.strip() for name in values.tasks]
    named = bool(values.tasks) or values["config"].present
    if not (named or values.texts):
        raise ConfigError(
            "give --tasks, --config or --texts: what to learn from"
        )
    is_encoder = values.objective == "masked_pieces"
    _check_objective(values, is_encoder)

    from mtl_tf.tasks import registry
    from mtl_tf.text import text_files

    texts = [text for path in values.texts for text in text_files.read(path)]
    tasks = []
    if named:
        tasks = registry.resolve(
            config["tasks"],
            values.data_dir,
            values.manual_dir,
            config["cross_validation"],
        )
    learn = _encoder if is_encoder else _scheme
    results = learn(values, config, tasks, texts)
    print(
        f"held-out perplexity {results['before']:.2f} before, "
        f"{results['after']:.2f} after {results['step']} steps: {values.output}"
    )


def _check_objective(values: flags.FlagValues, is_encoder: bool) -> None:
    """Refuses flags that do nothing with the objective or the preset."""
    if not is_encoder and not values["config"].present:
        raise ConfigError(
            "--objective=next_words needs --config: its model.scheme is what "
            "learns"
        )
    for name in [name for name, *_ in _OF_WORDS if is_encoder]:
        if values[name].present:
            raise ConfigError(f"--{name} needs --objective=next_words")
    sizes = [name for name, *_ in _SIZES] + ["lowercase"]
    for name in [*sizes, "preset", "mixed_precision"]:
        if not values[name].present:
            continue
        if not is_encoder:
            raise ConfigError(
                f"--{name} does nothing with --objective=next_words, whose "
                "sizes and words are those of --config"
            )
        if values.preset and name in sizes:
            raise ConfigError(
                f"--{name} does nothing with --preset, which has its own"
            )


def _encoder(
    values: flags.FlagValues, config: dict, tasks: list, texts: list[str]
) -> dict[str, float]:
    from mtl_tf.pipelines import vector_corpus
    from mtl_tf.runs import pretraining

    del config
    for _, of_task in vector_corpus.texts_of(tasks) if tasks else ():
        texts += of_task
    options = _options(values, pretraining.Pretraining)
    return pretraining.pretrain(
        texts, pretraining.Pretraining(**options), values.output
    )


def _scheme(
    values: flags.FlagValues, config: dict, tasks: list, texts: list[str]
) -> dict[str, float]:
    from mtl_tf.pipelines import vector_corpus
    from mtl_tf.runs import language_modelling, text_training

    options = language_modelling.of_config(
        config, _options(values, text_training.TextTraining)
    )
    more = {name: values[name].value for name, *_ in _OF_WORDS}
    options = dataclasses.replace(options, **more)
    options.check()
    words = vector_corpus.collect(tasks, config["text"], more=texts)
    return language_modelling.pretrain(words, options, values.output)


def _options(values: flags.FlagValues, kind: type) -> dict[str, Any]:
    """The flags that have the names of a dataclass's fields."""
    names = [field.name for field in dataclasses.fields(kind)]
    options = {name: values[name].value for name in names}
    if options["learning_rate"] is None:
        options["learning_rate"] = _RATES[values.objective]
    return options


PROGRAM = runner.Program(
    name="pretrain",
    summary="""
    Trains an encoder to tell masked pieces of texts (Devlin et al. 2019) and
    writes it as a preset for config.model.encoder.preset: from a preset, which
    learns the language of your texts, or a small BERT from random weights,
    whose word pieces are learnt from the texts.

    --objective=next_words trains the recurrent layer of a config's
    model.scheme as a language model of both directions (Peters et al. 2018)
    and writes its weights, for config.training.initialize_from, and its word
    vectors, for config.text.vectors.

    The texts are the training and the unlabelled texts of tasks, without those
    of validation and test splits, and text files. A command that was stopped
    continues when it is repeated.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "Let an encoder see the texts of FDU-MTL before it is tuned",
            "--tasks=fdu_mtl --manual_dir=corpora "
            "--preset=bert_base_en_uncased --output=presets/bert_reviews",
        ),
        (
            "A small encoder from your own texts alone",
            "--texts=texts.txt --layers=4 --hidden=256 --steps=20000 "
            "--output=presets/small",
        ),
        (
            "The LSTM of a config, before it learns its tasks",
            "--config=fdu_mtl_wide --objective=next_words "
            "--manual_dir=corpora --config.text.vectors=vectors/fdu.txt "
            "--output=pretrained/reviews",
        ),
        (
            "A quick try on the texts that come with the package",
            "--config=quickstart --layers=2 --hidden=64 --steps=100 "
            "--output=presets/sample",
        ),
    ),
    required=("output",),
    takes_config=True,
    config_optional=True,
)


def run() -> None:
    """Entry point of `mtl-pretrain`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()

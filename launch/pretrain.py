"""Pre-trains on texts without labels: `python -m launch.pretrain`."""

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from absl import flags

from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner

if TYPE_CHECKING:
    from mtl_tf.pretraining.text_training import TextTraining

_OBJECTIVES = ("masked_pieces", "next_words")
#: The highest learning rate where none is given.
_RATES = {"masked_pieces": 1e-4, "next_words": 2e-3}
_PRECISIONS = ("float32", "mixed_bfloat16")
# Of an encoder with random weights.
_SIZES = (
    (
        "vocabulary_size",
        8000,
        "maximum number of word pieces to learn from the texts",
    ),
    ("layers", 4, "number of Transformer layers"),
    ("hidden", 256, "size of the Transformer's states"),
    ("heads", 4, "number of attention heads"),
)
# Of --objective=next_words.
_OF_WORDS = (
    (
        "min_count",
        2,
        "minimum number of occurrences of a word; rarer words are unknown",
    ),
    (
        "samples",
        1024,
        "words that each step samples to compare the right word with",
    ),
    ("dropout", 0.2, "dropout rate of word vectors and states"),
)
_INTEGERS = (
    ("length", 128, "length of a block of text, in word pieces or words"),
    ("batch_size", 32, "blocks per batch"),
    (
        "accumulate_steps",
        1,
        "number of batches whose gradients one update sums",
    ),
    ("steps", 10000, "number of updates"),
    ("evaluate_every", 500, "steps between evaluations"),
    ("seed", 0, "seed of all random draws"),
)
_NUMBERS = (
    (
        "learning_rate",
        None,
        "peak learning rate. If not given: 1e-4 for masked_pieces, 2e-3 for "
        "next_words",
    ),
    (
        "warmup",
        0.1,
        "share of the steps in which the learning rate rises from 0 to its "
        "peak",
    ),
    ("held_out", 0.02, "share of the texts that is only used for evaluation"),
)


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_string(
        "output",
        None,
        "folder to write the preset to, or the vectors and weights",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "objective",
        "masked_pieces",
        _OBJECTIVES,
        "what to learn. masked_pieces: an encoder predicts masked word "
        "pieces. next_words: the recurrent layer of config.model.scheme "
        "predicts the next and the previous words",
        flag_values=values,
    )
    flags.DEFINE_list(
        "tasks",
        [],
        "groups or tasks whose texts to learn from, instead of the config's",
        flag_values=values,
    )
    flags.DEFINE_list(
        "texts",
        [],
        "text files to learn from: UTF-8, a text per line; several separated "
        "by commas",
        flag_values=values,
    )
    common_flags.define_data(values)
    flags.DEFINE_string(
        "preset",
        "",
        "encoder to start from, as in config.model.encoder.preset. If not "
        "given: a BERT with random weights",
        flag_values=values,
    )
    _define_numbers(values, _SIZES, "without --preset")
    flags.DEFINE_bool(
        "lowercase",
        True,
        "lower-case the texts; without --preset",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "mixed_precision",
        "float32",
        _PRECISIONS,
        "precision in which an encoder computes; the weights are float32",
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
    from mtl_tf.config_fields import validation

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

    from mtl_tf.pipelines.unlabelled import vector_corpus
    from mtl_tf.pretraining import (
        encoders,
        language_modelling,
        text_training,
    )
    from mtl_tf.tasks import registry
    from mtl_tf.text import text_files

    # Before hours of reading.
    text_training.check_new(values.output)
    make_options = _encoder_options if is_encoder else _scheme_options
    options = make_options(values, config)
    options.check()
    texts = [text for path in values.texts for text in text_files.read(path)]
    tasks = []
    if named:
        tasks = registry.resolve(
            config["tasks"],
            values.data_dir,
            values.manual_dir,
            config["cross_validation"],
        )
    if is_encoder:
        for _, of_task in vector_corpus.texts_of(tasks) if tasks else ():
            texts += of_task
        results = encoders.pretrain(texts, options, values.output)
    else:
        words = vector_corpus.collect(tasks, config["text"], more=texts)
        results = language_modelling.pretrain(words, options, values.output)
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
            why = {"mixed_precision": "which computes in float32"}.get(
                name, "whose sizes and words are those of --config"
            )
            raise ConfigError(
                f"--{name} does nothing with --objective=next_words, {why}"
            )
        if values.preset and name in sizes:
            raise ConfigError(
                f"--{name} does nothing with --preset, which has its own"
            )


def _encoder_options(
    values: flags.FlagValues, config: dict[str, Any]
) -> "TextTraining":
    from mtl_tf.pretraining import encoders

    del config
    return encoders.Pretraining(**_options(values, encoders.Pretraining))


def _scheme_options(
    values: flags.FlagValues, config: dict[str, Any]
) -> "TextTraining":
    from mtl_tf.pretraining import language_modelling, text_training

    options = language_modelling.of_config(
        config, _options(values, text_training.TextTraining)
    )
    more = {name: values[name].value for name, *_ in _OF_WORDS}
    return dataclasses.replace(options, **more)


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
    Pre-trains an encoder on texts without labels, by predicting masked word
    pieces (Devlin et al. 2019). It starts from a preset, or from a small BERT
    with random weights, whose word pieces are learnt from the texts. It writes
    a preset for config.model.encoder.preset.

    --objective=next_words instead trains the recurrent layer of a config's
    model.scheme as a language model in both directions (Peters et al. 2018). It
    writes the weights for config.training.initialize_from and the word vectors
    for config.text.vectors.

    The texts are the training and unlabelled texts of tasks, without the texts
    of validation and test splits, and text files. To continue a stopped
    training, repeat the command.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "An encoder that learns the language of FDU-MTL before fine-tuning",
            "--tasks=fdu_mtl --manual_dir=corpora "
            "--preset=bert_base_en_uncased --output=presets/bert_reviews",
        ),
        (
            "A small encoder, learnt from your own texts alone",
            "--texts=texts.txt --layers=4 --hidden=256 --steps=20000 "
            "--output=presets/small",
        ),
        (
            "The LSTM of a config, before it is trained on its tasks",
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

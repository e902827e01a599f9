"""Pre-trains an encoder on texts: `python -m launch.pretrain`."""

import dataclasses

from absl import flags

from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner

# Of an encoder with random weights.
_SIZES = (
    ("vocabulary_size", 8000, "word pieces to learn from the texts, at most"),
    ("layers", 4, "Transformer layers"),
    ("hidden", 256, "size of their states"),
    ("heads", 4, "heads of their attention"),
)
_INTEGERS = (
    ("length", 128, "pieces of a block of text"),
    ("batch_size", 32, "blocks in a batch"),
    ("accumulate_steps", 1, "batches whose gradients an update sums"),
    ("steps", 10000, "updates"),
    ("evaluate_every", 500, "steps between evaluations"),
    ("seed", 0, "of whatever is drawn at random"),
)
_NUMBERS = (
    ("learning_rate", 1e-4, "the highest learning rate"),
    ("warmup", 0.1, "share of the steps in which it comes from 0"),
    ("held_out", 0.02, "share of the texts to score, not to train on"),
)


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_string(
        "output", None, "folder of the new preset", flag_values=values
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
    for name, default, text in _SIZES:
        about = f"{text}, without --preset"
        flags.DEFINE_integer(name, default, about, flag_values=values)
    flags.DEFINE_bool(
        "lowercase",
        True,
        "whether texts are lower-cased, without --preset",
        flag_values=values,
    )
    for name, default, text in _INTEGERS:
        flags.DEFINE_integer(name, default, text, flag_values=values)
    for name, default, text in _NUMBERS:
        flags.DEFINE_float(name, default, text, flag_values=values)


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
    sizes = [name for name, *_ in _SIZES] + ["lowercase"]
    for name in sizes:
        if values.preset and values[name].present:
            raise ConfigError(
                f"--{name} does nothing with --preset, which has its own"
            )

    from mtl_tf.pipelines import vector_corpus
    from mtl_tf.runs import pretraining
    from mtl_tf.tasks import registry
    from mtl_tf.text import text_files

    texts = [text for path in values.texts for text in text_files.read(path)]
    if named:
        tasks = registry.resolve(
            config["tasks"],
            values.data_dir,
            values.manual_dir,
            config["cross_validation"],
        )
        for _, of_task in vector_corpus.texts_of(tasks):
            texts += of_task
    options = pretraining.Pretraining(
        **{
            field.name: values[field.name].value
            for field in dataclasses.fields(pretraining.Pretraining)
        }
    )
    results = pretraining.pretrain(texts, options, values.output)
    print(
        f"held-out perplexity {results['before']:.2f} before, "
        f"{results['after']:.2f} after {results['step']} steps: {values.output}"
    )


PROGRAM = runner.Program(
    name="pretrain",
    summary="""
    Trains an encoder to tell masked pieces of texts (Devlin et al. 2019) and
    writes it as a preset for config.model.encoder.preset: from a preset, which
    learns the language of your texts, or a small BERT from random weights,
    whose word pieces are learnt from the texts.

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

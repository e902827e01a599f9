"""Fields that are set by hand and that nothing reads."""

import json

import pytest

from mtl_tf.config_fields import fields, idle_fields, validation
from mtl_tf.core.errors import ConfigError
from tests.config_fields.changed import config_with

STEPS, EPOCHS = "training.steps", "training.epochs"
RATE = "training.optimizer.pretrained_learning_rate"
RATIO, WARMUP = (f"training.optimizer.warmup_{n}" for n in ("ratio", "steps"))


def set_in(config, path, value):
    *parents, last = path.split(".")
    for name in parents:
        config = config[name]
    config[last] = value


def refused(config, path, types=()):
    with pytest.raises(ConfigError) as caught:
        validation.check_used(config, [path], types)
    return str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "other"),
    [
        (EPOCHS, 1, STEPS),
        (EPOCHS, fields.every()[EPOCHS].default, STEPS),
        ("training.min_steps", 9, STEPS),
        (RATIO, 0.1, WARMUP),
    ],
)
def test_another_field_counts_in_its_place(path, value, other):
    config = config_with(path, value)
    validation.check_used(config, [path])
    set_in(config, other, 700)
    validation.check_used(config, [])  # A config file may have it.
    assert refused(config, path) == (
        f"{path} does nothing where {other} is 700, which counts in its "
        f"place, got {value}: change {other}, or set it to 0"
    )


def test_nothing_is_set_where_another_field_counts():
    config = config_with(STEPS, 700)
    validation.check_used(config, ["training.min_steps", RATIO])


@pytest.mark.parametrize(
    ("path", "value", "needed", "its"),
    [
        ("training.share_steps", True, "train_separately", True),
        (
            "training.initialize_only",
            ("shared",),
            "training.initialize_from",
            "runs/a",
        ),
        (RATE, 0.01, "text.vectors", "glove.txt"),
        ("text.ngrams.dimension", 9, "text.ngrams.vectors", "n.txt"),
        ("text.ngrams.most", 9, "text.ngrams.buckets", 90),
    ],
)
def test_what_needs_another_field(path, value, needed, its):
    config = config_with(path, value)
    assert f"{path} does nothing without " in refused(config, path)
    set_in(config, needed, its)
    validation.check_used(config, [path])


def test_a_whole_group_that_nothing_reads():
    path = "training.gradnorm"
    config = config_with(path, {"alpha": 3.0, "learning_rate": 0.1})
    assert f"{path} does nothing without training.loss_we" in refused(
        config, path
    )
    config = config_with(path, fields.defaults(path))
    validation.check_used(config, [path])


@pytest.mark.parametrize(
    ("path", "value", "owner"),
    [
        ("text.answer_max_length", 9, "question_answering"),
        ("text.ngrams.buckets", 9, "question_answering"),
        ("text.target_max_length", 9, "translation"),
        ("model.tagging.decoder", "softmax", "tagging"),
        ("model.translation.label_smoothing", 0.1, "translation"),
        ("evaluation.decoding.beam", 3, "translation"),
        ("evaluation.decoding", {"beam": 3}, "translation"),
        ("evaluation.paper_scoring", True, "translation"),
    ],
)
def test_fields_of_one_task_type(path, value, owner):
    config = config_with(path, value)
    assert refused(config, path, ["classification"]) == (
        f"{path} does nothing without {owner} tasks, got {value!r}"
    )
    validation.check_used(config, [path], ["classification", owner])
    validation.check_used(config, [path])  # Of types that are not known.
    # A type of the user's own may read any field.
    validation.check_used(config, [path], ["mine.py:Mine"])


@pytest.mark.parametrize(
    ("path", "value", "theirs"),
    [
        ("model.scheme.units", 9, ": their field is model.translation.units"),
        ("model.scheme.layers", 9, ""),
        ("model.word_dropout", 0.1, ""),
        ("model.embedding_dim", 9, ": their field is model.translation.embe"),
    ],
)
def test_fields_of_another_model(path, value, theirs):
    config = config_with(path, value)
    message = f"{path} does nothing for translation tasks, got {value}{theirs}"
    assert refused(config, path, ["translation"]).startswith(message)
    for types in (["tagging"], ["tagging", "translation"]):
        validation.check_used(config, [path], types)


def test_questions_have_vectors_of_words():
    answering = ["question_answering"]
    config = config_with("model.embedding_dim", 9)
    validation.check_used(config, ["model.embedding_dim"], answering)
    config = config_with("model.dropout.head", 0.1)
    assert "does nothing for question_answering tasks" in refused(
        config, "model.dropout.head", answering
    )


def test_some_run_reads_it():
    path = "training.gradnorm.alpha"
    idle, used = config_with(path, 3.0), config_with(path, 3.0)
    used["training"]["loss_weighting"] = "gradnorm"
    validation.check_used_by_some([(idle, [path], ()), (used, [path], ())])
    other = config_with(path, 4.0)
    with pytest.raises(ConfigError, match="alpha does nothing .* got 4.0"):
        validation.check_used_by_some([(other, [path], ()), (used, [path], ())])


def test_what_a_begun_run_has(tmp_path):
    file, paths = tmp_path / "config.json", [EPOCHS, "training.freeze", RATE]
    config = config_with("training.freeze", ("heads",))
    assert idle_fields.not_as_begun(config, paths, str(file)) == paths
    file.write_text(json.dumps(config))
    assert idle_fields.not_as_begun(config, paths, str(file)) == []
    file.write_text(json.dumps({"config": config}))
    config["training"]["epochs"] = 3
    new = idle_fields.not_as_begun(config, paths, str(file), "config")
    assert new == [EPOCHS]
    assert idle_fields.not_as_begun(config, paths, str(file), "no") == paths

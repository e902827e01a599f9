"""Every wrong field is an error that names field, rule and value."""

import pytest

from mtl_tf.config_fields import validation
from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError
from tests.config_fields.changed import config_with, error

NAN = float("nan")


def test_default_config_is_valid():
    config = base.default_config().to_dict()
    assert validation.validate(config) == config


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("training.l2", -1, "training.l2 must be zero or positive, got -1"),
        ("training.l2", NAN, "training.l2 must be zero or positive, got nan"),
        (
            "training.optimizer.learning_rate",
            0.0,
            "training.optimizer.learning_rate must be positive, got 0.0",
        ),
        (
            "training.optimizer.learning_rate",
            NAN,
            "training.optimizer.learning_rate must be positive, got nan",
        ),
        (
            "training.loss_weights",
            {"a": 1.0, "en-de": 0},
            "training.loss_weights.en-de must be positive, got 0",
        ),
        (
            "pipeline.batch_size",
            0,
            "pipeline.batch_size must be a positive integer, got 0",
        ),
        *(
            (
                "pipeline.service",
                value,
                "pipeline.service must be '' or an address as "
                f"grpc://HOST:PORT, got {value!r}",
            )
            for value in ("data1:5000", "grpc://:5000", "grpc://data1")
        ),
        (
            "model.scheme.units",
            -3,
            "model.scheme.units must be a positive integer, got -3",
        ),
        (
            "model.dropout.head",
            1.0,
            "model.dropout.head must be at least 0 and below 1, got 1.0",
        ),
        (
            "model.head.hidden_units",
            -1,
            "model.head.hidden_units must be zero or a positive integer, "
            "got -1",
        ),
        (
            "model.head.sharing",
            "sharde",
            "unknown model.head.sharing 'sharde'; did you mean 'shared'?",
        ),
        (
            "training.jit",
            "yes",
            "training.jit must be True or False, got 'yes'",
        ),
        ("seed", 1.5, "seed must be an integer, got 1.5"),
        (
            "model.embedding_private_dim",
            100,
            "model.embedding_private_dim must be below model.embedding_dim "
            "(100), since some of it is shared, got 100",
        ),
        (
            "model.embedding_private_dim",
            -1,
            "model.embedding_private_dim must be zero or a positive integer, "
            "got -1",
        ),
        ("text.vectors", 3, "text.vectors must be a string, got 3"),
        (
            "training.optimizer.wide_name",
            "foo",
            "unknown training.optimizer.wide_name 'foo'; known: '', novograd",
        ),
        *(
            (
                path,
                "foo",
                f"unknown {path} 'foo'; known: {', '.join(known)}",
            )
            for path, known in {
                "training.gradient_surgery": ["none", "pcgrad"],
                "training.mixed_precision": [
                    "float32",
                    "mixed_bfloat16",
                    "mixed_float16",
                ],
                "training.fine_tune.scope": ["all", "private"],
                "model.tagging.decoder": ["crf", "softmax"],
                "model.translation.output.name": ["full", "sampled"],
                "model.answering.name": [
                    "coattention",
                    "mqan",
                    "s2s",
                    "s2s_self_attention",
                ],
            }.items()
        ),
        (
            "training.optimizer.options",
            {"beta_3": 0.5},
            "unknown option of the optimizer adam 'beta_3'; did you mean "
            "'beta_2' or 'beta_1'?",
        ),
        (
            "training.optimizer.name",
            "",
            "training.optimizer.name must be a name, got ''",
        ),
        (
            "text.max_length",
            {"a": 1},
            "text.max_length must be zero or a positive integer, got {'a': 1}",
        ),
        (
            "evaluation.splits",
            "test",
            "evaluation.splits must be a tuple of names, got 'test'",
        ),
        (
            "evaluation.splits",
            (),
            "evaluation.splits must name at least one, got ()",
        ),
    ],
)
def test_wrong_value(path, value, message):
    assert error(path, value) == message


NUMBERS = sorted(
    path
    for path, value in validation._leaves("", base.default_config().to_dict())
    if type(value) in (int, float) and path != "seed"
)


@pytest.mark.parametrize("path", NUMBERS)
def test_no_number_may_be_negative_or_not_finite(path):
    for value in (NAN, float("inf"), -1, -0.5, "x", True):
        assert path in error(path, value)


def test_unknown_field_offers_the_nearest():
    message = error("training.epoch", 3)
    assert message == (
        "unknown config field training.epoch; did you mean 'epochs' or "
        "'steps_per_epoch'?"
    )


def test_a_field_of_another_group_is_offered_by_its_whole_name():
    assert error("training.learning_rate", 0.1).startswith(
        "unknown config field training.learning_rate; did you mean "
        "'training.optimizer.learning_rate' or "
    )


def test_renamed_field_says_its_name():
    message = error("pipeline.schedule", {"name": "joint"})
    assert message == (
        "the config field pipeline.schedule is called pipeline.mixing by now"
    )


def test_missing_field_says_where_to_start():
    config = base.default_config().to_dict()
    del config["training"]["l2"]
    with pytest.raises(ConfigError, match="training.l2 is missing: start"):
        validation.validate(config)


def test_a_value_in_place_of_a_group():
    assert error("training", 3) == "training must be a dict, got 3"


def test_another_choice_brings_its_own_options():
    mixing = {"name": "temperature", "temperature": 2.0}
    config = config_with("pipeline.mixing", mixing)
    assert validation.validate(config)["pipeline"]["mixing"] == mixing


def phased(phase, steps=1000):
    config = config_with("training.steps", steps)
    config["pipeline"]["mixing"] = {"name": "phases", "phases": (phase,)}
    return config


def test_a_phase_may_last_a_fraction_of_the_run():
    for given, steps in ((0.2, 200), (1e-9, 1)):
        config = phased({"tasks": ["books"], "fraction": given})
        (phase,) = validation.validate(config)["pipeline"]["mixing"]["phases"]
        assert phase == {"tasks": ["books"], "steps": steps}
    kept = phased({"tasks": ["books"], "epochs": 2})
    (phase,) = validation.validate(kept)["pipeline"]["mixing"]["phases"]
    assert phase == {"tasks": ["books"], "epochs": 2}


@pytest.mark.parametrize(
    ("phase", "steps", "message"),
    [
        ({"fraction": 0.1}, 0, "is of training.steps, which is 0 here"),
        ({"fraction": 1.0}, 9, "must be below 1, .* got 1.0"),
        ({"fraction": 0}, 9, "must be positive, got 0"),
        ({"fraction": 0.1, "epochs": 2}, 9, "and epochs are both given"),
    ],
)
def test_wrong_fractions(phase, steps, message):
    with pytest.raises(ConfigError, match=rf"phases\[0\].fraction {message}"):
        validation.validate(phased({"tasks": ["books"], **phase}, steps))


def test_options_of_a_choice_must_be_finite():
    mixing = {"name": "temperature", "temperature": NAN}
    message = error("pipeline.mixing", mixing)
    assert message == (
        "pipeline.mixing.temperature must be a finite number, got nan"
    )


def test_a_choice_without_name():
    message = error("model.scheme", {"units": 3})
    assert "model.scheme.name is missing" in message


def test_own_tasks_are_accepted():
    own = {"name": "mine", "files": {"train": "a.tsv"}, "loss_weight": 2.0}
    tasks = ("fdu_mtl/books", own)
    config = config_with("tasks", tasks)
    assert validation.validate(config)["tasks"] == tasks


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ((), "tasks must be a tuple of at least one task, got ()"),
        ("fdu_mtl", "tasks must be a tuple of at least one task, got"),
        (("a", 3), "tasks[1] must be a task's name or a dict"),
        (("",), "tasks[0] must be a task's name"),
        (({"files": {}},), "tasks[0]['name'] must be a name, got None"),
        (({"name": "x"},), "tasks[0] (x) needs 'files' or 'dataset' ("),
        (
            ({"name": "x", "files": {}, "loss_weight": 0.0},),
            "tasks[0]['loss_weight'] must be positive, got 0.0",
        ),
    ],
)
def test_wrong_tasks(tasks, message):
    assert error("tasks", tasks).startswith(message)


@pytest.mark.parametrize("size", [1, 2])
def test_a_vocabulary_has_a_place_for_a_word(size):
    """It was told once the run directory was made."""
    assert error("text.max_size", size) == (
        "text.max_size must be 0 or above 2, since padding and the unknown "
        f"word are among the entries, got {size}"
    )
    validation.validate(config_with("text.max_size", 3))


@pytest.mark.parametrize(
    "name", ["serve", "train", "serving_default", "signatures"]
)
def test_names_that_no_export_can_have_are_refused(name):
    """It was told only after the training, by the export."""
    own = {"name": name, "files": {"train": "a.tsv"}}
    assert error("tasks", ("fdu_mtl/books", own)) == (
        "tasks[1]['name'] must be another name: serving_default, serve, "
        f"train, signatures are reserved in exports, got {name!r}"
    )
    # It is no task of the run.
    validation.validate(config_with("evaluation.group", (own,)))


def test_folds_and_the_tested_one_go_together():
    assert "must be less than" in error("cross_validation.fold", 1)
    assert "at least 2, got 1" in error("cross_validation.folds", 1)
    validation.validate(config_with("cross_validation.folds", 10))

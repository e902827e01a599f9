"""The shipped configs load, are valid and say where they come from."""

import importlib
import pathlib
import re
import subprocess
import sys

import pytest
from ml_collections import config_dict

from mtl_tf import configs
from mtl_tf.config_fields.validation import validate
from mtl_tf.configs import (
    base,
    fdu_mtl_lstm,
    fdu_mtl_meta,
    quickstart,
    starter,
)
from mtl_tf.core.errors import ConfigError

FOLDER = pathlib.Path(configs.__file__).parent
SHIPPED = sorted(
    path.stem
    for path in FOLDER.glob("*.py")
    if "\ndef get_config(" in path.read_text(encoding="utf-8")
)


def load(name):
    return importlib.import_module(f"mtl_tf.configs.{name}")


def test_the_configs_of_the_issue_are_there():
    assert {"quickstart", "fdu_mtl_lstm", "fdu_mtl_meta"} <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_config_is_valid(name):
    config = load(name).get_config()
    assert isinstance(config, config_dict.ConfigDict)
    if name == "encoder":
        with pytest.raises(ConfigError, match="preset is missing: give --conf"):
            validate(config.to_dict())
        config.model.encoder.preset = "a folder"
    assert validate(config.to_dict()) == config.to_dict()


def test_an_encoder_with_a_wide_part():
    plain, wide = (
        load("encoder").get_config(),
        load("encoder").get_config("wide"),
    )
    assert plain.model.wide.buckets == 0 < wide.model.wide.buckets
    wide.model.encoder.preset = "a folder"
    assert validate(wide.to_dict()) == wide.to_dict()
    with pytest.raises(ConfigError, match="did you mean 'wide'"):
        load("encoder").get_config("wade")


@pytest.mark.parametrize("name", SHIPPED)
def test_config_has_a_name_of_its_own(name):
    assert load(name).get_config().name.startswith(name)


@pytest.mark.parametrize("name", SHIPPED)
def test_docstring_states_paper_command_time_and_score(name):
    text = load(name).__doc__
    for part in ("Paper:", "Command:", f"--config={name}", "Time and score:"):
        assert part in text, part
    assert "table" in text
    told = text.partition("Time and score:")[2]
    # A number by itself: names of files may have digits, too.
    assert "not run" in told or re.search(r"(?<![\w/.-])\d", told)


@pytest.mark.parametrize("kind", ["translation", "question_answering"])
def test_starters_of_other_types_wait_for_tasks(kind):
    config = starter.get_config(kind)
    with pytest.raises(ConfigError, match="tasks is missing: give --config.t"):
        validate(config.to_dict())
    config.tasks = ({"name": "mine", "type": kind, "files": {}},)
    assert validate(config.to_dict())["tasks"][0]["name"] == "mine"


def test_a_starter_of_no_such_kind_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'translation'"):
        starter.get_config("translations")


def test_configs_import_nothing_heavy():
    code = (
        "import sys\n"
        "from mtl_tf.config_fields import validation\n"
        + "".join(f"import mtl_tf.configs.{name}\n" for name in SHIPPED)
        + "heavy = {'tensorflow', 'keras', 'tensorflow_datasets'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) "
        "else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_each_call_gives_a_new_config():
    base.default_config().training.optimizer.learning_rate = 9.0
    assert base.default_config().training.optimizer.learning_rate == 0.002
    base.paper_config().training.optimizer.learning_rate = 9.0
    assert base.paper_config().training.optimizer.learning_rate == 0.1


def test_meta_has_the_sizes_of_the_paper():
    config = fdu_mtl_meta.get_config()
    assert config.tasks == ("fdu_mtl",)
    assert config.model.embedding_dim == 200
    assert config.model.scheme.to_dict() == {
        "name": "meta_lstm",
        "units": 100,
        "meta_units": 40,
        "meta_vector": 40,
        "bidirectional": False,
        "pooling": "last",
        "forget_bias": 1.0,
    }
    assert config.training.optimizer.name == "adagrad"
    assert config.training.optimizer.learning_rate == 0.1
    assert config.training.l2 == 1e-5
    assert config.pipeline.batch_size == 16
    assert config.pipeline.mixing.name == "uniform"
    assert config.text.max_length == 400


@pytest.mark.parametrize(
    ("mode", "separately"), [("single", True), ("shared", False)]
)
def test_lstm_modes(mode, separately):
    config = fdu_mtl_lstm.get_config(mode)
    assert config.train_separately is separately
    assert config.model.scheme.name == "lstm"
    assert config.model.scheme.units == 100
    assert "meta_units" not in config.model.scheme


def training_alone(training):
    """What a table trains with, for a model of one task."""
    optimizer = {**training["optimizer"], "pretrained_learning_rate": 1e-3}
    return training | {"epochs": 30, "patience": 6, "optimizer": optimizer}


def test_both_lstm_modes_differ_from_meta_in_the_model_only():
    meta = fdu_mtl_meta.get_config().to_dict()
    for mode in ("single", "shared"):
        lstm = fdu_mtl_lstm.get_config(mode).to_dict()
        for part in ("text", "pipeline", "training", "tasks", "seed"):
            expected = meta[part]
            if part == "training" and mode == "single":
                expected = training_alone(expected)
            assert lstm[part] == expected


@pytest.mark.parametrize(
    ("table", "rate", "l2"),
    [("shared_memory_3", 0.01, 0.0), ("shared_memory_4", 0.1, 1e-5)],
)
def test_shared_memory_has_the_papers_settings(table, rate, l2):
    for row in load(table).ROWS:
        config = load(table).get_config(row)
        private = config.model.get("embedding_private_dim", 0)
        assert config.model.embedding_dim - private == 100
        assert bool(private) == (row == "mt_cnn")
        assert config.model.init.to_dict() == {"name": "uniform", "range": 0.1}
        assert config.pipeline.batch_size == 16
        assert config.training.optimizer.name == "adagrad"
        assert config.training.optimizer.learning_rate == rate
        assert config.training.l2 == l2
        # Those whose scheme is a bag of words tune its vectors faster.
        vectors = {"mt_dnn": 0.01, "nbow": 0.1}.get(row, 0.001)
        assert config.training.optimizer.pretrained_learning_rate == vectors
    scheme = load(table).get_config("arc_ii").model.scheme
    assert (scheme.memory_slots, scheme.memory_width) == (50, 20)
    with pytest.raises(ConfigError, match="did you mean 'arc_ii'"):
        load(table).get_config("arc_iii")


def test_meta_mtl_3_differs_between_rows_in_the_model_only():
    rows = load("meta_mtl_3").ROWS
    configs = {r: load("meta_mtl_3").get_config(r).to_dict() for r in rows}
    fdu = fdu_mtl_meta.get_config().to_dict()
    for row, config in configs.items():
        for part in ("text", "pipeline", "training", "tasks", "seed"):
            expected = fdu[part]
            if part == "training" and config["train_separately"]:
                expected = training_alone(expected)
            assert config[part] == expected, row
        assert config["model"]["scheme"]["units"] == 100
    assert configs["meta_mtl"]["model"] == fdu["model"]
    single = [r for r, c in configs.items() if c["train_separately"]]
    assert single == ["lstm", "hyper_lstm", "meta_lstm"]


def test_transformer_sharing_has_the_papers_settings():
    module = load("transformer_sharing_4_3")
    assert module.ROWS == ("single", "s_p", "s_c", "l_i", "l_e")
    for row in module.ROWS:
        config = module.get_config(row)
        assert validate(config.to_dict())
        assert config.train_separately == (row == "single")
        scheme = config.model.scheme
        assert scheme.name == {"single": "s_p"}.get(row, row)
        sizes = (scheme.layers, scheme.units, scheme.heads, scheme.feed_forward)
        assert sizes == (4, 300, 6, 512)
        assert bool(config.model.head.hidden_units) == (scheme.name == "s_p")
        assert config.pipeline.batch_size == 50
        assert config.pipeline.mixing.to_dict() == {"name": "shuffled_rounds"}
        optimizer = config.training.optimizer
        assert (optimizer.name, optimizer.learning_rate) == ("adam", 5e-4)
        assert optimizer.embedding_learning_rate == 5e-5
        assert (config.training.epochs, config.training.clip_norm) == (30, 1.0)
        assert config.training.l2 == 0.0
        assert config.text.max_length == scheme.max_positions == 400
        check_what_the_code_of_the_thesis_does(config)


def check_what_the_code_of_the_thesis_does(config):
    """What the text of Sun (2019) leaves open or says otherwise."""
    model, scheme = config.model, config.model.scheme
    assert config.text.tokenizer.lowercase is True
    assert model.embedding_dim == 300
    assert model.dropout.to_dict() == {"embedding": 0.0, "head": 0.5}
    assert (scheme.input_dropout, scheme.dropout) == (0.5, 0.1)
    assert model.init.to_dict() == {"name": "normal", "range": 0.05}
    assert (scheme.norm, scheme.positions) == ("pre", "learned")
    # Ours: with any length a bucket's, batches have little padding.
    pipeline = config.pipeline
    assert (pipeline.buckets, pipeline.bucket_multiple) == (32, 1)
    assert config.training.mixed_precision == "float32"


def test_meta_mtl_5_tags_with_the_papers_sizes():
    module = load("meta_mtl_5")
    configs = {row: module.get_config(row) for row in module.ROWS}
    for row, config in configs.items():
        assert config.tasks == (
            "conll2000/chunk",
            "conll2003/ner",
            "ud_pos/xpos",
        )
        assert config.train_separately is (row in ("lstm", "meta_lstm"))
        assert config.model.embedding_dim == 100
        assert config.model.scheme.units == 100
        assert config.model.scheme.bidirectional is True
        assert config.model.tagging.decoder == "crf"
        assert config.model.characters.name == "none"
        assert config.pipeline.batch_size == 16
        assert config.training.l2 == 1e-5
        optimizer = config.training.optimizer
        assert (optimizer.name, optimizer.learning_rate) == ("adagrad", 0.1)
    for row in ("meta_lstm", "meta_mtl"):
        scheme = configs[row].model.scheme
        assert (scheme.meta_units, scheme.meta_vector) == (30, 30)


def test_conll2000_and_ud_pos_keep_the_papers_sizes():
    for name in ("conll2000", "ud_pos"):
        for features in base.TAGGING_FEATURES:
            config = load(name).get_config(features)
            assert validate(config.to_dict())["name"] == f"{name}_{features}"
            assert config.text.casing is (features != "words")
            assert (config.model.casing_dim > 0) is (features != "words")
            if features != "best":
                assert config.model.embedding_dim == 100
                assert config.model.scheme.units == 100
    with pytest.raises(ConfigError, match="did you mean 'characters'"):
        load("ud_pos").get_config("character")


def test_conll2000_can_train_on_all_training_sentences():
    module = load("conll2000")
    for features in base.TAGGING_FEATURES:
        part = module.get_config(features)
        whole = module.get_config(f"{features}_all")
        assert [entry["dataset"] for entry in whole.tasks] == list(part.tasks)
        for entry in whole.tasks:
            assert entry["splits"]["train"] == "train+validation"
            assert entry["splits"]["test"] == "test"
        # Nothing else differs.
        whole.tasks, whole.name = part.tasks, part.name
        assert validate(whole.to_dict()) == part.to_dict()


def test_conll2000_transformer_tags_with_every_structure_that_can():
    module = load("conll2000_transformer")
    for row in module.ROWS:
        config = module.get_config(row)
        assert validate(config.to_dict())["model"]["scheme"]["name"] == row
        assert config.tasks == ("conll2000/chunk", "conll2000/pos")
        assert config.text.max_length == config.model.dropout.embedding == 0
    with pytest.raises(ConfigError, match="conll2000_transformer argument"):
        module.get_config("s_c")


def test_multi_target_nmt_has_the_papers_settings():
    for table in ("multi_target_nmt_3", "multi_target_nmt_4"):
        for row in ("single", "multi", "en-nl"):
            config = load(table).get_config(row)
            assert validate(config.to_dict())["name"] == f"{table}_{row}"
            assert config.train_separately is (row == "single")
            assert len(config.tasks) == (1 if row == "en-nl" else 4)
            model = config.model.translation
            assert (model.embedding_dim, model.units) == (1000, 1000)
            assert model.init.to_dict() == {"name": "uniform", "range": 0.01}
            assert config.text.max_size == 30_000
            assert config.pipeline.batch_size == 50
            mixing = config.pipeline.mixing.to_dict()
            assert mixing == {"name": "blocks", "block": 1000}
            optimizer = config.training.optimizer
            assert (optimizer.name, optimizer.learning_rate) == ("adadelta", 1)
            assert config.evaluation.decoding.beam == 10
            assert config.evaluation.paper_scoring is True
    cut = {"en-nl": 0.15, "en-pt": 0.15}
    poor = load("multi_target_nmt_4")
    assert poor.get_config("single").pipeline.fractions.to_dict() == cut
    assert poor.get_config("en-es").pipeline.fractions.to_dict() == {}
    with pytest.raises(ConfigError, match="did you mean 'multi'"):
        poor.get_config("muti")


@pytest.mark.parametrize(
    "name",
    [
        "multi_target_nmt_3",
        "multi_target_nmt_4",
        "multi_target_nmt_3_multi30k",
        "multi_target_nmt_4_multi30k",
    ],
)
def test_a_pair_has_as_many_steps_alone_as_among_others(name):
    module = load(name)
    single, multi = map(module.get_config, module.ROWS)
    pairs = len(module.PAIRS)
    assert len(single.tasks) == len(multi.tasks) == pairs
    for field in ("steps", "evaluate_every"):
        assert multi.training[field] == pairs * single.training[field]
    assert (single.training.epochs, single.training.patience) == (
        multi.training.epochs,
        multi.training.patience,
    )
    alone = module.get_config(module.PAIRS[0]).to_dict()
    for part in ("model", "training", "text"):
        assert alone[part] == single.to_dict()[part]


def test_poor_pairs_of_multi30k_have_as_many_steps_as_rich_ones():
    full = load("multi_target_nmt_3_multi30k").get_config("single")
    module = load("multi_target_nmt_4_multi30k")
    poor, multi = module.get_config("single"), module.get_config("multi")
    batches = -(-29_000 // full.pipeline.batch_size)
    assert (full.training.steps, poor.training.steps) == (0, 0)
    assert poor.training.steps_per_epoch == batches
    assert multi.training.steps_per_epoch == 3 * batches
    assert poor.pipeline.fractions.to_dict() == {"en-de": 0.15, "en-cs": 0.15}


def test_unknown_mode_offers_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'single'"):
        fdu_mtl_lstm.get_config("singel")


def test_quickstart_trains_the_embedded_corpus_jointly():
    config = quickstart.get_config()
    assert config.tasks == ("sample_reviews",)
    assert config.train_separately is False
    assert config.model.scheme.name == "meta_lstm"


def test_every_recurrent_row_lets_its_forget_bias_and_pooling_be_set():
    """What a config lacks no flag of the command line can change."""
    found = 0
    for name in ("fdu_mtl_lstm", "meta_mtl_3", "meta_mtl_5", "conll2000"):
        module = load(name)
        for row in getattr(module, "ROWS", (None,)):
            config = module.get_config(*([row] if row else []))
            scheme = config.model.scheme
            assert (scheme.forget_bias, scheme.pooling) == (1.0, "last"), row
            found += 1
    for table in ("shared_memory_3", "shared_memory_4"):
        for row in ("lstm", "me_lstm", "arc_i", "arc_ii"):
            scheme = load(table).get_config(row).model.scheme
            assert (scheme.forget_bias, scheme.pooling) == (1.0, "last"), row
    assert found > 10


def test_decanlp_counts_words_as_its_results_were_made():
    for config in (load("decanlp"), load("decanlp_parts")):
        assert not config.get_config().text.count_contexts_once
    asked = starter.get_config("question_answering")
    assert asked.text.count_contexts_once

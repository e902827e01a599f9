"""Pieces of a pretrained encoder: special ones, pairs, words, limits."""

import json
import shutil

import keras
import keras_nlp
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError, RunError
from mtl_tf.text.encoding import pieces
from mtl_tf.text.encoding.pieces import PieceEncoder
from mtl_tf.text.pretrained import preset_layers, presets
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from tests.text import small_presets

WORDS = {"name": "whitespace", "lowercase": True}


@pytest.fixture(scope="module")
def preset(tmp_path_factory):
    return small_presets.bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def encoder(preset):
    """One for all tests of what encoders say: a preset takes long to read."""
    return encoder_of(preset)


def encoder_of(preset, **options):
    return pieces.of_preset(preset, make_tokenizer(WORDS), **options)


def written(encoder, ids):
    return " ".join(encoder.pieces[one] for one in ids)


def test_texts_stand_between_the_special_pieces(encoder):
    rows = encoder.of_texts(tf.constant(["A GOOD boox!", ""]))["tokens"]
    first, second = rows.to_list()
    assert written(encoder, first) == "[CLS] a good b ##o ##o ##x ! [SEP]"
    assert written(encoder, second) == "[CLS] [SEP]"
    assert min(first) > 0


def test_pairs_have_the_separator_of_the_preset(encoder):
    texts = [tf.constant(["a book"]), tf.constant(["the film"])]
    (row,) = encoder.packed(texts).to_list()
    assert written(encoder, row) == "[CLS] a book [SEP] the film [SEP]"


def test_the_longest_text_is_cut_first_and_special_pieces_stay(preset):
    encoder = encoder_of(preset, max_length=8)
    long = " ".join(["good"] * 20)
    (row,) = encoder.of_texts(tf.constant([long]))["tokens"].to_list()
    assert written(encoder, row) == "[CLS] " + "good " * 6 + "[SEP]"
    (row,) = encoder.packed([tf.constant([long]), tf.constant(["a"])]).to_list()
    assert written(encoder, row) == "[CLS] good good good good [SEP] a [SEP]"


def test_a_limit_below_the_special_pieces_is_refused(preset):
    with pytest.raises(ConfigError, match="max_length must be at least 5"):
        encoder_of(preset, max_length=3)


@pytest.fixture(scope="module")
def word_encoder(preset):
    """One that reads words and keeps five of them."""
    return encoder_of(preset, max_length=5, reads_words=True)


def test_every_word_has_a_first_piece(word_encoder):
    encoder = word_encoder
    given = [["a", "boox", "\u200d", "good!"], [], ["the"]]
    found = encoder.of_words(tf.ragged.constant(given, dtype=tf.string))
    tokens, words = found["tokens"].to_list(), found["words"].to_list()
    assert [len(row) for row in words] == [4, 0, 1]
    names = [encoder.pieces[tokens[0][place]] for place in words[0]]
    # A word of no piece, a joiner, is the unknown one.
    assert names == ["a", "b", "[UNK]", "good"]
    assert written(encoder, tokens[0]) == (
        "[CLS] a b ##o ##o ##x [UNK] good ! [SEP]"
    )
    assert written(encoder, tokens[1]) == "[CLS] [SEP]"
    assert encoder.pieces[tokens[2][words[2][0]]] == "the"


def test_words_are_cut_by_number_and_their_pieces_never(word_encoder):
    encoder = word_encoder
    given = tf.ragged.constant([["zzzz"] * 9], dtype=tf.string)
    found = encoder.of_words(given)
    assert found["words"].to_list() == [[1, 5, 9, 13, 17]]
    assert found["tokens"].row_lengths().numpy().tolist() == [22]


def test_any_bytes_have_pieces(encoder):
    texts = tf.constant([b"\xff\xfe good", b"a\x00b", "\U0001f600".encode()])
    rows = encoder.of_texts(texts)["tokens"].to_list()
    assert all(len(row) >= 3 for row in rows)


def test_a_saved_encoder_is_the_same(word_encoder, tmp_path):
    encoder = word_encoder
    encoder.save(str(tmp_path))
    # Its own files are enough.
    loaded = PieceEncoder.load(str(tmp_path), max_length=5)
    texts = tf.constant(["a very good book, with letters", "x"])
    assert (
        loaded.of_texts(texts)["tokens"].to_list()
        == encoder.of_texts(texts)["tokens"].to_list()
    )
    assert loaded.specials == encoder.specials
    assert loaded.backbone == encoder.backbone
    assert loaded.reads_words


def test_damaged_files_are_told(encoder, tmp_path):
    encoder.save(str(tmp_path))
    (tmp_path / "pieces.json").write_text("[]")
    with pytest.raises(RunError, match="pieces.json"):
        PieceEncoder.load(str(tmp_path))


def test_what_is_no_preset_is_told(preset, tmp_path):
    with pytest.raises(ConfigError, match="'bert_bace_en' is no folder.*bert_"):
        presets.check("bert_bace_en")
    with pytest.raises(ConfigError, match="must be a folder, it is not there$"):
        presets.check(str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="must be a folder, it is a file$"):
        presets.check(__file__)
    with pytest.raises(ConfigError, match="has no config.json"):
        presets.check(str(tmp_path))
    copied = tmp_path / "copied"
    shutil.copytree(preset, copied)
    (copied / "tokenizer.json").unlink()
    with pytest.raises(DataError, match="cannot read the tokenizer"):
        presets.load_tokenizer(str(copied))
    (copied / "config.json").write_text("{}")
    with pytest.raises(DataError, match="config.json must be of Hugging Face"):
        presets.load_backbone(str(copied))


def changed_config(preset, folder, change):
    """A copy of a preset whose config.json is what `change` makes of it."""
    shutil.copytree(preset, folder)
    path = folder / "config.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    return str(folder)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda c: [], "config.json must be of Hugging Face, with a model_ty"),
        (lambda c: {"model_type": "bert"}, "config.json has no field 'vocab_"),
        (
            lambda c: {k: v for k, v in c.items() if k != "class_name"},
            "config.json must be .* of keras_hub, with registered_name, class",
        ),
        (
            lambda c: {**c, "config": {**c["config"], "hidden_dim": 32}},
            "of its layers find no weights that fit config.json$",
        ),
    ],
)
def test_a_damaged_config_is_told(change, message, preset, tmp_path):
    folder = changed_config(preset, tmp_path / "damaged", change)
    with pytest.raises(DataError, match=message):
        presets.load_backbone(folder)


def test_damaged_weights_are_told_before_anything_is_built(preset, tmp_path):
    copied = tmp_path / "copied"
    shutil.copytree(preset, copied)
    weights = copied / "model.weights.h5"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(DataError, match="cannot read the weights"):
        encoder_of(str(copied))
    weights.unlink()
    with pytest.raises(DataError, match="model.weights.h5 doesn't exist"):
        encoder_of(str(copied))


def test_a_vocabulary_that_was_cut_off_is_told(preset, tmp_path, caplog):
    encoder_of(preset)
    assert "pieces and its encoder vectors" not in caplog.text
    copied = tmp_path / "copied"
    shutil.copytree(preset, copied)
    path = copied / "assets" / "tokenizer" / "vocabulary.txt"
    names = path.read_text().split()
    path.write_text("\n".join(names[: len(names) // 2]))
    encoder_of(str(copied))
    assert "Are the tokenizer's files whole" in caplog.text
    path.write_text("\n".join([*names, "more"]))
    with pytest.raises(DataError, match="the two do not belong together"):
        encoder_of(str(copied))


def hugging_face(folder, backbone):
    """Writes BERT's weights in the form of Hugging Face."""
    import numpy as np
    from safetensors.numpy import save_file

    sizes = small_presets.SIZES
    config = {
        "model_type": "bert",
        "vocab_size": len(small_presets.VOCABULARY),
        "num_hidden_layers": sizes["num_layers"],
        "num_attention_heads": sizes["num_heads"],
        "hidden_size": sizes["hidden_dim"],
        "intermediate_size": sizes["intermediate_dim"],
        "max_position_embeddings": sizes["max_sequence_length"],
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    (folder / "vocab.txt").write_text("\n".join(small_presets.VOCABULARY))
    hidden = sizes["hidden_dim"]
    found = {}
    for weight in backbone.weights:
        name = weight.path.replace("self_attention_layer/", "attention.self.")
        name = name.replace(
            "attention.self.attention_output", "attention.output.dense"
        )
        for old, new in (
            ("token_embedding/embeddings", "embeddings.word_embeddings.weight"),
            (
                "position_embedding/embeddings",
                "embeddings.position_embeddings.weight",
            ),
            (
                "segment_embedding/embeddings",
                "embeddings.token_type_embeddings.weight",
            ),
            ("embeddings_layer_norm", "embeddings.LayerNorm"),
            ("transformer_layer_", "encoder.layer."),
            ("self_attention_layer_norm", "attention.output.LayerNorm"),
            ("feedforward_layer_norm", "output.LayerNorm"),
            ("feedforward_intermediate_dense", "intermediate.dense"),
            ("feedforward_output_dense", "output.dense"),
            ("pooled_dense", "pooler.dense"),
        ):
            name = name.replace(old, new)
        name = name.replace("/gamma", ".weight").replace("/beta", ".bias")
        value = weight.numpy()
        if name.endswith("/kernel"):
            inner = hidden if "attention.self" in name else -1
            value = (
                value.reshape([inner, value.size // inner])
                if (inner > 0)
                else value.reshape([-1, value.shape[-1]])
            )
            value = np.ascontiguousarray(value.T)
        if name.endswith("/bias"):
            value = value.reshape(-1)
        name = name.replace("/kernel", ".weight").replace("/bias", ".bias")
        found[name.replace("/", ".")] = value
    save_file(found, folder / "model.safetensors")


@pytest.mark.extended
def test_a_folder_of_hugging_face_is_read(preset, tmp_path):
    pytest.importorskip("safetensors")
    backbone = presets.load_backbone(preset)
    hugging_face(tmp_path, backbone)
    found = presets.load_backbone(str(tmp_path))
    for one, other in zip(found.weights, backbone.weights, strict=True):
        assert one.numpy().tolist() == other.numpy().tolist(), one.path
    texts = tf.constant(["A good boox!"])
    assert (
        encoder_of(str(tmp_path)).of_texts(texts)["tokens"].to_list()
        == encoder_of(preset).of_texts(texts)["tokens"].to_list()
    )


def shallower(folder, name, layers=1):
    """Lets the config of a preset say that it has fewer layers."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config.get("config", config)[name] = layers
    path.write_text(json.dumps(config))


@pytest.mark.by_default("hugging face")
@pytest.mark.parametrize("form", ["keras", "hugging face"])
def test_layers_that_the_config_leaves_out_are_told(
    form, preset, tmp_path, caplog
):
    folder, name = tmp_path / "copied", "num_layers"
    if form == "keras":
        shutil.copytree(preset, folder)
    else:
        pytest.importorskip("safetensors")
        folder.mkdir()
        name = "num_hidden_layers"
        hugging_face(folder, presets.load_backbone(preset))
    encoder_of(str(folder))
    assert "layers" not in caplog.text
    shallower(folder, name)
    encoder_of(str(folder))
    assert (
        f"the weights of {str(folder)!r} are of 2 layers, its config.json "
        "says 1: the lowest 1 are read" in caplog.text
    )


@pytest.mark.by_default("albert")
@pytest.mark.parametrize("kind", small_presets.KINDS)
def test_whole_presets_are_not_said_to_lack_layers(kind, tmp_path, caplog):
    folder = small_presets.of_kind(kind, tmp_path)
    backbone = presets.load_backbone(folder)
    preset_layers.warn_of_unread(folder, backbone)
    assert not caplog.text
    # Those above them would be noticed.
    blocks = preset_layers.blocks_of(backbone)
    name = type(blocks[0]).__name__
    assert preset_layers.layers_stored(folder, name) == len(blocks) > 0


def test_layers_are_found_by_the_names_that_keras_gives_them(tmp_path):
    layer = keras_nlp.layers.FNetEncoder(4)
    model = keras.Sequential([keras.Input([3, 2]), layer, layer.__class__(4)])
    model.save_weights(tmp_path / "model.weights.h5")
    assert preset_layers.layers_stored(str(tmp_path), "FNetEncoder") == 2


@pytest.mark.parametrize("kind, layers", [("albert", 1), ("distil_bert", 2)])
def test_more_frozen_layers_than_there_are_are_refused(kind, layers, tmp_path):
    folder = small_presets.of_kind(kind, tmp_path)
    preset_layers.check_frozen(folder, layers)
    with pytest.raises(ConfigError, match=f"at most {layers}, .* got 3$"):
        preset_layers.check_frozen(folder, 3)


@pytest.mark.parametrize(
    "config, layers",
    [
        ({"model_type": "bert", "num_hidden_layers": 3}, 3),
        ({"model_type": "distilbert", "n_layers": 3}, 3),
        (
            {
                "model_type": "albert",
                "num_hidden_layers": 12,
                "num_hidden_groups": 1,
                "inner_group_num": 2,
            },
            2,
        ),
    ],
)
def test_layers_are_read_of_configs_of_hugging_face(config, layers, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config))
    preset_layers.check_frozen(str(tmp_path), layers)
    with pytest.raises(ConfigError, match=f"at most {layers}, "):
        preset_layers.check_frozen(str(tmp_path), layers + 1)


@pytest.mark.parametrize(
    "config", ["[]", "{", "{}", '{"model_type": "x", "n_layers": "3"}']
)
def test_layers_of_a_damaged_config_are_told_elsewhere(config, tmp_path):
    (tmp_path / "config.json").write_text(config)
    preset_layers.check_frozen(str(tmp_path), 99)
    preset_layers.check_frozen("bert_base_en", 99)


def test_weights_of_another_size_are_told(preset, tmp_path):
    pytest.importorskip("safetensors")
    hugging_face(tmp_path, presets.load_backbone(preset))
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "hidden_size": 32}))
    message = (
        r"weights of the shape \(.*, 16\) stand where those of config.json "
        r"have the shape \(.*, 32\)$"
    )
    with pytest.raises(DataError, match=message):
        encoder_of(str(tmp_path))


@pytest.mark.parametrize("part", [b"version https://git-lfs", b"half"])
def test_tensors_that_are_not_all_there_are_told(part, preset, tmp_path):
    pytest.importorskip("safetensors")
    hugging_face(tmp_path, presets.load_backbone(preset))
    path = tmp_path / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if part == b"half" else part)
    message = (
        r"its safetensors file is damaged, or not all .*\): fetch it again"
    )
    with pytest.raises(DataError, match=message):
        encoder_of(str(tmp_path))


def test_a_missing_package_is_named(preset, tmp_path, monkeypatch):
    import keras_nlp

    def fail(*_, **__):
        raise ImportError("requires the safetensors package")

    monkeypatch.setattr(keras_nlp.models.Backbone, "from_preset", fail)
    with pytest.raises(ConfigError, match=r"pip install 'mtl_tf\[encoders\]'"):
        presets.load_backbone(preset)

"""The multi-target translation model."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.models.protocol import count_parameters
from mtl_tf.models.translation.multi_target import build_translation_model
from tests.layers import translation_reference as reference

WORDS = {"de": 9, "fr": 7}
PAIRS = ["en-de", "en-fr"]
CONFIG = {
    "embedding_dim": 4,
    "units": 5,
    "attention_units": 3,
    "readout_units": 6,
    "init": {"name": "uniform", "range": 0.8},
}
TOKENS = np.array([[4, 5, 6, 7], [8, 4, 0, 0], [0, 0, 0, 0]], np.int32)
TARGET = np.array([[4, 5, 3], [6, 3, 0], [3, 0, 0]], np.int32)
BATCH = {"tokens": TOKENS[None], "target": TARGET[None]}

pytestmark = pytest.mark.usefixtures("without_jit")


def build(pairs=PAIRS, **options):
    return build_translation_model(CONFIG | options, 10, WORDS, pairs)


@pytest.fixture(scope="module")
def model():
    """Its first decoder likes to end."""
    model = build()
    bias = model.decoder_0.output_layer.bias
    bias.assign(bias + 2 * np.eye(9)[3])
    return model


def _variables_of(model, key):
    own = model.decoder(key).trainable_variables
    return model.encoder.trainable_variables + own


def test_a_batch_moves_its_own_decoder_and_the_encoder(model):
    with tf.GradientTape() as tape:
        found = model(BATCH, training=True, key=1)
    variables = model.trainable_variables
    gradients = tape.gradient(found["loss"], variables)
    moved = {v.path for v, g in zip(variables, gradients) if g is not None}
    own = {v.path for v in _variables_of(model, 1)}
    assert moved == own
    private = {v.path for v in model.private_variables()}
    assert own & private == {
        v.path for v in model.decoder_1.trainable_variables
    }
    shared = {v.path for v in model.encoder.trainable_variables}
    assert shared | private == {v.path for v in variables}
    np.testing.assert_array_equal(found["tokens"], [[3.0, 2.0, 1.0]])
    assert found["loss"].shape == (1, 3)


def test_a_joint_batch_has_a_group_for_every_pair(model):
    number = len(PAIRS)
    tokens = np.stack([np.roll(TOKENS, n, 0) for n in range(number)])
    target = np.stack([np.roll(TARGET, n, 0) for n in range(number)])
    joint = model(
        {"tokens": tokens, "target": target}, inspect=True, key=model.joint_key
    )
    for n in range(number):
        alone = model(
            {"tokens": tokens[n : n + 1], "target": target[n : n + 1]},
            inspect=True,
            key=n,
        )
        for name in ("loss", "tokens"):
            np.testing.assert_allclose(joint[name][n], alone[name][0], 1e-5)
        np.testing.assert_allclose(
            joint["inspect"]["attention"][n],
            alone["inspect"]["attention"][0],
            atol=1e-6,
        )


def test_a_single_pair_starts_from_the_same_weights(model):
    single = build(["en-fr"])
    np.testing.assert_allclose(
        single(BATCH)["loss"], model(BATCH, key=1)["loss"], rtol=1e-6
    )
    different = model(BATCH, key=0)["loss"] - model(BATCH, key=1)["loss"]
    assert np.abs(different).max() > 1e-3


def test_parameters_are_counted_with_and_without_word_vectors(model):
    vectors = 4 * (10 + 9 + 7)
    everything = count_parameters(model, include_embedding=True)
    assert everything == sum(v.numpy().size for v in model.trainable_variables)
    assert count_parameters(model) == everything - vectors
    assert len(model.embedding_variables()) == 3


@pytest.mark.extended
@pytest.mark.parametrize("beam, n_best", [(1, 1), (4, 3)])
def test_scores_are_the_likelihoods_of_what_is_returned(model, beam, n_best):
    found = model.translate(
        TOKENS, key=0, beam=beam, n_best=n_best, max_length=(3, 4)
    )
    finished = 0
    # A source without tokens has nothing to translate, and that once.
    assert not found["length"][2].numpy().any()
    assert not found["tokens"][2].numpy().any()
    only = [0.0] + [-np.inf] * (n_best - 1)
    assert found["score"][2].numpy().tolist() == only
    for row, n in np.ndindex(2, n_best):
        length = found["length"][row, n].numpy()
        words = found["tokens"][row, n, :length].numpy()
        limit = 3 * np.count_nonzero(TOKENS[row]) + 4
        assert length <= limit
        if length < limit:
            finished += 1
            target = np.append(words, 3)[None, None].astype(np.int32)
            loss = model(
                {"tokens": TOKENS[None, row : row + 1], "target": target},
                key=0,
            )["loss"]
            score = found["score"][row, n]
            np.testing.assert_allclose(-loss[0, 0], score, atol=1e-4)
    assert finished
    assert (np.diff(found["score"][:2]) <= 0).all()


@pytest.mark.by_default("1")
@pytest.mark.parametrize("key", [0, 1])
def test_given_translations_have_the_likelihood_of_the_paper(model, key):
    found = model.log_likelihoods(TOKENS, TARGET, key=key).numpy()
    decoder = model.decoder(key)
    named = reference.of_decoder(reference.values_of(decoder))
    encoded = model.encoder(TOKENS[None])
    for row, tokens in enumerate((4, 2)):
        words = TARGET[row][TARGET[row] > 0]
        annotations = encoded["annotations"][0, row, :tokens].numpy()
        table, _ = reference.decode(
            words, annotations, encoded["first"][0, row].numpy(), named
        )
        expected = table[np.arange(len(words)), words]
        np.testing.assert_allclose(
            found[row, : len(words)], expected, atol=1e-5
        )
    assert not found[TARGET == 0].any()
    # The translation to nothing is certain, as `translate` has it.
    assert found[2, 0] == 0
    other = model.log_likelihoods(TOKENS[2:], [[4, 3]], key=key)
    assert np.all(other < 0)


@pytest.mark.extended
def test_likelihoods_do_not_depend_on_company_and_padding(model):
    wide = [[0, 0], [0, 3]]
    together = model.log_likelihoods(
        np.pad(TOKENS, wide), np.pad(TARGET, wide), key=0
    ).numpy()
    assert not together[:, 3:].any()
    for row, (size, words) in enumerate(((4, 3), (2, 2), (0, 1))):
        alone = model.log_likelihoods(
            TOKENS[row : row + 1, :size], TARGET[row : row + 1, :words], key=0
        )
        np.testing.assert_allclose(alone[0], together[row, :words], atol=1e-5)
    with pytest.raises(ConfigError, match="number of a pair"):
        model.log_likelihoods(TOKENS, TARGET, key=2)


@pytest.mark.extended
def test_translations_do_not_depend_on_company_and_padding(model):
    options = {"key": 0, "beam": 3, "n_best": 2, "attention": True}
    together = model.translate(np.pad(TOKENS, [[0, 0], [0, 3]]), **options)
    assert not together["attention"].numpy()[..., 4:].any()
    for row, size in enumerate((4, 2, 0)):
        alone = model.translate(TOKENS[row : row + 1, :size], **options)
        for name in ("score", "length"):
            np.testing.assert_allclose(
                alone[name][0], together[name][row], atol=1e-5
            )
        steps = alone["tokens"].shape[-1]
        got = together["tokens"][row].numpy()
        np.testing.assert_array_equal(got[:, :steps], alone["tokens"][0])
        assert not got[:, steps:].any()


@pytest.mark.extended
def test_attention_and_aligned_words_are_those_of_teacher_forcing(model):
    found = model.translate(TOKENS, key=1, beam=2, attention=True)
    length = found["length"].numpy()[:, 0]
    assert length[:2].min() > 0
    target = found["tokens"].numpy()[:, 0]
    again = model(
        {"tokens": TOKENS[None], "target": target[None]},
        key=1,
        inspect=True,
    )["inspect"]["attention"][0].numpy()
    for row in range(3):
        got = found["attention"].numpy()[row, 0, : length[row]]
        expected = again[row, : length[row]]
        np.testing.assert_allclose(got, expected, atol=1e-5)
        aligned = found["aligned"].numpy()[row, 0, : length[row]]
        np.testing.assert_array_equal(aligned, expected.argmax(-1))


@pytest.mark.extended
def test_an_exported_graph_translates(model, tmp_path):
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.weights = [v.value for v in model.variables]

        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([None, None], tf.int32, "ids")],
        )
        def translate(self, ids):
            return model.translate(ids, key=0, beam=3)

    tf.saved_model.save(Module(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    [graph] = loaded.translate.concrete_functions
    functions = graph.graph.as_graph_def().library.function
    # Servers have XLA switched off.
    assert functions and not any(f.attr["_XlaMustCompile"].b for f in functions)
    found = loaded.translate(tf.constant(TOKENS))
    expected = model.translate(TOKENS, key=0, beam=3)
    tf.nest.map_structure(
        lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5),
        dict(found),
        expected,
    )


def draw_copies(seed, count):
    """Sources, and their copies and reversals as targets `[2, count, 6]`."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(2, 6, count)
    tokens = generator.integers(4, 10, (count, 5))
    tokens *= np.arange(5) < lengths[:, None]
    target = np.zeros((2, count, 6), np.int32)
    for row, length in enumerate(lengths):
        words = tokens[row, :length]
        target[0, row, : length + 1] = [*words, 3]
        target[1, row, : length + 1] = [*words[::-1], 3]
    return tokens.astype(np.int32), target


@pytest.mark.slow
def test_a_small_model_learns_to_copy_and_to_reverse():
    config = {"embedding_dim": 12, "units": 24}
    sizes = {"copy": 10, "reverse": 10}
    model = build_translation_model(
        config, 10, sizes, ["a-copy", "a-reverse"], seed=3
    )
    optimizer = keras.optimizers.Adam(0.01)
    optimizer.build(model.trainable_variables)

    # Converting all that it calls takes a quarter of the time of tracing it.
    @tf.autograph.experimental.do_not_convert
    def step(tokens, target):
        batch = {"tokens": tf.stack([tokens] * 2), "target": target}
        with tf.GradientTape() as tape:
            loss = model(batch, training=True, key=model.joint_key)["loss"]
            loss = tf.reduce_sum(tf.reduce_mean(loss, 1))
        # Keras's Adam takes repeated rows of a sparse gradient one by one.
        variables = model.trainable_variables
        found = tape.gradient(loss, [v.value for v in variables])
        optimizer.apply([tf.convert_to_tensor(g) for g in found], variables)

    @tf.function
    def train(tokens, target, steps):
        for number in tf.range(steps):
            rows = (number * 32 + tf.range(32)) % tf.shape(tokens)[0]
            words = tf.ensure_shape(tf.gather(tokens, rows), [32, 5])
            given = tf.gather(target, rows, axis=1)
            step(words, tf.ensure_shape(given, [2, 32, 6]))

    train(*draw_copies(0, 2000), tf.constant(150))
    tokens, target = draw_copies(1, 64)
    for key in range(2):
        found = model.translate(tokens, key=key, beam=2)["tokens"][:, 0]
        wanted = np.where(target[key] == 3, 0, target[key])
        size = min(found.shape[1], 6)
        right = np.all(found[:, :size] == wanted[:, :size], -1)
        assert right.mean() > 0.95, (key, right.mean())


@pytest.mark.parametrize(
    "pairs, config, message",
    [
        (["en-de", "fr-de"], {}, "pairs must share one source"),
        (["en-de", "en-de"], {}, "pairs must have different targets"),
        (["en-dee"], {}, "unknown target language 'dee'; did you mean 'de'"),
        (["de"], {}, "a pair must be 'source-target'"),
        ([], {}, "pairs must name at least one"),
        (PAIRS, {"unit": 3}, "unknown field of model 'unit'; did you mean"),
        (PAIRS, {"dropout": {"enc": 0.1}}, "field of model.dropout 'enc'"),
        (PAIRS, {"output": {"samples": 3}}, "samples must be 0 unless"),
        (
            PAIRS,
            {"output": {"name": "sampled"}},
            "model.output.samples must be a positive integer",
        ),
    ],
)
def test_mistakes_are_named(pairs, config, message):
    with pytest.raises(ConfigError, match=message):
        build(pairs, **config)


def test_a_key_is_needed_where_there_are_several_pairs(model):
    assert [model.key_of(n) for n in range(2)] == [0, 1]
    assert build(["en-fr"]).key_of(0) is None
    for key in (None, 2):
        with pytest.raises(ConfigError, match="unknown number of a pair"):
            model(BATCH, key=key)
    with pytest.raises(ConfigError, match="max_length must be a positive"):
        model.translate(TOKENS, key=0, max_length=0)

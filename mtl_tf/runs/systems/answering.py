"""One model that answers questions about contexts, for any tasks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.models.answering.question_answering import (
    QuestionAnsweringModel,
    build_question_model,
    check_question_model,
)
from mtl_tf.pipelines.examples import question_texts
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.prediction.answering import Answerer, Decoding
from mtl_tf.runs.system import (
    Config,
    Pretrained,
    System,
    TaskDict,
    refuse_unused,
)
from mtl_tf.tasks.features import Feature
from mtl_tf.tasks.task import Task
from mtl_tf.text.encoding.character_ngrams import (
    CharacterNgrams,
    read_ngram_vectors,
)
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.questions import (
    ANSWER,
    CONTEXT,
    QUESTION,
    QuestionEncoder,
    QuestionText,
)
from mtl_tf.text.vectors.vector_files import VectorFile
from mtl_tf.training import precision

# As many words as the special ones.
_HARDLY_ANY = 8


class Answering(System):
    """See the module; the text is a `QuestionText`."""

    model_fields = ("answering",)
    buckets_for_validation = False

    def check(self, config: Config) -> None:
        """Refuses parts of words and encoders.

        The values of other options are checked.
        """
        private = config["model"]["embedding_private_dim"] > 0
        refuse_unused(
            config,
            "question answering has",
            "question_answering",
            {"model.embedding_private_dim": private},
        )
        ngrams = config["text"]["ngrams"]
        if ngrams["buckets"] and ngrams["vectors"]:
            raise ConfigError(
                "character n-grams are either learnt (text.ngrams.buckets, got "
                f"{ngrams['buckets']}) or those of a file "
                f"(text.ngrams.vectors, got {ngrams['vectors']!r})"
            )
        Decoding.of_config(config)
        options = config["model"]["answering"]
        with checks.options_of("model.answering", options):
            check_question_model(options)

    def check_files(self, config: Config) -> None:
        """Also the vectors of n-grams; see `System.check_files`."""
        super().check_files(config)
        ngrams = config["text"]["ngrams"]
        if ngrams["vectors"]:
            VectorFile(ngrams["vectors"], ngrams["dimension"]).check()

    def build_text(
        self,
        tasks: Sequence[Task],
        text_config: Config,
        pretrained: Pretrained | None = None,
        model_config: Config | None = None,
    ) -> QuestionText:
        """One vocabulary for all texts."""
        encoder = question_texts.build_encoder(tasks, text_config, pretrained)
        ngrams, fields = None, text_config["ngrams"]
        if fields["buckets"]:
            ngrams = CharacterNgrams(fields["buckets"], most=fields["most"])
        elif fields["vectors"]:
            names, _ = read_ngram_vectors(
                fields["vectors"], fields["dimension"]
            )
            ngrams = CharacterNgrams.of_known(names, fields["most"])
        return QuestionText(
            encoder, text_config["generative_vocabulary"], ngrams=ngrams
        )

    def load_text(
        self, path: str, config: Config, tasks: Sequence[TaskDict]
    ) -> QuestionText:
        """See `System.load_text`."""
        text, ngrams = config["text"], None
        fields = text["ngrams"]
        if fields["buckets"] or fields["vectors"]:
            ngrams = CharacterNgrams.load(
                path, fields["buckets"], fields["most"]
            )
        return QuestionText(
            TextEncoder.load(path),
            text["generative_vocabulary"],
            text["max_length"],
            [t["name"] for t in tasks if t["long_contexts"] == "left_out"],
            ngrams,
        )

    def example_encoder(
        self, text: QuestionText, task: str, features: Sequence[Feature]
    ) -> QuestionEncoder:
        """See `System.example_encoder`."""
        return text.task(task)

    def for_training(
        self, split: EncodedSplit, text_config: Config
    ) -> tuple[EncodedSplit, dict[str, int]]:
        """Examples whose contexts and answers are not too long."""
        return question_texts.for_training(split, text_config)

    def build_model(
        self,
        config: Config,
        text: QuestionText,
        tasks: Sequence[TaskDict],
        vectors: np.ndarray | None,
        seed: int,
    ) -> QuestionAnsweringModel:
        """See `System.build_model`."""
        ngrams = None
        if text.ngrams is not None:
            of_words = text.ngrams.of_tokens(text.vocabulary.tokens)
            ngrams = len(text.ngrams), of_words
        return build_question_model(
            _model_config(config),
            text.size,
            text.generative,
            seed,
            vectors,
            ngrams,
            dtype=precision.policy(config),
        )

    def model_without_words(
        self, config: Config, tasks: Sequence[TaskDict]
    ) -> QuestionAnsweringModel:
        """See `System.model_without_words`."""
        ngrams, fields = None, config["text"]["ngrams"]
        if fields["buckets"] or fields["vectors"]:
            ngrams = 1, np.zeros([_HARDLY_ANY, 1], np.int32)
        return build_question_model(
            _model_config(config), _HARDLY_ANY, _HARDLY_ANY, ngrams=ngrams
        )

    def set_pretrained(
        self, model: QuestionAnsweringModel, config: Config, text: QuestionText
    ) -> None:
        """Loads the vectors of n-grams from their file."""
        path = config["text"]["ngrams"]["vectors"]
        if not path:
            return
        layer = model.ngram_embedding
        names, vectors = read_ngram_vectors(path, layer.dimension)
        if CharacterNgrams.of_known(names).names != text.ngrams.names:
            raise DataError(
                f"{path} (text.ngrams.vectors) has other n-grams than when the "
                "run's vocabulary was built: give the file of then, or start "
                "in a new directory"
            )
        layer.set_vectors(vectors)

    def word_ids(self, split: EncodedSplit, text: QuestionText) -> np.ndarray:
        """The ids in all three texts, without examples' own words."""
        columns = [split.columns[n] for n in (CONTEXT, QUESTION, ANSWER)]
        ids = np.concatenate([column.values for column in columns])
        return ids[ids < text.size]

    def words_of(self, text: QuestionText) -> dict[str, Sequence[str]]:
        """The words of the vectors, and of the output layer."""
        tokens = text.encoder.vocabulary.tokens
        words = {
            "embedding/": tokens,
            "pointer/pointer_output/": tokens[: text.generative],
        }
        if text.ngrams is not None:
            words["ngram_embedding/vectors"] = text.ngrams.names
        return words

    def make_decoder(
        self,
        model: QuestionAnsweringModel,
        text: QuestionText,
        config: Config,
        **changes: Any,
    ) -> Answerer:
        """An `Answerer`."""
        # Changes may hide errors in the config. Without this check a run would
        # train before they are found.
        Decoding.of_config(config)
        return Answerer(model, text, Decoding.of_config(config, **changes))

    def quick_decoding(self) -> dict[str, Any]:
        """Greedy search."""
        return {"beam": 1, "n_best": 1}


def _model_config(config: Config) -> dict[str, Any]:
    """The options of the model, of any vocabulary."""
    return {
        **config["model"]["answering"],
        "embedding_dim": config["model"]["embedding_dim"],
        "ngram_dim": config["text"]["ngrams"]["dimension"],
    }


SYSTEM = Answering()

"""What TFDS asks of every builder, and what ours have in common."""

import shutil
import tempfile

import pytest
import tensorflow_datasets as tfds

from mtl_tf.datasets import building
from mtl_tf.datasets.decanlp_cnn_dailymail import (
    decanlp_cnn_dailymail_dataset_builder as cnn_dailymail,
)
from mtl_tf.datasets.decanlp_conll2003 import (
    decanlp_conll2003_dataset_builder as conll2003,
)
from mtl_tf.datasets.decanlp_multi_nli import (
    decanlp_multi_nli_dataset_builder as multi_nli,
)
from mtl_tf.datasets.iwslt2016 import iwslt2016_dataset_builder as iwslt2016
from mtl_tf.datasets.qa_zre import qa_zre_dataset_builder as qa_zre
from mtl_tf.datasets.woz import woz_dataset_builder as woz
from tests.datasets import tagged_corpora
from tests.datasets.question_corpora import write


class _Case(tfds.testing.DatasetBuilderTestCase):
    """The cases differ in their files."""

    FILES = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.EXAMPLE_DIR = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.EXAMPLE_DIR)
        for name, content in cls.FILES.items():
            write(cls.EXAMPLE_DIR, name, content)


class WozTest(_Case):
    DATASET_CLASS = woz.Builder
    SPLITS = {"train": 2}
    FILES = {
        "woz_train_en.json": [
            {
                "dialogue_idx": number,
                "dialogue": [
                    {
                        "transcript": "Thai, please.",
                        "system_acts": [],
                        "belief_state": [
                            {"act": "inform", "slots": [["food", "thai"]]}
                        ],
                    }
                ],
            }
            for number in range(2)
        ]
    }


class MultiNliTest(_Case):
    DATASET_CLASS = multi_nli.Builder
    SPLITS = {"train": 1}
    FILES = {
        "train.tsv": "pairID\tsentence1\tsentence2\tgold_label\n"
        "1e\tIt rains.\tIt is wet.\tentailment\n"
    }


class QaZreTest(_Case):
    DATASET_CLASS = qa_zre.Builder
    SPLITS = {"train": 1}
    FILES = {"train.0": "is\tWhat is XXX?\tBo\tBo is a cat.\ta cat\n"}


@pytest.mark.extended
class CnnDailymailTest(_Case):
    DATASET_CLASS = cnn_dailymail.Builder
    SPLITS = {"train": 1, "validation": 1, "test": 1}
    FILES = {
        f"cnn/stories/{name}.story": f"It is {name}.\n\n@highlight\n\n{name}\n"
        for name in "abc"
    }


class Iwslt2016Test(_Case):
    DATASET_CLASS = iwslt2016.Builder
    BUILDER_CONFIG_NAMES_TO_TEST = ["en-de"]
    SPLITS = {"train": 1}
    FILES = {"train.tags.en-de.en": "Yes.\n", "train.tags.en-de.de": "Ja.\n"}


@pytest.mark.extended
class Conll2003Test(_Case):
    DATASET_CLASS = conll2003.Builder
    SPLITS = {"train": 2, "validation": 1, "test": 1}
    FILES = tagged_corpora.IOB1


# Else it is collected, too.
del _Case


def test_the_usual_pair_of_iwslt():
    assert building.expand("iwslt2016") == ["iwslt2016/en-de"]
    assert building.expand("woz") == ["woz"]
    assert len(building.expand("kotzias_reviews")) == 3

"""What configs know of names is what the modules have that make the things."""

import pytest

from mtl_tf.configs import choices
from mtl_tf.models import registry
from mtl_tf.pipelines import mixing
from mtl_tf.tasks import groups
from mtl_tf.training import learning_rates, loss_weighting, optimizers

LISTS = {
    "model.scheme.name": registry.SCHEMES,
    "training.optimizer.name": optimizers.OPTIMIZERS,
    "training.optimizer.schedule": learning_rates.SCHEDULES,
    "training.loss_weighting": loss_weighting.LOSS_WEIGHTINGS,
    "pipeline.mixing.name": mixing.MIXINGS,
}


def test_every_list_is_compared():
    assert set(LISTS) == set(choices.fields())


@pytest.mark.parametrize("field", LISTS)
def test_the_names_are_those_of_the_module(field):
    assert choices.names(field) == tuple(LISTS[field])


@pytest.mark.parametrize("name", optimizers.OPTIMIZERS)
def test_the_options_are_those_that_the_optimizer_takes(name):
    options = choices.optimizer_options(name)
    assert options
    made = optimizers.make_optimizer({"name": name, "options": options}, 0.1)
    assert {key: made.get_config()[key] for key in options} == options


def test_every_group_may_be_a_corpus():
    assert all(map(choices.may_be_corpus, groups.GROUPS))
    assert choices.may_be_corpus("FDU_MTL/books")
    assert not choices.may_be_corpus("stars")

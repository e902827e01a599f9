"""Trainings of every family, killed at random moments; see `kills`."""

import os
import random

import pytest

from tests.system import families, kills


@pytest.mark.slow
def test_a_family_is_killed_at_a_random_moment(tmp_path):
    name = random.SystemRandom().choice(families.FAMILIES)
    print(name)
    [row] = kills.run(str(tmp_path), 1, names=(name,))
    assert (row["kills"], row["difference"]) == (1, 0.0)
    # What is finished is not done again.
    assert kills.run(str(tmp_path), 1, names=(name,)) == [row]


@pytest.mark.slow
def test_every_family_is_killed_at_random_moments(tmp_path):
    """`MTL_TF_KILLS` names a folder whose table is continued."""
    folder = os.environ.get("MTL_TF_KILLS") or str(tmp_path)
    rows = kills.run(folder, 4)
    assert {row["family"] for row in rows} == set(families.FAMILIES)
    assert sum(row["kills"] for row in rows) >= 100


@pytest.mark.slow
def test_workers_are_killed_at_random_moments(tmp_path):
    [row] = kills.run(str(tmp_path), 2, workers=2, names=("meta_lstm",))
    assert row["kills"] == 2 and row["difference"] <= 1e-5
    assert row["seconds_to_end"] <= kills.STATED_SECONDS

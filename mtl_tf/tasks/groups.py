"""The task groups that come with the library."""

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Group:
    """A corpus of several tasks.

    Attributes:
        name: of the group.
        datasets: TFDS name of each task, by task name, in the paper's order.
        labels: names of the classes, the same for all tasks.
    """

    name: str
    datasets: Mapping[str, str]
    labels: tuple[str, ...]


def _reviews(name: str, configs: tuple[str, ...]) -> Group:
    # Task names are lower case throughout: the corpus's "MR" is task "mr".
    datasets = {config.lower(): f"{name}/{config}" for config in configs}
    return Group(name, datasets, ("negative", "positive"))


_FDU_MTL = (
    *("books", "electronics", "dvd", "kitchen_housewares", "apparel"),
    *("camera_photo", "health_personal_care", "music", "toys_games", "video"),
    *("baby", "magazines", "software", "sports_outdoors", "imdb", "MR"),
)

GROUPS: Mapping[str, Group] = {
    group.name: group
    for group in (
        _reviews("fdu_mtl", _FDU_MTL),
        _reviews("sample_reviews", ("books", "films", "gadgets", "kitchen")),
    )
}

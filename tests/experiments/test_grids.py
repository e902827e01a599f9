import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.experiments import grids

CONFIG = {
    "seed": 5,
    "tasks": ["a"],
    "training": {"l2": 1e-5, "epochs": 3},
    "model": {"scheme": {"name": "lstm"}},
    "sweep": {"grid": "x", "folds": 7, "seeds": 9},
}


def test_values_are_literals_or_names():
    text = "training.l2=0,1e-5; config.model.scheme={'name': 'x', 'n': 1},{};"
    grid = grids.parse(text + "a.b=adam, sgd")
    assert grid == {
        "training.l2": [0, 1e-5],
        "model.scheme": [{"name": "x", "n": 1}, {}],
        "a.b": ["adam", "sgd"],
    }
    assert grids.parse("tasks=('a','b'),('c',)") == {
        "tasks": [("a", "b"), ("c",)]
    }
    assert grids.parse("tasks=a,('a','b')") == {"tasks": ["a", ("a", "b")]}
    assert grids.parse("m={'n': {'x': [1, 2]}, 'y': 3},u") == {
        "m": [{"n": {"x": [1, 2]}, "y": 3}, "u"]
    }
    assert grids.parse("""a='x;y',";";b='"',"'" """) == {
        "a": ["x;y", ";"],
        "b": ['"', "'"],
    }
    assert grids.parse("  ") == {}
    assert grids.parse("a=1,True") == {"a": [1, True]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("training.l2", "field=value,value;field=value,value, got"),
        ("=3", "is written field=value"),
        ("a=", "is written field=value"),
        ("a=1;a=2", "names a twice"),
        ("a=1,1", "has a value of a twice"),
        ("a=0,1,0.0", "has a value of a twice"),
    ],
)
def test_malformed_grids(text, message):
    with pytest.raises(ConfigError, match=message):
        grids.parse(text)


def test_cells_are_the_product_and_change_only_their_fields():
    grid = {"training.l2": [0, 0.5], "training.epochs": [1, 2]}
    cells = grids.cells(CONFIG, grid, seeds=3)
    assert len(cells) == 12
    assert len({cell.folder for cell in cells}) == 12
    assert [cell.seed for cell in cells[:3]] == [5, 6, 7]
    last = cells[-1].config
    assert last["training"] == {"l2": 0.5, "epochs": 2}
    assert last["seed"] == 7
    assert last["tasks"] == CONFIG["tasks"]
    assert type(cells[0].config["training"]["l2"]) is float
    assert CONFIG["training"] == {"l2": 1e-5, "epochs": 3}


def test_a_name_is_a_list_of_one_where_a_field_is_a_list():
    grid = grids.parse("tasks=b,c")
    assert [cell.config["tasks"] for cell in grids.cells(CONFIG, grid)] == [
        ["b"],
        ["c"],
    ]


def test_a_cell_does_not_depend_on_the_rest_of_the_sweep():
    few = grids.cells(CONFIG, {"training.l2": [0.5]})
    many = grids.cells(CONFIG, {"training.l2": [0.1, 0.5]}, seeds=2)
    assert few[0] in many


def test_folds_set_the_field_of_cross_validation():
    config = {**CONFIG, "cross_validation": {"folds": 0, "fold": 0}}
    cells = grids.cells(config, {}, folds=3, seeds=2)
    assert [c.config["cross_validation"]["fold"] for c in cells] == [
        0,
        1,
        2,
        0,
        1,
        2,
    ]
    assert {c.config["cross_validation"]["folds"] for c in cells} == {3}
    assert len({c.folder for c in cells}) == 6
    whole = grids.cells(config, {})
    assert whole[0].config["cross_validation"] == {"folds": 0, "fold": 0}


def test_folds_need_the_field():
    with pytest.raises(ConfigError, match="3 folds need the config field"):
        grids.cells(CONFIG, {}, folds=3)
    with pytest.raises(ConfigError, match="at least 2, got 1"):
        grids.cells(CONFIG, {}, folds=1)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("training.l3", "the grid: .*training has no 'l3'; did you mean 'l2'"),
        ("trainin.l2", "has no 'trainin'; did you mean 'training.l2'"),
        ("training.units", "did you mean 'model.scheme.units'"),
        ("training.l2.x", "training.l2 has no fields"),
        ("pipeline.schedule.name", "is called pipeline.mixing.name by now"),
        ("seed", "cannot hold seed"),
        ("evaluation.decoding.beam", "neither a training .* --split=val.*beam"),
        ("evaluation.answering.n_best", "neither a training .* --n_best"),
        ("cross_validation.fold", "give seeds and folds by themselves"),
        ("training.main_tasks", "must be the same for all; take --config.tr"),
    ],
)
def test_fields_that_a_grid_cannot_hold(field, message):
    with pytest.raises(ConfigError, match=message):
        grids.cells(CONFIG, {field: [1]})


def test_a_choice_takes_options_that_the_config_does_not_spell_out():
    (cell,) = grids.cells(CONFIG, {"model.scheme.units": [3]})
    assert cell.config["model"]["scheme"] == {"name": "lstm", "units": 3}


def test_weights_of_tasks_that_the_config_does_not_name():
    config = {**CONFIG, "training": {"loss_weights": {"a": 2.0}}}
    grid = {"training.loss_weights.en-de.2": [0.5, 3]}
    cells = grids.cells(config, grid)
    assert [c.config["training"]["loss_weights"] for c in cells] == [
        {"a": 2.0, "en-de.2": 0.5},
        {"a": 2.0, "en-de.2": 3},
    ]
    with pytest.raises(ConfigError, match="loss_weights has no ''"):
        grids.cells(config, {"training.loss_weights.": [1.0]})


def test_another_optimizer_drops_the_options_of_the_configs():
    options = {"initial_accumulator_value": 1e-3}
    optimizer = {"name": "adagrad", "learning_rate": 0.1, "options": options}
    config = {**CONFIG, "training": {"optimizer": optimizer}}
    field = "training.optimizer.name"
    adam, adagrad = grids.cells(config, {field: ["adam", "adagrad"]})
    rest = {"learning_rate": 0.1, "options": {}}
    assert adam.config["training"]["optimizer"] == {"name": "adam", **rest}
    assert adagrad.config["training"]["optimizer"] == optimizer
    grid = {field: ["adam"], "training.optimizer.options.beta_1": [0.5]}
    (adam,) = grids.cells(config, grid)
    assert adam.config["training"]["optimizer"]["options"] == {"beta_1": 0.5}


def test_fields_of_a_group_that_differ_together():
    optimizer = {"name": "sgd", "learning_rate": 1.0, "lazy": True}
    config = {**CONFIG, "training": {"optimizer": optimizer}}
    adam, adagrad = grids.cells(
        config,
        grids.parse(
            "training.optimizer={'name': 'adam', 'learning_rate': 1e-3},"
            "{'name': 'adagrad'}"
        ),
    )
    assert adam.config["training"]["optimizer"] == {
        "name": "adam",
        "learning_rate": 1e-3,
        "lazy": True,
        "options": {},
    }
    found = adagrad.config["training"]["optimizer"]
    assert (found["name"], found["learning_rate"]) == ("adagrad", 1.0)
    assert adam.folder != adagrad.folder
    with pytest.raises(ConfigError, match="optimizer has no 'rate'"):
        grids.cells(config, {"training.optimizer": [{"rate": 1.0}]})
    with pytest.raises(ConfigError, match="cannot hold training.main_tasks"):
        grids.cells(config, {"training": [{"main_tasks": ["a"]}]})


def test_own_tasks_are_chosen_by_name():
    own = [{"name": name, "files": {"train": f"{name}.csv"}} for name in "ab"]
    cells = grids.cells(
        {**CONFIG, "tasks": own}, grids.parse("tasks=('a',),('b','a')")
    )
    assert [c.config["tasks"] for c in cells] == [[own[0]], own[::-1]]
    with pytest.raises(ConfigError, match="unknown task 'c'"):
        grids.cells({**CONFIG, "tasks": own}, {"tasks": ["c"]})


def test_folders_are_names_that_any_disk_takes():
    name = grids.setting_name({"training.l2": 1e-5, "a.b": "adam"})
    assert name == "training.l2=1e-05,a.b=adam"
    dicts = [{"x": {"name": "a/b"}}, {"x": {"name": "a b"}}]
    names = {grids.setting_name(d) for d in dicts}
    assert len(names) == 2
    assert all("/" not in n and " " not in n for n in names)
    long = grids.setting_name({f"training.field{n}": n for n in range(40)})
    assert len(long) < 130
    assert grids.setting_name({}) == "as_configured"

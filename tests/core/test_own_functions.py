"""Code of the user's own: how it is found, and what is told of mistakes."""

import pytest

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError

CODE = """class Base:
    def fail(self):
        return 1 / 0

def late(a, b=1, *, c=2, **rest):
    return Base().fail()
"""


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(CODE)
    return str(path)


def test_a_mistake_inside_it_is_told_with_its_line(place):
    late = own_functions.load(f"{place}:late")
    with pytest.raises(ZeroDivisionError) as error:
        late(1)
    assert own_functions.complaint(error.value) == (
        f"{place}:3: in fail: ZeroDivisionError: division by zero"
    )


def test_of_other_code_there_is_no_complaint():
    with pytest.raises(ZeroDivisionError) as error:
        divmod(1, 0)
    assert own_functions.complaint(error.value) == ""


def test_what_keras_puts_around_a_message_is_left_out(place):
    late = own_functions.load(f"{place}:late")
    try:
        late(1)
    except ZeroDivisionError as error:
        text = "Exception encountered when calling X.call().\n\n"
        text += "\x1b[1mbad shape\x1b[0m\n\nArguments received by X.call():"
        wrapped = ValueError(text).with_traceback(error.__traceback__)
    told = own_functions.complaint(wrapped)
    assert told == f"{place}:3: in fail: ValueError: bad shape"


@pytest.mark.parametrize("has_frame", [True, False])
def test_what_tensorflow_puts_around_a_message_is_left_out(place, has_frame):
    late = own_functions.load(f"{place}:late")
    text = (
        'in user code:\n\n    File "/other/loop.py", line 9, in run  *\n'
        f'        late(1)\n    File "{place}", line 3, in fail\n'
        "        return 1 / 0\n\n    ValueError: Exception encountered when "
        "calling X.call().\n    \n    \x1b[1mbad shape\x1b[0m\n    \n"
        "    Arguments received by X.call():\n"
    )
    error = ValueError(text)
    if has_frame:
        with pytest.raises(ZeroDivisionError) as raised:
            late(1)
        error = error.with_traceback(raised.value.__traceback__)
    told = own_functions.complaint(error)
    assert told == f"{place}:3: in fail: ValueError: bad shape"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 1\ny = z\n", "mine.py:2: NameError: name 'z' is not defined"),
        ("def f(:\n", "mine.py:1: SyntaxError: invalid syntax"),
    ],
)
def test_a_file_that_cannot_be_imported(place, code, told):
    with open(place, "w") as file:
        file.write(code)
    with pytest.raises(ConfigError) as error:
        own_functions.load(f"{place}:f")
    assert told in str(error.value)


def test_a_file_that_was_moved_is_told(place):
    rule = r"there is no file .*gone.py with late \(a trained run needs its own"
    with pytest.raises(ConfigError, match=rule):
        own_functions.load(place.replace("mine.py", "gone.py:late"))


@pytest.mark.parametrize(
    ("wrong", "right"), [("mine.py:laet", "late"), ("mien.py:late", "mine.py")]
)
def test_the_nearest_names_are_offered(place, wrong, right):
    with pytest.raises(ConfigError, match=f"did you mean '{right}'"):
        own_functions.load(place.replace("mine.py", wrong))
    with pytest.raises(ConfigError, match="has no class 'OrderdDict'; did you"):
        own_functions.load("collections:OrderdDict", "class")
    with pytest.raises(ConfigError, match="'Sequenc'; did you mean 'Sequence'"):
        own_functions.load("collections.abc:Sequenc", "class")


def test_a_file_of_data_classes_with_names_of_types(place):
    with open(place, "w") as file:
        file.write(
            "from __future__ import annotations\nimport dataclasses\n"
            "@dataclasses.dataclass\nclass Options:\n    width: int = 3\n"
        )
    assert own_functions.load(f"{place}:Options")(4).width == 4


def test_options_and_classes(place):
    late = own_functions.load(f"{place}:late")
    assert own_functions.keywords(late, ("a",)) == ["b", "c"]
    with pytest.raises(ConfigError, match="no option 'cc'; did you mean 'c'"):
        own_functions.check_options("x", ["cc"], ["b", "c"])
    with pytest.raises(ConfigError, match="must be a class of builtins.dict"):
        own_functions.load_class(f"{place}:Base", dict)

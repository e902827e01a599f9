"""The script of `--bash_completion`, in bash itself."""

import shutil
import subprocess

import pytest

from tests.launch.helpers import execute

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="no bash")


@pytest.fixture(scope="module")
def scripts():
    made = {}
    for module in ("launch.train", "export.saved_model"):
        status, out, err = execute("-m", module, "--bash_completion")
        assert (status, err) == (0, "")
        made[module] = out
    return made


def completed(script, *words):
    """What bash offers for the last of the words, as it splits them."""
    listed = " ".join(f"'{word}'" for word in words)
    ask = (
        f"{script}\nCOMP_WORDS=({listed})\nCOMP_CWORD={len(words) - 1}\n"
        '$(complete -p mtl-train mtl-export 2> /dev/null | sed "s/.*-F //; '
        's/ .*//")\n'
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", ask], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["--model_d"], ["--model_dir="]),
        (["--compare"], ["--compare_single"]),
        (["--conf"], ["--config=", "..."]),
        (["--config.training.epo"], ["--config.training.epochs="]),
        (["--config", "=", "quick"], ["quickstart"]),
        (["--strategy", "=", "mul"], ["multi_worker"]),
        (["--strategy", "="], ["auto", "..."]),
        (
            ["--config.training.optimizer.name", "=", "adam"],
            ["adam", "adamw"],
        ),
        (["--model_dir", "=", "ru"], []),
    ],
)
def test_flags_and_values(scripts, words, offered):
    found = completed(scripts["launch.train"], "mtl-train", *words)
    if offered[-1:] == ["..."]:
        assert offered[0] in found and len(found) > 2
    else:
        assert found == offered


def test_a_program_without_config_offers_none(scripts):
    script = scripts["export.saved_model"]
    assert completed(script, "mtl-export", "--export") == ["--export_dir="]
    assert completed(script, "mtl-export", "--config") == []

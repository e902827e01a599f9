"""What a figure shows of a text: scores and heat maps above its tokens."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from mtl_tf.core.errors import ConfigError
from mtl_tf.figures.traces import Trace, same_tokens

LONGEST = 16  # letters of a token


@dataclasses.dataclass(frozen=True)
class Heat:
    """A heat map with a column a token.

    Attributes:
        title: what it shows.
        values: [rows, T].
        rows: names of the rows; without them they are counted.
        unit: label of the colour bar.
        limits: its lowest and highest value; maps that are drawn together
            have one scale for all.
    """

    title: str
    values: np.ndarray
    rows: tuple[str, ...]
    unit: str
    limits: tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Panel:
    """Everything above one text's tokens.

    Attributes:
        text: the text.
        tokens: its T tokens, long ones cut; one that no run knows is in
            brackets.
        scores: [T] by run.
        poles: names of the ends of the score's axis, -1 and 1.
        heats: the heat maps.
    """

    text: str
    tokens: tuple[str, ...]
    scores: dict[str, np.ndarray]
    poles: tuple[str, str]
    heats: tuple[Heat, ...]


def fusion_gate(traces: Sequence[Trace]) -> Panel:
    """Scores of runs, and the fusion gates of those that have them.

    Figure 3 of Liu et al. (2016), where an LSTM and ARC-I are compared.

    Args:
        traces: of one text by each run.

    Raises:
        ConfigError: no run has a fusion gate.
    """
    heats = [
        Heat(
            f"{trace.label}: fusion gate{_direction(name, trace)}",
            trace.inspect[name].T,
            (),
            "activation of the fusion gate",
            # Gates may move little: the whole scale would hide it.
            (
                float(trace.inspect[name].min()),
                float(trace.inspect[name].max()),
            ),
        )
        for trace in traces
        for name in ("forward/gate", "backward/gate")
        if name in trace.inspect
    ]
    if not heats:
        raise ConfigError(
            _without(traces, "a fusion gate", "me_lstm, arc_i or arc_ii")
        )
    return _panel(traces, heats)


def generated_weights(
    traces: Sequence[Trace],
    change: Callable[[Trace], np.ndarray],
    rows: Sequence[str],
) -> Panel:
    """Scores of runs, and how the matrices of the Meta-LSTMs change.

    Figure 4 of Chen et al. (2018).

    Args:
        traces: of one text by each run.
        change: equation 23 of a trace with meta vectors, [gates, T].
        rows: names of the gates.

    Raises:
        ConfigError: no run generates weights.
    """
    heats = []
    for trace in traces:
        if "forward/meta_vector" in trace.inspect:
            values = change(trace)
            known = values[np.isfinite(values)]
            high, unit = _scale_of_changes(known)
            title = f"{trace.label}: change of the generated matrices (eq. 23)"
            heats.append(Heat(title, values, tuple(rows), unit, (0.0, high)))
    if not heats:
        raise ConfigError(_without(traces, "generated weights", "meta_lstm"))
    return _panel(traces, heats)


def _scale_of_changes(values: np.ndarray) -> tuple[float, str]:
    """The value of the top colour, and the name of the scale.

    A weight near 0 can make one change a thousand times the others, which
    would then have one colour.
    """
    if not values.size:
        return 1.0, "mean relative change"
    high = float(np.percentile(values, 90))
    if values.max() <= 3 * high:
        return float(values.max()), "mean relative change"
    return high, f"mean relative change; top colour: {high:.2g} or more"


def _panel(traces: Sequence[Trace], heats: Sequence[Heat]) -> Panel:
    tokens = same_tokens(list(traces))
    known = np.any([trace.known for trace in traces], axis=0)
    return Panel(
        text=traces[0].text or " ".join(tokens),
        tokens=shown_tokens(tokens, known),
        scores={trace.label: trace.scores for trace in traces},
        poles=traces[0].poles,
        heats=tuple(heats),
    )


def shown_tokens(
    tokens: Sequence[str], known: Sequence[bool]
) -> tuple[str, ...]:
    """Tokens as figures show them: long ones cut, unknown ones in brackets."""
    short = (shorten(token) for token in tokens)
    return tuple(t if k else f"[{t}]" for t, k in zip(short, known))


def shorten(token: str) -> str:
    """The name with at most `LONGEST` letters."""
    return token if len(token) <= LONGEST else f"{token[: LONGEST - 1]}…"


def _direction(name: str, trace: Trace) -> str:
    bidirectional = "backward/gate" in trace.inspect
    return f", {name.split('/')[0]}" if bidirectional else ""


def _without(traces: Sequence[Trace], tensor: str, schemes: str) -> str:
    names = ", ".join(trace.label for trace in traces)
    return f"none of the runs ({names}) has {tensor}: give one of {schemes}"

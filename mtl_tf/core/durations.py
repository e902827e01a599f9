"""Durations in a readable form."""


def duration(seconds: float) -> str:
    """A duration such as `1 h 02 min 03 s`, `2 min 03 s` or `3.4 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min {rest:02d} s"

"""Which of TensorFlow's warnings are no news."""

import logging

from mtl_tf.programs import console, quiet

WARNING = "5 out of the last 9 calls to %s triggered tf.function retracing."


def test_only_our_own_traces_are_expected(caplog):
    logger = logging.getLogger("tensorflow")
    before = list(logger.filters)
    try:
        quiet.expect_traces()
        quiet.expect_traces()
        assert len(logger.filters) <= len(before) + 1
        logger.warning(WARNING, "<bound method of <mtl_tf.runs.Predictor>>")
        method = "<function PlainFormatter.format at 0x7f9cba326d40>"
        assert console.PlainFormatter.format
        logger.warning(WARNING, method)
        layer = "<bound method PlainFormatter.format of <Plain name=x>>"
        logger.warning(WARNING, layer)
        inner = "PlainFormatter.format.<locals>.<lambda>"
        logger.warning(WARNING, f"<function {inner} at 0x7f9cba326d40>")
        logger.warning(WARNING, "<function theirs>")
        logger.warning(
            WARNING, "<function PlainFormatter.theirs at 0x7f9cba326d4>"
        )
        logger.warning("mtl_tf has a problem")
    finally:
        logger.filters = before
    assert caplog.messages == [
        WARNING % "<function theirs>",
        WARNING % "<function PlainFormatter.theirs at 0x7f9cba326d4>",
        "mtl_tf has a problem",
    ]

"""Which of TensorFlow's warnings are no news."""

import logging

from mtl_tf.programs import quiet

WARNING = "5 out of the last 9 calls to %s triggered tf.function retracing."


def test_only_our_own_traces_are_expected(caplog):
    logger = logging.getLogger("tensorflow")
    before = list(logger.filters)
    try:
        quiet.expect_traces()
        quiet.expect_traces()
        assert len(logger.filters) <= len(before) + 1
        logger.warning(WARNING, "<bound method of <mtl_tf.runs.Predictor>>")
        logger.warning(WARNING, "<function theirs>")
        logger.warning("mtl_tf has a problem")
    finally:
        logger.filters = before
    assert caplog.messages == [
        WARNING % "<function theirs>",
        "mtl_tf has a problem",
    ]

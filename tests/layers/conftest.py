import pytest


@pytest.fixture
def without_jit():
    """Compiling takes seconds: only tests that are about it do it."""
    from mtl_tf.layers import recurrence

    with recurrence.options(jit=False, shards=1):
        yield

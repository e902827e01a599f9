"""Examples to batches: encoding, buckets, mixing, tf.data."""

"""Examples to batches: encoding, buckets, schedules, tf.data."""

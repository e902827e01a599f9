"""What keeps shared and private states apart, and its schedules."""

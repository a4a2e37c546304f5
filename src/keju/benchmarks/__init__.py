"""What is asked: the catalogues of tasks, as data."""

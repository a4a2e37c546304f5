"""Multiple-choice questions: make options from short answers, and check options for leaks."""

"""Multiple-choice questions made of short answers, and the ways in which options give them away."""

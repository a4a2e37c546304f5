"""Pages for people: the exam, rating, review, authoring and adjudication."""

"""Language models as judges and extractors: grades, agreement with people, unclear answers."""

"""Finding what stands twice in a dataset: texts, and the pictures that items show."""

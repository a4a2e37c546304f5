"""Items on disk: the working form, its readers, validation and statistics."""

"""Oracle bones: pictures of pieces torn into fragments, crops of characters put together."""

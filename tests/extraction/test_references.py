"""A response that is the reference, and nothing else, is read as the reference."""

from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.definitions import query_of
from keju.extraction import read


def test_every_reference_of_the_bundled_set_is_read_as_it_is():
    differing = []
    for item in Dataset.open(mini.path()).items():
        if not item.answer or item.split != "test":
            continue
        query = query_of(item)
        form = "translation" if query.translation else query.form
        reading = read(form, item.answer, item.question or query.template, item.options)
        value = reading.value.lower() if form == "yes-no" else reading.value
        if value != item.answer:
            differing.append((item.id, reading.state, reading.rule))
    assert differing == []

"""What was made of a record is kept for as long as the record stays as it is, and for no other reader."""

from __future__ import annotations

from dataclasses import dataclass, field

from pilotage.library.shelf import Shelf
from pilotage.library.stores.protocol import Stamp


@dataclass
class Records:
    """The part of a store that a shelf asks: id -> digest."""

    digests: dict[str, str]
    read: list[str] = field(default_factory=list)

    def stamps(self, ids, audience):
        assert audience == "all"
        return {
            id_: Stamp(id_, 1, self.digests[id_], "", private=False, withdrawn=False)
            for id_ in ids
            if id_ in self.digests
        }

    def make(self, ids):
        self.read += ids
        return {id_: f"{id_} as {self.digests[id_]}" for id_ in ids if id_ in self.digests}

    def asked(self, shelf, *ids):
        return shelf.of(self.stamps(ids, "all").values())


def test_a_record_is_read_once_and_again_when_it_changes():
    records = Records({"a": "1", "b": "1"})
    shelf = Shelf(records, records.make, most=10)
    assert records.asked(shelf, "a", "b") == {"a": "a as 1", "b": "b as 1"}
    assert records.asked(shelf, "a") == {"a": "a as 1"}
    assert records.read == ["a", "b"]
    records.digests["a"] = "2"
    assert records.asked(shelf, "a", "b") == {"a": "a as 2", "b": "b as 1"}
    assert records.read == ["a", "b", "a"]


def test_what_was_used_longest_ago_goes_first():
    records = Records(dict.fromkeys("abc", "1") | {"b": "2", "c": "3"})
    shelf = Shelf(records, records.make, most=2)
    for id_ in ("a", "b", "a", "c", "a", "b"):
        records.asked(shelf, id_)
    assert records.read == ["a", "b", "c", "b"]


def test_what_changes_while_it_is_read_is_not_kept():
    records = Records({"a": "1"})

    def make(ids):
        records.digests["a"] = "2"
        return records.make(ids)

    shelf = Shelf(records, make, most=10)
    assert records.asked(shelf, "a") == {"a": "a as 2"}
    records.digests["a"] = "1"
    assert shelf.of(records.stamps(["a"], "all").values()) == {"a": "a as 2"}
    assert records.read == ["a", "a"]

from __future__ import annotations

import io
import json

import pytest

from pilotage.core.errors import InvalidInput
from pilotage.library.decoding import strict_json
from pilotage.library.decoding.json_places import places
from pilotage.library.decoding.strict_json import decode_text, loads, locate, parse, read_items


def items(data: bytes) -> list[object]:
    return [item.value for item in read_items(io.BytesIO(data), "f.json")]


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b'{"a": 1,\n  "a": 2}', "f.json:2:3: duplicate key 'a'"),
        (b'{"a": {"b": 1, "b": 2}}', "f.json:1:16: duplicate key 'b'"),
        (b'{"a":\n NaN}', "f.json:2:2: NaN is no JSON number"),
        (b'["NaN", -Infinity]', "f.json:1:9: -Infinity is no JSON number"),
        (b"[1e999]", "f.json:1:2: 1e999 is no JSON number"),
        (b'{"a": "\\ud800"}', "f.json:1:2: a holds half a character"),
        (b'{"a": ["x\\u0000"]}', "f.json:1:8: a.0 holds a NUL character"),
        (b'{"\\udc00": 1}', "f.json:1:1: the value holds the key"),
        (b'{"a": 1', "f.json:1:8: not JSON"),
        (b'{"a": 1} x', "f.json:1:10: there is text behind the end"),
        (b'{"a": "\n"}', "f.json:1:8: not JSON: a raw line break or control character in a text"),
        (b"", "f.json:1:1: there is no JSON here"),
        (b"[" * 500 + b"]" * 500, "nested more than 200 levels"),
        (b"[" * 100_000, "nested more than 200 levels"),
        (b"9" * 5000, "too many digits"),
    ],
)
def test_what_has_no_one_meaning_is_refused_with_its_place(data, where):
    with pytest.raises(InvalidInput) as caught:
        loads(data, "f.json")
    assert where in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.encode("utf-16-be"),
        lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    ],
)
def test_the_encodings_of_feeds_are_read(encode):
    text = '[{"id": "a", "title": "장애 😀"}]'
    assert loads(encode(text), "f.json") == json.loads(text)
    assert items(encode(text)) == json.loads(text)


def test_bytes_that_are_no_text_are_named_with_line_and_byte():
    with pytest.raises(InvalidInput, match=r"f:2:3: byte 6 is not UTF-8"):
        decode_text(b"ab\nxy\xff", "f")
    with pytest.raises(InvalidInput, match=r"f:1:2: byte 5 is not UTF-8"):
        decode_text(b"\xef\xbb\xbfa\xff", "f")
    with pytest.raises(InvalidInput, match="is not UTF-16"):
        decode_text(b"\xff\xfea\x00\x00\xd8", "f")
    with pytest.raises(InvalidInput, match=r"f.json:2:9: byte 17 is not UTF-8"):
        items(b'{"a":1}\n{"a": "x\xff"}\n')
    with pytest.raises(InvalidInput, match=r"f.json:2:2: byte 4 is not UTF-8"):
        items(b'[\n"\xff"]')


@pytest.mark.parametrize("before", [b"", b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize("data", [b'[\n"\xff"]', b'{"a":\n"\xff"}', b'{"a": 1}\n"\xff"'])
def test_a_wrong_byte_is_counted_from_the_beginning_of_the_file(before: bytes, data: bytes):
    whole = before + data
    place = whole.index(b"\xff") + 1
    with pytest.raises(InvalidInput, match=f": byte {place} is not UTF-8"):
        list(read_items(io.BytesIO(whole), "f"))


def test_emoji_pairs_and_composed_and_decomposed_hangul_stay_as_they_are():
    assert parse('{"a": "\\ud83d\\ude00 \\uac00", "b": "\u1100\u1161"}', "f") == {
        "a": "😀 가",
        "b": "\u1100\u1161",
    }


def test_lines_lists_and_single_objects_are_read():
    assert items(b'{"a": 1}\r\n\r\n{"a": 2}') == [{"a": 1}, {"a": 2}]
    assert items(b'\n\n{\n "a": {\n "b": []}}\n') == [{"a": {"b": []}}]
    assert items(b' [ {"a": 1} ,\n 12 , "x"\n]\n') == [{"a": 1}, 12, "x"]
    assert items(b"[]") == []
    assert items(b"") == []


def test_items_know_their_lines():
    found = [(i.number, i.line) for i in read_items(io.BytesIO(b'[\n{"a": 1},\n\n{"a": 2}]'), "f")]
    assert found == [(1, 2), (2, 4)]
    found = [(i.number, i.line) for i in read_items(io.BytesIO(b'{"a":1}\n\n{"a":2}\n'), "f")]
    assert found == [(1, 1), (2, 3)]


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b'{"a":1}\n{"a":,}\n', "f.json:2:6: not JSON"),
        (b'{"a":1}\n{"a":1,"a":2}\n', "f.json:2:8: duplicate key 'a'"),
        (b'[{"a":1},\n {"a": tru}, {"b": 1234567890123456}]', "f.json:2:8: not JSON"),
        (b'[{"a":1},\n {"a":1,"a":2}]', "f.json:2:9: duplicate key 'a'"),
        (b'[{"a":1}\n{"a":2}]', "f.json:2:1: expected ',' or ']'"),
        (b'[{"a":1},', "cut off"),
        (b'[{"a":"x', "cut off"),
        (b"[1,2", "cut off"),
        (b"[1] 2", "f.json:1:5: there is text behind"),
        (b"[1,]", "f.json:1:4: not JSON"),
        (b'{"a": 1}\n{"a": 2', "f.json:2:8: not JSON"),
    ],
)
def test_mistakes_in_streams_are_named_with_their_place(data, where):
    with pytest.raises(InvalidInput) as caught:
        items(data)
    assert where in caught.value.message


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_any_division_into_chunks_gives_the_same_items(chunk, monkeypatch):
    values = [{"a": '한\\"]', "n": [1.5e3, -0, True, None]}, [], 123456, "x", {"b": {"c": "😀"}}]
    monkeypatch.setattr(strict_json, "_CHUNK", chunk)
    for indent in (None, 2):
        data = json.dumps(values, indent=indent, ensure_ascii=indent is None).encode()
        window = strict_json._Text(data[:chunk], io.BytesIO(data[chunk:]), "f", 0)
        reader = window.more
        monkeypatch.setattr(window, "more", lambda _=0, reader=reader: reader(chunk))
        assert [item.value for item in strict_json._read_list(window)] == values


class Endless(io.RawIOBase):
    """A gigabyte that is made while it is read."""

    def __init__(self, start: bytes, size: int = 2**30) -> None:
        super().__init__()
        self.start, self.size, self.given = start, size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        if self.given >= self.size:
            return 0
        data = (self.start if self.given == 0 else b"") + b"x" * len(buffer)
        buffer[:] = data[: len(buffer)]
        self.given += len(buffer)
        return len(buffer)


@pytest.mark.parametrize("start", [b'{"a": "', b'["', b'[{"id": 1}, "'])
def test_a_line_of_a_gigabyte_is_refused_without_reading_it(start):
    stream = Endless(start)
    with pytest.raises(InvalidInput, match="more than 16 MiB"):
        list(read_items(io.BufferedReader(stream), "f.jsonl"))
    assert stream.given < 40 * 2**20


def test_places_of_keys_are_found():
    text = '{"a": [1, {"b": "x,]"}],\n "c": {"d": null}}'
    assert locate(text, ("a", 1, "b")) == (1, 12)
    assert locate(text, ("c", "d")) == (2, 8)
    assert locate(text, ("c", "missing")) == (2, 2)
    assert locate(text, ()) == (1, 1)
    assert [p.path for p in places('{"a": [1, {"b"')] == [("a",), ("a", 0), ("a", 1), ("a", 1, "b")]

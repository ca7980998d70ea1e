"""The form in which the packaged definitions write the type of a field.

A code is `s` (text), `i` and `l` (whole numbers of 32 and 64 bits), `n` (number), `b` (boolean), `y` (base64
text), `t` and `u` (time, time with fractions), `d` (duration), `q` (quantity), `p` (number or text: a port, a
percentage), `*` (anything), `o` (any mapping), `@name` (a type by name); `[code` is a list, `{code` a mapping
with free keys. After them may stand `|key,key` (what tells items of a list apart) and `=A|B` (the only values
that are allowed).
"""

from __future__ import annotations

import msgspec

SCALARS = frozenset("silnbytudqp")
FREE = frozenset("*o")


class Code(msgspec.Struct, frozen=True):
    """A code in its parts.

    Attributes:
        around: the containers, outermost first: `[` and `{`.
        base: a letter, or the name of a type.
        named: whether the base is the name of a type.
        keys: what tells the items of the outermost list apart.
        allowed: the only values that are allowed; empty for any.
    """

    around: str
    base: str
    named: bool = False
    keys: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


def parse(text: str) -> Code:
    """The parts of a code.

    Raises:
        ValueError: it is none.
    """
    rest, _, values = text.partition("=")
    rest, _, keys = rest.partition("|")
    body = rest.lstrip("[{")
    around = rest[: len(rest) - len(body)]
    named = body[:1] == "@"
    if not named and body not in SCALARS | FREE:
        raise ValueError(f"no code of a type: {text!r}")
    return Code(
        around,
        body[1:] if named else body,
        named,
        tuple(keys.split(",")) if keys else (),
        tuple(values.split("|")) if values else (),
    )

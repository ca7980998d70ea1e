"""The body of a request, as far as it is allowed to be long, and the parts of a form in it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from pilotage.core.errors import InvalidInput
from pilotage.core.text import did_you_mean

FORM = "multipart/form-data"


async def read_body(request: Request, most_bytes: int) -> bytes | None:
    """The body; None when it is longer, which is found before all of it has come."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > most_bytes:
            return None
    return bytes(found)


def is_form(request: Request) -> bool:
    """Whether the body says that it is a form with parts, which no text to check ever does."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM


async def read_parts(request: Request, body: bytes, known: Collection[str]) -> dict[str, bytes]:
    """The parts of a form by name.

    Raises:
        InvalidInput: it is no form, or has a part of another name, or one twice.
    """

    async def whole() -> AsyncGenerator[bytes]:
        yield body

    hint = f"Its parts are {' and '.join(known)}."
    parser = MultiPartParser(request.headers, whole(), max_part_size=len(body))
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise InvalidInput("the body is not the form that its type names", hint=hint) from error
    found: dict[str, bytes] = {}
    try:
        for name, value in form.multi_items():
            if name not in known:
                near = did_you_mean(name[:60], known)
                raise InvalidInput(f"the form has no part '{name[:60]}'", hint=near or hint)
            if name in found:
                raise InvalidInput(f"the form has the part '{name}' twice", hint=hint)
            if isinstance(value, UploadFile):
                found[name] = await value.read()
            else:
                found[name] = value.encode("utf-8", "surrogateescape")
    finally:
        await form.close()
    return found

"""Settings of a proxy in a file inside a ConfigMap (YAML, TOML), as dotted keys."""

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks.dialect import DialectError, load

_DEEPEST = 12


def flattened(text: str, *, keep_case: bool = False) -> dict[str, str]:
    """The settings of a file by dotted keys; empty where it is neither YAML nor TOML.

    Args:
        text: the file.
        keep_case: whether the keys keep their case; Traefik reads them without regard to it.
    """
    value: object
    try:
        value = load(text)
    except DialectError:
        value = None
    if not isinstance(value, dict):
        import tomllib  # noqa: PLC0415 - hardly any such file is TOML

        try:
            value = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}
    found = dict(_walk(value, (), 0))
    return found if keep_case else {key.lower(): inner for key, inner in found.items()}


def _walk(value: object, path: tuple[str, ...], depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and depth < _DEEPEST:
        if not value and path:
            yield ".".join(path), "true"
        for key, inner in value.items():
            yield from _walk(inner, (*path, str(key)), depth + 1)
    elif isinstance(value, list):
        yield ".".join(path), ",".join(str(item) for item in value)
    elif value is not None and path:
        yield ".".join(path), str(value).lower() if isinstance(value, bool) else str(value)

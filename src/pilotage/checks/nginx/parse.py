"""From the text of an nginx configuration to its directives; what is broken is told, the rest is read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pilotage.checks.nginx.model import Directive, NginxConfig
from pilotage.checks.nginx.tokens import Token, TokenError, tokens
from pilotage.checks.readers.reading import Problem, Trouble
from pilotage.checks.texts import Text
from pilotage.core.regex import regex

_LOOK = regex(
    r"^[ \t]*(?:(?:http|events|stream|server)\s*\{|upstream\s+[^\s{};]+\s*\{|location\s+[^{};\n]+\{"
    r"|(?:proxy_pass|fastcgi_pass|uwsgi_pass|grpc_pass|listen|server_name|proxy_set_header)\s+[^;\n]+;)",
    re.MULTILINE,
)
_TEMPLATE = regex(r"\{%[^\n]*%\}|<%[^\n]*%>|%\{~? ?(?:if|for|endif)\b")
_BRACES = regex(r"\{\{[^{}\n]*\}\}")
_CODE = regex(r"_by_lua|\bjs_content\b")
_LARGEST = 5_000_000
_DEEPEST = 100
_MOST_PROBLEMS = 3


def looks_like_nginx(text: str) -> bool:
    """Whether a text has blocks or directives that only nginx knows."""
    return _LOOK.search(text) is not None


def parse(text: Text) -> NginxConfig:
    """The configuration of a text; includes are not followed yet.

    Args:
        text: the text and where it stands.
    """
    root = Directive("", (), text, 1, 1, None, [])
    config = NginxConfig(root, texts=[text])
    if len(text.content) > _LARGEST:
        _complain(config, (1, 0), f"larger than {_LARGEST // 1_000_000} MB, so it is not read")
        return config
    template = _TEMPLATE.search(text.content)
    # In Lua two braces are a table in a table.
    if template is None and not _CODE.search(text.content):
        template = _BRACES.search(text.content)
    if template is not None:
        line = text.content.count("\n", 0, template.start()) + 1
        message = "looks like an unrendered template: render it first"
        config.problems.append(Problem(text.place(line, 0), message, Trouble.TEMPLATE, grave=False))
        return config
    _Builder(config).read()
    return config


def _complain(config: NginxConfig, at: tuple[int, int], message: str) -> None:
    # What follows a broken part is seldom a fault of its own.
    if len(config.problems) < _MOST_PROBLEMS:
        config.problems.append(Problem(config.text.place(*at), message, Trouble.BROKEN))


class _Builder:
    """Puts words together; no recursion, since whoever wrote the text decides how deep it is nested."""

    def __init__(self, config: NginxConfig) -> None:
        self.config = config
        self.text = config.text
        self.stack = [config.root]
        self.words: list[Token] = []

    def read(self) -> None:
        """Reads all of the text."""
        for token in self._tokens():
            if token.is_sign(";"):
                self._end(token, block=False)
            elif token.is_sign("{"):
                self._end(token, block=True)
            elif token.is_sign("}"):
                self._close(token)
            else:
                self.words.append(token)
        if self.words:
            first = self.words[0]
            _complain(self.config, (first.line, first.column), f"`{_short(first.text)}` is not ended by `;`")

    def _tokens(self) -> Iterator[Token]:
        text, before = self.text.content, 0
        while True:
            try:
                for token in tokens(text):
                    yield Token(token.text, token.line + before, token.column, token.quoted)
            except TokenError as error:
                _complain(self.config, (error.line + before, 0), f"nginx would not read it: {error.message}")
                if not error.excess:
                    return
                # Behind the line of a closing brace too much, one can go on.
                text = "\n".join(text.split("\n")[error.line :])
                before += error.line
                self.words.clear()
                continue
            return

    def _end(self, token: Token, *, block: bool) -> None:
        words, self.words = self.words, []
        if not words:
            _complain(
                self.config, (token.line, token.column), f"nginx would not read it: unexpected `{token.text}`"
            )
            if not block:
                return
            words = [token]
        first, *others = words
        made = Directive(
            first.text,
            tuple(one.text for one in others),
            self.text,
            first.line,
            first.column,
            self.stack[-1],
            [] if block else None,
        )
        parent = self.stack[-1].items
        if parent is not None and (not block or len(self.stack) <= _DEEPEST):
            parent.append(made)
        if block:
            self.stack.append(made)

    def _close(self, token: Token) -> None:
        if self.words:
            first = self.words[0]
            self.words = []
            _complain(self.config, (first.line, first.column), f"`{_short(first.text)}` is not ended by `;`")
        if len(self.stack) > 1:
            self.stack.pop()
        else:
            _complain(self.config, (token.line, token.column), "nginx would not read it: unexpected `}`")


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"  # noqa: PLR2004

"""Where one document of a YAML file ends and the next begins."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from pilotage.checks.objects import SourceFile
from pilotage.checks.readers.manifests import documents

LINE_BY_LINE = re.compile(r"^---[ \t\r]*(?:#[^\n]*)?(?:\n\ufeff|$)", re.MULTILINE)
PIECES = ["---", "\n", "\n---", "-", " ", "# c", "\r", "\ufeff", "kind: A", "\n---\n", "\t"]


@example('---\n\ufeff{"kind": "A"}')
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_documents_are_divided_where_a_line_is_three_dashes(text: str) -> None:
    found = [(one.start, one.end) for one in documents(SourceFile("a.yaml", text))]
    marks = [match.span() for match in LINE_BY_LINE.finditer(text)]
    starts, ends = [0, *(end for _, end in marks)], [*(start for start, _ in marks), len(text)]
    expected = [
        (start, end)
        for start, end in zip(starts, ends, strict=True)
        if re.search(r"^[ \t]*[^#\s%]", text[start:end], re.MULTILINE)
    ]
    assert found == expected

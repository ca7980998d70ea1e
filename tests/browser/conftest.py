"""A browser for each file, and one site for all tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from rig import browser as rig


# By module: Playwright's synchronous interface keeps an event loop running in this thread as long as it is open,
# and other tests of the same worker run loops of their own.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with rig.browser() as running:
        yield running


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    documents = rig.bundled_documents()
    # One record that was revised, one that was withdrawn, one known before by another id.
    first = documents[0]
    revised = first | {"severity": "major", "aliases": ["known-before"]}
    withdrawn = documents[1] | {
        "status": "withdrawn",
        "withdrawn_reason": {"en": "Twice in here.", "ko": "중복이다."},
    }
    with rig.site(tmp_path_factory.mktemp("site"), [*documents, revised, withdrawn]) as address:
        yield address

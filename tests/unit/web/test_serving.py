"""Taking the port."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pilotage.core.errors import OutsideError, UserError
from pilotage.core.settings import Settings, WebSettings
from pilotage.web.serving import listen


def at(host: str, port: int = 0) -> Settings:
    return replace(Settings(), web=WebSettings(host=host, port=port))


@pytest.mark.parametrize("host", ["a..b", "a" * 70, "203.0.113.7", "host.invalid"])
def test_a_host_that_is_none_of_ours_is_wrong_use(host: str) -> None:
    with pytest.raises(UserError, match="cannot listen on"):
        listen(at(host))


def test_a_port_that_is_taken_is_told() -> None:
    first = listen(at("127.0.0.1"))
    with first.socket:
        assert first.address == f"http://127.0.0.1:{first.socket.getsockname()[1]}"
        assert not first.open_to_others
        with pytest.raises(OutsideError, match="is in use"):
            listen(at("127.0.0.1", first.socket.getsockname()[1]))

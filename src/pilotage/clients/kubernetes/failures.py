"""What can go wrong between us and an API server, each in one sentence with what to do."""

from __future__ import annotations

import enum

from pilotage.core.errors import BadReply, OutsideError, PilotageError, Refused, Unreachable


class Reason(enum.StrEnum):
    """Why a request brought nothing."""

    UNREACHABLE = "unreachable"
    STALLED = "stalled"
    BROKEN_OFF = "broken off"
    CERTIFICATE = "certificate"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    ABSENT = "absent"
    GONE = "gone"
    BUSY = "busy"
    BAD_REPLY = "bad reply"


_ERRORS: dict[Reason, type[PilotageError]] = {
    Reason.UNREACHABLE: Unreachable,
    Reason.STALLED: Unreachable,
    Reason.BROKEN_OFF: Unreachable,
    Reason.BUSY: Unreachable,
    Reason.CERTIFICATE: OutsideError,
    Reason.UNAUTHORIZED: Refused,
    Reason.FORBIDDEN: Refused,
    Reason.ABSENT: BadReply,
    Reason.GONE: BadReply,
    Reason.BAD_REPLY: BadReply,
}
WHOLE_SERVER = frozenset({Reason.UNREACHABLE, Reason.CERTIFICATE, Reason.UNAUTHORIZED})
"""Reasons that would be the same for each further request."""


class Failure(Exception):
    """A request that brought nothing.

    Args:
        reason: which kind of failure.
        message: one sentence.
        hint: what to do.
        retry_seconds: how long the server asks us to wait; None where it does not.
        token: with `GONE`, the token with which the server lets the list go on.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        hint: str = "",
        *,
        retry_seconds: float | None = None,
        token: str = "",
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.hint = hint
        self.retry_seconds = retry_seconds
        self.token = token

    def as_error(self) -> PilotageError:
        """The same, where nothing can go on without an answer."""
        return _ERRORS[self.reason](self.message, hint=self.hint)


WRONG_PLACE = "Check the server's address and any proxy on the way."
"""What to do where something else than an API server answers."""


def certificate_failure(server: str, said: str) -> Failure:
    """A server whose certificate is not to be trusted; `said` is what the TLS library says of it."""
    low = said.lower()
    if "expired" in low:
        message, hint = (
            "has expired",
            "Renew the API server's certificate (kubeadm certs check-expiration, for one).",
        )
    elif "not yet valid" in low:
        message, hint = "is not valid yet", "Compare the clocks of this machine and of the server."
    elif "hostname mismatch" in low or "ip address mismatch" in low:
        message = "is made out for another name"
        hint = "Use the name that it bears as server, or set tls-server-name in the kubeconfig."
    else:
        message = "is signed by an authority that is not trusted here"
        hint = "Check certificate-authority in the kubeconfig; perhaps it is that of another cluster."
    return Failure(Reason.CERTIFICATE, f"the certificate of {server} {message}", hint)


def status_failure(code: int, said: str, what: str) -> Failure:
    """An answer that is an error, as the API server's own status object words it."""
    words = " ".join(said.split())[:300]
    tail = f": {words}" if words else ""
    match code:
        case 401:
            return Failure(
                Reason.UNAUTHORIZED,
                f"the API server does not know who we are (401 for {what})",
                "The token or the client certificate is wrong or has expired; log in again.",
            )
        case 403:
            return Failure(Reason.FORBIDDEN, f"not permitted{tail}", "See: pilotage check role.")
        case 404:
            return Failure(Reason.ABSENT, f"the server has no {what}", WRONG_PLACE)
        case 410:
            return Failure(Reason.GONE, f"the list of {what} changed too fast to be read{tail}", "Try again.")
        case 429 | 503 | 504 | 502 | 500:
            return Failure(
                Reason.BUSY,
                f"the API server is too busy or not well ({code} for {what}){tail}",
                "Try again later.",
            )
        case _:
            return Failure(Reason.BAD_REPLY, f"the server answers {code} for {what}{tail}", WRONG_PLACE)

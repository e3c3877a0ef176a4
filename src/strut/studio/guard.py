"""`RequestGuard`: who may talk to a studio: its own page, on this machine, with the token of this start."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: files of the studio alone."""
RESULT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'"
"""What pages of results may do: show themselves, as strangers to the studio."""
OWN_HEADER = "x-strut-studio"
"""A header that pages of others cannot send without asking, and the studio never answers such questions."""


class RequestGuard:
    """Decides on requests by host, origin, cookie and header."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.token = secrets.token_urlsafe(32)
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"strut-studio-{port}"

    def why_refused(self, headers: Mapping[str, str], cookies: Mapping[str, str], changes: bool) -> str:
        """Return why a request is not answered; nothing for one that is.

        changes: whether the request is one that can change something or starts work.
        """
        foreign = self.why_foreign(headers)
        if foreign:
            return foreign
        if not secrets.compare_digest(cookies.get(self.cookie, "").encode(), self.token.encode()):
            return (
                "open the studio by the address that it printed: the token is missing or from another start"
            )
        if changes and headers.get(OWN_HEADER) != "1":
            return "requests that change something come from the studio's own page"
        return ""

    def why_foreign(self, headers: Mapping[str, str]) -> str:
        """Return why a request comes from elsewhere than this machine's own page; nothing otherwise."""
        if headers.get("host", "") not in self.hosts:
            return "this is not the address of the studio"
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return "requests of other pages are not answered"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "requests of other pages are not answered"
        return ""

    def result_key(self, task: str) -> str:
        """Return the word in addresses of a task's pages. Pages of results are strangers to the studio, who
        have no cookie, and lead to others of their own task by such addresses alone."""
        return hmac.new(self.token.encode(), task.encode(), "sha256").hexdigest()

    def why_no_result(self, headers: Mapping[str, str], task: str, key: str) -> str:
        """Return why a page of a task is not shown; nothing where it is."""
        if headers.get("host", "") not in self.hosts:
            return "this is not the address of the studio"
        if not secrets.compare_digest(key.encode(), self.result_key(task).encode()):
            return "results are opened from the studio's page: this address is of another start"
        return ""

    def is_token(self, text: str) -> bool:
        """Return whether a text is the token."""
        return secrets.compare_digest(text.encode(), self.token.encode())

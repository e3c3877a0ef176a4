"""A Ray cluster: start one on this machine, or join one by its address, with its token.

Whoever reaches a cluster without token authentication can run code there: it stays on. Ray itself tries for
ever, or ends the process, where a token is missing or wrong; both are looked for beforehand.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from pathlib import Path
from typing import Any

from strut.checks import short_repr
from strut.errors import ClusterError
from strut.extras import optional_module

CONNECT_SECONDS = 5.0
"""Time [s] within which a cluster must answer."""
RAY_PURPOSE = "evaluating on a cluster"
"""What Ray is needed for, in the message where it is missing."""
RAY_SETTINGS = {
    "include_dashboard": False,
    "log_to_driver": False,
    "logging_level": "ERROR",
    "namespace": "strut",
}
"""Of `ray.init`, for clusters that are started or joined."""


def start_cluster(cores: int | None = None) -> Any:
    """Start a cluster on this machine, which ends with this process, and return the module `ray`."""
    _require_authentication()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if not _token_source():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)  # known to this process and its children alone
    ray = _import_ray()
    # 'local': a bare `init` would try clusters that are long gone
    ray.init(address="local", num_cpus=cores, **RAY_SETTINGS)
    return ray


def join_cluster(address: str, token_file: str | Path | None = None) -> Any:
    """Join the cluster at an address, HOST:PORT, and return the module `ray`.

    token_file: the file that holds its token; else RAY_AUTH_TOKEN, the file that RAY_AUTH_TOKEN_PATH names,
    or ~/.ray/auth_token. Raises `ClusterError` where nobody answers, or the token is missing or wrong.
    """
    _require_authentication()
    if token_file is not None:
        path = Path(token_file).expanduser()
        if not path.is_file() or not path.read_text().strip():
            raise ClusterError(f"there is no token in {path}: write the cluster's token there")
        os.environ.pop("RAY_AUTH_TOKEN", None)
        os.environ["RAY_AUTH_TOKEN_PATH"] = str(path)
    source = _token_source()
    if not source:
        raise ClusterError(
            f"no token for the cluster at {address}: give --token-file, or set RAY_AUTH_TOKEN or "
            "RAY_AUTH_TOKEN_PATH to what the cluster was started with"
        )
    _reach(address)
    ray = _import_ray()
    _check_token(address, source)
    try:
        ray.init(address=address, **RAY_SETTINGS)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ClusterError(f"cannot join the cluster at {address}: {error}") from error
    return ray


def _import_ray() -> Any:
    """Return the module `ray`, with tokens on. It reads the environment when it is first imported, which may
    have been before the token was there."""
    os.environ["RAY_AUTH_MODE"] = "token"
    ray, raylet = optional_module("ray", RAY_PURPOSE), optional_module("ray._raylet", RAY_PURPOSE)
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()
    return ray


def _require_authentication() -> None:
    """Refuse an environment that switches tokens off."""
    mode = os.environ.get("RAY_AUTH_MODE", "token")
    if mode.lower() != "token":
        raise ClusterError(
            f"RAY_AUTH_MODE is '{mode}': without tokens everyone who reaches the cluster can run code on it; "
            "unset it, or set it to 'token'"
        )


def _token_source() -> str:
    """Return where Ray will take the token from; empty where there is none."""
    if os.environ.get("RAY_AUTH_TOKEN", "").strip():
        return "RAY_AUTH_TOKEN"
    named = os.environ.get("RAY_AUTH_TOKEN_PATH")
    path = Path(named).expanduser() if named else Path.home() / ".ray" / "auth_token"
    return str(path) if path.is_file() and path.read_text().strip() else ""


def _reach(address: str) -> None:
    """Raise an error where nobody listens at an address."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ClusterError(f"address is {short_repr(address)}: HOST:PORT is needed, such as 10.0.0.1:6379")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS):
            return
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"nobody answers at {address} ({error}): start a cluster there with `ray start --head`, or "
            "leave the address out to start one on this machine"
        ) from None


def _check_token(address: str, source: str) -> None:
    """Ask the cluster one thing with our token. In a thread: what listens there may be no cluster, which is
    waited for without an end."""
    raylet = optional_module("ray._raylet", RAY_PURPOSE)
    exceptions = optional_module("ray.exceptions", RAY_PURPOSE)
    outcome: list[BaseException | None] = []

    def ask() -> None:
        try:
            raylet.GcsClient(address=address).check_alive([], CONNECT_SECONDS)
            outcome.append(None)
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(2 * CONNECT_SECONDS)
    if not outcome:
        raise ClusterError(f"what listens at {address} does not answer as a Ray cluster does")
    if isinstance(outcome[0], exceptions.AuthenticationError):
        raise ClusterError(
            f"the cluster at {address} does not accept the token from {source}: use the one that it was "
            "started with"
        )
    if outcome[0] is not None:
        raise ClusterError(f"cannot join the cluster at {address}: {outcome[0]}")

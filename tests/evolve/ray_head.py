"""A Ray cluster for tests: a head of its own on this machine, with a token; and its processes."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def descendants(pid):
    """All processes below one, by number, with what they were called by."""
    parents, names = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            names[int(entry.name)] = (entry / "cmdline").read_text()
        except OSError:
            continue
    found = {pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return {one: names.get(one, "") for one in found}


@contextmanager
def ray_head(cores):
    """Yield the environment in which jobs join a cluster of so many cores, and its process."""
    port = free_port()
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", f"--port={port}"]
    command += ["--include-dashboard=false", "--disable-usage-stats", f"--num-cpus={cores}"]
    command += ["--object-store-memory=100000000"]
    head = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for(lambda: any("raylet/raylet" in name for name in descendants(head.pid).values()), head)
        yield environment | {"RAY_ADDRESS": f"127.0.0.1:{port}"}, head
    finally:
        below = descendants(head.pid)
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        head.wait()


@contextmanager
def ray_node(environment, cores):
    """Let another machine, as it were, join a cluster; it is killed in the end."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", f"--num-cpus={cores}"]
    command += [
        f"--address={environment['RAY_ADDRESS']}",
        "--disable-usage-stats",
        "--object-store-memory=100000000",
    ]
    own = {name: value for name, value in environment.items() if name != "RAY_ADDRESS"}
    node = subprocess.Popen(
        command, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield node
    finally:
        for pid in descendants(node.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        node.wait()


def wait_for(condition, process, limit=60):
    until = time.monotonic() + limit
    while not condition():
        assert process.poll() is None, "the process ended"
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.1)


def workers_under_way(head):
    """Processes of the cluster that evaluate a share at this moment."""
    return [pid for pid, name in descendants(head.pid).items() if name.startswith("ray::Evaluator.evaluate")]

"""A studio that runs while a test does."""

import threading
from types import SimpleNamespace

import pytest

from strut.cli.studio import command_forms
from strut.studio import Workspace
from strut.studio.guard import RequestGuard
from strut.studio.server import Studio, application


class RunningStudio:
    """A server in a thread, on a port of its own."""

    def __init__(self, folder, port=0):
        import socket

        uvicorn = pytest.importorskip("uvicorn")
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        self.port = listener.getsockname()[1]
        self.guard = RequestGuard(self.port)
        self.studio = Studio(Workspace(folder), command_forms(), self.guard)
        config = uvicorn.Config(application(self.studio), log_level="warning", lifespan="off", ws="none")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]}, daemon=True)
        self.thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"

    @property
    def entrance(self):
        return f"{self.address}?token={self.guard.token}"

    def stop(self):
        self.server.should_exit = True
        self.server.force_exit = True
        self.thread.join(10)
        self.studio.close()


@pytest.fixture
def studios():
    """Start studios; all end with the test."""
    running = []

    def start(folder, port=0):
        running.append(RunningStudio(folder, port))
        return running[-1]

    yield SimpleNamespace(start=start)
    for each in running:
        each.stop()

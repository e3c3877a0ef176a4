"""`serve`: the studio's server, on this machine alone."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from strut.catalogue import MECHANISM_DESCRIPTIONS, SYSTEM_DESCRIPTIONS
from strut.errors import StorageError, StrutError, UnknownNameError
from strut.extras import optional_module
from strut.studio.forms import REASONS, CommandForm
from strut.studio.guard import CONTENT_POLICY, RESULT_POLICY, RequestGuard
from strut.studio.reader_process import ReaderProcess
from strut.studio.tasks import Tasks
from strut.studio.workspace import MAX_FILES, MODEL_SUFFIXES, ConflictError, Workspace
from strut.version import VERSION

PORT = 8137
"""Where a studio listens unless another port is given."""
PAGE = Path(__file__).parent / "page"
"""Files of the page."""
PAGE_FILES = {"studio.js": "text/javascript", "studio.css": "text/css"}
"""What the page loads, with its kind."""
MAX_REQUEST = 4_000_000
"""Size [bytes] of the largest request."""
PURPOSE = "the studio"
"""What optional packages are needed for, as messages say it."""
COMMON_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""With every answer."""
ROBOT_SECONDS = 300.0
"""[s] How long a preview of a ready-made robot may take: COMAN is compiled for 50 s on two busy cores."""
ROBOT_WORD = "large: up to a minute to compile before it first runs, then seconds"
"""What is said of ready-made robots."""
READY_MADE = {**SYSTEM_DESCRIPTIONS, **MECHANISM_DESCRIPTIONS}
"""One line about every ready-made machine, by its name."""


class Studio:
    """What the server answers. Each method takes the request's data and returns data for JSON."""

    def __init__(
        self, workspace: Workspace, forms: Sequence[CommandForm], guard: RequestGuard, selected: str = ""
    ) -> None:
        self.workspace, self.guard, self.selected = workspace, guard, selected
        self.forms = {form.command: form for form in forms}
        self.tasks = Tasks(workspace.results, workspace.folder)
        self.checker = ReaderProcess(workspace.folder)
        self.previewer = ReaderProcess(workspace.folder)

    def overview(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """What there is: files, ready-made machines, forms and tasks."""
        return {
            "folder": self.workspace.folder.name,
            "version": VERSION,
            "selected": self.selected,
            **self._files(),
            "machines": READY_MADE,
            "large": dict.fromkeys(MECHANISM_DESCRIPTIONS, ROBOT_WORD),
            "forms": [asdict(form) for form in self.forms.values()],
            "reasons": REASONS,
            "tasks": self._tasks(),
        }

    def _files(self) -> dict[str, Any]:
        names = self.workspace.names()
        return {"files": names[:MAX_FILES], "cut": len(names) > MAX_FILES}

    def state(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """What may have changed: files with their versions are asked for when they are opened."""
        return {**self._files(), "tasks": self._tasks()}

    def _tasks(self) -> list[dict[str, Any]]:
        """Tasks, each with the word by which its pages are opened."""
        return [{**asdict(task), "key": self.guard.result_key(task.name)} for task in self.tasks.list()]

    def open(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The text of a file."""
        return asdict(self.workspace.read(str(data.get("name", ""))))

    def save(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Write a file, unless it was changed elsewhere."""
        name, text = str(data.get("name", "")), str(data.get("text", ""))
        try:
            return asdict(self.workspace.save(name, text, str(data.get("version", ""))))
        except ConflictError as conflict:
            return {"conflict": str(conflict), "now": asdict(conflict.now) if conflict.now else None}

    def check(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Mistakes of a text."""
        return self.checker.ask({"do": "check", "name": data.get("name"), "text": data.get("text")})

    def look(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Describe, draw or preview a text or a ready-made machine."""
        if data.get("do") not in ("describe", "graph", "preview"):
            raise UnknownNameError(f"'{data.get('do')}' is not known: describe, graph or preview")
        robot = data.get("text") is None and data.get("name") in MECHANISM_DESCRIPTIONS
        return self.previewer.ask(
            {key: data.get(key) for key in ("do", "name", "text", "values", "seconds") if key in data},
            seconds=ROBOT_SECONDS if robot else None,
        )

    def start(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Start a command from its form."""
        command = str(data.get("command", ""))
        if command not in self.forms:
            raise UnknownNameError(f"'{command}' cannot be started here: {', '.join(self.forms)} can")
        form, subject = self.forms[command], str(data.get("subject", ""))
        if form.subject == "job" or subject not in READY_MADE:
            path = self.workspace.path(subject.partition(":")[0])
            if path.suffix not in MODEL_SUFFIXES:
                raise StorageError(
                    f"'{subject}' is a program, and no program is run from a page: in a terminal, "
                    f"strut {command} {subject}"
                )
            if not path.is_file():
                raise UnknownNameError(f"there is no file '{subject}': save it first")
        values = data.get("values") or {}
        if not isinstance(values, dict):
            raise UnknownNameError("values must be fields by name")
        return {"task": self.tasks.start(form, subject, values)}

    def compare(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Start a page that compares two or more tasks."""
        names = data.get("tasks")
        if not isinstance(names, list) or len(names) < 2:
            raise UnknownNameError("two or more results are compared: choose them first")
        return {"task": self.tasks.compare([str(name) for name in names])}

    def cancel(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Interrupt a task."""
        self.tasks.cancel(str(data.get("task", "")))
        return {}

    def close(self) -> None:
        """End what reads models; tasks go on."""
        self.checker.close()
        self.previewer.close()
        self.tasks.close()


def application(studio: Studio) -> Any:
    """Return the server's application (ASGI): a page, its files, data as JSON, and pages of results."""
    guard = studio.guard
    responses = optional_module("starlette.responses", PURPOSE)
    routing = optional_module("starlette.routing", PURPOSE)
    applications = optional_module("starlette.applications", PURPOSE)
    concurrency = optional_module("starlette.concurrency", PURPOSE)

    def refuse(why: str, status: int = 403) -> Any:
        return responses.JSONResponse({"error": why}, status, headers=COMMON_HEADERS)

    async def show_page(request: Any) -> Any:
        token = request.query_params.get("token")
        if token is not None:
            foreign = guard.why_foreign({**request.headers, "sec-fetch-site": "none"})
            if foreign or not guard.is_token(token):
                return refuse(foreign or "this token is of another start of the studio")
            answer = responses.RedirectResponse("/", 303, headers=COMMON_HEADERS)
            answer.set_cookie(guard.cookie, token, httponly=True, samesite="strict", path="/")
            return answer
        why = guard.why_refused({**request.headers, "sec-fetch-site": "none"}, request.cookies, changes=False)
        if why:
            return refuse(why)
        return responses.HTMLResponse((PAGE / "studio.html").read_text("utf-8"), headers=COMMON_HEADERS)

    async def show_file(request: Any) -> Any:
        name = request.path_params["name"]
        why = guard.why_refused(request.headers, request.cookies, changes=False)
        if why or name not in PAGE_FILES:
            return refuse(why or f"there is no '{name}'", 403 if why else 404)
        return responses.Response(
            (PAGE / name).read_bytes(), media_type=PAGE_FILES[name], headers=COMMON_HEADERS
        )

    async def show_result(request: Any) -> Any:
        task, key = request.path_params["task"], request.path_params["key"]
        why = guard.why_no_result(request.headers, task, key)
        if why:
            return refuse(why)
        try:
            path = studio.tasks.file(task, request.path_params["inside"])
        except StrutError as error:
            return refuse(str(error), 404)
        return responses.FileResponse(
            path, headers={**COMMON_HEADERS, "Content-Security-Policy": RESULT_POLICY}
        )

    async def no_icon(_: Any) -> Any:
        return responses.Response(status_code=204, headers=COMMON_HEADERS)

    def answer_with(method: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Any:
        async def respond(request: Any) -> Any:
            why = guard.why_refused(request.headers, request.cookies, changes=True)
            if why:
                return refuse(why)
            try:
                data = await _json_body(request)
                result = await concurrency.run_in_threadpool(method, data)
            except StrutError as error:
                return refuse(str(error), 400)
            return responses.JSONResponse(result, headers=COMMON_HEADERS)

        return respond

    methods = (
        studio.overview,
        studio.state,
        studio.open,
        studio.save,
        studio.check,
        studio.look,
        studio.start,
        studio.compare,
        studio.cancel,
    )
    routes = [
        routing.Route("/", show_page),
        routing.Route("/page/{name}", show_file),
        routing.Route("/favicon.ico", no_icon),
        routing.Route("/results/{task}/{key}/{inside:path}", show_result),
        *(routing.Route(f"/api/{m.__name__}", answer_with(m), methods=["POST"]) for m in methods),
    ]
    return applications.Starlette(routes=routes)


async def _json_body(request: Any) -> dict[str, Any]:
    """The data of a request; raises `StorageError` where it is too much, or no object."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_REQUEST:
            raise StorageError(f"the request has more than {MAX_REQUEST} bytes")
    try:
        data = json.loads(body or b"{}")
    except ValueError as error:
        raise StorageError("the request is no JSON") from error
    if not isinstance(data, dict):
        raise StorageError("the request is no object")
    return data


def serve(
    workspace: Workspace,
    forms: Sequence[CommandForm],
    *,
    port: int = PORT,
    selected: str = "",
    on_ready: Callable[[str], None] = print,
) -> None:
    """Serve a studio until it is interrupted; tasks that run then go on.

    forms: what can be started. port: 0 for any that is free. selected: the file that is open at first.
    on_ready: called with the address, which holds the token.
    """
    uvicorn = optional_module("uvicorn", PURPOSE)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen()
    except OSError as error:
        raise StorageError(
            f"port {port} is taken ({error.strerror}), perhaps by another studio: give another, "
            f"--port {port + 1}"
        ) from error
    port = listener.getsockname()[1]
    guard = RequestGuard(port)
    studio = Studio(workspace, forms, guard, selected)
    server = uvicorn.Server(
        uvicorn.Config(
            application(studio), log_level="warning", lifespan="off", server_header=False, ws="none"
        )
    )
    on_ready(f"http://127.0.0.1:{port}/?token={guard.token}")
    try:
        server.run(sockets=[listener])
    finally:
        studio.close()

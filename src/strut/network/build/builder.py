"""Runs the statements of a file: makes and opens objects, applies templates, reads other files.

A block is run for all its objects at once, statement by statement; each object has its own context.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from strut.errors import did_you_mean
from strut.network.build.context import Context, DefineScope, plain_expansion
from strut.network.build.defines import DefineStatements
from strut.network.build.edges import EdgeStatements
from strut.network.build.parts import PartStatements
from strut.network.build.selected import Selected
from strut.network.build.statement_runner import MAX_INCLUDE_DEPTH, Place
from strut.network.build.templates import add_child, apply, delete, set_function, unapply
from strut.network.model import (
    Node,
    Object,
)
from strut.network.text import statements as s
from strut.network.text.errors import LimitExceeded, Mark, Mistake, NetworkError, NetworkProblem, Source
from strut.network.text.limits import check_text
from strut.network.text.parse import parse, parse_once


class Builder(EdgeStatements, PartStatements, DefineStatements):
    """Builds a network: it has a method for each kind of statement, of which `HANDLERS` has the list."""

    def run_text(self, source: Source) -> None:
        """Run a whole text at the root. Raises `NetworkError`, which lists all mistakes."""
        try:
            check_text(source)
        except LimitExceeded as mistake:
            raise NetworkError([mistake.problem]) from mistake
        self.run(parse(source), [Place(self.root, Context(self.scope))])
        if self.problems:
            raise NetworkError(self.problems)

    def handle(self, statement: s.Statement, places: list[Place]) -> None:
        """Run one statement by the method for its kind."""
        HANDLERS[type(statement)](self, statement, places)

    # ---- blocks ----

    def block(self, statement: s.StatementBlock, places: list[Place]) -> None:
        """Run a block: what stands in 'templates' goes below the root of templates, all else where it
        stands."""
        if statement.kind == "templates":  # inside of a template it means that template
            inside = [p for p in places if self.select.is_template(p.thing)]
            top = [Place(self.templates, p.context.inner()) for p in places[:1]]
            self.run(statement.body, inside if inside and inside[0].thing is not self.templates else top)
        elif statement.kind == "integrator":
            self._set_integrator(statement, places)
        else:
            self.run(statement.body, [Place(p.thing, p.context.inner()) for p in places])

    def _set_integrator(self, statement: s.StatementBlock, places: list[Place]) -> None:
        """Set what a block says about the integrator."""
        if len(places) != 1 or places[0].thing is not self.root:
            raise Mistake("the integrator belongs to the whole network: move it out of the block")
        for inner in statement.body:
            if (
                isinstance(inner, s.Assign)
                and inner.names[0] is not None
                and inner.values
                and inner.values[0] is not None
            ):
                name = self.texts.expand_one(inner.names[0].text.text, places[0].context)
                if name not in self.integrator:
                    raise Mistake(
                        f"the integrator has no '{name}': {did_you_mean(name, list(self.integrator))}",
                        inner.mark,
                    )
                self.integrator[name] = self.texts.expand_one(inner.values[0].text, places[0].context)
                self.integrator_marks[name] = inner.values[0].mark
            else:
                self.run([inner], places)

    def node(self, statement: s.NodeStatement, places: list[Place]) -> None:
        """Make or open nodes in every object of a block, apply templates, and run the body for them."""
        opened: list[Place] = []
        kind = Node if statement.kind == "node" else Object

        def open_nodes(k: int, place: Place) -> None:
            if statement.selector is not None:
                opened.extend(
                    Place(each.thing, each.context.within(each.context.scope))
                    for each in self.select.below(statement.selector, place.thing, place.context)
                    if isinstance(each.thing, kind)
                )
                return
            if not isinstance(place.thing, Node):
                raise Mistake(f"a node cannot be in {place.thing!r}: only nodes hold nodes")
            names = (
                [plain_expansion(place.thing.unique("object"))]
                if statement.name is None
                else self.texts.expand_all(statement.name.text, place.context)
            )
            for e in names:
                node = place.thing.children.get(e.text)
                if node is None:
                    node = self.new_node(e.text, place.thing, statement)
                if not isinstance(node, Node):
                    raise Mistake(f"'{e.text}' is an edge here: give the node another name")
                if statement.note:
                    node.note = statement.note
                opened.append(Place(node, place.context.push(e).within(place.context.scope)))

        self.for_each_place(places, statement.mark, open_nodes)
        self.apply_templates(statement.templates, opened)
        self.run(statement.body, opened)

    # ---- other texts ----

    def include(self, statement: s.IncludeStatement, places: list[Place]) -> None:
        """Run the statements of another file here."""
        self._include(statement.path, statement.mark, places, once=statement.once)

    def parse(self, statement: s.ParseStatement, places: list[Place]) -> None:
        """Run the statements of another file in a scope of its own, after the defines of a block."""
        inner = [Place(p.thing, p.context.inner()) for p in places]
        self.run(statement.body, inner)
        self._include(statement.path, statement.mark, inner, once=False)

    def _include(self, path: s.Text, mark: Mark, places: list[Place], *, once: bool) -> None:
        """Read a file and run its statements; with `once`, only if it was not read before. Its mistakes say
        where it was included. Raises `LimitExceeded` if it includes itself, or too many files."""
        if not places:
            return
        source = self.files.source(self.texts.expand_one(path.text, places[0].context), mark.source.name)
        if once and source.name in self.files_read:
            return
        # files that include themselves, and too many of them, are refused before they are parsed
        self.files_read.add(source.name)
        self.includes.add(source, mark)
        if (
            source.name in (place.split(":")[0] for place in self.include_stack)
            or len(self.include_stack) > MAX_INCLUDE_DEPTH
        ):
            raise LimitExceeded(
                f"'{source.name}' includes itself: {' -> '.join([*self.include_stack, source.name])}", mark
            )
        self.include_stack.append(source.name)
        try:
            try:
                statements = parse_once(source)
            except NetworkError as error:
                self.problems.extend(
                    NetworkProblem(p.message, p.mark, (*p.trail, f"included from {mark}"))
                    for p in error.problems
                )
                return
            self.run(statements, places)
        finally:
            self.include_stack.pop()

    def import_(self, statement: s.ImportStatement, places: list[Place]) -> None:
        """Build another file as a network of its own, and put what it made below a node here; its templates
        go below a template of the same name."""

        def import_into(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"nothing can be imported into {place.thing!r}")
            source = self.files.source(
                self.texts.expand_one(statement.path.text, place.context), statement.mark.source.name
            )
            if len(self.include_stack) > MAX_INCLUDE_DEPTH or source.name in self.include_stack:
                raise LimitExceeded(
                    f"'{source.name}' imports itself: {' -> '.join([*self.include_stack, source.name])}"
                )
            other = self._build_file(source, place.context, statement.mark)
            for e in self.texts.expand_all(statement.name.text, place.context):
                if not self.select.is_template(place.thing) and place.thing is not self.templates:
                    _adopt(other.root, into=place.thing, name=e.text, mark=statement.mark)
                _adopt(other.templates, into=self.templates, name=e.text, mark=statement.mark)

        self.for_each_place(places, statement.mark, import_into)

    def _build_file(self, source: Source, context: Context, mark: Mark) -> Builder:
        """Build an imported file; limits count it together with this one. Its mistakes say where it was
        imported."""
        self.includes.add(source, mark)
        other = Builder(self.files, source.name)
        other.includes = self.includes
        other.include_stack = [*self.include_stack, source.name]
        other.scope = DefineScope(context.scope)
        other.objects = self.objects
        try:
            other.run_text(source)
        except NetworkError as error:
            problems = [
                NetworkProblem(p.message, p.mark, (*p.trail, f"imported from {mark}")) for p in error.problems
            ]
            raise NetworkError([*self.problems, *problems]) from error
        self.objects = other.objects
        return other

    def link(self, statement: s.LinkStatement, places: list[Place]) -> None:
        """Warn: plug-ins are not loaded."""
        self.warnings.append(
            NetworkProblem("plug-ins are programs and not loaded: 'link-library' is left out", statement.mark)
        )

    # ---- what is there ----

    def debug(self, statement: s.DebugStatement, places: list[Place]) -> None:
        """Add a line to `debug_output` for every object of a block."""
        for place in places:
            if isinstance(statement.what, s.Selector):
                selection = self.select.below(statement.what, place.thing, place.context)
                names = ", ".join(each.thing.name for each in selection)
                self.debug_output.append(f"{statement.mark}: {names}")
            elif statement.what is not None:
                self.debug_output.append(
                    f"{statement.mark}: {self.texts.expand_one(statement.what.text, place.context)}"
                )
            else:
                self.debug_output.append(f"{statement.mark}: {place.context.trail()}")

    def delete(self, statement: s.DeleteStatement, places: list[Place]) -> None:
        """Take out what selectors find; warn if one finds nothing."""
        for place in places:
            for selector in statement.selectors:
                selection = self.select.below(selector, place.thing, place.context)
                if not selection:
                    self.warnings.append(
                        NetworkProblem(
                            f"nothing is deleted: '{selector.text}' is not in {place.thing!r}", selector.mark
                        )
                    )
                for each in selection:
                    delete(each.thing)

    def apply(self, statement: s.ApplyStatement, places: list[Place]) -> None:
        """Apply templates to what a selector finds, or remove them; warn if it finds nothing."""
        for place in places:
            targets = (
                [Selected(place.thing, place.context)]
                if statement.to is None
                else self.select.below(statement.to, place.thing, place.context)
            )
            if not targets and statement.to is not None:
                message = f"nothing is done: '{statement.to.text}' is not in {place.thing!r}"
                self.warnings.append(NetworkProblem(message, statement.to.mark))
            for target in targets:
                if not isinstance(target.thing, Object):
                    raise Mistake(f"'{target.thing.name}' is no node or edge: templates are of these")
                templates = self.select.find_templates(statement.templates, target)
                if not templates:
                    what = self.missing_template_message(statement.templates, target)
                    raise Mistake(f"the selector finds no template: {what}", statement.templates.mark)
                for each in templates:
                    assert isinstance(each.thing, Object)
                    (unapply if statement.undo else apply)(each.thing, target.thing)

    # ---- drawing ----

    def layout(self, statement: s.LayoutStatement, places: list[Place]) -> None:
        """Run the positions in a layout."""
        self.run(statement.body, places)

    def position(self, statement: s.Position, places: list[Place]) -> None:
        """Give objects their places in a drawing."""
        for place in places:
            selection = [Selected(place.thing, place.context)]
            if statement.selector is not None:
                selection = self.select.below(statement.selector, place.thing, place.context)
            for k, each in enumerate(each for each in selection if isinstance(each.thing, Object)):
                x, y = statement.x[k % len(statement.x)], statement.y[k % len(statement.y)]
                if x is None or y is None:
                    continue
                assert isinstance(each.thing, Object)
                at = [self.texts.calculate(self.texts.expand_one(v.text, each.context)) for v in (x, y)]
                each.thing.place = self._drawing_place(statement, at, thing=place.thing, context=each.context)

    def _drawing_place(
        self, statement: s.Position, at: list[float], thing: Object, context: Context
    ) -> tuple[float, float]:
        """Return the place of an object in a drawing: polar coordinates become x and y, and what they are
        relative to is added, if it has a place."""
        x, y = at
        if statement.polar:
            x, y = x * math.cos(y), x * math.sin(y)
        if statement.of is not None:
            around = [
                o.thing
                for o in self.select.below(statement.of, thing, context)
                if isinstance(o.thing, Object)
            ]
            if around and around[0].place is not None:
                x, y = x + around[0].place[0], y + around[0].place[1]
        return (x, y)


def _adopt(root: Node, into: Node, name: str, mark: Mark) -> None:
    """Put everything below the root of an imported network into a node of that name; make the node if there
    is none."""
    node = into.children.get(name)
    if not isinstance(node, Node):
        node = Node(name, None, mark)
        node.is_import = True
        add_child(into, node)
    for child in list(root.children.values()):
        if child.name not in node.children:
            add_child(node, child)
    for function in root.functions.values():
        function.owner = node
        set_function(node, function)


HANDLERS: dict[type[s.Statement], Callable[[Builder, Any, list[Place]], None]] = {
    s.StatementBlock: Builder.block,
    s.NodeStatement: Builder.node,
    s.EdgeStatement: Builder.edge,
    s.Assign: Builder.assign,
    s.SetStatement: Builder.set,
    s.FunctionStatement: Builder.function,
    s.PolynomialStatement: Builder.polynomial,
    s.InterfaceStatement: Builder.interface,
    s.Expose: Builder.expose,
    s.EventStatement: Builder.event,
    s.InitialStatement: Builder.initial,
    s.IoStatement: Builder.io,
    s.DefinesStatement: Builder.defines,
    s.DefineStatement: Builder.define,
    s.IncludeStatement: Builder.include,
    s.ParseStatement: Builder.parse,
    s.ImportStatement: Builder.import_,
    s.LinkStatement: Builder.link,
    s.DebugStatement: Builder.debug,
    s.DeleteStatement: Builder.delete,
    s.ApplyStatement: Builder.apply,
    s.LayoutStatement: Builder.layout,
    s.Position: Builder.position,
}
"""The method that runs each kind of statement; it takes statements of that kind only."""

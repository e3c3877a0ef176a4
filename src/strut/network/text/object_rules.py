"""Rules of the grammar for what a network is made of: nodes, edges, interfaces, tables, events."""

from __future__ import annotations

from lark import Token

from strut.network.text import statements as s
from strut.network.text.lexer import Word
from strut.network.text.rule_parts import (
    Parts,
    SelectorList,
    StateNames,
    TemplateList,
    body_of,
    first_of,
    head_of,
    is_value,
    text_of,
    word_kinds,
)


class ObjectRules:
    """Nodes and edges, and the parts of nodes that are statements of their own."""

    # ---- nodes and edges ----

    def attribute(self, parts: Parts) -> s.EdgeAttribute:
        """Read one of `bidirectional`, `no-self` and `probability(p)`."""
        return s.EdgeAttribute(parts[0].type, [text_of(p) for p in parts[1:] if is_value(p)])

    def attributes(self, parts: Parts) -> s.Attributes:
        """Read `<...>` before a node or an edge."""
        attributes = s.Attributes(note=parts[0].note)
        for part in parts:
            if isinstance(part, s.EdgeAttribute):
                if part.kind == "BIDIRECTIONAL":
                    attributes.bidirectional = True
                elif part.kind == "NO_SELF":
                    attributes.no_self = True
                else:
                    attributes.probability = part.values[0]
        return attributes

    def template_list(self, parts: Parts) -> TemplateList:
        """Read `: a, b`, the templates of an object."""
        return TemplateList(p for p in parts if isinstance(p, SelectorList))

    def node(self, parts: Parts) -> s.NodeStatement:
        """Read `node "name" : templates { ... }`, or a selector instead of the name."""
        head = next(p for p in parts if isinstance(p, Token) and p.type == "NODE")
        return s.NodeStatement(
            name=_name_of(parts),
            selector=first_of(parts, s.Selector),
            templates=list(first_of(parts, TemplateList) or ()),
            body=body_of(parts),
            **head_of(head),
        )

    def object(self, parts: Parts) -> s.NodeStatement:
        """Read `object selector { ... }`, which opens nodes and edges alike."""
        return s.NodeStatement(
            name=None,
            selector=first_of(parts, s.Selector),
            templates=list(first_of(parts, TemplateList) or ()),
            body=body_of(parts),
            kind="object",
            **head_of(parts[0]),
        )

    def edge(self, parts: Parts) -> s.EdgeStatement:
        """Read `edge "name" from a to b : templates { ... }`, or a selector instead of name and ends."""
        head = next(p for p in parts if isinstance(p, Word) and p.type == "EDGE")
        attributes = first_of(parts, s.Attributes) or s.Attributes()
        return s.EdgeStatement(
            name=_name_of(parts),
            selector=first_of(parts, s.Selector),
            connect=first_of(parts, s.EdgeEnds),
            attributes=attributes,
            states=first_of(parts, StateNames),
            templates=list(first_of(parts, TemplateList) or ()),
            body=body_of(parts),
            mark=head.mark,
            note=attributes.note or head.note,
        )

    edge_selected = edge

    def connect_pairs(self, parts: Parts) -> s.EdgeEnds:
        """Read `from a to b`."""
        return s.EdgeEnds("from", [parts[1], parts[3]])

    def connect_all(self, parts: Parts) -> s.EdgeEnds:
        """Read `all a`: every node with every other."""
        return s.EdgeEnds("all", [parts[1]])

    def connect_on(self, parts: Parts) -> s.EdgeEnds:
        """Read `on a`: every node with itself."""
        return s.EdgeEnds("on", [parts[1]])

    # ---- interfaces and tables ----

    def expose(self, parts: Parts) -> s.Expose:
        """Read `name = variable in child`, a name of an interface."""
        return s.Expose(
            name=text_of(parts[0]),
            operator=str(parts[1]),
            variable=text_of(parts[2]),
            child=text_of(parts[4]),
            **head_of(parts[0]),
        )

    def interface(self, parts: Parts) -> s.InterfaceStatement:
        """Read `interface { ... }`."""
        return s.InterfaceStatement(body_of(parts), **head_of(parts[0]))

    def setting_pair(self, parts: Parts) -> s.Setting:
        """Read `name = value` among settings."""
        return s.Setting(text_of(parts[0]), list(parts[2]))

    def settings(self, parts: Parts) -> list[s.Setting]:
        """Read `settings { ... }` of a table."""
        return [p for p in parts if isinstance(p, s.Setting)]

    def io(self, parts: Parts) -> s.IoStatement:
        """Read `input "name" type "file" { ... }`, or `output`, or `io`."""
        return s.IoStatement(
            direction=str(parts[0]).lower(),
            name=text_of(parts[1]),
            kind=text_of(parts[3]),
            settings=[setting for p in parts if isinstance(p, list) for setting in p],
            body=body_of(parts),
            **head_of(parts[0]),
        )

    # ---- events ----

    def event(self, parts: Parts) -> s.EventStatement:
        """Read `event a to b when condition within tolerance { ... }`."""
        kinds = word_kinds(parts)
        source, target = parts[1], parts[kinds.index("TO") + 1]
        return s.EventStatement(
            states=None if source.type == "ANY" else text_of(source),
            target=None if target.type in ("ANY", "TERMINATE") else text_of(target),
            terminal=target.type == "TERMINATE",
            condition=text_of(parts[kinds.index("WHEN") + 1]),
            within=_tolerance(parts),
            body=body_of(parts),
            **head_of(parts[0]),
        )

    def event_always(self, parts: Parts) -> s.EventStatement:
        """Read `event when condition { ... }`, an event in every state."""
        return s.EventStatement(
            states=None,
            target=None,
            terminal=False,
            condition=text_of(parts[2]),
            within=_tolerance(parts),
            body=body_of(parts),
            **head_of(parts[0]),
        )

    def initial(self, parts: Parts) -> s.InitialStatement:
        """Read `initial-state "name"`."""
        return s.InitialStatement(list(parts[1]), **head_of(parts[0]))


def _name_of(parts: Parts) -> s.Text | None:
    """Return the name of an object: the first value among the parts of its rule."""
    return next((text_of(p) for p in parts if is_value(p)), None)


def _tolerance(parts: Parts) -> s.Text | None:
    """Return what stands behind `within` in an event, if it is there."""
    kinds = word_kinds(parts)
    return text_of(parts[kinds.index("WITHIN") + 1]) if "WITHIN" in kinds else None

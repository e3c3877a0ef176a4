"""What lark finds, made into statements: one method per rule of the grammar."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token, Transformer

from strut.network.text import statements as s
from strut.network.text.lexer import Word

VALUES = ("STRING", "ID", "NUMBER", "REFERENCE", "CALCULATION", "CHOICE")


class _Flags(tuple):
    __slots__ = ()


class _States(list):
    __slots__ = ()


class _TemplateList(list):
    __slots__ = ()


class _Selectors(list):
    __slots__ = ()


class _Values(list):
    __slots__ = ()


class _Primes(int):
    __slots__ = ()


class _Index(str):
    __slots__ = ()


class _Constraint(tuple):
    __slots__ = ()


class _Implicit(list):
    __slots__ = ()


class _Label(str):
    __slots__ = ()


def _text(word: Any) -> s.Text:
    """A word as a text without quotes."""
    return s.Text(word[1:-1] if word.type == "STRING" else str(word), word.mark)


def _as_text(part: Any) -> s.Text:
    return part if isinstance(part, s.Text) else _text(part)


def _is_value(part: Any) -> bool:
    return isinstance(part, Token) and part.type in VALUES


def _texts(parts: list) -> list[s.Text]:
    return [_as_text(p) for p in parts if _is_value(p) or isinstance(p, s.Text)]


def _first(parts: list, kind: type, default: Any = None) -> Any:
    return next((p for p in parts if isinstance(p, kind)), default)


def _body(parts: list) -> list[s.Statement]:
    return [p for p in parts if isinstance(p, s.Statement)]


def _head(part: Any) -> dict[str, Any]:
    """Where a statement begins, and the annotation before it."""
    if isinstance(part, Word):
        return {"mark": part.mark, "note": part.note}
    while isinstance(part, (list, tuple)) and part:
        part = next((p for p in part if p is not None), None)
    if isinstance(part, s.NameText):
        return {"mark": part.text.mark, "note": part.note}
    return {"mark": part.mark, "note": getattr(part, "note", "")}  # type: ignore[union-attr]


def _entries(parts: list) -> list:
    """The entries of a list in brackets; what is left out is None."""
    return [p for p in parts if not (isinstance(p, Token) and p.type in ("LSQ", "RSQ", "COMMA"))]


class Statements(Transformer):
    """Makes statements while lark reads."""

    def start(self, parts: list) -> list[s.Statement]:
        return _body(parts)

    def block(self, parts: list) -> s.StatementBlock:
        return s.StatementBlock("scope", _body(parts), **_head(parts[0]))

    def templates(self, parts: list) -> s.StatementBlock:
        return s.StatementBlock("templates", _body(parts), **_head(parts[0]))

    def integrator(self, parts: list) -> s.StatementBlock:
        return s.StatementBlock("integrator", _body(parts), **_head(parts[0]))

    # ---- values and names ----

    def single(self, parts: list) -> _Values:
        return _Values([_text(parts[0])])

    def values(self, parts: list) -> _Values:
        return _Values(None if p is None else _text(p) for p in _entries(parts))

    def soft(self, parts: list) -> Any:
        return parts[0]

    def primes(self, parts: list) -> _Primes:
        return _Primes(len(parts))

    def index(self, parts: list) -> _Index:
        return _Index(
            "".join(p[1:-1] if isinstance(p, Token) and p.type == "STRING" else str(p) for p in parts)
        )

    def name(self, parts: list) -> s.NameText:
        text = _text(parts[0])
        return s.NameText(text, int(_first(parts, _Primes, 0)), str(_first(parts, _Index, "")), parts[0].note)

    def names(self, parts: list) -> list:
        return list(_entries(parts))

    # ---- variables, actions, functions ----

    def assignment(self, parts: list) -> Any:
        return parts[0]

    def assign(self, parts: list) -> s.Assign:
        names = parts[0] if isinstance(parts[0], list) else [parts[0]]
        return s.Assign(
            names,
            str(parts[1]),
            list(parts[2]),
            tuple(_first(parts, _Flags, ())),
            _first(parts, _Constraint),
            _first(parts, _States),
            **_head(parts[0]),
        )

    def flag_assignment(self, parts: list) -> s.Assign:
        names = parts[0] if isinstance(parts[0], list) else [parts[0]]
        return s.Assign(names, flags=tuple(parts[1]), has_values=False, **_head(parts[0]))

    def flags(self, parts: list) -> _Flags:
        return _Flags(p for p in parts if not isinstance(p, Token))

    def flag(self, parts: list) -> tuple[str, str]:
        sign = "-" if parts[0].type == "MINUS" else "+"
        return (sign, str(parts[-1]).lower())

    def constraint(self, parts: list) -> _Constraint:
        kind = next((str(p) for p in parts if isinstance(p, Token) and p.type in ("COMMA", "COLON")), "")
        return _Constraint((kind, tuple(_texts(parts))))

    def state(self, parts: list) -> _States:
        return _States(parts[1])

    def argument(self, parts: list) -> tuple[str, s.Text, s.Text | None]:
        name, primes = _text(parts[0]), int(_first(parts, _Primes, 0))
        default = _text(parts[-1]) if isinstance(parts[-2] if len(parts) > 1 else None, Token) else None
        return ("", replace(name, text=name.text + "'" * primes) if primes else name, default)

    def caller(self, parts: list) -> tuple[str, s.Text, s.Text | None]:
        default = _text(parts[-1]) if len(parts) > 2 and parts[-2].type == "EQUALS" else None
        dotted = len(parts) > 2 and parts[1].type == "DOT"
        return (str(parts[0]).lower() if dotted else "", _text(parts[2 if dotted else 0]), default)

    def implicit(self, parts: list) -> _Implicit:
        return _Implicit(p for p in parts if isinstance(p, tuple))

    def function(self, parts: list) -> s.FunctionStatement:
        return s.FunctionStatement(
            _text(parts[0]),
            int(_first(parts, _Primes, 0)),
            [p for p in parts if type(p) is tuple],
            list(_first(parts, _Implicit, [])),
            str(parts[-2]),
            _text(parts[-1]),
            **_head(parts[0]),
        )

    def piece(self, parts: list) -> list[s.Text]:
        return [_text(p) for p in parts if _is_value(p)]

    def polynomial(self, parts: list) -> s.PolynomialStatement:
        return s.PolynomialStatement(
            _text(parts[1]), [p for p in parts if isinstance(p, list)], **_head(parts[0])
        )

    def set(self, parts: list) -> s.SetStatement:
        values = _first(parts, _Values)
        return s.SetStatement(
            list(parts[1]),
            None if values is None else list(values),
            tuple(_first(parts, _Flags, ())),
            **_head(parts[0]),
        )

    # ---- objects ----

    def attribute(self, parts: list) -> tuple[str, list[s.Text]]:
        return (parts[0].type, [_text(p) for p in parts[1:] if _is_value(p)])

    def attributes(self, parts: list) -> s.Attributes:
        found = s.Attributes()
        for part in parts:
            if isinstance(part, tuple):
                kind, values = part
                if kind == "BIDIRECTIONAL":
                    found.bidirectional = True
                elif kind == "NO_SELF":
                    found.no_self = True
                else:
                    found.probability = values[0]
        found.note = parts[0].note
        return found

    def template_list(self, parts: list) -> _TemplateList:
        return _TemplateList(p for p in parts if isinstance(p, _Selectors))

    def node(self, parts: list) -> s.NodeStatement:
        head = next(p for p in parts if isinstance(p, Token) and p.type == "NODE")
        name = next((p for p in parts if _is_value(p)), None)
        return s.NodeStatement(
            None if name is None else _text(name),
            _first(parts, s.Selector),
            list(_first(parts, _TemplateList, [])),
            _body(parts),
            **_head(head),
        )

    def object(self, parts: list) -> s.NodeStatement:
        return s.NodeStatement(
            None,
            _first(parts, s.Selector),
            list(_first(parts, _TemplateList, [])),
            _body(parts),
            "object",
            **_head(parts[0]),
        )

    def edge(self, parts: list) -> s.EdgeStatement:
        head = next(p for p in parts if isinstance(p, Word) and p.type == "EDGE")
        name = next((p for p in parts if _is_value(p)), None)
        connect = next((p for p in parts if type(p) is tuple), None)
        attributes = _first(parts, s.Attributes) or s.Attributes()
        return s.EdgeStatement(
            None if name is None else _text(name),
            _first(parts, s.Selector),
            connect,
            attributes,
            _first(parts, _States),
            list(_first(parts, _TemplateList, [])),
            _body(parts),
            mark=head.mark,
            note=attributes.note or head.note,
        )

    edge_selected = edge

    def connect_pairs(self, parts: list) -> tuple[str, list]:
        return ("from", [parts[1], parts[3]])

    def connect_all(self, parts: list) -> tuple[str, list]:
        return ("all", [parts[1]])

    def connect_on(self, parts: list) -> tuple[str, list]:
        return ("on", [parts[1]])

    def expose(self, parts: list) -> s.Expose:
        return s.Expose(_text(parts[0]), str(parts[1]), _text(parts[2]), _text(parts[4]), **_head(parts[0]))

    def interface(self, parts: list) -> s.InterfaceStatement:
        return s.InterfaceStatement(_body(parts), **_head(parts[0]))

    interface_block = block

    def setting_pair(self, parts: list) -> tuple[list, list]:
        return ([_text(parts[0])], list(parts[2]))

    def settings(self, parts: list) -> list:
        return [p for p in parts if isinstance(p, tuple)]

    def io(self, parts: list) -> s.IoStatement:
        settings = [pair for p in parts if isinstance(p, list) for pair in p]
        return s.IoStatement(
            str(parts[0]).lower(), _text(parts[1]), _text(parts[3]), settings, _body(parts), **_head(parts[0])
        )

    # ---- events ----

    def event(self, parts: list) -> s.EventStatement:
        kinds = [p.type if isinstance(p, Token) else "" for p in parts]
        to, when = kinds.index("TO"), kinds.index("WHEN")
        source, target = parts[1], parts[to + 1]
        within = _text(parts[kinds.index("WITHIN") + 1]) if "WITHIN" in kinds else None
        return s.EventStatement(
            None if source.type == "ANY" else _text(source),
            None if target.type in ("ANY", "TERMINATE") else _text(target),
            target.type == "TERMINATE",
            _text(parts[when + 1]),
            within,
            _body(parts),
            **_head(parts[0]),
        )

    def event_always(self, parts: list) -> s.EventStatement:
        kinds = [p.type if isinstance(p, Token) else "" for p in parts]
        within = _text(parts[kinds.index("WITHIN") + 1]) if "WITHIN" in kinds else None
        return s.EventStatement(None, None, False, _text(parts[2]), within, _body(parts), **_head(parts[0]))

    def initial(self, parts: list) -> s.InitialStatement:
        return s.InitialStatement(list(parts[1]), **_head(parts[0]))

    # ---- texts ----

    def define_names(self, parts: list) -> _Values:
        return _Values(None if p is None else _text(p) for p in _entries(parts))

    def define(self, parts: list) -> s.DefineStatement:
        names = list(parts[0]) if isinstance(parts[0], _Values) else [_text(parts[0])]
        value = parts[2]
        return s.DefineStatement(
            names, str(parts[1]), value if isinstance(value, s.Selector) else list(value), **_head(parts[0])
        )

    def defines(self, parts: list) -> s.DefinesStatement:
        return s.DefinesStatement(_body(parts), **_head(parts[0]))

    define_block = block

    def include(self, parts: list) -> s.IncludeStatement:
        return s.IncludeStatement(_text(parts[1]), parts[0].type == "REQUIRE", **_head(parts[0]))

    def link(self, parts: list) -> s.LinkStatement:
        return s.LinkStatement(_text(parts[1]), **_head(parts[0]))

    def parse(self, parts: list) -> s.ParseStatement:
        return s.ParseStatement(_text(parts[1]), _body(parts), **_head(parts[0]))

    def import_(self, parts: list) -> s.ImportStatement:
        return s.ImportStatement(_text(parts[1]), _text(parts[3]), **_head(parts[0]))

    def debug(self, parts: list) -> s.DebugStatement:
        what = parts[1]
        return s.DebugStatement(
            what if isinstance(what, s.Selector) else _text(what) if _is_value(what) else None,
            **_head(parts[0]),
        )

    def delete(self, parts: list) -> s.DeleteStatement:
        return s.DeleteStatement([p for p in parts if isinstance(p, s.Selector)], **_head(parts[0]))

    def apply(self, parts: list) -> s.ApplyStatement:
        found = [p for p in parts if isinstance(p, s.Selector)]
        return s.ApplyStatement(found[0], found[1] if len(found) > 1 else None, False, **_head(parts[0]))

    def unapply(self, parts: list) -> s.ApplyStatement:
        found = [p for p in parts if isinstance(p, s.Selector)]
        return s.ApplyStatement(found[0], found[1] if len(found) > 1 else None, True, **_head(parts[0]))

    def position(self, parts: list) -> s.Position:
        kinds = [p.type if isinstance(p, Token) else "" for p in parts]
        at = kinds.index("AT")
        of = parts[kinds.index("OF") + 1] if "OF" in kinds else None
        return s.Position(
            parts[0] if isinstance(parts[0], s.Selector) else None,
            list(parts[at + 1]),
            list(parts[at + 3]),
            of,
            kinds[at + 2] == "COLON",
            **_head(parts[0]),
        )

    def layout(self, parts: list) -> s.LayoutStatement:
        return s.LayoutStatement(_body(parts), **_head(parts[0]))

    layout_block = block

    # ---- selectors ----

    def mselector(self, parts: list) -> _Selectors:
        if isinstance(parts[0], s.Selector):
            return _Selectors(parts)
        return _Selectors(_entries(parts))

    def selector(self, parts: list) -> s.Selector:
        stages: list[s.SelectorStage] = []
        child = False
        for part in parts:
            if isinstance(part, Token) and part.type in ("BAR", "DOT"):
                child = part.type == "DOT"
                continue
            stage = (
                part
                if isinstance(part, s.SelectorStage)
                else s.SelectorStage("text", _text(part).text, part.mark)
            )
            stage.child = child
            child = False
            stages.append(stage)
        return s.Selector(tuple(stages), stages[0].mark)

    selector_na = selector

    def label(self, parts: list) -> _Label:
        return _Label(_text(parts[1]).text)

    def word(self, parts: list) -> Any:
        return parts[0]

    def pseudo(self, parts: list) -> s.SelectorStage:
        arguments = tuple(p for p in parts[1:] if isinstance(p, s.Selector)) if len(parts) > 1 else None
        return s.SelectorStage("word", str(parts[0]).lower(), parts[0].mark, arguments)

    def selector_argument(self, parts: list) -> s.Selector:
        part = parts[0]
        if isinstance(part, s.Selector):
            return part
        return s.Selector((s.SelectorStage("text", str(part).lower(), part.mark),), part.mark)

    def special(self, parts: list) -> s.SelectorStage:
        label = str(_first(parts, _Label, ""))
        last = parts[-1]
        if isinstance(last, s.SelectorStage):
            stage = last
        elif last.type == "REGEX":
            stage = s.SelectorStage("regex", last[1:-1], last.mark)
        else:
            stage = s.SelectorStage("text", _text(last).text, last.mark)
        stage.label = label
        return stage

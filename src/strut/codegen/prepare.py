"""`Prepared`: what depends on parameters alone, computed once per run by the C function `prepare`."""

from __future__ import annotations

from strut.codegen.c_tables import Tables


class Prepared:
    """What depends on parameters alone, computed once per run and kept behind them: p[NP], p[NP + 1], ...

    Equal expressions, of whatever function, are one entry.
    """

    def __init__(self, parameters: int) -> None:
        self.parameters = parameters
        self.statements: dict[str, str] = {}  # expression -> local name
        self.slots: dict[str, int] = {}  # local name -> place behind the parameters
        self.count = 0  # places behind the parameters
        self.loops: dict[str, int] = {}  # loop -> its first place
        self.tables = Tables("prepare")

    def hoist(self, text: str) -> str:
        """The local of `prepare` that holds `text`."""
        return self.statements.setdefault(text, f"q{len(self.statements)}")

    def place(self, local: str) -> str:
        """How other functions read a local of `prepare`."""
        return f"p[{self.slot(local)}]"

    def slot(self, local: str) -> int:
        """Where a local of `prepare` is kept, counted from the first parameter."""
        if local not in self.slots:
            self.slots[local] = self.count
            self.count += 1
        return self.parameters + self.slots[local]

    def block(self, text: str, size: int) -> int:
        """Where the first of `size` values is kept, of which the k-th is `text`."""
        key = f"for (int k = 0; k < {size}; k++) p[FIRST + k] = {text};"
        if key not in self.loops:
            self.loops[key] = self.parameters + self.count
            self.count += size
        return self.loops[key]

    def text(self, *, publish: bool = False) -> str:
        """The C function `prepare`. publish: it shows all of p to the members of a crew."""
        body = [
            f"    const strut_real {name} = {expression};" for expression, name in self.statements.items()
        ]
        body += [f"    p[{self.parameters + slot}] = {name};" for name, slot in self.slots.items()]
        body += [f"    {text.replace('FIRST', str(first))}" for text, first in self.loops.items()]
        body += ["    STRUT_PUBLISH(p);"] if publish else []
        body = body or ["    (void)p;"]
        return (
            self.tables.text()
            + "STRUT_FN void STRUT_(prepare)(strut_real *p)\n{\n"
            + "\n".join(body)
            + "\n}\n"
        )

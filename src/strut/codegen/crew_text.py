"""The C++ of functions that a crew does: an entry that hands arguments over, and what each member does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import casadi as ca

from strut.codegen.c import SCALARS, c_dialect, function_text
from strut.codegen.crew import PIECE_PHASES, Places, SharedOut, find_places, share_out
from strut.codegen.find_loops import roll_loops
from strut.codegen.instructions import AssignmentLine, straight_line
from strut.codegen.prepare import Prepared

MIN_STATEMENTS = 1000
"""Statements of a function below which the members of a crew would wait longer than they work."""
GROUPS = 2
"""Warps of a member, of 32 runs each: they execute the same instructions, which are fetched once."""
RUNS_PER_BLOCK = 32 * GROUPS
"""Runs that a crew does at once, one in each thread of a member."""
NEAR_NUMBERS = 430
"""Numbers of each run, at most, in the memory that a block shares: those of its 64 runs fill 215 KiB. Where
parameters alone are more, a member has one warp, and each run room for twice as many."""


@dataclass(frozen=True)
class _Share:
    """A function that is shared out: its name, arguments, results with their sizes, and who does what."""

    name: str
    inputs: tuple[str, ...]
    results: dict[str, int]
    out: SharedOut


@dataclass
class CrewText:
    """Writes the long functions of a system for a crew of so many members.

    sizes: of the system. near_numbers: see `NEAR_NUMBERS`.
    """

    sizes: dict[str, int]
    members: int
    prepared: Prepared
    near_numbers: int = NEAR_NUMBERS
    names: list[str] = field(default_factory=list)
    shares: list[_Share] = field(default_factory=list)
    _text: str = ""

    def argument_sizes(self) -> dict[str, int]:
        """How many numbers each argument has; parameters, and what is prepared of them, lie behind."""
        of = {"x": "NX", "z": "NZ", "u": "NU", "dx": "NX", "random": "NR", "d": "ND"}
        return {"t": 1, **{name: self.sizes[size] for name, size in of.items()}}

    def argument_places(self) -> dict[str, int]:
        """Where each argument begins among the near numbers of a run."""
        ends = accumulate(self.argument_sizes().values(), initial=0)
        return dict(zip([*self.argument_sizes(), "p"], ends, strict=True))

    def write(
        self, f: ca.Function, name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]
    ) -> str | None:
        """Return the C of a function; None where it is too short to be done together, or a loss."""
        c = c_dialect(inputs, outputs)
        if not {"p", *self.argument_sizes()}.issuperset(inputs):
            return None
        if f.n_instructions() < MIN_STATEMENTS or roll_loops(f, name, c, inputs, self.prepared):
            return None
        number = len(self.names)
        self.names.append(name)
        at = inputs.index("p") if "p" in inputs else -1
        body = straight_line(f, name, c, self.prepared, at, share_inverses=True)
        results = {n: f.numel_out(k) for k, n in enumerate(outputs)}
        self.shares.append(_Share(name, inputs, results, share_out(body, self.members)))
        return self._entry_text(number, name, inputs, results)

    def _entry_text(self, number: int, name: str, inputs: tuple[str, ...], results: dict[str, int]) -> str:
        """The function that threads with a run call: it hands arguments over and takes results."""
        lines = ["const strut_column near = {strut_near()};"]
        places, sizes = self.argument_places(), self.argument_sizes()
        for n in inputs:
            if n in SCALARS:
                lines.append(f"near[{places[n]}] = {n};")
            elif n != "p" and sizes[n]:
                lines.append(f"for (int k = 0; k < {sizes[n]}; k++) near[{places[n]} + k] = {n}[k];")
        lines.append(f"STRUT_(serve)({number});")
        for n, at in _begin_each(results).items():
            lines.append(
                f"for (int k = 0; k < {results[n]}; k++) out_{n}[k] = near[STRUT_NEAR_RESULTS + {at} + k];"
            )
        return function_text(name, inputs, [f"out_{n}" for n in results], lines, kind="STRUT_CALLED")

    def sizes_text(self) -> str:
        """C that defines how many numbers of a run lie where; once all functions are written."""
        parameters = self.sizes["NP"] + self.prepared.count
        results_at = self.argument_places()["p"] + parameters
        slots_at = results_at + max((sum(share.results.values()) for share in self.shares), default=0)
        groups = GROUPS if slots_at <= self.near_numbers else 1
        room = max(0, self.near_numbers * GROUPS // groups - slots_at)
        written = [_share_text(share, self.argument_places(), room) for share in self.shares]
        self._text = "\n".join(text for text, _, _ in written)
        near = slots_at + max((near for _, near, _ in written), default=0)
        far = max((far for _, _, far in written), default=0)
        numbers = {
            "CREW": self.members,
            "GROUPS": groups,
            "NEAR_P": self.argument_places()["p"],
            "NEAR_RESULTS": results_at,
        }
        numbers |= {"FUNCTIONS": len(self.names), "NEAR_PLACES": slots_at, "NEAR": near, "FAR": far}
        return "".join(f"#define STRUT_{name} {number}\n" for name, number in numbers.items())

    def shares_text(self) -> str:
        """C++ of what each member does, behind all functions."""
        cases = [f"    case {k}: STRUT_({name}_share)<ME>(); break;" for k, name in enumerate(self.names)]
        body = ["    switch (what) {", *cases, "    default: break;", "    }"]
        head = "template <int ME> STRUT_FN void STRUT_(do_share)(int what)"
        return "\n".join([self._text, head, "{", *body, "}\n"])


def _begin_each(results: dict[str, int]) -> dict[str, int]:
    """Where each result begins among all."""
    return dict(zip(results, accumulate(results.values(), initial=0), strict=False))


def _share_text(share: _Share, places: dict[str, int], room: int) -> tuple[str, int, int]:
    """The templates of a member's share, of a few phases each, and how many places near and far it needs."""
    begins = {n: str(places[n]) for n in share.inputs}
    begins |= {f"out_{n}": f"STRUT_NEAR_RESULTS + {at}" for n, at in _begin_each(share.results).items()}
    head = ["const strut_column numbers = {strut_near()}, far = {strut_far()};"]
    for n, at in begins.items():
        if n in SCALARS:
            head.append(f"const strut_real {n} = numbers[{at}];")
        else:
            head.append(f"const strut_column {n} = {{&numbers[{at}]}};")
    head.append("const strut_column near = {&numbers[STRUT_NEAR_PLACES]};")
    text = ""
    pieces, near, far = share_lines(share.out, room)
    for k, lines in enumerate(pieces):
        body = "\n".join(f"    {line}" for line in [*head, *lines])
        text += f"template <int ME> STRUT_PART void STRUT_({share.name}_share{k})(void)\n{{\n{body}\n}}\n"
    calls = "\n".join(f"    STRUT_({share.name}_share{k})<ME>();" for k in range(len(pieces)))
    text += f"template <int ME> STRUT_FN void STRUT_({share.name}_share)(void)\n{{\n{calls}\n}}\n"
    return text, near, far


def share_lines(out: SharedOut, room: int) -> tuple[list[list[str]], int, int]:
    """Return the lines of all members' shares, piece by piece, and how many places near and far they need."""
    places = find_places(out, room)
    crosses = {*places.near, *places.far}
    pieces: list[list[str]] = []
    for begin in range(0, len(out.phases), PIECE_PHASES):
        phases = out.phases[begin : begin + PIECE_PHASES]
        own_locals = {  # what a member needs in a later phase of the piece, and no other does
            n
            for s, phase in enumerate(phases, begin)
            for part in phase
            for line in part
            for n in line.reads
            if n in out.home and n not in crosses and out.home[n][0] != s
        }
        lines = [f"strut_real {name};" for name in sorted(own_locals)]
        for s, phase in enumerate(phases, begin):
            for m, part in enumerate(phase):
                lines += _part_lines(m, part, places, crosses, own_locals) if part else []
            if s + 1 < len(out.phases):
                lines.append("STRUT_MEET();")
        pieces.append(lines)
    return pieces, max(places.near.values(), default=-1) + 1, max(places.far.values(), default=-1) + 1


def _part_lines(
    m: int, part: Sequence[AssignmentLine], places: Places, crosses: set[str], own_locals: set[str]
) -> list[str]:
    """What member m does between two meetings."""
    own = {line.target for line in part if line.local}
    read = sorted({n for line in part for n in line.reads if n in crosses} - own)
    lines = [f"STRUT_MINE({m}) {{", *(f"    const strut_real {n} = {places.text(n)};" for n in read)]
    for line in part:
        new = "const strut_real " if line.local and line.target not in own_locals else ""
        lines.append(f"    {new}{line.target} = {line.expression};")
        if line.target in crosses:
            lines.append(f"    {places.text(line.target)} = {line.target};")
    return [*lines, "}"]

"""The closed loop: a machine with a table of its motion and a law that reads it, again a `System` without
inputs, which runs, repeats and is exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from strut.control.motion_table import DEGREE, MotionTable
from strut.control.observer import Observer
from strut.gait.exchange import mirrored_states, opposite_events
from strut.optimal.nlp.scheme import lagrange
from strut.optimal.walk.plan_pieces import PieceTable, PlanQuantities, fill_up
from strut.optimal.walk.with_plan import mirror_inputs
from strut.system import Discrete, Param, State, System, join, limit_between, release_disturbances, sx

CLOCK = "reference_clock"
"""The state that is the time since the step began, as the table of the motion counts it [s]."""


@dataclass(frozen=True, eq=False)
class FeedbackLaw:
    """What a table holds, and how inputs follow from it.

    signals: by piece, a row of signals at each place of its polynomial, the planned inputs first.
    feedback: what is added to the planned inputs, from the further signals and from the states as the gait
        sees them: mirrored in every other step of a machine with left and right, and how far it has come
        counted from where the step began.
    parameters: further numbers that it reads.
    limits: by input, the least and the largest that it can be; what is asked beyond it is cut off.
    observer: what estimates the states from sensors; None where all of them are measured.
    """

    signals: list[np.ndarray]
    feedback: Callable[[ca.SX, ca.SX], ca.SX]
    parameters: tuple[Param, ...] = ()
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    observer: Observer | None = None


def close_loop(table: MotionTable, law: FeedbackLaw) -> System:
    """Return the machine with its motion and the law that holds it. It begins where the gait does."""
    return _ClosedLoop(table, law).build()


@dataclass(frozen=True, eq=False)
class _ClosedLoop:
    """A loop that is being closed."""

    table: MotionTable
    law: FeedbackLaw
    mirrored: Discrete | None = field(init=False)
    origins: tuple[Discrete, ...] = field(init=False)
    seen: ca.SX = field(init=False)
    pieces: PieceTable = field(init=False)
    holder: PlanQuantities = field(init=False)

    def __post_init__(self) -> None:
        motion = self.table.motion
        plant = motion.plant
        both_sides = len(motion.step_ends) > 1
        mirrored = (
            Discrete("reference_mirrored", 0.0, description="1 in a step of the mirror image", internal=True)
            if both_sides
            else None
        )
        seen, image, observer = plant.vector("x"), mirrored_states(plant), self.law.observer
        if observer is not None:
            seen, image = observer.believe([seen, image])
        if mirrored is not None:
            seen = ca.if_else(mirrored.sym, image, seen)
        # one number each: a section finds what is carried along with a machine among these
        origins = tuple(
            Discrete(
                f"step_origin_{name}",
                motion.gait.x0[name],
                "m",
                description=f"what {name} was when the step began",
                internal=True,
            )
            for name in (plant.labels("x")[place] for place in motion.cyclic)
        )
        signals = self.law.signals
        if observer is not None:
            signals = [np.hstack(rows) for rows in zip(signals, observer.signals, strict=True)]
        values = np.array([rows.reshape(-1) for rows in signals])
        object.__setattr__(self, "mirrored", mirrored)
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "origins", origins)
        object.__setattr__(self, "pieces", fill_up(values, self.table.times))
        object.__setattr__(self, "holder", self._quantities())

    @property
    def relative(self) -> ca.SX:
        """The states as the gait sees them, how far it has come counted from where the step began."""
        shift = ca.SX.zeros(self.seen.numel(), 1)
        for k, place in enumerate(self.table.motion.cyclic):
            shift[place] = self.origins[k].sym
        return self.seen - shift

    def _quantities(self) -> PlanQuantities:
        """What holds the table in the system."""
        table, pieces = self.table, self.pieces
        first = table.first[0]
        phase = None
        if table.index is not None:
            plant = table.motion.plant
            index = table.index if self.law.observer is None else self.law.observer.believe([table.index])[0]
            own = plant.vector("x") if self.law.observer is None else self.law.observer.state_vector
            phase = ca.substitute(index, own, self.relative)
        numbers = np.array(table.holds[:-1], dtype=float)
        return PlanQuantities(
            values=Param(
                "reference",
                pieces.values.reshape(-1),
                description="inputs, and what feedback reads",
                internal=True,
            ),
            times=Param("reference_times", pieces.times, "s" if phase is None else "", internal=True),
            used=Param("reference_pieces", pieces.used, internal=True),
            holds=Param("reference_holds", numbers, internal=True) if len(numbers) else None,
            clock=State(CLOCK, 0.0, "s", description="since the step began", internal=True)
            if phase is None
            else None,
            piece=Discrete("piece", float(first), description="of the reference", internal=True),
            begin=Discrete("piece_begin", pieces.times[first], "s" if phase is None else "", internal=True),
            end=Discrete("piece_end", pieces.times[first + 1], "s" if phase is None else "", internal=True),
            now=Discrete(
                "reference_now",
                pieces.values[first],
                description="signals at the places of the piece",
                internal=True,
            ),
            phase=phase,
        )

    def build(self) -> System:
        """Return the closed loop: the plant, its table and the law joined, with the events that move both."""
        motion, holder = self.table.motion, self.holder
        plant = motion.plant
        observer, width, count = self.law.observer, plant.size("u"), self.law.signals[0].shape[1]
        signals = holder.signals(lagrange(DEGREE))
        planned, feedback = signals[:width], self.law.feedback(signals[width:count], self.relative)
        inputs = {
            name: {n: sx(column[place]) for n, place in plant.slices("u").items() if n in plant_inputs(plant)}
            for name, column in (("planned", planned), ("feedback", feedback))
        }
        if self.mirrored is not None:
            inputs = {name: mirror_inputs(plant, each, self.mirrored.sym) for name, each in inputs.items()}
        asked = {n: inputs["planned"][n] + inputs["feedback"][n] for n in inputs["planned"]}
        connect = {n: limit_command(e, self.law.limits.get(n)) for n, e in asked.items()}
        if self.law.limits:
            inputs["cut_off"] = {n: asked[n] - connect[n] for n in self.law.limits}
        part = System(
            "reference",
            x=() if holder.clock is None else (holder.clock,),
            flow={} if holder.clock is None else {holder.clock: 1.0},
            z=(
                *(holder.piece, holder.begin, holder.end, holder.now),
                *self.origins,
                *(() if self.mirrored is None else (self.mirrored,)),
            ),
            p=(
                *(holder.values, holder.times, holder.used),
                *(() if holder.holds is None else (holder.holds,)),
                *self.law.parameters,
            ),
            symmetry={} if self.mirrored is None else {self.mirrored.name: 1 - self.mirrored.sym},
        )
        side = None if self.mirrored is None else self.mirrored.sym
        observers = () if observer is None else (observer.part(),)
        loop = join(
            plant.name,
            plant,
            part,
            *observers,
            connect=connect,
            couplings={} if observer is None else observer.rates(signals[count:], side),
            description=plant.description,
        )
        if observer is not None:
            loop = observer.with_resets(loop, signals[count:], side)
        units = {q.name: q.unit for q in plant.u}
        signal_outputs = {f"{n}_{name}": e for name, each in inputs.items() for n, e in each.items()}
        loop = loop.replace(
            scales=plant.scales,
            outputs={**loop.outputs, **signal_outputs},
            output_units={
                **loop.output_units,
                **{f"{n}_{name}": units[n] for name in inputs for n in inputs[name] if units[n]},
            },
        )
        return release_disturbances(self._with_events(loop))

    def _with_events(self, loop: System) -> System:
        """Return the loop whose events begin the phases of the motion."""
        motion, holder, count = self.table.motion, self.holder, self.pieces.count
        resets = {name: self._step_end_resets(loop, name) for name in motion.step_ends}
        internal = {phase.event for phase in motion.phases[:-1]} - {motion.gait.section}
        for name in internal:
            waiting = [k for k, phase in enumerate(motion.phases[:-1]) if phase.event == name]
            for each in (name, *opposite_events(loop, name)):
                if each not in resets:
                    resets[each] = self._phase_end_resets(loop, each, waiting)
        events = [
            replace(e, reset={**{k: sx(v) for k, v in e.reset.items()}, **resets[e.name]})
            if e.name in resets
            else e
            for e in loop.events
        ]
        return loop.replace(events=(*events, holder.next_piece_event(count)))

    def _step_end_resets(self, loop: System, event: str) -> dict[str, ca.SX]:
        """Return what an event that ends a step resets: the table begins anew, in the mirror image where
        there is one, and so does the count of how far it has come. Of several steps all but the last go on
        with the next one's piece of the table."""
        holder, count, motion = self.holder, self.pieces.count, self.table.motion
        mirroring = {} if self.mirrored is None else {self.mirrored.name: 1 - self.mirrored.sym}
        # what is read from the state after the event, is read through its reset
        reset = loop.event(event).reset
        states = [q for q in (*loop.x, *loop.z) if q.name in reset]
        old = [q.sym for q in states]
        new = [sx(reset[q.name]) for q in states]
        if self.mirrored is not None:
            old, new = [*old, self.mirrored.sym], [*new, 1 - self.mirrored.sym]
        changes = dict(mirroring)
        seen_after = ca.substitute([self.seen], old, new)[0]
        for origin, place in zip(self.origins, self.table.motion.cyclic, strict=True):
            changes[origin.name] = seen_after[place]
            old, new = [*old, origin.sym], [*new, changes[origin.name]]
        # of a gait of several steps, the phases after which another step follows
        waiting = [k for k, phase in enumerate(motion.phases[:-1]) if phase.event == motion.gait.section]
        if holder.clock is not None:
            anew = holder.first_piece(count)
            onwards = holder.next_phase(count, [ca.SX(self.table.holds[k]) for k in waiting] or [ca.SX(0)])
        else:
            after = ca.substitute([holder.index], old, new)[0]
            anew = holder.piece_at(self._piece_by_index(after, 0), count)
            number = holder.piece.sym
            for k in reversed(waiting):
                next_number = self._piece_by_index(after, k + 1)
                number = ca.if_else(holder.piece.sym <= self.table.holds[k] + 0.5, next_number, number)
            onwards = holder.piece_at(number, count)
        if waiting:
            is_last = holder.piece.sym > self.table.holds[waiting[-1]] + 0.5
            anew = {name: ca.if_else(is_last, value, onwards[name]) for name, value in anew.items()}
        return {**anew, **changes}

    def _phase_end_resets(self, loop: System, event: str, waiting: list[int]) -> dict[str, ca.SX]:
        """Return what an event resets that ends the next of some phases: the one after that begins."""
        holder, count, holds = self.holder, self.pieces.count, self.table.holds
        if holder.clock is not None:
            return holder.next_phase(count, [ca.SX(holds[k]) for k in waiting])
        value, number = loop.after(event, holder.index), holder.piece.sym
        for k in reversed(waiting):
            number = ca.if_else(
                holder.piece.sym <= holds[k] + 0.5, self._piece_by_index(value, k + 1), number
            )
        return holder.piece_at(number, count)

    def _piece_by_index(self, value: ca.SX, phase: int) -> ca.SX:
        """Return the number of the piece of a phase in which the index has this value."""
        begin = self.table.holds[phase - 1] + 1 if phase else 0
        ends = [self.holder.times.sym[k + 1] for k in range(begin, self.table.holds[phase])]
        return sum((sx(value >= end) for end in ends), ca.SX(begin))


def limit_command(command: ca.SX, limits: tuple[float, float] | None) -> ca.SX:
    """Return a command between the least and the largest that an input can be."""
    return command if limits is None else limit_between(command, *limits)


def plant_inputs(plant: System) -> tuple[str, ...]:
    """Return the names of inputs, each once, vectors included."""
    return tuple(q.name for q in plant.u)


__all__ = ["CLOCK", "FeedbackLaw", "close_loop"]

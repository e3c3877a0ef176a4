"""Port-based curve tracking (Duindam, section 5.2): a machine follows a field of directions, by forces that
move its energy about and hardly add to it."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from strut.actuator import drives
from strut.checks import checked, finite
from strut.control.curve_field import Field
from strut.errors import ModelError, ValueRangeError
from strut.system import Ledger, Param, System, join, sx


@checked
def port_tracking(
    system: System,
    field: Field,
    *,
    transfer: float = 0.1,
    smoothing: float = 1e-3,
    compensate: bool = True,
    energy: float | None = None,
    energy_gain: float = 1.0,
) -> System:
    """Return a machine that follows a field of directions, at a speed that its energy decides.

    system: with an input for every coordinate, and a ledger that names its kinetic energy 'kinetic', or whose
        walk does. field: from the coordinates, in the order of the states, to the direction wanted there,
        such as `nearest_point_field(curve)`.
    transfer: [s/(rad kg^.5 m)] how fast energy of motion across the field becomes energy of motion along it
        (his a_0, 5.21). smoothing: [J] across the field, below which that is slower (his a_1).
    compensate: whether the part of gravity and springs that pushes off the field is cancelled (5.25).
    energy: [J] that is held, kinetic and potential, counted from the foot that stands; None: whatever it has.
        energy_gain: [1/rad, or 1/m] of the force along the field for each joule that is missing (5.27).

    The command is the sum of four terms. 'nominal' and 'transfer' are power-continuous: the ledger has an
    entry for each of the four, and those two supply nothing, to rounding. Outputs TERM_power, `speed_along`
    and `speed_across` [J^.5, square roots of twice the energies] say what each does. Constants are parameters
    of the loop: transfer_gain, transfer_smoothing, energy_gain, energy_target.
    """
    plant = _EnergyModel.of(system)
    for word, value in (("transfer", transfer), ("energy_gain", energy_gain)):
        if finite(word, value) < 0:
            raise ValueRangeError(f"{word} of port tracking is {value:g}: 0 or more is needed")
    if not finite("smoothing", smoothing) > 0:
        raise ValueRangeError(f"smoothing of port tracking is {smoothing:g}: a positive number is needed")
    gains = {
        "transfer": Param("transfer_gain", transfer),
        "smoothing": Param("transfer_smoothing", smoothing, "J"),
    }
    if energy is not None:
        gains["energy_gain"] = Param("energy_gain", energy_gain)
        gains["energy"] = Param("energy_target", finite("energy", energy), "J")
    direction = sx(field(plant.q))
    if direction.numel() != plant.q.numel():
        raise ModelError(
            f"the field has {direction.numel()} numbers, and '{system.name}' {plant.q.numel()} coordinates: "
            f"{', '.join(plant.names)}"
        )
    q, v, M = plant.q, plant.v, plant.mass
    along = direction / ca.sqrt(ca.dot(direction, M @ direction))
    momentum = M @ along
    a1 = ca.dot(momentum, v)
    across = v - a1 * along
    a2 = ca.dot(across, M @ across)
    # the covariant derivative of the unit field along the motion: how the field turns away from it
    turning = M @ ca.jtimes(along, q, v) + plant.christoffel(along, v)
    a = gains["transfer"].sym / ca.sqrt(a2 + gains["smoothing"].sym)
    forces = {
        "nominal": turning * a1 - momentum * ca.dot(turning, v),
        "transfer": a * (a2 * a1 * momentum - a1**2 * (M @ across)),
    }
    if compensate:
        slope = ca.gradient(plant.potential, q)
        forces["potential"] = slope - momentum * ca.dot(along, slope)
    if energy is not None:
        missing = gains["energy"].sym - plant.kinetic - plant.potential
        forces["energy"] = gains["energy_gain"].sym * missing * direction / ca.norm_2(direction)
    return _close(
        system, plant, forces, tuple(gains.values()), {"speed_along": a1, "speed_across": ca.sqrt(a2)}
    )


@dataclass(frozen=True, eq=False)
class _EnergyModel:
    """A machine by its energies: M(q) q'' + ... = W' u (W transposed).

    names, q, v: coordinates and their rates. kinetic, potential: [J], the latter counted from where the foot
    stands. mass: matrix. inputs: names. ways: W, the rates of inputs by those of coordinates.
    """

    names: tuple[str, ...]
    q: ca.SX
    v: ca.SX
    kinetic: ca.SX
    potential: ca.SX
    mass: ca.SX
    inputs: tuple[str, ...]
    ways: ca.SX

    @staticmethod
    def of(system: System) -> _EnergyModel:
        """Read a system. Raises ModelError where it does not say what is needed."""
        symbols = {q.sym.element_hash(): q for q in system.x if q.size == 1}
        pairs = [
            (q, symbols[rate.element_hash()])
            for q in system.x
            if q.size == 1
            for rate in [sx(system.flow[q.name])]
            if rate.is_symbolic() and rate.element_hash() in symbols
        ]
        if not pairs:
            raise ModelError(f"'{system.name}' has no coordinates: no state is the rate of another")
        coordinates, v = ca.vertcat(*[q.sym for q, _ in pairs]), ca.vertcat(*[r.sym for _, r in pairs])
        names = tuple(q.name for q, _ in pairs)
        word = (system.walk.kinetic if system.walk is not None else "") or "kinetic"
        if word not in system.ledger.stored:
            raise ModelError(
                f"the ledger of '{system.name}' has no '{word}' energy, of which port tracking reads "
                f"the masses"
            )
        footholds = [q for q in system.z if q.unit == "m"]
        kinetic = sx(system.ledger.stored[word])
        others = sum((sx(e) for n, e in system.ledger.stored.items() if n != word), ca.SX(0))
        # counted from the foot that stands: footholds are zero
        zeros = [ca.SX.zeros(q.size) for q in footholds]
        potential = ca.substitute([others], [q.sym for q in footholds], zeros)[0] if footholds else others
        mass = ca.simplify(ca.hessian(kinetic, v)[0])
        sources = drives(system)
        if len(sources) != len(names):
            raise ModelError(
                f"'{system.name}' has {len(names)} coordinates ({', '.join(names)}) and {len(sources)} "
                f"inputs: port tracking needs one for each"
            )
        ways = ca.jacobian(ca.vertcat(*[d.rate for d in sources]), v)
        inputs = tuple(d.input.name for d in sources)
        if ca.sprank(ways) < len(names):
            raise ModelError(
                f"the inputs of '{system.name}', {', '.join(inputs)}, do not move all of {', '.join(names)}: "
                f"port tracking needs one for each"
            )
        return _EnergyModel(names, coordinates, v, kinetic, potential, mass, inputs, ways)

    def christoffel(self, a: ca.SX, b: ca.SX) -> ca.SX:
        """The Coriolis forces of two velocities, by Christoffel's symbols of the first kind."""
        first, second = (ca.SX.sym(word, self.q.numel()) for word in ("first", "second"))
        forces = (
            ca.jtimes(self.mass @ first, self.q, second)
            + ca.jtimes(self.mass @ second, self.q, first)
            - ca.gradient(ca.dot(first, self.mass @ second), self.q)
        ) / 2
        return ca.substitute([forces], [first, second], [a, b])[0]


def _close(
    system: System,
    plant: _EnergyModel,
    forces: dict[str, ca.SX],
    parameters: tuple[Param, ...],
    signals: dict[str, ca.SX],
) -> System:
    """Return the machine whose inputs are the sum of terms, with a power for each term in its ledger."""
    own = {q.name for q in system.p}
    for q in parameters:
        if q.name in own:
            raise ModelError(
                f"'{system.name}' has a parameter '{q.name}' already: port tracking would add it"
            )
    total = sum(forces.values(), ca.SX.zeros(plant.q.numel()))
    command = ca.solve(plant.ways.T, total) if not plant.ways.is_constant() else ca.inv(plant.ways.T) @ total
    commands = {name: sx(command[k]) for k, name in enumerate(plant.inputs)}
    powers = {name: ca.dot(force, plant.v) for name, force in forces.items()}
    part = System("port_tracking", p=parameters)
    entries = {d.power for d in drives(system)}
    loop = join(
        system.name,
        system,
        part,
        connect=commands,
        outputs={**commands, **signals, **{f"{n}_power": e for n, e in powers.items()}},
        description=f"{system.description}; along a field".removeprefix("; "),
    )
    books = loop.ledger
    supplied = {n: e for n, e in books.supplied.items() if n not in entries}
    return loop.replace(
        scales=system.scales,
        ledger=Ledger(books.stored, {**supplied, **powers}, books.dissipated, electrical=books.electrical),
        output_units={
            **loop.output_units,
            **{q.name: q.unit for q in system.u},
            **{f"{n}_power": "W" for n in powers},
        },
    )


__all__ = ["port_tracking"]

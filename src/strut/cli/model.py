"""What a user types on the command line: models, values and times."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from strut import actuator, contact, mechanism
from strut.cli.answer import note, number_text, warn
from strut.errors import ModelError, StrutError, UnknownNameError, ValueRangeError, did_you_mean
from strut.mechanism import Mechanism
from strut.system import Input, State, System
from strut.units import number
from strut.walkers import CATALOGUE, MECHANISMS, ROBOTS

OPTIONAL_KINDS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
"""Kinds of parameters that a call may leave out."""
MODEL_TYPES = (System.__name__, Mechanism.__name__)
"""What a function that makes a model says that it returns, with or without its module."""
MACHINE_SUFFIXES = (".toml", ".urdf", ".xml")
"""Suffixes of files that describe machines or bond graphs, and are never networks."""

if TYPE_CHECKING:
    from strut import network, ports  # read on demand: most commands never see a network or a graph


@dataclass(frozen=True)
class Reading:
    """How files of others are read: joint limits as soft stops, what of an MJCF file is left out knowingly,
    and folders from which they may read besides their own."""

    stops: bool = False
    ignore: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()


def find_model(text: str, how: Reading | None = None) -> System:
    """Return a system by what a user types.

    text: a name in the catalogue; from Python, FILE.py or FILE.py:NAME; a network, FILE.cdn; or a mechanism,
        which is assembled: FILE.toml (our model files, on the ground that their [contact] describes; or bond
        graphs, [[element]]), FILE.xml (MuJoCo's), FILE.urdf or FILE.urdf:fixed (or :planar, :free).
    Raises UnknownNameError where there is none, and ModelError where a file cannot be read.
    """
    if text in ROBOTS:
        return ROBOTS[text]()
    graph = find_graph(text)
    if graph is not None:
        from strut import ports

        return ports.system(graph)
    model = _find(text, how or Reading())
    if isinstance(model, Mechanism) and text.endswith(".toml") and contact.has_ground(text):
        return contact.load(text)
    return mechanism.system(model) if isinstance(model, Mechanism) else model


def find_graph(text: str) -> ports.BondGraph | None:
    """Return the bond graph in a file, FILE.toml with elements; None for anything else."""
    if not text.endswith(".toml") or not Path(text).is_file():
        return None
    from strut import ports

    return ports.load(text) if ports.is_graph_file(text) else None


def python_of(text: str, drive: str = "rigid") -> str:
    """Return Python that makes a system of the catalogue; an empty text for another."""
    makers = ROBOTS if text in ROBOTS else CATALOGUE
    if text not in makers:
        return ""
    expression = f"walkers.{makers[text].__name__}()"
    return expression if drive == "rigid" else f"strut.actuator.driven({expression}, {drive!r})"


def with_drive(system: System, drive: str) -> System:
    """Return the system with motors that act as a name of `actuator.KINDS` or `actuator.MOTORS` says."""
    return system if drive == "rigid" else actuator.driven(system, drive)


def find_runnable(
    text: str, how: Reading, step: float | None, watch: Sequence[str] = ()
) -> tuple[System, dict[str, Any]]:
    """Return a system, and how it asks to be integrated: networks say so.

    step: the one the user wants [s]. watch: what becomes an output of networks too large to show everything.
    """
    if not text.endswith(".cdn"):
        return find_model(text, how), {}
    net = find_network(text, how.roots)
    options = net.options(step)
    system = lower_network(net)
    names = {q.name for q in (*system.x, *system.z, *system.u, *system.p)} | set(system.outputs)
    missing = [base for base in (name.split("[")[0] for name in watch) if base not in names]
    if missing:
        system = net.system(outputs=[*system.outputs, *missing])
    knows = any(q.name == "dt" for q in system.p)
    return (system.using(dt=options["step"]) if knows else system), options


def end_of(model: str, system: System, times: Times) -> float:
    """Return when a run ends [s]: that of a network with a clock, just after its last row, so that what the
    clock does there is in it."""
    if times.step is None or not model.endswith(".cdn") or not system.samples:
        return times.end
    return times.end + 1e-9 * times.step


def find_mechanism(text: str, how: Reading | None = None) -> Mechanism:
    """Return a mechanism, found as `find_model` finds systems; raise ModelError for what is a system."""
    model = _find(text, how or Reading())
    if isinstance(model, System):
        raise ModelError(
            f"'{text}' is a System, not a mechanism of bodies and joints, and has no separate dynamics: give "
            f"a URDF, "
            f"FILE.py:NAME of a Mechanism, or one of {', '.join(MECHANISMS)}"
        )
    return model


def _find(text: str, how: Reading) -> System | Mechanism:
    path = text.partition(":")[0]
    if how.ignore and not path.endswith(".xml"):
        raise ModelError(f"--ignore belongs to FILE.xml (MJCF): '{text}' is something else")
    if how.roots and not path.endswith((".xml", ".urdf", ".cdn")):
        raise ModelError(
            f"--root names a folder that a model file (.xml, .urdf, .cdn) may read: '{text}' is something "
            f"else"
        )
    if how.stops and not path.endswith((".xml", ".urdf")):
        raise ModelError(
            f"--stops makes soft stops of the joint limits in FILE.urdf or FILE.xml (MJCF): '{text}' is "
            f"something else"
        )
    if text in CATALOGUE:
        return CATALOGUE[text]()
    if text in MECHANISMS:
        return MECHANISMS[text]()
    path, _, name = text.partition(":")
    if path.endswith(".py"):
        return _from_file(Path(path), name)
    if path.endswith(".urdf"):
        return _load_with_warnings(
            lambda: mechanism.urdf.load(path, base=name or "free", stops=how.stops, roots=how.roots), how
        )
    if path.endswith(".cdn") and not name:
        return lower_network(find_network(path, how.roots))
    if path.endswith((".toml", ".xml", ".cdn")):
        if name:
            raise UnknownNameError(
                f"'{text}' asks for '{name}' in {path}: such a file holds one machine, give the file alone"
            )
        if path.endswith(".toml"):
            return mechanism.modelfile.load(path)
        return _load_with_warnings(
            lambda: mechanism.mjcf.load(path, stops=how.stops, ignore=how.ignore, roots=how.roots), how
        )
    suggestion = did_you_mean(text, [*CATALOGUE, *MECHANISMS])
    raise UnknownNameError(
        f"there is no model '{text}': {suggestion}; or give FILE.py:NAME, FILE.cdn, FILE.toml, FILE.urdf or "
        f"FILE.xml (MJCF)"
    )


def find_network(path: str, roots: Sequence[Path] = ()) -> network.Network:
    """Read a network from a file, and print what it says and warns of."""
    from strut import network

    if Path(path).suffix.lower() in MACHINE_SUFFIXES and Path(path).is_file():
        raise ModelError(
            f"'{path}' is no network (FILE.cdn): strut show {path} reads a machine, and says what is "
            f"wrong with it"
        )
    net = network.load(path, roots=roots)
    for line in net.said:
        note(line)
    _warn(net.warnings)
    return net


def lower_network(net: network.Network) -> System:
    """Lower a network to a system, and print what that warns of."""
    count = len(net.warnings)
    system = net.system()
    _warn(net.warnings[count:])
    return system


def _warn(problems: Iterable[object]) -> None:
    for problem in problems:
        warn(str(problem))


def _load_with_warnings(load: Callable[[], Mechanism], how: Reading) -> Mechanism:
    """Load a mechanism from a file of others; print where something in it is doubtful, or where joint limits
    are not kept."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = load()
    for warning in caught:
        warn(str(warning.message))
    if loaded.limits and not how.stops:
        count = len(loaded.limits)
        what = (
            f"joint '{next(iter(loaded.limits))}' has a limit"
            if count == 1
            else f"{count} joints have limits"
        )
        note(f"{what}, which nothing enforces: --stops makes soft stops of them")
    return loaded


def _from_file(path: Path, name: str) -> System | Mechanism:
    """Return the model that the user's own program defines. This runs the file: it is a program, not a model
    file."""
    if not path.is_file():
        raise ModelError(f"cannot read {path}: there is no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except StrutError:
        raise
    except Exception as error:
        raise ModelError(f"{path} stopped with {type(error).__name__}: {error}") from error
    models = {n: v for n, v in vars(module).items() if isinstance(v, (System, Mechanism))}
    if name:
        value = getattr(module, name, None)
        try:
            value = value() if callable(value) and not isinstance(value, (System, Mechanism)) else value
        except StrutError:
            raise
        except Exception as error:
            raise ModelError(f"'{name}' in {path} stopped with {type(error).__name__}: {error}") from error
        if not isinstance(value, (System, Mechanism)):
            there = [*models, *_functions_of(module)]
            raise ModelError(
                f"'{name}' in {path} is not a System or Mechanism nor a function that returns one; there "
                f"are: {', '.join(there) or 'none'}"
            )
        return value
    systems = {
        n: v for n, v in models.items() if isinstance(v, System)
    } or models  # a mechanism beside its system is a step on the way
    if len(systems) != 1:
        functions = _functions_of(module)
        makers = f"; functions that may return one: {', '.join(functions)}" if functions else ""
        raise ModelError(
            f"{path} defines {len(systems)} systems ({', '.join(systems) or 'none'}){makers}: say which, "
            f"{path}:{(functions or ['NAME'])[0] if not systems else 'NAME'}"
        )
    return next(iter(systems.values()))


def _functions_of(module: ModuleType) -> list[str]:
    """Return the functions that a program of the user's defines itself and that need no arguments, by name,
    in its order; a leading underscore hides them. Those that say they return something else are left out."""
    names = []
    for name, value in vars(module).items():
        if name.startswith("_") or not inspect.isfunction(value) or value.__module__ != module.__name__:
            continue
        signature = inspect.signature(value)
        needed = [
            p for p in signature.parameters.values() if p.default is p.empty and p.kind not in OPTIONAL_KINDS
        ]
        result_type = str(getattr(signature.return_annotation, "__name__", signature.return_annotation))
        if not needed and (
            signature.return_annotation is signature.empty or result_type.endswith(MODEL_TYPES)
        ):
            names.append(name)
    return names


def with_settings(system: System, settings: Iterable[str]) -> System:
    """Return the system with NAME=VALUE applied; values may carry units, slope=3deg."""
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ValueRangeError(f"'{setting}' sets nothing: write NAME=VALUE, for example slope=3deg")
        name = name.strip()
        units = {q.name: q.unit for q in system.quantities()}
        if name.split("[")[0] not in units:
            raise UnknownNameError(
                f"system '{system.name}' has no '{name}': {did_you_mean(name, list(units))}"
            )
        unit = units[name.split("[")[0]]
        parts = text.strip("[]() ").split(",")
        try:
            values[name] = number(text, unit) if len(parts) == 1 else [number(part, unit) for part in parts]
        except ValueRangeError as error:
            raise ValueRangeError(f"--set {setting}: {error}") from None
        _warn_outside_range(system, setting, name, values[name])
    return system.using(values) if values else system


def _warn_outside_range(system: System, setting: str, name: str, value: float | list[float]) -> None:
    """Say where a value is outside of the range of a joint or a motor, which plans keep and runs do not."""
    quantity = next(q for q in system.quantities() if q.name == name.split("[")[0])
    if not isinstance(quantity, State | Input):
        return
    low, high = quantity.limits
    if all(low <= each <= high for each in np.ravel(value)):
        return
    scale, unit = (np.rad2deg(1.0), "deg") if quantity.unit == "rad" else (1.0, quantity.unit)
    what = "joint" if isinstance(quantity, State) else "motor"
    warn(
        f"--set {setting} is outside of the range of this {what}, {number_text(low * scale)} to "
        f"{number_text(high * scale)} {unit}: plans keep it; a run does not, unless there is a stop"
    )


def with_parameters(machine: Mechanism, settings: Iterable[str]) -> Mechanism:
    """Set parameters of a mechanism by NAME=VALUE, and return it."""
    settings = list(settings)
    if not settings:
        return machine
    mechanism.functions(machine, frames=())  # notes the parameters that only constraints use
    changed = with_settings(System(machine.name, p=tuple(machine.params.values())), settings)
    machine.params = dict(zip(machine.params, changed.p, strict=True))
    return machine


@dataclass(frozen=True)
class Times:
    """When a run begins and ends, and how far apart its printed rows are [s]."""

    begin: float
    end: float
    step: float | None = None

    @property
    def grid(self) -> np.ndarray | None:
        """The times of the printed rows [s]; None where no step was given."""
        if self.step is None:
            return None
        count = int(np.floor((self.end - self.begin) / self.step + 1e-9))
        return self.begin + self.step * np.arange(count + 1)


def parse_times(text: str) -> Times:
    """Parse '10', '0:10' or '0:0.01:10': end; begin and end; begin, step and end [s]."""
    parts = [number(part, "s") for part in text.split(":")]
    if len(parts) > 3:
        raise ValueRangeError(f"'{text}' is not a time: write END, BEGIN:END or BEGIN:STEP:END")
    begin, end = (0.0, parts[0]) if len(parts) == 1 else (parts[0], parts[-1])
    step = parts[1] if len(parts) == 3 else None
    if step is not None and not step > 0:
        raise ValueRangeError(f"the step is {step:g} s: it must be positive")
    if end < begin:
        raise ValueRangeError(f"the run would end at {end:g} s, before it begins at {begin:g} s")
    return Times(begin, end, step)

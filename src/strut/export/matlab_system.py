"""`export_matlab`: a system as MATLAB functions, with an example that runs it by ode45. Octave runs them
too."""

from __future__ import annotations

from pathlib import Path

import casadi as ca

from strut.checks import checked
from strut.codegen import Lowered, column, lower_system
from strut.errors import ModelError
from strut.export import matlab
from strut.export.c import Export, model_name, write
from strut.export.identifiers import comment
from strut.export.matlab_example import example_text
from strut.export.matlab_run import run_files
from strut.system import Entry, Port, PortedFunction, System, initial_values, port, rate_unit

NOTES = {
    "flow": "Rates of the continuous states.",
    "outputs": "Outputs.",
    "guards": "Guards: each event happens when its guard becomes positive.",
    "guards_and_rates": "Guards, and how fast they change along the rates of the states.",
    "enabled": "Which events are enabled: those whose number is positive.",
    "clocks": "Period and offset of every sample.",
    "initial": "States to begin from.",
}


@checked
def export_matlab(system: System, directory: str | Path) -> Export:
    """Write NAME_flow.m, NAME_outputs.m, NAME_parameters.m, NAME_initial.m, and for systems that jump
    NAME_guards.m, NAME_events.m (as ode45 wants it), NAME_enabled.m, NAME_clocks.m and NAME_reset.m;
    NAME_example.m, which runs them by ode45, only where it does not exist yet. NAME_model.m and strut_run.m
    run them by a method of fixed step, to rounding as `simulate` does with the same method and step. Delays
    cannot be exported: neither has them.
    """
    if system.delays:
        raise ModelError(
            f"system '{system.name}' has the delay '{system.delays[0].name}': MATLAB's ode45 has none, "
            f"export it as C or replace the delay"
        )
    directory, low, name = Path(directory), lower_system(system), model_name(system.name)
    ports = _ports(system, low)
    functions = {
        label: _ported_function(f, label, ports) for label, f in _exported_functions(system, low).items()
    }
    resets = [_ported_function(f, f"reset_{k + 1}", ports) for k, f in enumerate(low.resets)]
    parameters = f"{name}_parameters"
    files = {
        f"{name}_{label}.m": matlab.function_text(f, f"{name}_{label}", parameters)
        for label, f in functions.items()
    }
    files[f"{parameters}.m"] = matlab.parameters_text(ports["p"], parameters)
    if system.events:
        files[f"{name}_events.m"] = _events(name, "enabled" in functions)
    if low.jumps:
        files[f"{name}_reset.m"] = _reset(name, low, resets, parameters)
    if system.x and not (directory / f"{name}_example.m").exists():  # this is yours to edit
        files[f"{name}_example.m"] = example_text(system, low, name, conditional="enabled" in functions)
    if system.x:
        files |= run_files(system, low, name)
    write(directory, files)
    counts = {label: f.operations for label, f in functions.items()} | {f.name: f.operations for f in resets}
    return Export(directory, tuple(files), counts)


def _exported_functions(system: System, low: Lowered) -> dict[str, ca.Function]:
    p = column([q.sym for q in system.p])
    initial = ca.Function("initial", [p], initial_values(system), ["p"], ["x", "z"])
    labels = ["flow", *["outputs"] * bool(system.outputs)]
    labels += ["guards", "guards_and_rates"] * bool(system.events)
    labels += ["enabled"] * any(event.when is not None for event in system.events) + ["clocks"] * bool(
        system.samples
    )
    return {label: low.functions[label] for label in labels} | {"initial": initial}


def _ports(system: System, low: Lowered) -> dict[str, Port]:
    """By the names of `SIGNATURES`."""
    guards = [low.jumps[k].source.name for k in low.tables["jump_of"]]
    x, z = port("x", "continuous states", system.x), port("z", "discrete states", system.z)
    clocks = [s.name for s in system.samples]
    rates = tuple(Entry(f"{e.name}'", rate_unit(e.unit)) for e in x.entries)
    return {
        "t": Port("t", "time", (Entry("t", "s"),)),
        "x": x,
        "z": z,
        "u": port("u", "inputs", system.u),
        "p": port("p", "parameters", system.p, defaults=True),
        "random": port("random", "random numbers", system.randoms),
        "dx": Port("dx", "rates", rates),
        "out_r": Port("r", "rates of the guards", tuple(Entry(n) for n in guards)),
        "out_dx": Port("dx", "rates", rates),
        "out_y": Port("y", "outputs", tuple(Entry(label) for label in system.labels("outputs"))),
        "out_g": Port("g", "guards", tuple(Entry(n) for n in guards)),
        "out_on": Port("on", "enabled while positive", tuple(Entry(n) for n in guards)),
        "out_every": Port("every", "periods", tuple(Entry(n, "s") for n in clocks)),
        "out_offset": Port("offset", "offsets", tuple(Entry(n, "s") for n in clocks)),
        "out_x_after": Port("x_after", "continuous states", x.entries),
        "out_z_after": Port("z_after", "discrete states", z.entries),
    }


def _ported_function(f: ca.Function, label: str, ports: dict[str, Port]) -> PortedFunction:
    """A function of the lowered system without the arguments that are always empty here."""
    arguments = f.sx_in()
    used = [k for k, n in enumerate(f.name_in()) if n != "d" and (n != "random" or arguments[k].numel())]
    function = ca.Function("f", [arguments[k] for k in used], f.call(arguments))
    return PortedFunction(
        label,
        NOTES.get(label, ""),
        function,
        tuple(ports[f.name_in(k)] for k in used),
        tuple(ports[n] for n in f.name_out()),
    )


def _events(name: str, conditional: bool) -> str:
    head = matlab.header(
        f"{name}_events",
        "Events for ode45: every guard stops the integration when it becomes positive.",
        [f"See {name}_guards.", ""],
    )
    masked = (
        f"  value({name}_enabled(z, u, p) <= 0) = -1;  % what is not enabled does not cross zero\n"
        if conditional
        else ""
    )
    return f"""function [value, isterminal, direction] = {name}_events(t, x, z, u, p)
{head}  value = {name}_guards(t, x, z, u, p);
{masked}  isterminal = ones(size(value));
  direction = ones(size(value));
end
"""


def _reset(name: str, low: Lowered, resets: list[PortedFunction], parameters: str) -> str:
    arguments = "t, x, z, u, p" + (", random" if low.sizes["NR"] else "")
    rows = [
        f"  {k + 1}  {jump.source.name}"
        + (", ends the run" if low.tables["terminal"][k] else "")
        + (", a sample" if jump.clock >= 0 else "")
        for k, jump in enumerate(low.jumps)
    ]
    usage = f"[x, z, finished] = {name}_reset(jump, {arguments})"
    lines = [
        usage,
        "",
        "jump, in the order in which they happen at one instant:",
        *rows,
        "",
        f"p is a struct as {parameters}() gives it.",
        "",
    ]
    head = matlab.header(
        f"{name}_reset", "States after an event or a sample, and whether it ends the run.", lines
    )
    cases, parts = [], []
    for k, f in enumerate(resets):
        signature, body = matlab.body_text(f, f.name)
        cases.append(
            f"    case {k + 1}  % {comment(low.jumps[k].source.name)}\n      [x, z] = {f.name}({arguments});"
        )
        parts.append(f"function {signature}\n{body}\nend\n")
    terminal = "; ".join(map(str, low.tables["terminal"]))
    text = "\n".join(parts)
    return (
        f"function {usage}\n{head}  switch jump\n"
        + "\n".join(cases)
        + f"\n    otherwise\n      error('there is no jump %g', jump);\n  end\n  terminal = [{terminal}];\n"
        + f"  finished = terminal(jump) ~= 0;\nend\n\n{text}{matlab.local_functions(text)}"
    )

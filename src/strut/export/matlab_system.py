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
from strut.export.matlab_run import run_files
from strut.system import Entry, Port, PortedFunction, System, initial_values, port, rate_unit, start

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
        files[f"{name}_example.m"] = _example(system, low, name)
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


def _example(system: System, low: Lowered, name: str) -> str:
    """A run by ode45, from jump to jump."""
    inputs = "; ".join(matlab.literal(float(v)) for v in start(system).u)
    u = f"[{inputs}]" if inputs else "zeros(0, 1)"
    draws = "; ".join("randn" if kind else "rand" for kind in low.tables["random_kind"])
    random = f", [{draws}]" if draws else ""
    quiet = f"""  if nargout == 0  % nothing was asked for: say what happened, print no numbers
    fprintf('{name}: %g s, %d points, %d jumps; [T, X] = {name}_example; plot(T, X) shows it\\n', ...
            T(end), numel(T), size(jumps, 1));
    clear T;
  end
"""
    top = f"""function [T, X, Z, jumps] = {name}_example(t_end)
%{name.upper()}_EXAMPLE  {comment(system.name)}: {comment(system.description)}
%
%   [T, X, Z, jumps] = {name}_example(t_end)
%
%   Runs from 0 to t_end [s] (10 unless given). A row of X and Z for every time in T; a jump has two, before
%   and after. A row of jumps for each: time, and number as {name}_reset counts. Called without outputs it
%   only says how it ended.
%   Begun by strut, yours to edit: it is never overwritten.

  if nargin < 1, t_end = 10; end
  p = {name}_parameters();
  u = {u};  % inputs, held
  [x, z] = {name}_initial(p);
"""
    if not low.jumps:
        return (
            top
            + f"""  options = odeset('RelTol', 1e-10, 'AbsTol', 1e-12);
  [T, X] = ode45(@(t, x) {name}_flow(t, x, z, u, p), [0, t_end], x, options);
  Z = repmat(z', numel(T), 1);
  jumps = zeros(0, 2);
{quiet}end
"""
        )
    guard_jumps = [k + 1 for k in low.tables["jump_of"]]
    clock_jumps = [
        k + 1 for _, k in sorted((clock, k) for k, clock in enumerate(low.tables["clock_of"]) if clock >= 0)
    ]
    on = f" & ({name}_enabled(z, u, p) > 0)" if "enabled" in _exported_functions(system, low) else ""
    eager = " ".join(str(int(low.tables["eager"][k - 1])) for k in guard_jumps)
    of_guard = (
        f"""  jump_of_guard = [{" ".join(map(str, guard_jumps))}];
  t = 0;
  holds = {name}_guards(t, x, z, u, p) > 0;
  eager = [{eager}]';
  waiting = jump_of_guard(holds & eager{on});  % happens where a run begins
"""
        if guard_jumps
        else ""
    )
    ticks = (
        f"""  jump_of_clock = [{" ".join(map(str, clock_jumps))}];
  [every, offset] = {name}_clocks(p);
  tick = ceil(-offset ./ every - 1e-12);  % of every clock, the next
"""
        if clock_jumps
        else ""
    )
    stop = "min([t_end; offset + every .* tick])" if clock_jumps else "t_end"
    events = f"'Events', @(t, x) {name}_events(t, x, z, u, p), " if guard_jumps else ""
    # Octave's ode45 goes on where several events lie in one step: the points themselves say which was first
    landed = """      [row, up] = first_crossing(ts, xs, holds, z, u, p);
      if isempty(up) && ~isempty(ie) && te(end) == ts(end)  % it was stopped just before the crossing
        row = numel(ts);
        up = ie(te == ts(end));
      end
      t = stop;
      x = xs(end, :)';
      if ~isempty(up)
        t = Inf;
        for guard = up(:)'
          [t_guard, x_guard] = locate(guard, ts(row - 1), xs(row - 1, :)', ts(row), z, u, p);
          if t_guard < t
            t = t_guard;
            x = x_guard;
            due = jump_of_guard(guard);
          end
        end
        ts = [ts(1:row - 1); t];
        xs = [xs(1:row - 1, :); x'];
      end
"""
    plain = "      t = stop;\n      x = xs(end, :)';\n"
    clocked = """    if isempty(due)
      late = find(offset + every .* tick <= t);
      if t < t_end, due = sort(jump_of_clock(late)); end
      tick(late) = tick(late) + 1;
    end
"""
    # what a jump makes positive happens at once, in order, as long as it stays so
    at_once = "    if ~isempty(waiting)\n      due = min(waiting);\n" if guard_jumps else ""
    before = f"""    guards = {name}_guards(t, x, z, u, p);
    slack = 1e-10 * (1 + abs(guards));  % of rounding
    holds = guards > slack;
    holds(ismember(jump_of_guard, due)) = true;
"""
    after = f"""      guards = {name}_guards(t, x, z, u, p);
      now = guards > slack;
      waiting = jump_of_guard(now & ~holds{on});
      holds = now | (ismember(jump_of_guard(:), due) & guards > -slack);
"""
    answer = "[ts, xs, te, ~, ie]" if guard_jumps else "[ts, xs]"
    loop = f"""{of_guard}{ticks}  % Octave warns when an event stops it
  warning('off', 'integrate_adaptive:unexpected_termination');
  t = 0;
  T = zeros(0, 1);
  X = zeros(0, numel(x));
  Z = zeros(0, numel(z));
  jumps = zeros(0, 2);
  finished = false;
  while t < t_end && ~finished
    stop = {stop};
    due = [];
{at_once}    {"elseif" if guard_jumps else "if"} stop > t
      options = odeset({events}'RelTol', 1e-10, 'AbsTol', 1e-12, 'Refine', 1, ...
                       'InitialStep', min(1e-4, stop - t));
      {answer} = ode45(@(t, x) {name}_flow(t, x, z, u, p), [t, stop], x, options);
{landed if guard_jumps else plain}      T = [T; ts];
      X = [X; xs];
      Z = [Z; repmat(z', numel(ts), 1)];
    end
{clocked if clock_jumps else ""}{before if guard_jumps else ""}    for jump = due(:)'
      [x, z, ended] = {name}_reset(jump, t, x, z, u, p{random});
      finished = finished || ended;
      jumps = [jumps; t, jump];
    end
    if ~isempty(due)
      T = [T; t];
      X = [X; x'];
      Z = [Z; z'];
{after if guard_jumps else ""}    end
  end
{quiet}end
"""
    return top + loop + (LOCATE.replace("holdsON", f"holds{on}").replace("NAME", name) if guard_jumps else "")


LOCATE = """
function [row, up] = first_crossing(ts, xs, holds, z, u, p)
% The first of the points at which guards have become positive, and which; nothing where none has.
  up = [];
  for row = 2:numel(ts)
    now = NAME_guards(ts(row), xs(row, :)', z, u, p) > 0;
    up = find(now & ~holdsON);
    if ~isempty(up), return; end
    holds = now;
  end
end

function [t, x] = locate(guard, t, x, near, z, u, p)
% The zero of a guard after (t, x) and close to `near`: the secant method on Runge-Kutta steps from (t, x).
% ode45 itself is not used for this: Octave's interpolates linearly.
  t0 = t;
  x0 = x;
  h = [0, near - t0];
  g = NAME_guards(t0, x0, z, u, p);
  g = [g(guard), 0];
  for k = 1:30
    [t, x] = forth(t0, x0, h(2), z, u, p);
    now = NAME_guards(t, x, z, u, p);
    g(2) = now(guard);
    if g(2) == g(1) || abs(h(2) - h(1)) <= eps(t), break; end
    next = h(2) - g(2) * (h(2) - h(1)) / (g(2) - g(1));
    h = [h(2), max(next, 0)];
    g(1) = g(2);
  end
end

function [t, x] = forth(t, x, h, z, u, p)
% Ten classical Runge-Kutta steps over h.
  h = h / 10;
  for k = 1:10
    a = NAME_flow(t, x, z, u, p);
    b = NAME_flow(t + h / 2, x + h / 2 * a, z, u, p);
    c = NAME_flow(t + h / 2, x + h / 2 * b, z, u, p);
    d = NAME_flow(t + h, x + h * c, z, u, p);
    x = x + h / 6 * (a + 2 * b + 2 * c + d);
    t = t + h;
  end
end
"""

"""NAME_example.m: a run of an exported system by ode45, from jump to jump."""

from __future__ import annotations

from strut.codegen import Lowered
from strut.export import matlab
from strut.export.identifiers import comment
from strut.system import System, start


def example_text(system: System, low: Lowered, name: str, *, conditional: bool) -> str:
    """Return the text of NAME_example.m. conditional: whether NAME_enabled.m is exported, too."""
    head = _head(system, name)
    if not low.jumps:
        return f"{head}{_smooth_run(name)}{_summary(name)}end\n"
    on = f" & ({name}_enabled(z, u, p) > 0)" if conditional else ""
    functions = CROSSING_FUNCTIONS.replace("holdsON", f"holds{on}").replace("NAME", name)
    run = f"{head}{_run_with_jumps(low, name, on)}{_summary(name)}end\n"
    return run + (functions if _guard_jumps(low) else "")


def _head(system: System, name: str) -> str:
    """What the file is, and where a run begins."""
    inputs = "; ".join(matlab.literal(float(v)) for v in start(system).u)
    u = f"[{inputs}]" if inputs else "zeros(0, 1)"
    return f"""function [T, X, Z, jumps] = {name}_example(t_end)
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


def _summary(name: str) -> str:
    """The end: without outputs it says what happened."""
    return f"""  if nargout == 0  % nothing was asked for: say what happened, print no numbers
    fprintf('{name}: %g s, %d points, %d jumps; [T, X] = {name}_example; plot(T, X) shows it\\n', ...
            T(end), numel(T), size(jumps, 1));
    clear T;
  end
"""


def _smooth_run(name: str) -> str:
    """A run of what does not jump."""
    return f"""  options = odeset('RelTol', 1e-10, 'AbsTol', 1e-12);
  [T, X] = ode45(@(t, x) {name}_flow(t, x, z, u, p), [0, t_end], x, options);
  Z = repmat(z', numel(T), 1);
  jumps = zeros(0, 2);
"""


def _guard_jumps(low: Lowered) -> list[int]:
    """The number of the jump of every guard, from 1."""
    return [k + 1 for k in low.tables["jump_of"]]


def _clock_jumps(low: Lowered) -> list[int]:
    """The number of the jump of every clock, from 1."""
    numbered = sorted((clock, k) for k, clock in enumerate(low.tables["clock_of"]) if clock >= 0)
    return [k + 1 for _, k in numbered]


AFTER_WATCHED_RUN = """      [row, up] = first_crossing(ts, xs, holds, z, u, p);
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
"""What follows ode45 where guards are watched. Octave's ode45 goes on where several events lie in one
step: the points themselves say which was first."""
AFTER_PLAIN_RUN = "      t = stop;\n      x = xs(end, :)';\n"
"""What follows ode45 where there are clocks alone."""
CLOCK_TICKS = """    if isempty(due)
      late = find(offset + every .* tick <= t);
      if t < t_end, due = sort(jump_of_clock(late)); end
      tick(late) = tick(late) + 1;
    end
"""
"""The clocks that tick at the end of a run by ode45."""


def _guards_at_begin(low: Lowered, name: str, on: str) -> str:
    """Which guards are positive where a run begins. on: the condition that an event is enabled."""
    jump_of_guard = _guard_jumps(low)
    if not jump_of_guard:
        return ""
    eager = " ".join(str(int(low.tables["eager"][k - 1])) for k in jump_of_guard)
    return f"""  jump_of_guard = [{" ".join(map(str, jump_of_guard))}];
  t = 0;
  holds = {name}_guards(t, x, z, u, p) > 0;
  eager = [{eager}]';
  waiting = jump_of_guard(holds & eager{on});  % happens where a run begins
"""


def _clocks_at_begin(low: Lowered, name: str) -> str:
    """The next tick of every clock."""
    jump_of_clock = _clock_jumps(low)
    if not jump_of_clock:
        return ""
    return f"""  jump_of_clock = [{" ".join(map(str, jump_of_clock))}];
  [every, offset] = {name}_clocks(p);
  tick = ceil(-offset ./ every - 1e-12);  % of every clock, the next
"""


def _run_with_jumps(low: Lowered, name: str, on: str) -> str:
    """A run from jump to jump. on: the condition that an event is enabled."""
    guards, clocks = bool(_guard_jumps(low)), bool(_clock_jumps(low))
    draws = "; ".join("randn" if kind else "rand" for kind in low.tables["random_kind"])
    random = f", [{draws}]" if draws else ""
    stop = "min([t_end; offset + every .* tick])" if clocks else "t_end"
    events = f"'Events', @(t, x) {name}_events(t, x, z, u, p), " if guards else ""
    # what a jump makes positive happens at once, in order, as long as it stays so
    at_once = "    if ~isempty(waiting)\n      due = min(waiting);\n" if guards else ""
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
    answer = "[ts, xs, te, ~, ie]" if guards else "[ts, xs]"
    begin = _guards_at_begin(low, name, on) + _clocks_at_begin(low, name)
    return f"""{begin}  % Octave warns when an event stops it
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
{at_once}    {"elseif" if guards else "if"} stop > t
      options = odeset({events}'RelTol', 1e-10, 'AbsTol', 1e-12, 'Refine', 1, ...
                       'InitialStep', min(1e-4, stop - t));
      {answer} = ode45(@(t, x) {name}_flow(t, x, z, u, p), [t, stop], x, options);
{AFTER_WATCHED_RUN if guards else AFTER_PLAIN_RUN}      T = [T; ts];
      X = [X; xs];
      Z = [Z; repmat(z', numel(ts), 1)];
    end
{CLOCK_TICKS if clocks else ""}{before if guards else ""}    for jump = due(:)'
      [x, z, ended] = {name}_reset(jump, t, x, z, u, p{random});
      finished = finished || ended;
      jumps = [jumps; t, jump];
    end
    if ~isempty(due)
      T = [T; t];
      X = [X; x'];
      Z = [Z; z'];
{after if guards else ""}    end
  end
"""


CROSSING_FUNCTIONS = """
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
"""Functions of the file that find where a guard becomes positive."""

__all__ = ["example_text"]

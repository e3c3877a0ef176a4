function [T, X, Z, jumps, status] = strut_run(model, t_end, step, method)
%STRUT_RUN  Runs an exported system by a method of fixed step, as strut.simulate does with the same method and step.
%
%   [T, X, Z, jumps, status] = strut_run(model, t_end, step, method)
%
%   model is a struct as NAME_model() gives it; change model.x, model.z, model.u or model.p to begin elsewhere.
%   t_end [s] is when the run ends, step [s] the length of a step, method one of those of strut_tableau.
%   T, X, Z have a row for the beginning and for every step; a jump has two, before and after it. A row of jumps for
%   each: time [s], and number as NAME_reset counts. status is 'done' (the end was reached), 'terminal' (an event
%   ended the run), 'zeno' (events accumulate) or 'not finite' (a state, a rate or a guard is no number).
%
%   Steps are made anew up to an event until its guard is zero to rounding, as strut makes them: the results agree
%   with strut.simulate(system, t=t_end, method=method, step=step) to rounding, random numbers apart.

  s = begin_run(model, step, strut_tableau(method));
  points = {[s.t; s.x; s.z]};
  jumps = zeros(0, 2);
  while strcmp(s.status, 'running')
    jumped = s.jumps;
    steps = s.steps;
    s = advance_run(s, t_end);
    if s.jumps > jumped || s.steps > steps, points{end + 1} = [s.t; s.x; s.z]; end
    if s.jumps > jumped, jumps = [jumps; s.t, s.last_jump]; end
  end
  rows = [points{:}]';
  T = rows(:, 1);
  X = rows(:, 1 + (1:numel(s.x)));
  Z = rows(:, 1 + numel(s.x) + (1:numel(s.z)));
  status = s.status;
end

function s = begin_run(model, step, tableau)
% The state of a run where it begins, at time 0.
  if ~(step > 0) || ~isfinite(step), error('the step is %g s: it must be positive and finite', step); end
  s = struct('model', model, 'step', step, 'tableau', tableau);
  s.t = 0;
  s.x = model.x;
  s.z = model.z;
  s.h0 = 0;
  s.grid = 0;
  s.on_grid = 0;
  s.steps = 0;
  s.jumps = 0;
  s.last_jump = 0;
  s.at_this_instant = 0;
  s.status = 'running';
  s.pending = false(numel(model.terminal), 1);
  s.every = zeros(0, 1);
  s.offset = zeros(0, 1);
  if any(model.clock_of), [s.every, s.offset] = model.clocks(model.p); end
  s.tick = ceil(-s.offset ./ s.every - 1e3 * eps);
  guards = numel(model.jump_of);
  s.g_size = zeros(guards, 1);
  s.fired = -Inf(guards, 1);
  s.gap = zeros(guards, 1);
  s.shrinking = zeros(guards, 1);
  s.chatter = zeros(guards, 1);
  s = refresh_rates(s);
  s.g_size = abs(s.g);
  s.holds = s.g > rounding(s, s.r);
  s.pending(model.jump_of) = s.holds & s.on > 0 & model.eager(model.jump_of) ~= 0;
  s = check_finite(s, [s.x; s.z]);
end

function s = check_finite(s, numbers)
% End the run if one of the numbers is not finite.
  if any(~isfinite(numbers)), s.status = 'not finite'; end
end

function s = refresh_rates(s)
% Rates, enabling and guards at the present state.
  s.dx = s.model.flow(s.t, s.x, s.z, s.model.u, s.model.p);
  [s.g, s.r] = read_guards(s, s.t, s.x, s.dx);
  s.on = ones(size(s.g));
  if ~isempty(s.g) && ~isempty(s.model.enabled), s.on = s.model.enabled(s.z, s.model.u, s.model.p); end
end

function [g, r] = read_guards(s, t, x, dx)
% The guards, and their rates [1/s].
  if isempty(s.model.jump_of)
    g = zeros(0, 1);
    r = zeros(0, 1);
  else
    [g, r] = s.model.guards(t, x, s.z, s.model.u, s.model.p, dx);
  end
end

function slack = rounding(s, r)
% What rounding makes of guards that are exactly zero.
  slack = eps * (256 * s.g_size + 8 * abs(r) * max(abs(s.t), s.h0));
end

function now = holding(s, g, r)
% Which guards hold: one on zero does if it is rising.
  slack = rounding(s, r);
  now = g > slack | (g >= -slack & r > 0);
end

function s = settle_guards(s)
% After a jump: which guards did it make true, and which pending jumps void?
  before = s.g;
  s = refresh_rates(s);
  slack = rounding(s, s.r);
  now = holding(s, s.g, s.r);
  for i = 1:numel(s.g)
    j = s.model.jump_of(i);
    if s.pending(j)
      if s.on(i) > 0 && s.g(i) >= min(0, before(i)) - slack(i), continue; end
      s.pending(j) = false;
    elseif now(i) && ~s.holds(i) && s.on(i) > 0
      s.pending(j) = true;
    end
    s.holds(i) = now(i);
  end
end

function s = advance_run(s, t_stop)
% One step or one jump; or the end of the run.
  target = t_stop;
  for j = find(s.model.clock_of(:)')
    c = s.model.clock_of(j);
    due = s.offset(c) + s.tick(c) * s.every(c);
    if due > s.t + 8 * eps * abs(s.t)
      target = min(target, due);
    elseif s.t < t_stop
      s.pending(j) = true;
    end
  end
  j = find(s.pending, 1);
  if ~isempty(j)
    s = execute_jump(s, j, t_stop);
    return
  end
  if s.t >= t_stop
    s.status = 'done';
    return
  end
  s = check_finite(s, s.dx);
  if ~strcmp(s.status, 'running'), return; end
  room = target - s.t;
  h = s.step;
  if h * (1 + 1e3 * eps) + 8 * eps * abs(s.t) >= room, h = room; end
  [x, dx] = take_step(s, h);
  s = check_finite(s, x);
  if ~strcmp(s.status, 'running'), return; end
  [s, taken, x, dx, g, r] = locate_event(s, h, x, dx);
  if ~strcmp(s.status, 'running'), return; end
  before = s.t;
  if h == target - s.t && taken == h
    s.t = target;
  elseif taken == s.step  % counted, not added up, so that rounding does not grow
    s.on_grid = s.on_grid + 1;
    s.t = s.grid + s.on_grid * taken;
  else
    s.t = s.t + taken;
  end
  if s.t ~= s.grid + s.on_grid * s.step
    s.grid = s.t;
    s.on_grid = 0;
  end
  if s.t > before, s.at_this_instant = 0; end
  s.h0 = taken;
  s.x = x;
  s.dx = dx;
  s.g = g;
  s.r = r;
  s.g_size = max(s.g_size, abs(g));
  if ~isempty(g), s.holds = s.pending(s.model.jump_of) | holding(s, g, r); end
  s.steps = s.steps + 1;
end

function [x, dx] = take_step(s, h)
% The states at the end of a Runge-Kutta step of length h, and their rates.
  m = s.tableau;
  k = zeros(numel(s.x), numel(m.b));
  k(:, 1) = s.dx;
  for i = 2:numel(m.b)
    ahead = s.x + h * (k(:, 1:i - 1) * m.a(i, 1:i - 1)');
    k(:, i) = s.model.flow(s.t + m.c(i) * h, ahead, s.z, s.model.u, s.model.p);
  end
  x = s.x + h / m.divisor * (k * m.b');
  if ~isempty(m.quadrature)
    beside = s.model.integral;
    x(beside) = s.x(beside) + h * (k(beside, :) * m.quadrature');
  end
  dx = s.model.flow(s.t + h, x, s.z, s.model.u, s.model.p);
end

function s = execute_jump(s, j, t_stop)
% Jump j: reset the states, and see which other guards that makes true.
  i = s.model.guard_of(j);
  s.pending(j) = false;
  s.jumps = s.jumps + 1;
  s.last_jump = j;
  if s.model.clock_of(j), s.tick(s.model.clock_of(j)) = s.tick(s.model.clock_of(j)) + 1; end
  [s.x, s.z] = s.model.reset(j, s.t, s.x, s.z, s.model.u, s.model.p);
  if i, s.holds(i) = true; end
  s = check_finite(s, [s.x; s.z]);
  if ~strcmp(s.status, 'running'), return; end
  s = settle_guards(s);
  slack = rounding(s, s.r);
  % what only records, on a guard that rests on zero, has said so: to fire again would say nothing new
  if s.model.records(j) && s.g(i) >= -slack(i) && s.r(i) >= 0, s.holds(i) = true; end
  s.at_this_instant = s.at_this_instant + 1;
  accumulates = false;
  if i, [s, accumulates] = count_accumulation(s, i, t_stop - s.t); end
  if s.model.terminal(j)
    s.status = 'terminal';
  elseif s.at_this_instant > 256 || accumulates
    s.status = 'zeno';
  end
end

function [s, accumulates] = count_accumulation(s, i, remaining)
% Has guard i fired so often, so closely, that its events accumulate?
  gap = Inf;
  if s.fired(i) > -Inf, gap = s.t - s.fired(i); end
  near_zero = s.model.zeno * max(1, abs(s.t));
  ratio = 2;
  if s.gap(i) > 0 && s.gap(i) < Inf, ratio = gap / s.gap(i); end
  if ratio < 1 && gap * ratio / (1 - ratio) < near_zero
    s.shrinking(i) = s.shrinking(i) + 1;
  else
    s.shrinking(i) = 0;
  end
  if gap * 64 < near_zero
    s.chatter(i) = s.chatter(i) + 4;
  elseif gap < near_zero && gap * s.model.max_steps < remaining
    s.chatter(i) = s.chatter(i) + 1;
  else
    s.chatter(i) = 0;
  end
  s.fired(i) = s.t;
  s.gap(i) = gap;
  accumulates = s.shrinking(i) >= 3 || s.chatter(i) >= 256;
end

function [s, taken, x, dx, g, r] = locate_event(s, h, x, dx)
% The step of length h shortened to the first event in it: the root on its dense output, then the step itself up to the
% event until the guard is zero to rounding. Jumps due there become pending.
  taken = h;
  [g, r] = read_guards(s, s.t + h, x, dx);
  if any(isnan(g) & s.on > 0), s.status = 'not finite'; end
  if isempty(g) || ~strcmp(s.status, 'running'), return; end
  poly = dense_output(s, h, x, dx);
  now = holding(s, g, r);
  slack = rounding(s, r);
  % most guards are too far from zero to reach it within the step
  reach = 2 * max(h * max(abs(s.r), abs(r)), abs(g - s.g));
  far = s.g .* g > 0 & min(abs(s.g), abs(g)) > reach;
  first = 2;
  who = 0;
  for i = find(s.on(:)' > 0 & ~far(:)')
    left = struct('a', 0, 'g', s.g(i), 'r', h * s.r(i), 'holds', s.holds(i));
    right = struct('a', 1, 'g', g(i), 'r', h * r(i), 'holds', now(i));
    a = first_crossing(s, h, i, poly, left, right, slack(i));
    if a < first
      first = a;
      who = i;
    end
  end
  if who == 0, return; end
  if first < 1
    taken = first * h;
    moved = h;
    for tries = 1:8
      [x, dx] = take_step(s, taken);
      [g, r] = read_guards(s, s.t + taken, x, dx);
      change = -g(who) / r(who);
      if ~(abs(change) < moved / 2), break; end  % no longer converging; also true of a zero rate
      if abs(change) <= eps * max(abs(s.t), taken), break; end
      if taken + change <= 0 || taken + change > h || tries == 8, break; end
      moved = abs(change);
      taken = taken + change;
    end
  end
  due = s.on > 0 & ~s.holds & holding(s, g, r);
  due(who) = true;
  s.pending(s.model.jump_of(due)) = true;
end

function poly = dense_output(s, h, x, dx)
% Powers of the fraction of a step: the cubic through both ends, or for a method of first order the line.
  if s.tableau.order == 1
    poly = [s.x, x - s.x, zeros(numel(x), 2)];
  else
    a = h * s.dx;
    b = h * dx;
    poly = [s.x, a, 3 * (x - s.x) - 2 * a - b, 2 * (s.x - x) + a + b];
  end
end

function m = read_guard(s, h, i, poly, a)
% Guard i at the fraction a of a step, its rate [1/step], and whether it holds.
  x = poly * [1; a; a ^ 2; a ^ 3];
  dx = poly * [0; 1; 2 * a; 3 * a ^ 2] / h;
  [g, r] = read_guards(s, s.t + a * h, x, dx);
  now = holding(s, g, r);
  m = struct('a', a, 'g', g(i), 'r', h * r(i), 'holds', now(i));
end

function simple = is_plain(left, right, turning)
% Can the guard not cross zero between two readings, or only as its ends show?
  change = right.g - left.g;
  reach = max(abs(left.r), abs(right.r));
  if left.g * right.g > 0 && min(abs(left.g), abs(right.g)) > 2 * max(reach, abs(change))
    simple = true;
  elseif ~turning && reach > 3 * abs(change)
    simple = false;
  else
    simple = abs(change - (left.r + right.r) / 2) <= reach / 6;
  end
end

function simple = is_cubic(left, middle, right)
% Is the guard over two pieces the cubic that its ends and rates make of it? Rates are per piece.
  reach = max(abs(left.r), abs(right.r));
  change = abs(right.g - left.g);
  guess = (left.g + right.g) / 2 + (left.r - right.r) / 4;
  moved = max(abs(middle.g - left.g), abs(right.g - middle.g));
  simple = moved >= 0.3 * reach && abs(middle.g - guess) <= 0.05 * max(2 * reach, change);
end

function a = first_crossing(s, h, i, poly, left, right, slack)
% The fraction of a step at which guard i first begins to hold; 2 if it does not. Where two ends do not tell the whole
% story, it is looked at in 4, 16 and 64 pieces.
  if is_plain(left, right, false)
    a = crossing_between(s, h, i, poly, left, right, slack);
    return
  end
  for pieces = [4, 16, 64]
    at = left;
    for k = 1:pieces - 1, at(end + 1) = read_guard(s, h, i, poly, k / pieces); end
    at(end + 1) = right;
    per_piece = at;
    for k = 1:numel(at), per_piece(k).r = at(k).r / pieces; end
    simple = true;
    for k = 1:pieces, simple = simple && is_plain(per_piece(k), per_piece(k + 1), true); end
    for k = 1:2:pieces
      simple = simple && is_cubic(per_piece(k), per_piece(k + 1), per_piece(k + 2));
    end
    if simple || pieces == 64
      for k = 1:pieces
        a = crossing_between(s, h, i, poly, at(k), at(k + 1), slack);
        if a <= 1, return; end
      end
      return
    end
  end
end

function a = crossing_between(s, h, i, poly, left, right, slack)
% The fraction between two readings at which guard i begins to hold; 2 if it does not.
  a = left.a;
  b = right.a;
  if ~left.holds && ~right.holds  % up and down again?
    b = -1;
    if left.r > 0 && right.r < 0, b = find_extremum(s, h, i, poly, left, right, 1, slack); end
    if b < 0
      a = 2;
      return
    end
  elseif ~right.holds
    a = 2;
    return
  elseif left.holds || left.g >= 0  % down and up again?
    leaves = left.r < 0 && right.r > 0;
    a = -1;
    if leaves, a = find_extremum(s, h, i, poly, left, right, -1, slack * left.holds); end
    if a < 0
      a = left.a;
      if left.holds, a = 2; end
      return
    end
  end
  a = find_root(s, h, i, poly, a, b, left);
end

function a = find_extremum(s, h, i, poly, left, right, sign_wanted, slack)
% The first fraction at which a guard whose rate changes sign has the wanted sign; -1 if it never has.
  a = -1;
  for tries = 0:11
    if mod(tries, 3) == 2
      middle = (left.a + right.a) / 2;
    else
      middle = left.a + (right.a - left.a) * left.r / (left.r - right.r);
    end
    if ~(middle > left.a && middle < right.a), return; end
    m = read_guard(s, h, i, poly, middle);
    if sign_wanted * m.g > slack
      a = middle;
      return
    end
    if (m.r > 0) == (left.r > 0), left = m; else, right = m; end
    if right.a - left.a < 64 * eps, return; end
  end
end

function m = find_root(s, h, i, poly, a, b, left)
% The root of guard i in (a, b]: Newton's method, bisecting where that leaves the bracket or is slow.
  if a == left.a, begins_below = left.g < 0; else, begins_below = true; end
  if ~begins_below
    m = a;
    return
  end
  m = b;
  move = b - a;
  move_before = move;
  for tries = 1:100
    here = read_guard(s, h, i, poly, m);
    next = m - here.g / here.r;
    if here.g < 0, a = m; else, b = m; end
    if ~(next > a && next < b) || 2 * abs(here.g) > abs(move_before * here.r), next = (a + b) / 2; end
    move_before = move;
    move = next - m;
    m = next;
    if abs(move) <= 4 * eps * m, return; end
  end
end

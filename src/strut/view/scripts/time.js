/* The time of the run that the film and all plots of a page show. */
const strutTime = (() => {
  const listeners = new Set();
  const clock = { now: null, listen: f => { listeners.add(f); }, seekers: new Set(),
    tell: t => { if (t === clock.now) return; clock.now = t; listeners.forEach(f => f(t)); },
    seek: t => { clock.seekers.forEach(f => f(t)); clock.tell(t); } };
  return clock;
})();

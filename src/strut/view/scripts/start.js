/* In space if the browser can, or else flat. */
(() => {
  const can = (() => { try { return !!document.createElement("canvas").getContext("webgl2"); } catch { return false; } })();
  if (!can) document.querySelectorAll(".space").forEach(e => e.remove());
  document.body.dataset.drawn = can ? "space" : "flat";
  strutFilm("film", can ? strutSpace : strutFlat);
})();

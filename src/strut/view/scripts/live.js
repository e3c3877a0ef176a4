/* Keeps a page up to date while a job runs: every other second it loads a script that lies beside it and calls strutLive. A script works from a
   file, where a page may fetch nothing. Figures and films that are still there stay where they are, so that nothing flashes or jumps. */
(() => {
  const holder = document.getElementById("live"), { source, seconds, nonce } = JSON.parse(holder.textContent);
  const main = document.querySelector("main");
  let number = -1;
  window.strutLive = news => {
    if (news.number === number || !window.strutDraw) return;  /* nothing new, or plotly is not unpacked yet */
    number = news.number;
    const fresh = document.createElement("main");
    fresh.innerHTML = news.main;
    const figures = [...main.querySelectorAll(".figure")];
    fresh.querySelectorAll(".figure").forEach((place, k) => { if (figures[k] && figures[k].dataset.kind === place.dataset.kind) place.replaceWith(figures[k]); });
    fresh.querySelectorAll("[data-film]").forEach(place => {
      const old = main.querySelector(`[data-film="${place.dataset.film}"]`);
      if (old) { old.querySelector("h3").replaceWith(place.querySelector("h3")); place.replaceWith(old); }
    });
    fresh.querySelectorAll("section > details").forEach(part => {  /* what a reader has folded or opened stays so */
      const old = part.parentElement.id && main.querySelector(`#${part.parentElement.id} > details`);
      if (old) part.open = old.open;
    });
    for (const [name, data] of Object.entries(news.data)) {
      if (document.getElementById(name)) continue;
      document.body.append(Object.assign(document.createElement("script"), { type: "application/json", id: name, textContent: JSON.stringify(data) }));
    }
    const top = document.scrollingElement.scrollTop;
    main.replaceChildren(...fresh.childNodes);
    document.scrollingElement.scrollTop = top;
    window.strutDraw(news.figures, news.columns);
    if (typeof strutFilms !== "undefined") strutFilms();
  };
  const look = () => {
    const script = Object.assign(document.createElement("script"), { src: source + "?" + Date.now(), nonce });
    script.onload = script.onerror = () => { script.remove(); setTimeout(look, 1000 * seconds); };
    document.head.append(script);
  };
  look();
})();

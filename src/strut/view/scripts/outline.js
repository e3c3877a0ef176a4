/* Opens what an address or a link of the contents points to; and all parts of a page, or none but the first. */
(() => {
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const part = target.querySelector("details") ?? target.closest("details");
    if (part) part.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", event => { if (event.target.closest?.("nav a")) setTimeout(reveal); });
  const all = document.getElementById("open-all");
  if (all) all.onclick = () => {
    const parts = [...document.querySelectorAll("main > section > details")], open = parts.some(part => !part.open);
    parts.forEach(part => { part.open = open; });
    all.textContent = open ? "Fold all" : "Open all";
  };
  reveal();
})();

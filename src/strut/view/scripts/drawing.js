/* Shows drawings that are packed in the page when their parts are opened: as pictures, in which no script runs. A click shows all details. */
(() => {
  const open = async button => {
    const image = button.querySelector("img"), holder = document.getElementById(button.dataset.drawing);
    if (image.src || button.dataset.begun || !button.clientWidth) return;
    button.dataset.begun = "yes";
    if (typeof DecompressionStream === "undefined") { button.textContent = "This drawing needs a browser of 2023 or later."; return; }
    const bytes = Uint8Array.from(atob(holder.textContent), c => c.charCodeAt(0));
    const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  };
  const openAll = () => document.querySelectorAll("button.drawing").forEach(open);
  document.querySelectorAll("button.drawing").forEach(button => { button.onclick = () => { button.setAttribute("aria-pressed", button.classList.toggle("whole")); }; });
  document.addEventListener("toggle", openAll, true);
  openAll();
})();

/* Shows drawings that are packed in the page when their parts are opened: as pictures, in which no script runs. A click changes between the whole drawing and its own size, which is scrolled in a frame; where the whole would be too small to read, its own size comes first. */
(() => {
  const open = async button => {
    const image = button.querySelector("img"), holder = document.getElementById(button.dataset.drawing);
    if (image.src || button.dataset.begun || !button.clientWidth) return;
    button.dataset.begun = "yes";
    if (typeof DecompressionStream === "undefined") { button.textContent = "This drawing needs a browser of 2023 or later."; return; }
    const bytes = Uint8Array.from(atob(holder.textContent), c => c.charCodeAt(0));
    const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
    image.onload = () => show(button, image.clientWidth < LEGIBLE * image.naturalWidth);
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  };
  const LEGIBLE = .75; // of its own size: names of 12 pixels become 9
  const show = (button, whole) => {
    const frame = button.parentElement;
    button.classList.toggle("whole", whole);
    button.setAttribute("aria-pressed", whole);
    button.title = whole ? "a click fits it to the page" : "a click shows it in its own size";
    if (whole) { frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2; frame.scrollTop = (frame.scrollHeight - frame.clientHeight) / 2; }
  };
  const openAll = () => document.querySelectorAll("button.drawing").forEach(open);
  document.querySelectorAll("button.drawing").forEach(button => { button.onclick = () => show(button, !button.classList.contains("whole")); });
  document.addEventListener("toggle", openAll, true);
  openAll();
})();

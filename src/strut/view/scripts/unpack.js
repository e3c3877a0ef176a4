/* Opens what is compressed in a page, and then goes on; a browser that cannot says so where figures would be. */
const strutUnpack = async (names, then) => {
  const places = [...document.querySelectorAll(".figure")];
  const say = words => places.forEach(place => { place.textContent = words; place.className = "note"; place.style.height = "auto"; });
  if (typeof DecompressionStream === "undefined") {
    say("This figure needs a browser of 2023 or later (Chrome 80, Safari 16.4, Firefox 113): an older one cannot unpack it.");
    return;
  }
  const open = name => {
    const bytes = Uint8Array.from(atob(document.getElementById(name).textContent), c => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  let texts;
  try { texts = await Promise.all(names.map(open)); }
  catch (error) { say("This figure cannot be unpacked: the file is damaged (" + error.message + ")."); return; }
  then(...texts);
};

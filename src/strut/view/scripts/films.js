/* Plays the films of a page that stand side by side, together (film.js); those of a live page come later. */
const strutFilms = () => document.querySelectorAll("[data-film]").forEach(place => {
  if (place.hidden || place.dataset.begun || !document.getElementById(place.dataset.film)) return;
  place.dataset.begun = "yes";
  strutFilm(place.dataset.film, strutFlat, place.dataset.film + "-");
});
/* Of films that are seen one at a time, this one; the list above them says which. */
const strutShowWalk = film => {
  const beside = [...film.parentElement.querySelectorAll("[data-walk]")], list = film.parentElement.querySelector(".walks select");
  beside.forEach(each => { each.hidden = each !== film; });
  if (list) list.selectedIndex = beside.indexOf(film);
  strutFilms();
};
document.addEventListener("change", event => {
  const list = event.target.closest?.(".walks select");
  if (list) strutShowWalk(list.closest(".pair").querySelectorAll("[data-walk]")[list.selectedIndex]);
});
strutFilms();

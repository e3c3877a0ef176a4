/* Plays the films of a page that stand side by side; those of a live page come later. */
const strutFilms = () => document.querySelectorAll("[data-film]").forEach(place => {
  if (place.hidden || place.dataset.begun || !document.getElementById(place.dataset.film)) return;
  place.dataset.begun = "yes";
  strutFilm(place.dataset.film, strutFlat, place.dataset.film + "-");
});
strutFilms();

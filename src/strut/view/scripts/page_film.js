/* Plays the film of a page. */
strutFilm("film", strutFlat);

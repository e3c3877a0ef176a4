"""A run in motion: scenes as JSON for the browser, frames as SVG and pixels, films."""

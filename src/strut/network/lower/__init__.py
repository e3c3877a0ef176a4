"""From a model to the hybrid `System`: what every variable means, as expressions."""

"""Duindam's gait search among polynomials of time."""

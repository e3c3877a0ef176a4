"""Fixtures of this room."""

from tests.simulate.fake_card import fake_driver, fake_driver_file

__all__ = ["fake_driver", "fake_driver_file"]

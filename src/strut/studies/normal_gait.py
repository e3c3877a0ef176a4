"""Joint angles of normal gait: published means and deviations over a stride, and how like them a curve is.

Schwartz, Rozumalski and Trost, The effect of walking speed on the gait of typically developing children,
Journal of Biomechanics 41 (2008) 1639-1650: 83 children from 4 to 17 years. The numbers are those of the
workbook that supplements the article, sheet Joint Rotations, columns of free speed: every second of its 51
rows, rounded to 0.1 degrees; a deviation is half of what lies between its columns -1sd and +1sd. Of adults no
table was at hand; their curves have the same shape. Hips are there between thigh and pelvis,
which leans forward by about 12 degrees; here they are between thigh and trunk.
"""

from __future__ import annotations

import numpy as np

SOURCE = "Schwartz, Rozumalski and Trost 2008, 83 children at free speed: mean and one standard deviation"
"""Where the numbers come from."""
PERCENT = np.arange(0, 101, 4)
"""[%] Of the stride from heel strike to heel strike, where they are given."""
MEAN_ANGLES = {
    "hip": "35.8 35.5 34.2 31.1 26.9 22.5 18.1 13.6 9.3 5.3 1.6 -1.7 -4.4 -5.8 -4.9 -0.9 6.1 14.1 21.4 27.4 "
    "32.0 35.1 36.6 36.5 35.8 35.5",
    "knee": "5.6 10.9 16.9 19.3 18.6 16.5 13.9 11.3 9.0 7.2 6.2 6.8 9.5 14.5 22.6 33.9 46.3 55.7 59.1 56.9 "
    "49.8 38.8 25.5 12.5 4.6 5.4",
    "ankle": "-2.1 -5.6 -4.1 -0.2 2.9 5.2 6.8 8.0 9.1 10.2 11.1 11.8 11.5 8.4 -0.2 -13.8 -19.8 -14.7 -7.9 "
    "-2.4 1.1 2.5 1.8 0.1 -1.1 -2.3",
}
"""[deg] Means: flexion of hip and knee, and lifting the foot, are positive."""
ANGLE_DEVIATIONS = {
    "hip": "5.4 5.6 5.9 6.0 6.0 6.0 5.9 6.0 6.1 6.4 6.7 6.8 6.8 6.8 6.7 6.8 6.6 6.3 6.0 5.7 5.5 5.4 5.4 5.5 "
    "5.5 5.5",
    "knee": "5.7 5.6 6.1 6.3 6.2 5.9 5.7 5.5 5.5 5.7 5.7 5.7 5.6 5.8 6.2 6.6 6.4 5.7 5.9 6.8 7.8 8.5 8.7 "
    "8.1 6.6 5.6",
    "ankle": "5.6 4.8 4.0 4.0 4.0 3.8 3.7 3.8 3.9 4.1 4.4 4.7 5.2 6.2 8.3 9.5 8.8 8.2 6.8 5.7 4.9 4.2 4.1 "
    "4.7 5.3 5.4",
}
"""[deg] Standard deviations between the children."""


def normal_angles(joint: str, percent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and deviation [deg] of a joint, 'hip', 'knee' or 'ankle', at parts of the stride [%]."""
    mean, deviation = (
        np.interp(percent, PERCENT, np.array(table[joint].split(), dtype=float))
        for table in (MEAN_ANGLES, ANGLE_DEVIATIONS)
    )
    return mean, deviation


def likeness(joint: str, angles: np.ndarray) -> float:
    """Return the correlation of a joint's angle, evenly over a stride from heel strike on, with the mean of
    normal gait."""
    mean, _ = normal_angles(joint, np.linspace(0, 100, len(angles)))
    return float(np.corrcoef(mean, angles)[0, 1])


__all__ = ["SOURCE", "likeness", "normal_angles"]

"""`table_signal`: a column of a table in a file as an expression of time."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from strut.network.build.model_files import NumberTable
from strut.system import time


def table_signal(data: NumberTable, name: str, settings: Mapping[str, str]) -> ca.SX | None:
    """The column of that name as an expression of time; None if there is none.

    settings: with 'interpolate' (default true) it is linear between rows, else that of the nearest row; with
    'repeat' (default true) it begins again behind the last row.
    """
    if name not in data.names:
        return None
    values = data.values[:, data.names.index(name)]
    begin, end = float(data.time[0]), float(data.time[-1])
    now: ca.SX = time
    if settings.get("repeat", "true").lower() in ("true", "1") and end > begin:
        now = begin + (time - begin) - (end - begin) * ca.floor((time - begin) / (end - begin))
    if settings.get("interpolate", "true").lower() in ("true", "1"):
        return ca.pw_lin(now, ca.DM(data.time), ca.DM(values)) if len(values) > 1 else ca.SX(values[0])
    between = (data.time[1:] + data.time[:-1]) / 2  # the nearest row
    return ca.pw_const(now, ca.DM(between), ca.DM(values)) if len(values) > 1 else ca.SX(values[0])

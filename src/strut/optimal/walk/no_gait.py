"""Why the motion of a plan is no gait, in words."""

from __future__ import annotations

from strut.errors import NoGaitError
from strut.gait.section import explain_status
from strut.system import System

REFUSED = "no gait: "
"""What stands before the reason for which a fixed point is no gait, in `NoGaitError.fell`."""


def explain_no_gait(error: NoGaitError, walker: System, section: str) -> str:
    """Return why no gait was found near a plan: how the steps that were tried from there ended. section: the
    event that should end them."""
    words = {
        "done": f"without '{section}'",
        "too many steps": f"without '{section}', however long they swing",
        section: "with derivatives that are not finite",
    }
    ended = [
        words.get(reason) or f"with '{explain_status(walker, reason)}'"
        for reason in error.fell
        if not reason.startswith(REFUSED)
    ]
    refused = [
        f"Newton's method finds a motion that is none ({reason.removeprefix(REFUSED)})"
        for reason in error.fell
        if reason.startswith(REFUSED)
    ]
    reasons = [*([f"steps begun there end {', or '.join(ended)}"] if ended else []), *refused]
    return "; ".join(reasons) or str(error)


__all__ = ["explain_no_gait"]

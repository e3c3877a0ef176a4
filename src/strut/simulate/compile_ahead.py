"""`compile_for_card`: kernels of a system for cards of another machine, compiled where there is a compiler.

On a cluster the machine with the compiler is often not the one with the card. What is compiled on one
stays in the cache, and is taken from there on the other, where both have the same home, or $STRUT_CACHE, and
the same strut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from strut.checks import checked
from strut.codegen import (
    absent_card,
    build_device_library,
    check_device_model,
    choose_crew,
    lower_system,
    read_capability,
)
from strut.errors import DeviceError
from strut.simulate.batch_on_card import check_device
from strut.simulate.options import STIFF, chosen_options
from strut.system import System


@checked
def compile_for_card(
    system: System,
    capability: str,
    *,
    precision: str = "double",
    crew: int | str = "auto",
    **options: Any,
) -> Path:
    """Compile what `simulate_batch(system, ..., device='cuda')` runs on a card, which need not be here, and
    return the file, which the cache keeps.

    capability: of the card, as '9.0' or 'sm_90'. precision, crew: as of `simulate_batch`. options: as for
    `simulate`; of these the method and the ledger matter.
    Raises `DeviceError` for a system or method that no card runs, `CompileError` where there is no compiler
    or it fails.
    """
    number = read_capability(capability)
    check_device("cuda", precision, None, 1, crew)
    chosen = chosen_options({"ledger": False, **options})
    low = lower_system(system)
    check_device_model(low)
    if chosen.method in STIFF:
        raise DeviceError(f"method '{chosen.method}' runs on the processor alone: take an explicit method")
    members = choose_crew(low, absent_card(number), precision) if crew == "auto" else int(crew)
    ledger = bool(chosen.ledger)
    return build_device_library(low, chosen.method, precision, number, ledger=ledger, crew=members)


__all__ = ["compile_for_card"]

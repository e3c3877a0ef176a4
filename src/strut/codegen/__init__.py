"""From the expressions of a `System` to something that runs: plain functions, C, a cache of compiled
libraries, and CasADi's virtual machine. Rooms that use systems read it; rooms that describe them do not."""

from strut.codegen.c import emit
from strut.codegen.c_tables import literal
from strut.codegen.cache import build, cache_directory, compiler, key_of
from strut.codegen.compile_system import compiled, lowered
from strut.codegen.instructions import Dialect, arithmetic, straight_line
from strut.codegen.lower import Lowered, column
from strut.codegen.native import CONTROLLER, Control, Many, Native, NativeOptions, Record, address, byref
from strut.codegen.private_folder import check_private_directory, make_private
from strut.codegen.runtime.tableau import BASIS, DOP853, DOPRI5, Tableau
from strut.codegen.split_casadi_c import chopped
from strut.codegen.translation_unit import Code, generate, runtime_sources
from strut.codegen.virtual import Virtual

__all__ = [
    "BASIS",
    "CONTROLLER",
    "DOP853",
    "DOPRI5",
    "Code",
    "Control",
    "Dialect",
    "Lowered",
    "Many",
    "Native",
    "NativeOptions",
    "Record",
    "Tableau",
    "Virtual",
    "address",
    "arithmetic",
    "build",
    "byref",
    "cache_directory",
    "check_private_directory",
    "chopped",
    "column",
    "compiled",
    "compiler",
    "emit",
    "generate",
    "key_of",
    "literal",
    "lowered",
    "make_private",
    "runtime_sources",
    "straight_line",
]

"""From the expressions of a `System` to something that runs: plain functions, C, a cache of compiled
libraries, and CasADi's virtual machine. Rooms that use systems read it; rooms that describe them do not."""

from typing import TYPE_CHECKING

from strut.import_on_demand import import_on_demand

if TYPE_CHECKING:
    from strut.codegen.backends import chosen_backend, compile_system, lower_system, required_compiler
    from strut.codegen.background import build_in_background, is_begun, wait_for_builds
    from strut.codegen.c import emit
    from strut.codegen.c_tables import literal
    from strut.codegen.cache import build, cache_directory, compiler, find_content, is_cached, key_of
    from strut.codegen.cuda import (
        CREWS,
        NO_CUDA_COMPILER,
        PRECISIONS,
        CudaCompiler,
        absent_card,
        build_device_library,
        check_device_model,
        choose_crew,
        find_cuda_compiler,
        kernels_of,
        read_capability,
    )
    from strut.codegen.cuda_driver import NO_MEMORY, Card, Driver, DriverError, forget_driver, open_driver
    from strut.codegen.device_library import (
        ACCOUNT,
        DeviceLibrary,
        PopulationAccount,
        RowsOnCard,
        load_library,
    )
    from strut.codegen.instructions import Dialect, arithmetic, straight_line
    from strut.codegen.lanes import LANES, LanesLibrary, build_lanes_library, full_lanes
    from strut.codegen.lower import Lowered, column
    from strut.codegen.native import CONTROLLER, Control, Many, Native, NativeOptions, Record, address, byref
    from strut.codegen.prebuilt_list import PrebuiltList, read_prebuilt_list, write_prebuilt_list
    from strut.codegen.private_folder import check_private_directory, make_private
    from strut.codegen.qp_library import QpReport, QpShape, QpSolver, QpStatus, solve_qp, solver_sources
    from strut.codegen.qp_unit import (
        REPORT_FIELDS,
        LoopState,
        NativeController,
        QpFunctions,
        compile_controller,
    )
    from strut.codegen.runtime.integrators import (
        INTEGRATORS,
        Integrator,
        StepKind,
        integrator_number,
        names_of_kind,
    )
    from strut.codegen.runtime.layout import DEFAULTS, JUMP_FIELDS, SINGLE_DEFAULTS, STEP_FIELDS, Field
    from strut.codegen.runtime.status import STATUS_WORDS, Advance, RecordingEnd, RunCounter, RunStatus
    from strut.codegen.runtime.tableau import BASIS, RK4, Tableau
    from strut.codegen.sampled_controller import SampledController
    from strut.codegen.split_casadi_c import split_long_functions
    from strut.codegen.translation_unit import Code, generate, runtime_sources
    from strut.codegen.virtual import Virtual
    from strut.codegen.wasm_module import (
        WasmModule,
        build_wasm_module,
        find_wasm_compiler,
        keep_prebuilt,
        wasm_section,
    )

__all__ = [
    "ACCOUNT",
    "BASIS",
    "CONTROLLER",
    "CREWS",
    "DEFAULTS",
    "INTEGRATORS",
    "JUMP_FIELDS",
    "LANES",
    "NO_CUDA_COMPILER",
    "NO_MEMORY",
    "PRECISIONS",
    "REPORT_FIELDS",
    "RK4",
    "SINGLE_DEFAULTS",
    "STATUS_WORDS",
    "STEP_FIELDS",
    "Advance",
    "Card",
    "Code",
    "Control",
    "CudaCompiler",
    "DeviceLibrary",
    "Dialect",
    "Driver",
    "DriverError",
    "Field",
    "Integrator",
    "LanesLibrary",
    "LoopState",
    "Lowered",
    "Many",
    "Native",
    "NativeController",
    "NativeOptions",
    "PopulationAccount",
    "PrebuiltList",
    "QpFunctions",
    "QpReport",
    "QpShape",
    "QpSolver",
    "QpStatus",
    "Record",
    "RecordingEnd",
    "RowsOnCard",
    "RunCounter",
    "RunStatus",
    "SampledController",
    "StepKind",
    "Tableau",
    "Virtual",
    "WasmModule",
    "absent_card",
    "address",
    "arithmetic",
    "build",
    "build_device_library",
    "build_in_background",
    "build_lanes_library",
    "build_wasm_module",
    "byref",
    "cache_directory",
    "check_device_model",
    "check_private_directory",
    "choose_crew",
    "chosen_backend",
    "column",
    "compile_controller",
    "compile_system",
    "compiler",
    "emit",
    "find_content",
    "find_cuda_compiler",
    "find_wasm_compiler",
    "forget_driver",
    "full_lanes",
    "generate",
    "integrator_number",
    "is_begun",
    "is_cached",
    "keep_prebuilt",
    "kernels_of",
    "key_of",
    "literal",
    "load_library",
    "lower_system",
    "make_private",
    "names_of_kind",
    "open_driver",
    "read_capability",
    "read_prebuilt_list",
    "required_compiler",
    "runtime_sources",
    "solve_qp",
    "solver_sources",
    "split_long_functions",
    "straight_line",
    "wait_for_builds",
    "wasm_section",
    "write_prebuilt_list",
]

import_on_demand(
    __name__,
    {
        "backends": ("chosen_backend", "compile_system", "lower_system", "required_compiler"),
        "background": ("build_in_background", "is_begun", "wait_for_builds"),
        "c": ("emit",),
        "c_tables": ("literal",),
        "cache": ("build", "cache_directory", "compiler", "find_content", "is_cached", "key_of"),
        "cuda": (
            "CREWS",
            "NO_CUDA_COMPILER",
            "PRECISIONS",
            "CudaCompiler",
            "absent_card",
            "build_device_library",
            "check_device_model",
            "choose_crew",
            "find_cuda_compiler",
            "kernels_of",
            "read_capability",
        ),
        "cuda_driver": ("NO_MEMORY", "Card", "Driver", "DriverError", "forget_driver", "open_driver"),
        "device_library": ("ACCOUNT", "DeviceLibrary", "PopulationAccount", "RowsOnCard", "load_library"),
        "instructions": ("Dialect", "arithmetic", "straight_line"),
        "lanes": ("LANES", "LanesLibrary", "build_lanes_library", "full_lanes"),
        "lower": ("Lowered", "column"),
        "native": ("CONTROLLER", "Control", "Many", "Native", "NativeOptions", "Record", "address", "byref"),
        "private_folder": ("check_private_directory", "make_private"),
        "qp_library": ("QpReport", "QpShape", "QpSolver", "QpStatus", "solve_qp", "solver_sources"),
        "qp_unit": ("REPORT_FIELDS", "LoopState", "NativeController", "QpFunctions", "compile_controller"),
        "runtime.integrators": (
            "INTEGRATORS",
            "Integrator",
            "StepKind",
            "integrator_number",
            "names_of_kind",
        ),
        "runtime.layout": ("DEFAULTS", "JUMP_FIELDS", "SINGLE_DEFAULTS", "STEP_FIELDS", "Field"),
        "runtime.status": ("STATUS_WORDS", "Advance", "RecordingEnd", "RunCounter", "RunStatus"),
        "runtime.tableau": ("BASIS", "RK4", "Tableau"),
        "sampled_controller": ("SampledController",),
        "split_casadi_c": ("split_long_functions",),
        "translation_unit": ("Code", "generate", "runtime_sources"),
        "virtual": ("Virtual",),
        "prebuilt_list": ("PrebuiltList", "read_prebuilt_list", "write_prebuilt_list"),
        "wasm_module": (
            "WasmModule",
            "build_wasm_module",
            "find_wasm_compiler",
            "keep_prebuilt",
            "wasm_section",
        ),
    },
)

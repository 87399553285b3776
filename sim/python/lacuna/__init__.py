# SPDX-License-Identifier: Apache-2.0
"""Lacuna: what a zero buys, on a bulk-synchronous chip and on a dataflow wafer.

    import lacuna
    wafer = lacuna.Machine("wse2")
    wafer.wafer.columns = wafer.wafer.rows = 64
    result = lacuna.run(wafer, gemm=(1024, 1024, 4096), pattern="unstructured:0.1")
    result.total.cycles, result.stack

Words of the command line are keywords here (`--with-dense` is `with_dense=True`), errors are
exceptions with the same words, and results are pandas frames and NumPy arrays.
"""

try:
    from ._lacuna import (CheckError, Error, InternalError, RequestError, SimulationError, __version__)
except ModuleNotFoundError as error:
    import pathlib
    import sys
    built = ", ".join(file.name for file in pathlib.Path(__file__).parent.glob("_lacuna*.so"))
    raise ImportError(f"lacuna: found Python {sys.version.split()[0]}; allowed: that of {built or 'a build'}, such "
                      "as /usr/bin/python3 of Debian") from error
from ._machine import Group, Machine, Parameter
from ._magic import load_ipython_extension
from ._own import Program, step
from ._result import Result, read
from ._simulate import Found, compare, run, search, sweep
from ._program import Printed, Validation, command, describe, validate
from ._workload import Mask
from . import trace

__all__ = [
    "CheckError", "Error", "Found", "Group", "InternalError", "Machine", "Mask", "Parameter", "Printed",
    "Program", "RequestError", "Result", "SimulationError", "Validation", "__version__", "command", "compare",
    "describe", "load_ipython_extension", "read", "run", "search", "step", "sweep", "trace", "validate",
]

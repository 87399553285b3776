# SPDX-License-Identifier: Apache-2.0
"""`%load_ext lacuna`: a cell that begins with `%%lacuna [NAME]` is a command of the program."""

from __future__ import annotations

import os
import shlex
import tempfile
from typing import Any, Optional

from ._lacuna import RequestError
from ._program import command
from ._result import Result, read

_WITH_RESULT = ("run", "compare", "sweep", "search")
_OF_MODELS = ("--model", "--system-config")  # their folders are no runs that `read` knows


def asked(text: str) -> Optional[Result]:
    """Does what a command line asks: `run --machine bow ...`, over several lines, with or without
    `lacuna` before it. The result of a verb that has one; else what the program prints is printed."""
    words = shlex.split(text.replace("\\\n", " "), comments=True)
    if words[:1] == ["lacuna"]:
        words = words[1:]
    if not words:
        raise RequestError("%%lacuna: found nothing; allowed: a command, such as run --machine bow "
                           "--gemm 512x512x256")
    known = words[0] in _WITH_RESULT and not any(word.split("=")[0] in _OF_MODELS for word in words)
    if not known:
        print(command(*words).out, end="")
        return None
    if any(word.split("=")[0] == "--out" for word in words):
        command(*words)
        place = [word.split("=")[0] for word in words].index("--out")
        given = words[place].partition("=")[2]
        return read(given or words[place + 1])
    with tempfile.TemporaryDirectory(prefix="lacuna-") as folder:
        out = os.path.join(folder, "result")
        command(*words, "--out", out)
        return read(out)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext lacuna`."""

    def cell(line: str, body: str = "") -> Optional[Result]:
        """A name in the first line takes the result; without one the cell shows it."""
        name = line.strip()
        if name and not name.isidentifier():
            raise RequestError(f"%%lacuna: found '{name}'; allowed: a name for the result")
        result = asked(body)
        if name:
            shell.user_ns[name] = result
        return result

    shell.register_magic_function(cell, magic_kind="cell", magic_name="lacuna")
    shell.register_magic_function(asked, magic_kind="line", magic_name="lacuna")

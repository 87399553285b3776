# SPDX-License-Identifier: Apache-2.0
"""Programs of one's own, written in Python, against the file that they make."""

import json
import os
import subprocess
import unittest

import numpy as np

import lacuna
from lacuna import step

LACUNA = os.environ["LACUNA"]


def doubled(expected="2 * i"):
    program = lacuna.Program(columns=2, colors={"east": 0}, n=8)
    west = program.cores(columns=0).data("x", "fp32", "n", np.arange(8))
    west.route("east", rx="ramp", tx="east").task("main", [step("move", "east", "x")], active=True)
    east = program.cores(columns=1).data("y", "fp32", "n").route("east", rx="west", tx="ramp")
    east.task("main", [step("mul", "y", "east", 2, if_="column == 1")], active=True)
    east.read("y", expected)
    return program


class ProgramTest(unittest.TestCase):
    def test_a_program_is_the_file_that_it_writes(self):
        result = lacuna.run("wse3", program=doubled(), values="integer")
        program = doubled()
        path = program.file()
        done = subprocess.run([LACUNA, "run", "--machine", "wse3", "--program", path, "--json"],
                              capture_output=True, text=True, check=True)
        again = lacuna.run("wse3", program=f"{path}:n=8")
        self.assertEqual(json.loads(done.stdout)[0]["cycles"], result.total.cycles)
        self.assertEqual(again.total.cycles, result.total.cycles)

    def test_a_mistake_has_its_line(self):
        program = doubled()
        program.cores(columns=1).route("west", rx="ramp", tx="west")
        with self.assertRaisesRegex(lacuna.RequestError, r"program.yaml:\d+:\d+: found 'west'"):
            lacuna.run("wse3", program=program)


if __name__ == "__main__":
    unittest.main()

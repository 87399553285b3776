# SPDX-License-Identifier: Apache-2.0
"""Parameters are attributes, with units and ranges; what is wrong is said as the program says it."""

import json
import os
import subprocess
import unittest

import lacuna

LACUNA = os.environ["LACUNA"]


def said_by_program(*arguments):
    done = subprocess.run([LACUNA, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.strip().removeprefix("lacuna: ")


class MachineTest(unittest.TestCase):
    def test_values_are_of_the_preset(self):
        bow = lacuna.Machine("bow")
        # the published chip: 1,472 tiles of 624 KiB, 1.85 GHz
        self.assertEqual(bow.tile.memory.kib, 624)
        self.assertEqual(bow.ipu.tiles, 1472)
        self.assertEqual(bow.clock, 1.85)
        self.assertIsInstance(bow.tile.memory.kib, int)

    def test_units_ranges_and_meaning_are_readable(self):
        kib = lacuna.Machine("bow").tile.memory["kib"]
        self.assertEqual((kib.path, kib.unit, kib.value), ("tile.memory.kib", "KiB", 624))
        low, high = kib.range
        self.assertTrue(low <= 624 <= high)
        self.assertTrue(kib.meaning)

    def test_all_parameters_are_those_of_describe(self):
        frame = lacuna.Machine("wse2").parameters
        known = json.loads(lacuna.describe("parameters", machine="wse2", json=True))
        paths = [each["path"] for each in known[0]["parameters"]]
        self.assertEqual(list(frame.index), paths)
        self.assertGreater(len(frame), 50)

    def test_flags_are_true_or_false(self):
        bow = lacuna.Machine("bow")
        self.assertIs(bow.exchange.paired, True)
        bow.exchange.paired = False
        self.assertIs(bow.exchange.paired, False)
        self.assertIs(bow.parameter("exchange.paired").default, True)

    def test_no_parameter_hides_behind_a_method(self):
        for preset in ("bow", "wse3"):
            machine = lacuna.Machine(preset)
            for path in machine.parameters.index:
                self.assertFalse(hasattr(lacuna.Machine, path.split(".")[0]), path)

    def test_setting_an_attribute_sets_the_parameter(self):
        wafer = lacuna.Machine("wse2")
        wafer.wafer.columns = 8
        wafer.wafer.rows = 4
        self.assertEqual(wafer.extent, "8 x 4 of 850000 cores")
        self.assertEqual(wafer.copy().wafer.rows, 4)
        other = wafer.copy(label="tall", wafer__rows=16)
        self.assertEqual((other.name, other.wafer.rows, wafer.wafer.rows), ("tall", 16, 4))

    def test_attributes_complete(self):
        self.assertIn("kib", dir(lacuna.Machine("bow").tile.memory))
        self.assertIn("tile", dir(lacuna.Machine("bow")))

    def test_a_wrong_value_is_refused_with_the_same_words(self):
        status, text = said_by_program("run", "--machine", "bow", "--gemm", "16x16x16", "--set",
                                       "tile.memory.kib=0")
        self.assertEqual(status, 2)
        bow = lacuna.Machine("bow")
        with self.assertRaises(lacuna.RequestError) as caught:
            bow.tile.memory.kib = 0
        # the program adds where the value stood
        self.assertEqual(str(caught.exception).split(" (")[0], text.split(" (")[0])
        self.assertIn("tile.memory.kib = 0 KiB is outside [", str(caught.exception))
        self.assertIsInstance(caught.exception, ValueError)
        self.assertEqual(bow.tile.memory.kib, 624)

    def test_an_unknown_name_names_the_nearest(self):
        bow = lacuna.Machine("bow")
        with self.assertRaises(AttributeError) as caught:
            bow.tile.memory.kbi
        self.assertIn("did you mean 'tile.memory.kib'?", str(caught.exception))
        with self.assertRaises(lacuna.RequestError):
            bow.tile.memory.kbi = 3
        with self.assertRaises(lacuna.RequestError) as caught:
            lacuna.Machine("bwo")
        _, text = said_by_program("run", "--machine", "bwo", "--gemm", "16x16x16")
        self.assertEqual(str(caught.exception), text)


if __name__ == "__main__":
    unittest.main()

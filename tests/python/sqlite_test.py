# SPDX-License-Identifier: Apache-2.0
"""Tables of results in one database are those of their CSV files."""

import csv
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

LACUNA = os.environ["LACUNA"]
PRODUCT = ["--machine", "wse2", "--set", "wafer.columns=8", "--set", "wafer.rows=8", "--gemm",
           "64x64x64"]


class SqliteTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.file = self.folder / "all.db"

    def tearDown(self):
        self.temporary.cleanup()

    def lacuna(self, *arguments):
        return subprocess.run([LACUNA, *arguments, "--sqlite", str(self.file)],
                              capture_output=True, text=True)

    def rows(self, query):
        with sqlite3.connect(self.file) as database:
            return database.execute(query).fetchall()

    def cells(self, result, *columns):
        """Of the summary of a result folder, in its order."""
        with open(self.folder / result / "summary.csv", encoding="utf-8") as file:
            return [tuple(row[column] for column in columns) for row in csv.DictReader(file)]

    def test_results_are_kept_beside_each_other(self):
        for result, pattern in (("a", "dense"), ("b", "unstructured:0.5"), ("a", "block4:0.5")):
            done = self.lacuna("run", *PRODUCT, "--pattern", pattern, "--out",
                               str(self.folder / result))
            self.assertEqual(done.returncode, 0, done.stderr)
        # the second of a folder took the place of the first
        self.assertEqual(self.rows("SELECT result, folder FROM results ORDER BY result"),
                         [(1, str(self.folder.resolve() / "a")),
                          (2, str(self.folder.resolve() / "b"))])
        for number, result in ((1, "a"), (2, "b")):
            kept = self.rows("SELECT op_id, pattern, cycles FROM summary "
                             f"WHERE result = {number} ORDER BY rowid")
            self.assertEqual([(op, pattern, str(cycles)) for op, pattern, cycles in kept],
                             self.cells(result, "op_id", "pattern", "cycles"))
        # numbers are numbers
        self.assertEqual(self.rows("SELECT DISTINCT typeof(cycles) FROM summary"), [("integer",)])
        command = self.rows("SELECT command FROM results WHERE result = 2")[0][0]
        self.assertIn("unstructured:0.5", command)

    def test_what_cannot_be_kept_is_refused(self):
        done = self.lacuna("run", *PRODUCT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--sqlite", done.stderr)
        self.assertIn("--out", done.stderr)
        self.file.write_text("no database" * 100, encoding="utf-8")
        done = self.lacuna("run", *PRODUCT, "--out", str(self.folder / "a"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("file is not a database", done.stderr)


if __name__ == "__main__":
    unittest.main()

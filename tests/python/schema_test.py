# SPDX-License-Identifier: Apache-2.0
"""result.json is what doc/result.schema.json says, and nothing is in it twice."""

import copy
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

LACUNA = os.environ["LACUNA"]
SCHEMA = json.loads(
    (pathlib.Path(__file__).parents[2] / "doc" / "result.schema.json").read_text(encoding="utf-8"))
BOW = ["--set", "ipu.tiles=16"]
WSE = ["--set", "wafer.columns=8", "--set", "wafer.rows=8"]


def result_of(folder, *arguments):
    out = pathlib.Path(folder) / "out"
    subprocess.run([LACUNA, *arguments, "--quiet", "--out", out], check=False, capture_output=True)
    return (out / "result.json").read_text(encoding="utf-8")


class SchemaTest(unittest.TestCase):
    def check(self, text):
        result = json.loads(text)
        jsonschema.Draft202012Validator(SCHEMA).validate(result)
        return result

    def test_the_schema_is_one(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_a_comparison_with_values_and_intervals(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.check(result_of(
                folder, "compare", "--machine", "bow", "--machine", "wse2", "--gemm", "64x64x32",
                "--density", "1,0.5", "--values", "--interval", "1000", *BOW, *WSE))
            self.assertEqual(len(result["runs"]), 4)
            broken = copy.deepcopy(result)
            broken["runs"][0]["operations"][0]["more"] = 1
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.Draft202012Validator(SCHEMA).validate(broken)

    def test_what_does_not_fit_is_a_result_too(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.check(result_of(folder, "compare", "--machine", "bow", "--gemm",
                                          "65536x65536x16"))
            self.assertEqual(result["runs"][0]["total"]["status"], "out_of_memory")

    def test_equal_explanations_are_there_once(self):
        trace = "id,op,m,k,n\n" + "".join(f"l{i},gemm,64,64,32\n" for i in range(8))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.csv"
            path.write_text(trace, encoding="utf-8")
            text = result_of(folder, "run", "--machine", "bow", "--trace", path, *BOW)
            result = self.check(text)
        ops = result["runs"][0]["operations"]
        self.assertEqual([op["explained_by"] for op in ops], [0] * 8)
        self.assertEqual(len(result["explanations"]), 1)
        # a list of numbers is a line, however long
        self.assertLess(text.count("\n"), 8000)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""result.json and describe --json are what their schemas in doc say; nothing is there twice."""

import copy
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

LACUNA = os.environ["LACUNA"]
DOC = pathlib.Path(__file__).parents[2] / "doc"
SCHEMA = json.loads((DOC / "result.schema.json").read_text(encoding="utf-8"))
DESCRIBE = json.loads((DOC / "describe.schema.json").read_text(encoding="utf-8"))
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

    def test_experiments_and_machines_have_schemas(self):
        def schema(subject):
            return json.loads(subprocess.run([LACUNA, "describe", subject], check=True,
                                             capture_output=True, text=True).stdout)
        experiment = jsonschema.Draft202012Validator(schema("schema"))
        experiment.check_schema(experiment.schema)
        right = {"machine": "bow", "gemm": "64x64x16", "set": {"tile.memory.kib": 624},
                 "grid": {"density": [0.25, 0.5], "seed": {"from": 1, "to": 3, "step": 1}}}
        experiment.validate(right)
        for wrong in ({**right, "gem": "1x1x1"}, {**right, "density": []},
                      {**right, "seed": {"from": 1}}):
            with self.assertRaises(jsonschema.ValidationError):
                experiment.validate(wrong)
        machine = schema("machine-schema")
        jsonschema.Draft202012Validator.check_schema(machine)
        self.assertIn("tile.memory.kib", machine["properties"])

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


class DescribeTest(unittest.TestCase):
    def described(self, *arguments):
        printed = subprocess.run([LACUNA, "describe", *arguments, "--json"], check=False,
                                 capture_output=True, text=True)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        said = json.loads(printed.stdout)
        jsonschema.Draft202012Validator(DESCRIBE).validate(said)
        return said

    def test_every_subject_of_the_index_is_there(self):
        index = self.described("index")
        rows = {row["kind"]: row["names"].split() for row in index["sections"][0]["rows"]}
        names = [name for name in rows["subjects"]  # but texts for shells and man, and schemas
                 if not name.startswith(("completion", "manual", "fit")) and "schema" not in name]
        names += rows["machines"][:1] + rows["systems"][:1] + rows["patterns"][:2]
        names += rows["groups of ipu"][:2] + rows["groups of wse"][:2]
        for name in names + ["wafer.columns", "cycles", "imbalance", "wafer.r1.c1"]:
            with self.subTest(name):
                self.described(name)
        self.described("fit", "--system-config", "bert_large_phase1_pod16")

    def test_numbers_are_numbers(self):
        machines = self.described("machines")["sections"][0]["rows"]
        bow = next(row for row in machines if row["name"] == "bow")
        self.assertEqual(bow["clock (GHz)"], 1.85)
        tile = self.described("tile", "--machine", "bow")[0]
        self.assertTrue(tile["parameters"] and tile["statistics"])


if __name__ == "__main__":
    unittest.main()

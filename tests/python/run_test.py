# SPDX-License-Identifier: Apache-2.0
"""run, compare, sweep and what they return, against the program itself."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

import numpy as np
import pandas as pd

import lacuna

LACUNA = os.environ["LACUNA"]


def small(label=""):
    return lacuna.Machine("wse2", label, wafer__columns=8, wafer__rows=8)


SMALL = ["--machine", "wse2", "--set", "wafer.columns=8", "--set", "wafer.rows=8"]


def by_program(*arguments):
    done = subprocess.run([LACUNA, *arguments, "--json"], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


class RunTest(unittest.TestCase):
    def test_the_summary_is_that_of_the_program(self):
        result = lacuna.run(small(), gemm=(64, 64, 32), pattern="unstructured:0.25",
                            with_dense=True)
        rows = by_program("run", *SMALL, "--gemm", "64x64x32", "--pattern", "unstructured:0.25",
                          "--with-dense")
        self.assertEqual(len(result.summary), len(rows))
        for column in rows[0]:
            for ours, theirs in zip(result.summary[column], rows):
                if theirs[column] in (None, ""):
                    self.assertTrue(pd.isna(ours) or ours == "", column)
                else:
                    self.assertEqual(ours, theirs[column], column)
        self.assertEqual(result.cycles, rows[-1]["cycles"])

    def test_the_stack_sums_to_units_times_cycles(self):
        result = lacuna.run(small(), gemm=(64, 64, 32), density=0.25, layout="first")
        self.assertEqual(result.stack.unit_cycles.sum(), 64 * result.cycles)
        self.assertEqual(result.stack.op_id.unique().tolist(), ["gemm"])

    def test_statistics_and_energy_add_up(self):
        result = lacuna.run(small(), gemm=(64, 64, 32), density=0.25)
        self.assertAlmostEqual(result.energy.energy_j.sum(), result.total.energy_j,
                               delta=1e-9 * result.total.energy_j)
        self.assertGreater(len(result.statistics), 20)

    def test_events_are_not_copied_and_outlive_the_result(self):
        result = lacuna.run(small(), gemm=(16, 16, 4), density=0.5, events=True)
        events = result.events()
        self.assertEqual(events.__array_interface__["data"][0],
                         result.events().__array_interface__["data"][0])
        self.assertFalse(events.flags.owndata)
        self.assertFalse(events.flags.writeable)
        last = int(events["cycle"].max())
        self.assertLessEqual(last, result.cycles)
        units, kinds = result.event_names()
        self.assertLess(events["unit"].max(), len(units))
        self.assertLess(events["kind"].max(), len(kinds))
        del result
        self.assertEqual(int(events["cycle"].max()), last)

    def test_compare_takes_machines_and_patterns(self):
        fast = small("two words")
        fast.core.fabric_words_per_issue = 2
        result = lacuna.compare([small(), fast], gemm=(64, 64, 32),
                                pattern=["dense", "unstructured:0.25"], jobs=2)
        self.assertEqual(result.totals.machine.tolist(), ["wse2"] * 2 + ["two words"] * 2)
        self.assertEqual(len(result.cycles), 4)
        self.assertEqual(result.totals.speedup_vs_dense[0], 1)
        # the same dense product, found for each machine
        ratio = result.cycles[2] / result.cycles[3]
        self.assertAlmostEqual(result.totals.speedup_vs_dense[3], ratio)

    def test_the_answer_is_that_of_the_program(self):
        result = lacuna.compare([small()], gemm=(64, 64, 32),
                                pattern=["dense", "unstructured:0.25"])
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            by_program("compare", *SMALL, "--gemm", "64x64x32", "--pattern", "dense", "--pattern",
                       "unstructured:0.25", "--out", str(out))
            theirs = json.loads((out / "result.json").read_text(encoding="utf-8"))["answer"]
        self.assertEqual(result.answer, theirs)
        self.assertEqual(result.answer["points"][1]["cycles"]["mean"], result.cycles[1])

    def test_an_array_where_a_word_is_wanted_is_named(self):
        with self.assertRaises(lacuna.RequestError) as caught:
            lacuna.run("bow", gemm=(64, 64, 16), mask=np.ones((64, 64)))
        self.assertIn("mask: found an array of shape (64, 64); arrays are allowed for pattern",
                      str(caught.exception))

    def test_a_matrix_by_a_name_of_its_own_is_named(self):
        for word in ("weights", "mask"):
            with self.assertRaisesRegex(lacuna.RequestError,
                                        f"no workload .*'{word}' is a matrix: matrix takes one"):
                lacuna.run("bow", n=64, **{word: np.eye(64)})

    def test_two_machines_of_one_name_are_refused(self):
        with self.assertRaises(lacuna.RequestError) as caught:
            lacuna.compare([small(), small()], gemm=(64, 64, 32))
        self.assertIn("give one a label", str(caught.exception))

    def test_sweep_takes_the_words_of_a_file(self):
        words = {"gemm": (64, 64, 32), "pattern": "unstructured",
                 "grid": {"density": np.array([0.5, 0.25]), "core.fabric_words_per_issue": [1, 2]}}
        result = lacuna.sweep(machine=small(), **words, quiet=True)
        self.assertEqual(len(result), 4)
        self.assertEqual(result.totals["core.fabric_words_per_issue"].tolist(), [1, 2, 1, 2])
        single = lacuna.run(small(), gemm=(64, 64, 32), pattern="unstructured:0.25")
        self.assertEqual(result.cycles[2], single.cycles)

    def test_search_finds_what_a_sweep_of_all_has(self):
        words = {"gemm": (96, 96, 64), "pattern": "unstructured:0.3", "residency": "streamed"}
        axes = {"ws.lookahead": [1, 2, 8], "core.fabric_words_per_issue": [1, 2]}
        found = lacuna.search(machine=small(), **words, space=axes, minimise="time", quiet=True)
        self.assertEqual(len(found.points), 6)
        every = lacuna.sweep(machine=small(), **words, grid=axes, quiet=True).totals
        best = found.best.iloc[0]
        self.assertEqual(len(found.best), 1)
        self.assertAlmostEqual(best.time, every.time_s.min())
        self.assertEqual(found.result.totals.time_s[best.run], best.time)
        self.assertTrue((found.points.time_bound <= best.time * (1 + 1e-9))[found.points.best].all())
        self.assertEqual(len(found.result), found.points.run.notna().sum())
        with self.assertRaises(lacuna.RequestError) as caught:
            lacuna.search(machine=small(), **words, space=axes, minimise="tine")
        self.assertIn("did you mean 'time'?", str(caught.exception))

    def test_a_folder_is_written_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "result"
            result = lacuna.run(small(), gemm=(64, 64, 32), density=0.25, out=out)
            again = lacuna.read(out)
            self.assertTrue((out / "report.html").exists())
            pd.testing.assert_frame_equal(result.summary, again.summary)
            saved = json.loads((out / "result.json").read_text())
            self.assertEqual(saved["command"], result.command)

    def test_a_trace_is_a_frame(self):
        frame = pd.DataFrame({"id": ["a", "b"], "op": "gemm", "m": 64, "k": 64, "n": [32, 16],
                              "pattern": ["dense", "unstructured"], "density": ["", "0.25"]})
        result = lacuna.run(small(), trace=frame)
        self.assertEqual(result.operations.op_id.tolist(), ["a", "b"])
        frame.loc[1, "density"] = "2"
        with self.assertRaises(lacuna.RequestError) as caught:
            lacuna.run(small(), trace=frame)
        self.assertIn("frame:3:", str(caught.exception))

    # Pandas makes floats of whole numbers beside an empty cell: the second row has no k.
    def test_a_frame_may_have_empty_cells(self):
        rows = [dict(id="a", op="gemm", m=16, k=16, n=16), dict(id="s", op="softmax", m=16, n=16)]
        self.assertEqual(len(lacuna.run(small(), trace=rows).summary), 3)

    # A third has no end, and 1e-2 is 0.01: densities have up to eighteen decimals.
    def test_a_density_is_any_number(self):
        pattern = dict(gemm=(16, 16, 16), pattern="unstructured")
        for density, text in ((1 / 3, "0.333333333"), (0.1 + 0.2, "0.3"), (1e-5, "0.00001"),
                              (np.float32(0.1), "0.100000001")):
            expected = lacuna.run(small(), density=text, **pattern).total
            self.assertEqual(lacuna.run(small(), density=density, **pattern).total["cycles"],
                             expected["cycles"])
            row = dict(id="a", op="gemm", m=16, k=16, n=16, pattern="unstructured")
            lacuna.run(small(), trace=[dict(row, density=density)])
        swept = lacuna.sweep(machine=small(), grid={"density": [1 / 3, 1e-5]}, **pattern)
        self.assertEqual(len(swept.summary), 4)
        # 1e-12 of 256 positions is none of them
        self.assertEqual(lacuna.run(small(), density=1e-12, **pattern).total["cycles"],
                         lacuna.run(small(), density=0, **pattern).total["cycles"])
        with self.assertRaisesRegex(lacuna.RequestError, "1.5"):
            lacuna.run(small(), density=1.5, **pattern)

    def test_a_side_with_a_fraction_is_refused(self):
        with self.assertRaisesRegex(lacuna.RequestError, "16.5"):
            lacuna.run(small(), gemm=(16, 16, 16.5))
        with self.assertRaisesRegex(lacuna.RequestError, "--n: error E202: found '8.7'"):
            lacuna.run(small(), matrix=np.eye(16), n=8.7)
        lacuna.run(small(), gemm=np.array([16, 16, 16]))

    def test_true_is_no_number(self):
        product = {"gemm": (16, 16, 16), "pattern": "unstructured:0.5"}
        row = {"id": "a", "op": "gemm", "m": 16, "k": 16, "n": 16, "pattern": "unstructured"}
        for words in ({"gemm": (True, 16, 16)}, {"matrix": np.eye(16), "n": np.True_},
                      {**product, "seed": False}, {**product, "seed": np.True_},
                      {**product, "pattern": "unstructured", "density": True},
                      {"trace": [{**row, "density": True}]}):
            with self.subTest(words), self.assertRaisesRegex(lacuna.RequestError,
                                                             "(True|False)"):
                lacuna.run(small(), **words)
        dense = lacuna.run(small(), **product, with_dense=np.True_)
        self.assertGreater(dense.total.speedup_vs_dense, 0)
        self.assertTrue(np.isnan(lacuna.run(small(), **product, with_dense=False)
                                 .total.speedup_vs_dense))

    def test_what_a_machine_and_set_both_say_is_refused(self):
        with self.assertRaisesRegex(lacuna.RequestError, "'clock' is a setting of the machine"):
            lacuna.sweep(machine=lacuna.Machine("bow", clock=2), gemm=(16, 16, 16),
                         set={"clock": 1})

    def test_a_made_trace_runs(self):
        frame = lacuna.trace.make("bert-base", layers=1, tokens=16, pattern="unstructured:0.1")
        self.assertIn("gemm", set(frame.op))
        self.assertEqual(len(lacuna.run("bow", trace=frame.head(1)).operations), 1)


class ErrorTest(unittest.TestCase):
    def test_wrong_words_are_those_of_the_program(self):
        for words in ({"density": 1.5}, {"densty": 0.1}, {"pattern": "unstructurd:0.1"},
                      {"engine": "fast"}, {"gemm": "16x16"}):
            given = {"gemm": "16x16x16", **words}
            arguments = [f"--{name}={value}" for name, value in given.items()]
            done = subprocess.run([LACUNA, "run", *arguments], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 2)
            with self.assertRaises(lacuna.RequestError) as caught:
                lacuna.run("bow", **given)
            theirs = done.stderr.strip().removeprefix("lacuna: ")
            if words != {"gemm": "16x16"}:  # sides are read before the program is asked
                self.assertEqual(str(caught.exception), theirs)

    def test_a_path_in_place_of_a_pattern_is_told_how_files_are_given(self):
        for words in ({"pattern": "/tmp/h2/w.npy"}, {"x_pattern": "w.npy"},
                      {"pattern": ["dense", "w.mtx"]}):
            with self.assertRaises(lacuna.RequestError) as caught:
                lacuna.compare("bow", gemm=(64, 64, 16), **words)
            self.assertIn("allowed: lacuna.Mask('", str(caught.exception))

    def test_models_and_systems_are_of_the_program(self):
        for words in ({"model": "qwen3-0.6b"}, {"system_config": "bert_large_phase1_pod4"}):
            word, name = next(iter(words.items()))
            with self.assertRaises(lacuna.RequestError) as caught:
                lacuna.run("pod4", **words)
            self.assertIn(f"lacuna.command('run', {word}='{name}', out='FOLDER', ...) does it",
                          str(caught.exception))

    def test_words_of_models_are_not_passed_over(self):
        for words in ({"batch": 4}, {"layers": 2}, {"context": 8}, {"window": 3}, {"cache": "c"},
                      {"prefill": 3}, {"activations": "hidden=bernoulli:0.1"}):
            with self.assertRaises(lacuna.RequestError) as caught:
                lacuna.run("bow", gemm=(16, 16, 16), **words)
            self.assertIn("needs --model", str(caught.exception))
        with self.assertRaises(lacuna.RequestError) as caught:
            lacuna.run("bow", gemm=(16, 16, 16), resume=True)
        self.assertIn("--resume: needs --out", str(caught.exception))

    def test_layouts_are_those_of_the_program(self):
        small = lacuna.Machine("wse2")
        small.wafer.columns = small.wafer.rows = 4
        words = {"gemm": (64, 64, 32), "layout": "best:4", "no_cache": True}
        found = lacuna.run(small, **words)
        theirs = by_program_unchecked("run", "--machine", "wse2", "--set", "wafer.columns=4", "--set",
                                      "wafer.rows=4", "--gemm", "64x64x32", "--layout", "best:4",
                                      "--no-cache")
        self.assertEqual(int(found.total.cycles), theirs[0]["cycles"])
        # the climb begins at the layout that a run takes by itself
        self.assertLessEqual(int(found.total.cycles),
                             int(lacuna.run(small, gemm=(64, 64, 32)).total.cycles))
        with self.assertRaises(lacuna.RequestError):
            lacuna.run(small, gemm=(64, 64, 32), layout="nosuch")

    def test_what_does_not_fit_raises_and_says_all(self):
        with self.assertRaises(lacuna.SimulationError) as caught:
            lacuna.run("bow", gemm=(65536, 65536, 16))
        row = by_program_unchecked("run", "--machine", "bow", "--gemm", "65536x65536x16")[0]
        self.assertEqual(str(caught.exception), row["reason"])
        self.assertEqual(caught.exception.result.summary.status[0], "out_of_memory")
        result = lacuna.run("bow", gemm=(65536, 65536, 16), check=False)
        self.assertEqual(result.summary.status[0], "out_of_memory")

    def test_a_command_raises_what_it_says(self):
        with self.assertRaises(lacuna.RequestError) as caught:
            lacuna.command("describe", "tile.memory.kbi")
        self.assertIn("tile.memory.kib", str(caught.exception))
        self.assertEqual(lacuna.command("descibe", check=False).status, 2)
        self.assertIn("bow", lacuna.command("describe", "machines").out)


def by_program_unchecked(*arguments):
    done = subprocess.run([LACUNA, *arguments, "--json"], capture_output=True, text=True,
                          check=False)
    return json.loads(done.stdout)


class DoorTest(unittest.TestCase):
    def test_twenty_points_and_their_figure_are_fifteen_lines(self):
        page = (pathlib.Path(__file__).parents[2] / "doc" / "guide" / "python.md").read_text("utf-8")
        code = page.split("```python\n", 1)[1].split("```", 1)[0]
        self.assertLessEqual(len([line for line in code.splitlines() if line.strip()]), 15)
        with tempfile.TemporaryDirectory() as folder:
            ended = "\nprint(len(totals))\n"
            done = subprocess.run([os.sys.executable, "-c", code + ended], capture_output=True,
                                  text=True, check=False, cwd=folder)
            self.assertEqual(done.stdout.strip(), "20", done.stderr)
            figure = pathlib.Path(folder) / "speedup.pdf"
            self.assertTrue(figure.read_bytes().startswith(b"%PDF"))


LONG = {"gemm": (256, 256, 4096), "pattern": "unstructured:0.5", "fold": False}


class InterpreterTest(unittest.TestCase):
    def test_other_threads_go_on(self):
        counted = [0]
        done = threading.Event()

        def count():
            while not done.is_set():
                counted[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        before = counted[0]
        lacuna.run(lacuna.Machine("wse2", wafer__columns=64, wafer__rows=64), **LONG)
        after = counted[0]
        done.set()
        thread.join()
        # some ticks of a millisecond in a run of a tenth of a second or more
        self.assertGreater(after - before, 10)

    def test_an_interrupt_is_a_keyboard_interrupt_and_leaves_the_interpreter_whole(self):
        program = (
            "import lacuna, os, signal, threading, time\n"
            "machine = lacuna.Machine('wse2', wafer__columns=64, wafer__rows=64)\n"
            "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "begun = time.monotonic()\n"
            "try:\n"
            "    lacuna.run(machine, gemm=(1024, 1024, 512), pattern='unstructured:0.5',\n"
            "               engine='clocked', fold=False, events=True)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', time.monotonic() - begun < 60)\n"
            "print(lacuna.run(machine, gemm=(64, 64, 64)).total.status)\n")
        done = subprocess.run([os.sys.executable, "-c", program], capture_output=True, text=True,
                              check=False, timeout=120)
        self.assertEqual(done.stdout.split(), ["interrupted", "True", "ok"], done.stderr)


if __name__ == "__main__":
    unittest.main()

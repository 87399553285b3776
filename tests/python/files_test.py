# SPDX-License-Identifier: Apache-2.0
"""Files as NumPy, SciPy and tools for weights write them: what is zero in the file is zero in the
trace, wherever a file may be named."""

import json
import os
import struct
import unittest

import numpy as np
from scipy import io, sparse

import lacuna
from weights import FilesCase, bfloat, drawn, write_safetensors


class FilesTest(FilesCase):
    def test_numpy_arrays_of_any_type_order_and_bytes(self):
        weights = drawn(48, 40, 0.3)
        weights[3, :] = 0
        path = self.folder / "w.npy"
        kinds = ["?", "<i1", "<i2", ">i4", "<i8", "<u1", ">u2", "<u4", ">u8", "<f2", ">f4", "<f8"]
        for kind in kinds:
            for order in "CF":
                array = weights.astype(kind, order=order)
                np.save(path, -array if kind[1:] in ("f4", "i4", "i8") else array)
                self.same(path, weights)
        for kind in (np.complex64, np.longdouble, "S3"):
            np.save(path, weights.astype(kind))
            with self.assertRaisesRegex(lacuna.RequestError, "found 'type .*allowed: f2, f4"):
                lacuna.Mask(path)
        np.save(path, np.array([[1.0, np.nan]]))
        with self.assertRaisesRegex(lacuna.RequestError, "number 1 is not finite"):
            lacuna.Mask(path)
        np.save(path, np.array([[-0.0, 1.0]]))  # minus zero is a zero
        self.assertEqual(lacuna.Mask(path).nnz, 1)
        for shape in ((4,), (2, 2, 2), ()):
            np.save(path, np.ones(shape))
            with self.assertRaisesRegex(lacuna.RequestError, "allowed: a matrix, two sides"):
                lacuna.Mask(path)

    def test_headers_of_numpy_as_any_writer_puts_them(self):
        path = self.folder / "w.npy"
        numbers = np.array([[1, 0, 2], [0, 0, 3]], "<i2")

        def write(header, version=1):
            size = struct.pack("<H" if version == 1 else "<I", len(header))
            path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + size + header.encode()
                             + numbers.tobytes())

        for header in ("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }   \n",
                       "{'shape':(2,3),'fortran_order':False,'descr':'<i2'}",
                       '{"descr": "<i2", "shape": (2, 3,), "fortran_order": False}\n',
                       "{ 'more': [('a', {'b': 1})], 'descr' : '<i2', 'fortran_order' : False ,"
                       "  'shape' : ( 2 , 3 ) }"):
            for version in (1, 2, 3):
                write(header, version)
                self.same(path, numbers)
        for header, found in (
                ("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (2, 3)}",
                 "type of several fields"),
                ("{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 3L)}", "side 2L"),
                ("{'descr': '<i2', 'fortran_order': False, 'shape': (-2, 3)}", "side -2"),
                ("{'descr': '<i2', 'fortran_order': False}", "a header without shape"),
                ("{'descr': '<i2', 'shape': (2, 3)}", "a header without fortran_order"),
                ("[2, 3]", "a header without descr"), ("", "a header without descr"),
                ("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3", "no literal"),
                ("{'descr': " + "(" * 5000, "no literal")):
            write(header)
            with self.assertRaisesRegex(lacuna.RequestError, f"w.npy: error E308: found '.*{found}"):
                lacuna.Mask(path)
        write("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 4)}")
        with self.assertRaisesRegex(lacuna.RequestError, "12 bytes of numbers"):
            lacuna.Mask(path)

    def test_archives_however_well_they_pack(self):
        weights = drawn(600, 500, 0.001)  # packs more than a hundred times
        path = self.folder / "w.npz"
        for save in (np.savez, np.savez_compressed):
            save(path, weights)
            self.same(path, weights)
            save(path, w=weights, b=np.ones(4))
            self.same(f"{path}:w", weights)
            with self.assertRaisesRegex(lacuna.RequestError, "several arrays.*one of b, w"):
                lacuna.Mask(path)
            with self.assertRaisesRegex(lacuna.RequestError, r"no array 'ww'.*did you mean 'w'"):
                lacuna.Mask(f"{path}:ww")
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        path.write_bytes(damaged)
        with self.assertRaises(lacuna.RequestError):
            lacuna.Mask(f"{path}:w")

    def test_sparse_matrices_of_scipy_with_stored_zeros(self):
        weights = drawn(48, 40, 0.3).astype(np.float32)
        path = self.folder / "w.npz"
        for kind in ("csr", "csc", "coo", "bsr"):
            stored = sparse.csr_matrix(weights != 0, dtype=np.float32).asformat(kind)
            if kind == "bsr":
                stored = sparse.bsr_matrix(weights, blocksize=(8, 4))
            else:
                stored.data[::5] = 0  # stored, and zero
            sparse.save_npz(path, stored)
            self.same(path, stored.toarray())
            self.assertEqual(lacuna.Mask(stored).name, lacuna.Mask(path).name)
        sparse.save_npz(path, sparse.dia_matrix(weights))
        with self.assertRaisesRegex(lacuna.RequestError, "in format dia.*csr, csc, coo, bsr"):
            lacuna.Mask(path)
        twice = sparse.coo_matrix(([1.0, -1.0], ([0, 0], [1, 1])), shape=(2, 2))
        sparse.save_npz(path, twice)
        with self.assertRaisesRegex(lacuna.RequestError, "row 0, column 1 twice"):
            lacuna.Mask(path)

    def test_tensors_of_all_types_and_in_shards(self):
        weights = drawn(32, 48, 0.4)
        small = np.where(weights != 0, 0x38, 0x80).astype(np.uint8)  # ones, and minus zeros
        kinds = {"F32": weights.astype(np.float32), "F16": -weights.astype(np.float16),
                 "F64": weights.astype(float), "BF16": bfloat(-weights), "F8_E4M3": small,
                 "F8_E5M2": small, "I8": -weights.astype(np.int8), "U8": weights.astype(np.uint8),
                 "I32": weights.astype(np.int32), "BOOL": weights != 0}
        one = self.folder / "one.safetensors"
        write_safetensors(one, {kind: (kind, array) for kind, array in kinds.items()})
        for kind in kinds:
            self.same(f"{one}:{kind}", weights)
        other = self.folder / "model-2.safetensors"
        write_safetensors(other, {"b.weight": ("BF16", bfloat(weights.T)),
                                  "b.bias": ("F32", np.ones(3, np.float32)),
                                  "q": ("F4", np.ones((2, 2), np.uint8))})
        index = self.folder / "model.safetensors.index.json"
        index.write_text(json.dumps({"weight_map": {"I8": "one.safetensors",
                                                    "b.weight": "model-2.safetensors",
                                                    "b.bias": "model-2.safetensors"}}))
        self.same(f"{index}:b.weight", weights.T)
        self.same(f"{index}:I8", weights)
        with self.assertRaisesRegex(lacuna.RequestError, "type F4'; allowed: F16, F32"):
            lacuna.Mask(f"{other}:q")
        rows = self.rows_of(self.run_program("trace", "import", index, "--n", 8))
        self.assertEqual([(row["id"], row["m"], row["k"], row["n"]) for row in rows],
                         [("I8", "32", "48", "8"), ("b.weight", "48", "32", "8")])

    def test_zeros_of_a_matrix_market_array_are_zeros(self):
        weights = drawn(12, 10, 0.4).astype(float)
        io.mmwrite(self.folder / "w.mtx", weights)
        self.same(self.folder / "w.mtx", weights)

    def test_a_mask_comes_in_as_it_is(self):
        weights = drawn(64, 64, 0.25)
        np.save(self.folder / "mask.npy", weights != 0)
        trace = self.run_program("trace", "import", "mask.npy", "--n", 8, "--out", "t.csv")
        kept = np.count_nonzero(weights)
        cores = ["--machine", "wse2", "--set", "wafer.columns=8", "--set", "wafer.rows=8", "--json"]
        runs = [("--trace", "t.csv"), ("--matrix", "mask.npy", "--n", 8),
                ("--gemm", "64x64x8", "--pattern", "file:mask.npy")]
        found = [json.loads(self.run_program("run", *cores, *words, "--quiet"))[0] for words in runs]
        for result in found:
            self.assertEqual(result["density"], kept / 64 ** 2)
        self.assertEqual(len({result["cycles"] for result in found}), 1)
        self.assertIn("--matrix", self.run_program("run", "--machine", "wse2", "--trace",
                                                   "mask.npy", status=2))
        refused = self.run_program("trace", "import", "mask.npy", "--n", 8, "--density", 0.1,
                                   status=2)
        self.assertIn("--prune", refused)
        pruned = self.rows_of(self.run_program("trace", "import", "mask.npy", "--n", 8, "--density",
                                               0.1, "--prune"))
        self.assertEqual(pruned[0]["pattern"], "magnitude")
        self.assertIn("wrote", trace)

    def test_equal_masks_are_equal_rows_in_any_format(self):
        mask = np.kron(np.array([[1, 0, 1], [0, 1, 0]]), np.ones((16, 16)))  # blocks of 16
        kept = sparse.csr_matrix(mask)
        np.save(self.folder / "w.npy", mask)
        sparse.save_npz(self.folder / "s.npz", kept)
        io.mmwrite(self.folder / "w.mtx", kept)
        write_safetensors(self.folder / "w.safetensors", {"w": ("F64", mask)})
        (self.folder / "w.smtx").write_text("32, 48, {}\n{}\n{}\n".format(
            kept.nnz, " ".join(map(str, kept.indptr)), " ".join(map(str, kept.indices))))
        rows = []
        for name in ("w.npy", "s.npz", "w.mtx", "w.safetensors", "w.smtx"):
            text = self.run_program("trace", "import", name, "--n", 8)
            self.assertIn("50 % kept, blocks of 16x16", text)
            row, = self.rows_of(text)
            rows.append([row[key] for key in ("op", "m", "k", "n", "pattern", "block",
                                              "pattern_args")])
        self.assertEqual(rows, [["gemm", "32", "48", "8", "file", "16", "unit=element"]] * 5)

    def test_paths_hold_wherever_the_trace_lies(self):
        (self.folder / "in").mkdir()
        (self.folder / "out").mkdir()
        (self.folder / "away" / "deep").mkdir(parents=True)
        (self.folder / "link").symlink_to(self.folder / "away" / "deep")
        inside = self.folder / "in"
        io.mmwrite(inside / "m.mtx", sparse.identity(4))
        for name in ("m.mtx", inside / "m.mtx", "../in/m.mtx"):
            for out in ("../out/t.csv", "t.csv", self.folder / "out" / "t.csv", "../link/t.csv"):
                self.run_program("trace", "import", name, "--n", 4, "--out", out, cwd=inside)
                self.run_program("trace", "check", out, cwd=inside)
                os.remove(inside / out)

    def test_options_stand_before_and_behind_files(self):
        np.savez(self.folder / "w.npz", a=np.eye(4), b=np.ones((2, 2)))
        for words in (["--member", "a", "w.npz", "--n", 4], ["w.npz", "--n", 4, "--member", "a"],
                      ["--n", 4, "w.npz", "--member=a"]):
            rows = self.rows_of(self.run_program("trace", "import", *words))
            self.assertEqual(rows[0]["m"], "4")

    def test_requests_are_read_by_their_header(self):
        (self.folder / "tiny.json").write_text(json.dumps({
            "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 256,
            "intermediate_size": 512, "num_attention_heads": 8, "num_key_value_heads": 4,
            "head_dim": 32, "num_hidden_layers": 2, "vocab_size": 1024, "hidden_act": "silu",
            "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": True,
            "max_position_embeddings": 4096}))
        requests = self.folder / "r.csv"
        requests.write_text("num_prefill_tokens,num_decode_tokens,num_total_tokens,user_id\n"
                            "40,6,46,0\n")
        # the prompt makes the first of six tokens, and each of five steps one more
        rows = self.rows_of(self.run_program("trace", "import", "--model", "qwen3-0.6b", requests,
                                             "--layers", 1))
        scores = [(row["id"].split(".")[1], row["n"]) for row in rows if "scores" in row["id"]]
        self.assertEqual(scores, [("prefill", "40"), ("t1", "41"), ("t2", "42"), ("t3", "43"),
                                  ("t4", "44"), ("t5", "45")])
        words = ["run", "--machine", "wse2", "--model", "tiny.json", "--requests", "r.csv", "--batch",
                 2, "--blocks", "1x1", "--block-cores", "16x16", "--no-cache"]
        served = self.run_program(*words)
        for said in (r"prompt_tokens +40\.00", r"output_tokens +6\.000", r"steps +5\.000",
                     "not used: user_id", "all are there at the beginning"):
            self.assertRegex(served, said)
        requests.write_text("time, prompt_length, target_length, cached_length\n0, 4, 2, 0\n")
        self.assertIn("no unit that is known", self.run_program(*words, status=2))


if __name__ == "__main__":
    unittest.main()

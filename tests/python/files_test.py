# SPDX-License-Identifier: Apache-2.0
"""Files as NumPy, SciPy and tools for weights write them: what is zero in the file is zero in the
trace, wherever a file may be named."""

import csv
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import numpy as np
from scipy import io, sparse

import lacuna


def drawn(rows, columns, density, seed=1):
    draw = np.random.default_rng(seed)
    kept = draw.random((rows, columns)) < density
    return np.where(kept, draw.integers(1, 9, (rows, columns)), 0)


def write_safetensors(path, tensors):
    """Of name: (type, array); the format is a length, a header in JSON and the bytes."""
    header, data = {"__metadata__": {"format": "np"}}, b""
    for name, (kind, array) in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def bfloat(array):
    """The upper half of a float."""
    return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


class FilesTest(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.addCleanup(self.held.cleanup)
        self.folder = pathlib.Path(self.held.name)

    def run_program(self, *words, status=0, cwd=None):
        ran = subprocess.run([os.environ["LACUNA"], *map(str, words)], cwd=cwd or self.folder,
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def rows_of(self, text):
        lines = [line for line in text.splitlines() if not line.startswith(("#", "lacuna:"))]
        return list(csv.DictReader(lines))

    def same(self, path, array):
        """Equal masks have equal names."""
        self.assertEqual(lacuna.Mask(path).name, lacuna.Mask(array != 0).name, path)

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

    def test_a_model_folder_is_a_workload(self):
        model = self.folder / "model"
        weights = write_model(model)
        trace = self.run_program("trace", "import", model, "--part", "weights", "--tokens", 16,
                                 "--out", "t.csv") and (self.folder / "t.csv").read_text()
        rows = {row["id"]: row for row in self.rows_of(trace)}
        hand = ["id,op,m,k,n,dtype,pattern,block,pattern_file,pattern_args,depends_on"]
        for name, array in weights.items():
            row = rows["fwd." + name]
            self.assertEqual((int(row["m"]), int(row["k"])), array.shape)
            kept = np.count_nonzero(array)
            if kept == array.size:
                self.assertEqual(row["pattern"], "")
                hand.append(f"fwd.{name},gemm,{row['m']},{row['k']},16,fp16,,,,,{row['depends_on']}")
                continue
            self.assertEqual(lacuna.Mask(str(self.folder / row["pattern_file"])).nnz, kept, name)
            # the same by hand: a pattern of blocks is a grid of them
            block = int(row["block"] or 1)
            grid = sparse.csr_matrix(array[::block, ::block] != 0)
            self.assertEqual(grid.nnz * block ** 2, kept, name)
            (self.folder / f"{name}.smtx").write_text("{}, {}, {}\n{}\n{}\n".format(
                *grid.shape, grid.nnz, " ".join(map(str, grid.indptr)),
                " ".join(map(str, grid.indices))))
            unit = "unit=block" if block > 1 else ""
            hand.append(f"fwd.{name},gemm,{row['m']},{row['k']},16,fp16,file,{block},{name}.smtx,"
                        f"{unit},{row['depends_on']}")
        self.assertEqual(len(rows), len(weights))
        for said in ("l0.q: 50 % kept, 2:4;", "l0.k: 50 % kept, blocks of 16x16;", "l0.o: dense",
                     "l0.up: 9.998 % kept, unstructured;", "l0.gate: 50 % kept, blocks of 1x64;",
                     "64 rows are empty"):
            self.assertIn(said, trace)
        self.assertEqual(rows["fwd.l0.k"]["block"], "16")
        (self.folder / "hand.csv").write_text("\n".join(hand) + "\n")
        machines = ["--machine", "bow", "--machine", "wse2", "--set", "wafer.columns=8", "--set",
                    "wafer.rows=8", "--json", "--quiet"]
        cycles = []
        for file in ("t.csv", "hand.csv"):
            results = json.loads(self.run_program("compare", *machines, "--trace", file))
            cycles.append([(each["machine"], each["op_id"], each["density"], each["cycles"])
                           for each in results])
        self.assertEqual(cycles[0], cycles[1])

    def test_a_model_folder_is_pruned_only_if_asked(self):
        model = self.folder / "model"
        write_model(model)
        refused = self.run_program("trace", "import", model, "--density", 0.1, status=2)
        self.assertIn("--prune", refused)
        pruned = self.rows_of(self.run_program("trace", "import", model, "--density", 0.1, "--prune",
                                               "--part", "weights", "--tokens", 16))
        self.assertEqual({row["pattern"] for row in pruned}, {"magnitude"})
        (model / "model.safetensors").rename(model / "w.safetensors")
        self.run_program("trace", "import", model, "--layers", 1)
        os.remove(model / "w.safetensors")
        (model / "pytorch_model.bin").write_bytes(b"PK")
        self.assertIn("pickled", self.run_program("trace", "import", model, status=2))

    def test_a_model_folder_with_other_weights_is_refused(self):
        model = self.folder / "model"
        for change, said in ((lambda w: w.pop("l1.q"), "l1.q.*no matrix"),
                             (lambda w: w.update({"l1.q": np.ones((32, 64))}), "32 x 64.*64 x 64"),
                             (lambda w: w.update({"l1.q": np.full((64, 64), np.inf)}), "not finite")):
            write_model(model, change)
            self.assertRegex(self.run_program("trace", "import", model, status=2), said)


# The names of Hugging Face's Llama.
MODULES = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj",
           "o": "self_attn.o_proj", "gate": "mlp.gate_proj", "up": "mlp.up_proj",
           "ffn2": "mlp.down_proj"}


def write_model(folder, change=lambda weights: None):
    """A model of two layers whose weights have four kinds of zeros: N:M, blocks, rows, no order."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
        "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 128, "rms_norm_eps": 1e-5,
        "max_position_embeddings": 512, "torch_dtype": "float16", "hidden_act": "silu"}))
    draw = np.random.default_rng(7)
    weights = {}
    for layer in range(2):
        def full(rows, columns):
            return draw.integers(1, 9, (rows, columns)).astype(float)

        pairs = np.argsort(draw.random((64, 16, 4))) < 2  # two of four
        blocks = np.kron(np.array([[1, 0, 0, 1], [0, 1, 1, 0]]), np.ones((16, 16)))
        scattered = np.zeros(128 * 64)
        scattered[draw.permutation(128 * 64)[:819]] = 1  # 10 %
        weights.update({
            f"l{layer}.q": full(64, 64) * pairs.reshape(64, 64),
            f"l{layer}.k": full(32, 64) * blocks,
            f"l{layer}.v": full(32, 64) * (draw.random((32, 64)) < 0.5),
            f"l{layer}.o": full(64, 64),
            f"l{layer}.gate": full(128, 64) * (np.arange(128) % 2)[:, None],
            f"l{layer}.up": full(128, 64) * scattered.reshape(128, 64),
            f"l{layer}.ffn2": full(64, 128) * np.tile(pairs.reshape(64, 64), 2)})
    change(weights)
    tensors = {"model.embed_tokens.weight": ("F32", np.ones((128, 64), np.float32)),
               "model.norm.weight": ("F32", np.ones(64, np.float32))}
    for name, array in weights.items():
        layer, part = name[1:].split(".")
        kind = "BF16" if part == "v" else "F32"
        tensors[f"model.layers.{layer}.{MODULES[part]}.weight"] = (
            kind, bfloat(array) if part == "v" else array.astype(np.float32))
    write_safetensors(folder / "model.safetensors", tensors)
    return weights


if __name__ == "__main__":
    unittest.main()

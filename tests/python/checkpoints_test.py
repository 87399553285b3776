# SPDX-License-Identifier: Apache-2.0
"""A model's folder is a workload whose masks are the weights' own, however its maker puts them."""

import json
import os
import unittest

import numpy as np
from scipy import sparse

import lacuna
from weights import FilesCase, bfloat, write_safetensors


class CheckpointsTest(FilesCase):
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

    def import_folder(self, *options):
        """The rows of the model's folder, by what they are called."""
        part = [] if "--heads" in options else ["--part", "weights"]
        rows = self.rows_of(self.run_program("trace", "import", "model", *part, "--tokens", 16,
                                             "--out", "t.csv", *options) and
                            (self.folder / "t.csv").read_text())
        return {row["id"]: row for row in rows}

    def same_rows(self, rows, weights):
        for name, array in weights.items():
            row = rows["fwd." + name]
            self.assertEqual((int(row["m"]), int(row["k"])), array.shape, name)
            self.same(str(self.folder / row["pattern_file"]), array)

    def test_weights_that_makers_put_together_are_cut(self):
        for kind, (config, put) in FUSED.items():
            weights = {f"l{layer}.{name}": pruned(shape, seed=layer * 10 + i)
                       for layer in range(2)
                       for i, (name, shape) in enumerate(parts_of(config).items())}
            write_folder(self.folder / "model", config, put(weights))
            rows = self.import_folder()
            self.assertEqual(len(rows), len(weights), kind)
            self.same_rows(rows, weights)
            # a mask that is read again for a run is the same
            results = json.loads(self.run_program(
                "run", "--machine", "wse2", "--set", "wafer.columns=8", "--set", "wafer.rows=8",
                "--json", "--quiet", "--trace", "t.csv"))
            for result in results:
                if result["op_id"].startswith("fwd."):
                    array = weights[result["op_id"][4:]]
                    self.assertEqual(result["density"], np.count_nonzero(array) / array.size)
            pruned_rows = self.import_folder("--density", 0.1, "--prune")
            self.assertEqual({row["pattern"] for row in pruned_rows.values()}, {"magnitude"})
            self.run_program("trace", "show", "t.csv")

    def test_a_tensor_of_other_parts_than_the_configuration_says_is_refused(self):
        config, put = FUSED["phi3"]
        weights = {f"l{layer}.{name}": pruned(shape) for layer in range(2)
                   for name, shape in parts_of(config).items()}
        # four heads of keys for two: each slice would fit
        write_folder(self.folder / "model", {**config, "num_key_value_heads": 1}, put(weights))
        self.assertRegex(self.run_program("trace", "import", "model", status=2),
                         "l0.q.*128 x 64.*96 x 64, outputs and inputs")

    def test_rows_and_transposes_are_named(self):
        weights = pruned((12, 6))
        path = self.folder / "w.npz"
        np.savez(path, w=weights, **{"w[0:3]": np.eye(2)})
        for name, array in (("w.T", weights.T), ("w[2:5]", weights[2:5]),
                            ("w.T[1:6]", weights.T[1:6]),
                            ("w[1:3/4]", weights.reshape(3, 4, 6)[:, 1:3].reshape(6, 6)),
                            ("w.T[0:1/2]", weights.T[::2]), ("w[0:3]", np.eye(2))):
            self.same(f"{path}:{name}", array)
        for name, said in (("w[5:2]", "rows .5:2. of every 12"), ("w[0:13]", "of every 12"),
                           ("w[0:2/5]", "of the 12"), ("w[1]", "no array"), ("w.T[0:x]", "no array")):
            with self.assertRaisesRegex(lacuna.RequestError, said):
                lacuna.Mask(f"{path}:{name}")

    def test_packed_weights_are_their_matrices(self):
        weights = {f"l{layer}.{name}": pruned(shape, seed=layer * 10 + i)
                   for layer in range(2) for i, (name, shape) in enumerate(parts_of(LLAMA).items())}
        weights["l0.q"] = np.where(np.arange(64) % 4 < 2, weights["l0.q"] + 1, 0)
        for named in ("{}", "{}.weight"):  # both are written, by versions
            tensors = {}
            for name, (kind, array) in llama_tensors(weights).items():
                tensors.update(packed(named.format(name[:-7]), array, kind))
            write_folder(self.folder / "model", LLAMA, tensors)
            self.same_rows(self.import_folder(), weights)
            whole = self.rows_of(self.run_program("trace", "import",
                                                  self.folder / "model" / "model.safetensors",
                                                  "--n", 8))
            self.assertEqual(len(whole), len(weights))
        one = self.folder / "one.safetensors"
        stored = packed("x", np.array([[1.0, 0, 2, 0, 0, 3, 0, 4, 0, 5]]), "F32")
        stored["x.compressed"][1][2] = 0  # stored, and zero: of place 5
        write_safetensors(one, stored)
        self.same(f"{one}:x.weight", np.array([[1, 0, 1, 0, 0, 0, 0, 1, 0, 1]]))
        for change, said in (
                (lambda t: t.update({"x.compressed": ("F32", np.ones(4, np.float32))}), "bytes of"),
                (lambda t: t.update({"x.compressed": ("F32", np.ones(6, np.float32))}), "more bytes"),
                (lambda t: t.update({"x.shape": ("I64", np.array([1, 17]))}), "bitmask of .1, 2."),
                (lambda t: t.update({"x.shape": ("I64", np.array([10]))}), "a bit for each")):
            damaged = dict(stored)
            change(damaged)
            write_safetensors(one, damaged)
            with self.assertRaisesRegex(lacuna.RequestError, said):
                lacuna.Mask(f"{one}:x.weight")

    def test_quantised_weights_are_no_matrices(self):
        path = self.folder / "q.safetensors"
        byte = ("U8", np.ones((8, 1), np.uint8))
        for tensors in ({"x.qweight": ("I32", np.ones((4, 8), np.int32))},
                        {"x.weight_packed": ("I32", np.ones((4, 8), np.int32))},
                        {"x.weight": byte, "x.weight.absmax": ("F32", np.ones(1, np.float32))},
                        {"x.weight": ("I8", np.ones((4, 8), np.int8)), "x.weight_zero_point": byte}):
            write_safetensors(path, tensors)
            self.assertIn("quantised and packed",
                          self.run_program("trace", "import", path, "--n", 8, status=2))
        write_safetensors(path, {"x.weight": ("F8_E4M3", np.ones((8, 8), np.uint8)),
                                 "x.weight_scale_inv": ("F32", np.ones((1, 1), np.float32))})
        text = self.run_program("trace", "import", path, "--n", 8)
        self.assertIn("x.weight_scale_inv is left out", text)
        self.assertEqual(len(self.rows_of(text)), 1)

    def test_the_head_has_its_own_zeros(self):
        weights = {f"l{layer}.{name}": pruned(shape) for layer in range(2)
                   for name, shape in parts_of(LLAMA).items()}
        table, head = pruned((128, 64), seed=5), pruned((128, 64), seed=6)
        tensors = {**llama_tensors(weights), "model.embed_tokens.weight": ("F64", table),
                   "lm_head.weight": ("F64", head)}
        for tied in (False, True):
            write_folder(self.folder / "model", {**LLAMA, "tie_word_embeddings": tied}, tensors)
            row = self.import_folder("--heads")["fwd.head.out"]
            self.same(str(self.folder / row["pattern_file"]), table if tied else head)

    def test_compare_says_why_for_a_model_folder(self):
        write_model(self.folder / "model")
        self.import_folder("--layers", 1)
        small = ["--set", "wafer.columns=8", "--set", "wafer.rows=8"]
        self.run_program("compare", "--machine", "bow", "--machine", "wse2", *small, "--trace",
                         "t.csv", "--with-dense", "--why", "--quiet", "--out", "out")
        runs = json.loads((self.folder / "out" / "result.json").read_text())["runs"]
        sparse_runs = [run for run in runs if run.get("why")]
        self.assertEqual([run["machine"] for run in sparse_runs], ["bow", "wse2"])
        for run in sparse_runs:
            # which layers gain: what is dense is as fast as in the dense run, but that a wafer's
            # rows share a rectangle that all of them choose, and leave it other memory
            rows = [each["summary"] for each in run["operations"]]
            gains = {row["op_id"]: row["speedup_vs_dense"] for row in rows}
            self.assertEqual(len(gains), 7)
            self.assertAlmostEqual(gains["fwd.l0.o"], 1, delta=0.05 if run["machine"] == "bow" else 0.1)
            # and why not the others: the same as is said of the machine alone
            nothing, first = run["why"]["ladder"][:2]
            self.assertEqual(nothing["cycles"], run["total"]["cycles"])
            self.assertLess(first["cycles"], nothing["cycles"])
            self.assertIn(first["cause"], " ".join(run["why"]["sentences"]))
            machine = ["--machine", run["machine"], *(small if run["machine"] == "wse2" else [])]
            self.run_program("run", *machine, "--trace", "t.csv", "--with-dense", "--why", "--quiet",
                             "--out", "alone")
            alone = json.loads((self.folder / "alone" / "result.json").read_text())["runs"]
            self.assertIn(run["why"], [each.get("why") for each in alone])


def pruned(shape, density=0.4, seed=1):
    """Unlike in every row and column, so that a wrong cut is seen."""
    draw = np.random.default_rng(seed)
    return np.where(draw.random(shape) < density, draw.integers(1, 9, shape), 0).astype(float)


def packed(name, array, kind):
    """As compression tools store it: what is there, and a bit for each element."""
    values = array[array != 0]
    return {f"{name}.compressed": (kind, bfloat(values) if kind == "BF16"
                                   else values.astype({"F32": np.float32}.get(kind, float))),
            f"{name}.bitmask": ("U8", np.packbits(array != 0, axis=-1, bitorder="little")),
            f"{name}.shape": ("I64", np.array(array.shape)),
            f"{name}.row_offsets": ("I64", np.arange(array.shape[0]))}


SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 128,
         "max_position_embeddings": 512, "torch_dtype": "float16"}
LLAMA = {**SIZES, "model_type": "llama", "intermediate_size": 96, "num_key_value_heads": 2,
         "rms_norm_eps": 1e-5, "hidden_act": "silu"}
PHI3 = {**LLAMA, "model_type": "phi3"}
GPT2 = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 128,
        "n_positions": 512, "n_inner": 96, "torch_dtype": "float16"}
NEOX = {**SIZES, "model_type": "gpt_neox", "intermediate_size": 96, "hidden_act": "gelu"}


def parts_of(config):
    """Outputs and inputs of the products of a layer: of heads of 16 features."""
    keys = 16 * config.get("num_key_value_heads", 4)
    sides = {"q": (64, 64), "k": (keys, 64), "v": (keys, 64), "o": (64, 64)}
    if config["model_type"] in ("llama", "phi3"):
        return {**sides, "gate": (96, 64), "up": (96, 64), "ffn2": (64, 96)}
    return {**sides, "ffn1": (96, 64), "ffn2": (64, 96)}


def llama_tensors(weights):
    return {f"model.layers.{name[1]}.{MODULES[name[3:]]}.weight": ("F64", array)
            for name, array in weights.items()}


def by_layer(put):
    """Puts the weights of each layer together as `put` does with the parts of one."""
    return lambda weights: {
        name: ("F32", array.astype(np.float32)) for layer in range(2)
        for name, array in put(layer, {name[3:]: array for name, array in weights.items()
                                       if name.startswith(f"l{layer}.")}).items()}


# What the code of these models in Transformers splits: rows after each other, columns, and heads of
# which each has its queries, keys and values.
FUSED = {
    "phi3": (PHI3, by_layer(lambda layer, part: {
        f"model.layers.{layer}.self_attn.qkv_proj.weight":
            np.concatenate([part["q"], part["k"], part["v"]]),
        f"model.layers.{layer}.self_attn.o_proj.weight": part["o"],
        f"model.layers.{layer}.mlp.gate_up_proj.weight":
            np.concatenate([part["gate"], part["up"]]),
        f"model.layers.{layer}.mlp.down_proj.weight": part["ffn2"]})),
    "gpt2": (GPT2, by_layer(lambda layer, part: {
        f"h.{layer}.attn.c_attn.weight":
            np.concatenate([part["q"].T, part["k"].T, part["v"].T], axis=1),
        f"h.{layer}.attn.c_proj.weight": part["o"].T,
        f"h.{layer}.mlp.c_fc.weight": part["ffn1"].T,
        f"h.{layer}.mlp.c_proj.weight": part["ffn2"].T})),
    "gpt_neox": (NEOX, by_layer(lambda layer, part: {
        f"gpt_neox.layers.{layer}.attention.query_key_value.weight":
            np.stack([part[p].reshape(4, 16, 64) for p in "qkv"], axis=1).reshape(192, 64),
        f"gpt_neox.layers.{layer}.attention.dense.weight": part["o"],
        f"gpt_neox.layers.{layer}.mlp.dense_h_to_4h.weight": part["ffn1"],
        f"gpt_neox.layers.{layer}.mlp.dense_4h_to_h.weight": part["ffn2"]}))}


def write_folder(folder, config, tensors):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", tensors)


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

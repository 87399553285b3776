# SPDX-License-Identifier: Apache-2.0
"""Masks from NumPy, SciPy and files, read where they lie."""

import os
import pathlib
import resource
import tempfile
import unittest

import numpy as np
from scipy import sparse

import lacuna


def small():
    return lacuna.Machine("wse2", wafer__columns=8, wafer__rows=8)


def drawn(rows, columns, density, dtype=np.float32, seed=1):
    draw = np.random.default_rng(seed)
    kept = draw.random((rows, columns)) < density
    return np.where(kept, draw.integers(1, 9, (rows, columns)), 0).astype(dtype)


class MaskTest(unittest.TestCase):
    def test_all_kinds_of_numbers_and_orders_give_the_same_mask(self):
        weights = drawn(48, 40, 0.3)
        names = set()
        for dtype in (bool, np.int8, np.uint16, np.float16, np.float32, np.int64, np.float64):
            names.add(lacuna.Mask(weights.astype(dtype)).name)
        names.add(lacuna.Mask(np.asfortranarray(weights)).name)
        wide = np.zeros((96, 80), np.float32)
        wide[::2, ::2] = weights
        names.add(lacuna.Mask(wide[::2, ::2]).name)
        for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
            names.add(lacuna.Mask(kind(weights)).name)
        self.assertEqual(len(names), 1)
        self.assertEqual(lacuna.Mask(weights).nnz, np.count_nonzero(weights))

    def test_minus_zero_is_a_zero_and_nan_is_not(self):
        self.assertEqual(lacuna.Mask(np.array([[-0.0, 1, np.nan, 0]])).nnz, 2)

    def test_a_masked_array_is_refused(self):
        with self.assertRaisesRegex(lacuna.RequestError, "found a masked array"):
            lacuna.Mask(np.ma.array(np.eye(4), mask=np.eye(4)))

    def test_a_block_matrix_keeps_whole_blocks(self):
        blocks = sparse.bsr_matrix(np.kron(drawn(4, 4, 0.5) != 0, np.ones((8, 8))),
                                   blocksize=(8, 8))
        self.assertEqual(lacuna.Mask(blocks).name, lacuna.Mask(blocks.toarray()).name)

    def test_a_round_trip_is_the_same_matrix(self):
        weights = drawn(48, 40, 0.3)
        mask = lacuna.Mask(weights)
        self.assertTrue((mask.to_scipy().toarray() == (weights != 0)).all())
        self.assertFalse(mask.indices.flags.owndata)
        self.assertFalse(mask.indices.flags.writeable)

    def test_a_pattern_of_an_array_is_that_of_its_file(self):
        weights = drawn(64, 64, 0.25)
        result = lacuna.run(small(), gemm=(64, 64, 32), pattern=weights)
        self.assertEqual(result.total.density, np.count_nonzero(weights) / 4096)
        with tempfile.TemporaryDirectory() as folder:
            rows = sparse.csr_matrix(weights)
            file = pathlib.Path(folder) / "w.smtx"
            file.write_text("{}, {}, {}\n{}\n{}\n".format(
                *rows.shape, rows.nnz, " ".join(map(str, rows.indptr)),
                " ".join(map(str, rows.indices))))
            of_file = lacuna.run(small(), gemm=(64, 64, 32), pattern=f"file:{file}")
            np.save(pathlib.Path(folder) / "w.npy", weights)
            of_npy = lacuna.Mask(pathlib.Path(folder) / "w.npy")
            self.assertEqual(of_npy.name, lacuna.Mask(weights).name)
        self.assertEqual(result.cycles, of_file.cycles)
        self.assertEqual(result.cycles, lacuna.run(small(), matrix=rows, n=32).cycles)

    def test_zeros_of_activations_are_used(self):
        zeros = np.zeros((64, 32), np.float16)
        zeros[::4] = 1
        result = lacuna.run(small(), gemm=(64, 64, 32), density=0.25, x_pattern=zeros)
        self.assertEqual(result.operations.x_kept[0], 0.25)

    def test_another_shape_is_refused(self):
        with self.assertRaises(lacuna.RequestError) as caught:
            lacuna.run(small(), gemm=(64, 32, 32), pattern=drawn(64, 64, 0.25))
        self.assertIn("found 'a pattern of 64 x 64'; allowed: 64 x 32", str(caught.exception))
        with self.assertRaises(lacuna.RequestError):
            lacuna.Mask(np.zeros(3))
        with self.assertRaises(lacuna.RequestError):
            lacuna.Mask(np.zeros((3, 3), complex))
        unsorted = sparse.csr_matrix((np.ones(2), [2, 1], [0, 2]), shape=(1, 4))
        with self.assertRaises(lacuna.RequestError):
            lacuna.Mask(unsorted)

    def test_an_array_of_100_megabytes_is_read_where_it_lies(self):
        # 104,857,600 bytes, all of them written: a page may count from its first use on
        weights = np.full((10240, 5120), 0, np.float16)
        weights[::64, ::64] = 1
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        mask = lacuna.Mask(weights)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertEqual(mask.address, weights.__array_interface__["data"][0])
        self.assertEqual(mask.nnz, 160 * 80)
        # the address sanitizer looks up a byte of its own for eight that are read
        sanitized = "libasan" in os.environ.get("LD_PRELOAD", "")
        looked_up = weights.nbytes // 8 // 1024 if sanitized else 0
        self.assertLess(grown, 1024 * 10 + looked_up)  # KiB; a copy would be ten times as much

    def test_a_mask_that_is_gone_is_named(self):
        mask = lacuna.Mask(drawn(64, 64, 0.25))
        name = mask.name
        del mask
        with self.assertRaises(lacuna.RequestError) as caught:
            lacuna.run(small(), gemm=(64, 64, 32), pattern="file:" + name)
        self.assertIn("no longer", str(caught.exception))


if __name__ == "__main__":
    unittest.main()

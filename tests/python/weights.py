# SPDX-License-Identifier: Apache-2.0
"""Files of weights as tools write them, made by NumPy alone, and a test case with a folder."""

import csv
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import numpy as np

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


class FilesCase(unittest.TestCase):
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

# SPDX-License-Identifier: Apache-2.0
"""What is to be run, from Python's own objects."""

from __future__ import annotations

import operator
import os
from typing import Any, Optional

import numpy as np
import pandas as pd

from . import _lacuna
from ._machine import density_text, is_bool
from ._own import Program


class Mask:
    """Which elements of a matrix are kept: those of an array or of a SciPy sparse matrix that are
    not zero, or those of a file: .npy, .npz, safetensors ("FILE:MEMBER"), .smtx or .mtx. An array is
    read where it lies; `address` is where. Equal masks have equal names, which results show."""

    def __init__(self, matrix: Any):
        self._own = _mask_of(matrix)

    name = property(lambda self: self._own.name, doc="How results call it.")
    shape = property(lambda self: self._own.shape)
    nnz = property(lambda self: self._own.nnz)
    density = property(lambda self: self._own.density)
    address = property(lambda self: self._own.address,
                       doc="Of the first byte that was read; 0 of files.")
    indptr = property(lambda self: self._own.indptr, doc="Where rows begin; not a copy.")
    indices = property(lambda self: self._own.indices, doc="Columns, row by row; not a copy.")

    def to_scipy(self) -> Any:
        """A scipy.sparse.csr_matrix of ones, which is a copy."""
        from scipy import sparse
        ones = np.ones(self.nnz, dtype=np.int8)
        return sparse.csr_matrix((ones, self.indices, self.indptr), shape=self.shape)

    def __repr__(self) -> str:
        return f"<Mask {self.shape[0]} x {self.shape[1]}, density {self.density:.6g}, {self.name}>"


def _mask_of(matrix: Any) -> _lacuna.Mask:
    if isinstance(matrix, (str, os.PathLike)):
        return _lacuna.Mask.from_file(os.fspath(matrix))
    if isinstance(matrix, np.ma.MaskedArray):
        raise _lacuna.RequestError("found a masked array, whose masked elements have no value; "
                                   "allowed: what .filled(0) or .filled(1) makes of it")
    if hasattr(matrix, "tocsr"):
        if getattr(matrix, "format", "") == "bsr" and np.all(matrix.data):
            rows, columns = matrix.blocksize
            return _lacuna.Mask.from_csr(*matrix.shape, matrix.indptr, matrix.indices, rows,
                                         columns)
        rows = matrix.tocsr()
        if not np.all(rows.data):
            rows = rows.copy()
            rows.eliminate_zeros()
            rows.sort_indices()
        return _lacuna.Mask.from_csr(*rows.shape, rows.indptr, rows.indices, 1, 1)
    return _lacuna.Mask.from_array(matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix))


def as_mask(matrix: Any) -> Optional[Mask]:
    """The mask that `matrix` is or has; None if it is a word, such as "block16:0.1"."""
    if matrix is None or isinstance(matrix, str):
        return None
    return matrix if isinstance(matrix, Mask) else Mask(matrix)


def refuse_path(name: str, word: Any) -> None:
    """A pattern in words is no path: a file is an object, or said as one."""
    kinds = (".npy", ".npz", ".safetensors", ".smtx", ".mtx")
    if isinstance(word, str) and ":" not in word and word.lower().endswith(kinds):
        raise _lacuna.RequestError(
            f"{name}: found '{word}'; allowed: lacuna.Mask('{word}') of a file, an array, a SciPy "
            "matrix, or a pattern in words, such as 'unstructured:0.1'")


def _refuse_models(words: dict) -> None:
    """Models and systems have results of their own, which are the program's."""
    for word in ("model", "system_config"):
        if words.get(word) is not None:
            raise _lacuna.RequestError(
                f"{word}: not for a call, whose result is of operations; "
                f"lacuna.command('run', {word}='{words[word]}', out='FOLDER', ...) does it")


def workload_of(words: dict, kept: list) -> _lacuna.Workload:
    """Takes gemm, trace, program or matrix with n out of `words`; what it needs goes to `kept`."""
    _refuse_models(words)
    kinds = ("gemm", "trace", "matrix", "program")
    given = [word for word in kinds if words.get(word) is not None]
    if len(given) != 1:
        many = "no workload is given" if not given else "more than one workload is given"
        matrices = [word for word, value in words.items()
                    if getattr(value, "ndim", 0) == 2 and word not in given]
        meant = f"; '{matrices[0]}' is a matrix: matrix takes one, with n" if matrices else ""
        raise _lacuna.RequestError(f"{many}; give one of gemm, trace, matrix and program{meant}")
    what = words.pop(given[0])
    for other in kinds:
        words.pop(other, None)
    if given[0] == "program":
        return _lacuna.Workload.program(_program_file(what, kept))
    if given[0] == "gemm":
        return _gemm(what)
    if given[0] == "trace":
        return _trace(what)
    n = words.pop("n", None)
    if n is None:
        raise _lacuna.RequestError(
            "--matrix: needs --n, the number of columns that it is multiplied with")
    mask = as_mask(what)
    if mask is None:
        return _lacuna.Workload.matrix(os.fspath(what), _side("n", n))
    kept.append(mask)
    return _lacuna.Workload.matrix(mask.name, _side("n", n))


def _side(name: str, value: Any) -> int:
    """A whole number: what has a fraction is refused, not cut off, and True is no number."""
    try:
        if is_bool(value):
            raise TypeError
        return int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        raise _lacuna.RequestError(
            f"--{name}: error E202: found '{value}'; allowed: a whole number") from None


def _program_file(what: Any, kept: list) -> str:
    if not isinstance(what, Program):
        return os.fspath(what)
    kept.append(what)
    return what.file()


def _gemm(what: Any) -> _lacuna.Workload:
    sides = what.split("x") if isinstance(what, str) else list(what)
    try:
        m, k, n = (_side("gemm", side) for side in sides)
        return _lacuna.Workload.gemm(m, k, n)
    except (TypeError, ValueError):
        raise _lacuna.RequestError(
            f"--gemm: error E202: found '{what}'; allowed: MxKxN, or (M, K, N)") from None


def _trace(what: Any) -> _lacuna.Workload:
    if isinstance(what, (str, os.PathLike)):
        return _lacuna.Workload.trace(os.fspath(what))
    frame = what if isinstance(what, pd.DataFrame) else pd.DataFrame(what)
    # a column with empty cells has its whole numbers as floats; densities may have many digits
    frame = frame.convert_dtypes()
    for column in ("density", "x_density"):
        if column in frame.columns:
            frame[column] = [None if pd.isna(each) else density_text(each) for each in frame[column]]
    return _lacuna.Workload.trace_text(frame.to_csv(index=False), "frame")

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace lacuna::python {

/// An array that Python may not write to: it is of a result.
inline pybind11::array read_only(pybind11::array array) {
  pybind11::detail::array_proxy(array.ptr())->flags &=
      ~pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// The class Mask: non-zeros of NumPy arrays and of compressed sparse rows, read where they lie.
void add_mask(pybind11::module_& module);

}  // namespace lacuna::python

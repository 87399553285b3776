// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace lacuna {

/// The sides of all tensors of a model of which the file says them, or ONNX's own inference can
/// work them out from those it says, also through operators that compute sides. Operators that are
/// not of the standard, that are of a later version than is installed, or of which inference is not
/// asked (it trusts a file more than can be trusted), say nothing of their results. What the file
/// says is taken if inference says another.
std::map<std::string, std::vector<std::int64_t>> infer_shapes(onnx::ModelProto& model);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lacuna {

using Numbers = std::vector<std::int64_t>;

/// The sides of a tensor, or the numbers in it; nothing if one of them is not known.
using KnownNumbers = std::function<std::optional<Numbers>(const std::string& tensor)>;

/// Operators of other domains may have a name of the standard's and do something else.
inline bool is_standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }
inline bool is_known(const std::string& domain) {
  return is_standard(domain) || domain == "com.microsoft";
}

/// The attribute of this name, null if there is none.
const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const std::string& name);

/// The whole number that it is, or `otherwise`.
std::int64_t number_of(const onnx::NodeProto& node, const std::string& name,
                       std::int64_t otherwise);

/// Writes a node of a graph of `version` of the standard as an earlier version does, where its
/// sides are the same. Axes of a reduction become an attribute (18). Words on how numbers are
/// rounded or scaled are left out (19, 21, 23). False if nothing was to be changed, or what was is
/// not known.
/// @param numbers of operands
bool write_earlier_form(onnx::NodeProto& node, int version, const KnownNumbers& numbers);

/// The sides of the pieces of a Split that says only how many it makes (version 18): the last one
/// is shorter if it has to be. None of another node, or if they are not known.
/// @param sides of its first operand
std::vector<Numbers> even_pieces(const onnx::NodeProto& node, const Numbers& sides);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/proto_forms.hpp"

#include <algorithm>
#include <set>

namespace lacuna {
namespace {

using onnx::AttributeProto;
using onnx::NodeProto;

/// Whether there was one.
bool drop(NodeProto& node, const std::string& name) {
  auto& all = *node.mutable_attribute();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name() == name; });
  if (found == all.end()) return false;
  all.erase(found);
  return true;
}

/// Since version 18 the axes are an operand. Without one all sides are reduced, or none.
bool write_axes(NodeProto& node, const KnownNumbers& numbers) {
  const bool given = node.input_size() == 2 && !node.input(1).empty();
  if (number_of(node, "noop_with_empty_axes", 0) != 0 && !given) return false;
  bool changed = drop(node, "noop_with_empty_axes");
  if (node.input_size() != 2) return changed;
  if (given) {
    const std::optional<Numbers> axes = numbers(node.input(1));
    if (!axes || axes->empty() || find_attribute(node, "axes") != nullptr) return false;
    AttributeProto& added = *node.add_attribute();
    added.set_name("axes");
    added.set_type(AttributeProto::INTS);
    for (const std::int64_t axis : *axes) added.add_ints(axis);
  }
  node.mutable_input()->RemoveLast();
  return true;
}

/// Windows have gaps since version 19.
bool drop_gaps(NodeProto& node) {
  const AttributeProto* gaps = find_attribute(node, "dilations");
  if (gaps == nullptr || std::any_of(gaps->ints().begin(), gaps->ints().end(),
                                     [](std::int64_t gap) { return gap != 1; })) {
    return false;
  }
  return drop(node, "dilations");
}

}  // namespace

const AttributeProto* find_attribute(const NodeProto& node, const std::string& name) {
  const auto found = std::find_if(node.attribute().begin(), node.attribute().end(),
                                  [&](const auto& each) { return each.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}

std::int64_t number_of(const NodeProto& node, const std::string& name, std::int64_t otherwise) {
  const AttributeProto* found = find_attribute(node, name);
  return found == nullptr || !found->has_i() ? otherwise : found->i();
}

bool write_earlier_form(NodeProto& node, int version, const KnownNumbers& numbers) {
  static const std::set<std::string> kReductions = {"ReduceL1",       "ReduceL2",  "ReduceMax",
                                                    "ReduceMean",     "ReduceMin", "ReduceProd",
                                                    "ReduceSumSquare"};
  static const std::set<std::string> kCasts = {"Cast", "QuantizeLinear", "DequantizeLinear"};
  constexpr int kAxesAreOperands = 18;
  constexpr int kCastsHaveWords = 19;
  const std::string& op = node.op_type();
  if (kReductions.count(op) != 0) return version >= kAxesAreOperands && write_axes(node, numbers);
  if (version < kCastsHaveWords) return false;
  if (op == "AveragePool") return drop_gaps(node);
  if (kCasts.count(op) == 0) return false;
  bool changed = false;
  for (const char* word : {"saturate", "round_mode", "block_size", "output_dtype", "precision"}) {
    changed = drop(node, word) || changed;
  }
  return changed;
}

std::vector<Numbers> even_pieces(const NodeProto& node, const Numbers& sides) {
  const std::int64_t count = number_of(node, "num_outputs", 0);
  const bool even = node.op_type() == "Split" && count > 0 && count == node.output_size() &&
                    (node.input_size() == 1 || (node.input_size() == 2 && node.input(1).empty()));
  if (!even) return {};
  constexpr std::int64_t kMostSides = 64;  // each piece has as many
  const auto rank = static_cast<std::int64_t>(sides.size());
  const std::int64_t axis = number_of(node, "axis", 0);
  if (rank > kMostSides || axis < -rank || axis >= rank) return {};
  const auto cut = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::int64_t rest = sides[cut] % count;
  const std::int64_t each = sides[cut] / count + (rest == 0 ? 0 : 1);
  const std::int64_t last = rest == 0 ? each : each - (count - rest);
  if (sides[cut] < 0 || last < 0) return {};
  std::vector<Numbers> pieces(static_cast<std::size_t>(count), sides);
  for (Numbers& piece : pieces) piece[cut] = each;
  pieces.back()[cut] = last;
  return pieces;
}

}  // namespace lacuna

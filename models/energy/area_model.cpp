// SPDX-License-Identifier: Apache-2.0
#include "models/energy/area_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {

namespace {

constexpr double kSquareMillimetres = 1e-6;  // of a um2

[[noreturn]] void refuse(const AreaTable& table, const std::string& block) {
  std::vector<std::string> names;
  for (const EnergyRow& row : table.rows()) names.push_back(row.event);
  throw RequestError(fmt::format("block '{}' of a chip has no row in {}{}", block, table.name(),
                                 hint_of(block, names)));
}

/// So many of a block as there are in the whole chip.
double count_of(const Silicon& silicon, const std::string& block) {
  double count = 0;
  for (const SiliconBlock& each : silicon.unit) {
    if (each.block == block) count += each.count * silicon.units;
  }
  for (const SiliconBlock& each : silicon.chip) {
    if (each.block == block) count += each.count;
  }
  return count;
}

}  // namespace

AreaModel::AreaModel(AreaTable table, AreaReference reference)
    : table_(std::move(table)), reference_(std::move(reference)) {
  raw_mm2(reference_.silicon, reference_.node, {nullptr, Corner::nominal});
}

double AreaModel::um2(const SiliconBlock& block, Node node, const Moved& moved) const {
  const EnergyRow* const row = table_.find(block.block);
  if (row == nullptr) refuse(table_, block.block);
  return row->price(node).at(row == moved.row ? moved.corner : Corner::nominal);
}

double AreaModel::raw_mm2(const Silicon& silicon, Node node, const Moved& moved) const {
  double sum = 0;
  for (const SiliconBlock& block : silicon.unit) {
    sum += block.count * silicon.units * um2(block, node, moved);
  }
  for (const SiliconBlock& block : silicon.chip) sum += block.count * um2(block, node, moved);
  return sum * kSquareMillimetres;
}

double AreaModel::scaled(const Silicon& silicon, Node node, const Moved& moved) const {
  return raw_mm2(silicon, node, moved) * reference_.mm2 /
         raw_mm2(reference_.silicon, reference_.node, moved);
}

ChipArea AreaModel::area(const Silicon& silicon, Node node) const {
  const Moved none{nullptr, Corner::nominal};
  ChipArea area;
  const double nominal = scaled(silicon, node, none);
  area.mm2 = {nominal, nominal, nominal};
  area.scale = reference_.mm2 / raw_mm2(reference_.silicon, reference_.node, none);
  for (const EnergyRow& row : table_.rows()) {
    AreaPart part{row.event, count_of(silicon, row.event), {}};
    for (const Corner corner : kCorners) {
      const double moved = scaled(silicon, node, {&row, corner});
      area.mm2.low = std::min(area.mm2.low, moved);
      area.mm2.high = std::max(area.mm2.high, moved);
      part.mm2.at(corner) =
          part.count * row.price(node).at(corner) * kSquareMillimetres * area.scale;
    }
    if (part.count > 0) area.parts.push_back(part);
  }
  return area;
}

}  // namespace lacuna

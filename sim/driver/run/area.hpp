// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/energy/area_model.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// The tiles or cores of a machine by its parameters; 0 of one without them.
std::uint64_t units_of(const Machine& machine);

/// A chip whose area is published; "scale" ones set the factor of their kind, "check" ones are
/// predicted by it.
struct PublishedArea {
  std::string chip;
  bool scales = false;
  double mm2 = 0;
  std::string source;
};

/// The areas of chips by kind of machine, from the tables of a configuration folder: area_table.csv
/// says what blocks take, area_chips.csv which chips scale them.
class Areas {
 public:
  explicit Areas(const std::filesystem::path& folder);

  /// The area that the model of its kind has for a chip, before energy.area_calibration; nothing if
  /// there is none.
  std::optional<ChipArea> predicted(const Machine& machine) const;

  /// One simulated tile or core of it, calibration included.
  std::optional<UnitSilicon> unit(const Machine& machine) const;

  const std::vector<PublishedArea>& published() const { return published_; }

 private:
  std::vector<PublishedArea> published_;
  std::map<std::string, AreaModel> models_;  // by kind
};

}  // namespace lacuna

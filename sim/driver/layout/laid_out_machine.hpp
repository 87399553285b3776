// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/files/part_cache.hpp"
#include "sim/driver/files/yaml_layouts.hpp"
#include "sim/driver/layout/climb.hpp"

namespace lacuna {

/// Where layouts come from, as --layout says it.
struct LayoutRequest {
  /// planned: by the machine's rule, if it has one; first: with all parameters as they are set.
  enum class Source { planned, first, best, file };
  Source source = Source::first;
  std::vector<LayoutEntry> entries;  // of a file
  std::string file;
  ClimbEffort effort;
  ClimbEffort effort_of_rows = {16, 6};  // that follow each other, of each
  /// Of what `best` has found; closed: only this process knows.
  std::shared_ptr<PartCache> cache = std::make_shared<PartCache>();
};

/// "planned", which is the default, "first", "best", or a file of layouts; RequestError if it is
/// none of them. What `best` finds is
/// kept for later runs unless `no_cache`.
LayoutRequest layout_request(const std::optional<std::string>& option, bool no_cache);

/// Whether such an option names a file; of one that is there the SHA-256 of its bytes, else itself.
bool is_layouts_file(const std::string& option);
std::string content_of_layouts(const std::string& option);

/// A machine that lays its operations out as `request` has it, in place of `machine`, of which all
/// else is. `planned` and `first` are the machine itself.
///
/// `best` climbs to the layout of each operation that has a space, each content once; to those of
/// rows that follow each other together (climb_rows), what moves between them included as far as
/// the machine charges it. RequestError, before anything runs, of an operation of which a file has
/// no layout, or two, and of rows that follow each other on different parts of a machine.
std::unique_ptr<Machine> with_layouts(std::unique_ptr<Machine> machine,
                                      const LayoutRequest& request);

/// A copy of the machine that is laid out, or of one that is not; null if it cannot be copied.
std::unique_ptr<Machine> plain_copy(const Machine& machine);

/// The same for all of a request.
void lay_out(std::vector<std::unique_ptr<Machine>>& machines, const LayoutRequest& request);

}  // namespace lacuna

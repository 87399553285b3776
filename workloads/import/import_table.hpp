// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workloads/import/imported.hpp"

namespace lacuna {

struct ImportFile;
class ImportContext;

/// A foreign format that becomes a trace; a row of the table of importers.
struct ImportFormat {
  std::string name;
  void (*read)(const ImportFile& file, ImportContext& context);
  std::string meaning;
  std::vector<std::string> keys;  // settings beside dtype and mode
};

const std::vector<ImportFormat>& import_formats();

/// A setting of importers with its meaning, for help.
struct ImportKey {
  std::string name;
  std::string allowed;
  std::string meaning;
};
const std::vector<ImportKey>& import_keys();

/// Reads files of one format into one trace. The format is that of the setting `format`, else
/// known by content. TraceError says what is wrong with a file and where; RequestError what a
/// format cannot say and which setting says it, or why a file is not imported.
Imported import_workload(const std::vector<std::string>& paths, const Pairs& settings);

/// The same of one file that is at hand; `path` is its name in messages.
Imported import_text(const std::string& text, const std::string& path, const Pairs& settings);

}  // namespace lacuna

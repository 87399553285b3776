// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace lacuna {

/// Adds a result folder to a database of SQLite, which is made if it is not there. The table
/// `results` has a row for each folder: result, folder, version, command. Each CSV file of the
/// folder is a table of its name with the same columns, before them `result`. A folder that is in
/// it already takes the place of the older one. RequestError if the file is no such database or
/// cannot be written.
void add_to_database(const std::filesystem::path& folder, const std::filesystem::path& file);

/// RequestError if results cannot be added to this file.
void check_database(const std::filesystem::path& file);

}  // namespace lacuna

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lacuna {

/// The folder of the machine presets: $LACUNA_CONFIG if it is set. Else the nearest
/// share/lacuna/config (installed) or sim/config (source tree), at or above the folder of the
/// library or program with this code. Else that of the package that a program was built with.
/// RequestError if there is none.
std::filesystem::path config_folder();

/// The program or the library that this code is in; empty if that is not known.
std::filesystem::path own_file();

/// The files of traces/FOLDER with this ending that are shipped beside it, or stand in the source
/// tree, sorted; none if there are none.
/// `own`: those of this code, whatever LACUNA_CONFIG says.
std::vector<std::filesystem::path> shipped_files(const char* folder, const char* ending,
                                                 bool own = false);

/// The presets in it, by name, sorted.
std::vector<std::string> preset_names();

/// The files of a folder with this extension, sorted; none if there is no such folder.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const char* extension);

/// The same of ".yaml", by their names without it.
std::vector<std::string> yaml_names(const std::filesystem::path& folder);

/// The whole of a text file of at most `limit` bytes; RequestError says why it cannot be read.
std::string read_text(const std::filesystem::path& path, std::size_t limit);

/// The same of what somebody has written; refuses a file that is packed.
std::string read_words(const std::filesystem::path& path, std::size_t limit);

}  // namespace lacuna

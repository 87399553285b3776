// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/sqlite_results.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/replaced.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

using Row = std::vector<std::string>;

/// A name as SQL takes it, whatever it holds.
std::string name_of(const std::string& text) { return '"' + replaced(text, "\"", "\"\"") + '"'; }

class Database {
 public:
  explicit Database(const fs::path& file) : file_(file.string()) {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open(file_.c_str(), &opened);
    handle_.reset(opened);
    if (status != SQLITE_OK) refuse();
    constexpr int kPatience = 60000;  // ms, while another run is added
    sqlite3_busy_timeout(opened, kPatience);
  }

  void run(const std::string& sql, const Row& values = {}) { answer(sql, values); }

  /// The rows of an answer.
  std::vector<Row> answer(const std::string& sql, const Row& values = {}) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
      refuse();
    }
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared,
                                                                          sqlite3_finalize);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto place = static_cast<int>(i + 1);
      values[i].empty() ? sqlite3_bind_null(prepared, place)
                        : sqlite3_bind_text(prepared, place, values[i].data(),
                                            static_cast<int>(values[i].size()), nullptr);
    }
    std::vector<Row> rows;
    int status = sqlite3_step(prepared);
    for (; status == SQLITE_ROW; status = sqlite3_step(prepared)) {
      Row& row = rows.emplace_back();
      for (int column = 0; column < sqlite3_column_count(prepared); ++column) {
        const auto* const text = sqlite3_column_text(prepared, column);
        // NOLINTNEXTLINE(*-reinterpret-cast): bytes of UTF-8
        row.emplace_back(text == nullptr ? "" : reinterpret_cast<const char*>(text));
      }
    }
    if (status != SQLITE_DONE) refuse();
    return rows;
  }

 private:
  [[noreturn]] void refuse() const {
    throw refused("--sqlite: '{}': {}", file_, sqlite3_errmsg(handle_.get()));
  }

  std::string file_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, sqlite3_close};
};

/// A table with at least these columns. Numbers are kept as such.
void make_table(Database& database, const std::string& table, const Row& columns) {
  database.run(fmt::format("CREATE TABLE IF NOT EXISTS {} (result INTEGER)", name_of(table)));
  std::set<std::string> known;
  for (const Row& row : database.answer(fmt::format("PRAGMA table_info({})", name_of(table)))) {
    known.insert(row.at(1));
  }
  for (const std::string& column : columns) {
    if (!known.insert(column).second) continue;
    database.run(
        fmt::format("ALTER TABLE {} ADD COLUMN {} NUMERIC", name_of(table), name_of(column)));
  }
}

void add_table(Database& database, const std::string& table, const std::string& csv,
               const std::string& result) {
  const std::vector<Row> rows = csv_rows(csv);
  if (rows.empty() || rows.front().empty()) return;
  make_table(database, table, rows.front());
  database.run(fmt::format("DELETE FROM {} WHERE result = ?1", name_of(table)), {result});
  std::string names = "result";
  std::string places = "?1";
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    names += ", " + name_of(rows.front()[i]);
    places += fmt::format(", ?{}", i + 2);
  }
  const std::string insert =
      fmt::format("INSERT INTO {} ({}) VALUES ({})", name_of(table), names, places);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    Row values = {result};
    append(values, rows[i]);
    values.resize(rows.front().size() + 1);
    database.run(insert, values);
  }
}

}  // namespace

void check_database(const fs::path& file) {
  Database database(file);
  database.run("BEGIN IMMEDIATE");
  database.run("ROLLBACK");
}

void add_to_database(const fs::path& folder, const fs::path& file) {
  constexpr std::size_t kLongestTable = std::size_t{1} << 30U;
  Database database(file);
  const std::string place = fs::weakly_canonical(fs::absolute(folder)).string();
  const ResultHeader header = read_header(folder);
  database.run("BEGIN IMMEDIATE");
  database.run(
      "CREATE TABLE IF NOT EXISTS results (result INTEGER PRIMARY KEY, folder TEXT UNIQUE, "
      "version TEXT, command TEXT)");
  const std::string command = fmt::format("lacuna {}", shell_line(header.command));
  database.run(
      "INSERT INTO results (folder, version, command) VALUES (?1, ?2, ?3) ON CONFLICT (folder) DO "
      "UPDATE SET version = excluded.version, command = excluded.command",
      {place, header.version, command});
  const std::string result =
      database.answer("SELECT result FROM results WHERE folder = ?1", {place}).at(0).at(0);
  for (const fs::path& table : files_in(folder, ".csv")) {
    add_table(database, table.stem().string(), read_text(table, kLongestTable), result);
  }
  database.run("COMMIT");
}

}  // namespace lacuna

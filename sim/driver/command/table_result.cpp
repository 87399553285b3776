// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/table_result.hpp"

#include <filesystem>

#include "sim/driver/command/command_line.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/report/html/html_report.hpp"
#include "sim/report/view_page.hpp"

namespace lacuna {

namespace fs = std::filesystem;

void write_table_result(ResultFolder& folder, const Options& options, const TableResult& result) {
  folder.begin();
  std::vector<std::pair<std::string, std::string>> tables;
  for (const auto& [name, text] : result.files) {
    folder.write(name, text);
    const bool shown = fs::path(name).extension() == ".csv" && name.rfind("requests", 0) != 0;
    if (shown) tables.emplace_back(fs::path(name).stem(), text);
  }
  ResultHeader header;
  header.version = build_version();
  header.command = reproducing_arguments(options);
  header.workload = result.workload;
  for (const std::string& file : result.inputs) {
    if (fs::is_regular_file(file)) header.files.emplace_back(file, sha256_of_file(file));
  }
  folder.write("result.json", result.models.empty() ? result_text(header, {})
                                                    : models_text(header, result.models));
  if (!result.pages.empty()) {
    std::vector<const std::string*> packed;
    for (const std::string& page : result.pages) packed.push_back(&page);
    folder.write("view.html", view_page_of_first("Lacuna: " + result.view_title, packed));
  }
  const std::string figures = (folder.temporary() / "figures").string();
  draw_figures(result.figures, figures);
  write_redraw(figures);
  HtmlReport page;
  page.version = header.version;
  page.command = "lacuna " + shell_line(header.command);
  page.figures = read_figures(figures);
  folder.write("report.html", html_tables(page, tables, result.parameters));
  folder.commit();
}

}  // namespace lacuna

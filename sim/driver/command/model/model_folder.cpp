// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/model_folder.hpp"

#include <filesystem>

#include "sim/driver/command/command_line.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/inference/model_figures.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/report/html/html_report.hpp"
#include "sim/report/view_page.hpp"

namespace lacuna {

std::string all_json(const std::vector<ModelReport>& reports) {
  std::string text = "[";
  for (const ModelReport& report : reports) {
    text += (&report == reports.data() ? "\n" : ",\n") + model_json(report);
  }
  return text + "\n]";
}

void write_model_folder(ResultFolder& folder, const Options& options,
                        const std::vector<ModelReport>& reports, const ModelFolder& more) {
  constexpr std::size_t kLongest = std::size_t{1} << 28U;
  folder.begin();
  std::vector<std::pair<std::string, std::string>> files = more.files;
  for (auto& file : model_files(reports)) files.push_back(std::move(file));
  std::vector<std::pair<std::string, std::string>> tables;
  for (const auto& [name, text] : files) {
    folder.write(name, text);
    const bool few = name.rfind("requests", 0) != 0;
    if (few) tables.emplace_back(std::filesystem::path(name).stem(), text);
  }
  ResultHeader header;
  header.version = build_version();
  header.command = reproducing_arguments(options);
  header.workload = more.workload;
  for (const std::string& file : more.inputs) {
    if (!std::filesystem::is_regular_file(file)) continue;
    header.files.emplace_back(file, sha256(read_text(file, kLongest)));
  }
  folder.write("result.json", models_text(header, all_json(reports)));
  if (!more.pages.empty()) {
    std::vector<const std::string*> packed;
    for (const std::string& page : more.pages) packed.push_back(&page);
    folder.write("view.html", view_page_of_first("Lacuna: " + more.workload, packed));
  }
  const std::string figures = (folder.temporary() / "figures").string();
  draw_figures(more.figures, figures);
  write_matplotlib(more.figures, figures);
  HtmlReport page;
  page.version = header.version;
  page.command = "lacuna " + shell_line(header.command);
  page.figures = read_figures(figures);
  folder.write("report.html", html_tables(page, tables, {}));
  folder.commit();
}

}  // namespace lacuna

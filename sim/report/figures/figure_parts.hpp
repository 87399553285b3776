// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_runs.hpp"

namespace lacuna {

/// Each adds the figures of its kind that the runs have something to show in, and no others.

/// Throughput, speed-up, share of peak and energy against density.
void add_density_figures(const std::vector<MeasuredPoint>& measured, const FigureRuns& runs,
                         Figures& figures);

/// Throughput and speed-up of each operation, as dots beside its name.
void add_op_figures(const FigureRuns& runs, Figures& figures);

/// Stacked bars of where the cycles went, of runs and of operations.
void add_stack_figures(const FigureRuns& runs, Figures& figures);

/// Stacked bars of what the energy of a useful FLOP consists of.
void add_energy_figure(const FigureRuns& runs, Figures& figures);

/// Throughput against useful FLOP per byte of memory traffic, under the roofs of the machines.
void add_roofline_figure(const FigureRuns& runs, Figures& figures);

/// Bytes per FLOP that each level of BLAS needs and that each machine's memory gives; and the share
/// of its peak that each machine reached at each level.
void add_blas_figure(const std::vector<ReferenceMemory>& references, const FigureRuns& runs,
                     Figures& figures);

/// Layers by phases of training or inference, shaded by how much of the machine computes.
void add_layer_figures(const FigureRuns& runs, Figures& figures);

/// Bytes per second of memory, fabric and edge, as a share of what each could carry.
void add_bandwidth_figure(const FigureRuns& runs, Figures& figures);

/// Speed-up over dense as a map over the size of the weights and the number of columns.
void add_map_figures(const FigureRuns& runs, Figures& figures);

/// Time against silicon of runs of one workload, with those that no other beats in both.
void add_area_figure(const FigureRuns& runs, Figures& figures);

/// Cells in rows and columns, shaded by a value from 0 to 100, with a number in each.
struct CellMap {
  struct Cell {
    std::size_t row = 0;
    std::size_t column = 0;
    std::optional<double> value = {};  // none: left white
    std::string text = {};
  };
  std::string name;
  std::vector<std::string> title = {};
  std::string row_name;  // of the columns of the data
  std::string column_name;
  std::string value_name;
  std::string value_label;  // of the shades
  std::vector<std::string> rows = {};
  std::vector<std::string> columns = {};
  std::vector<Cell> cells = {};
};
Figure draw_cells(const CellMap& map);

/// Which layout each product has that was laid out by --layout, over its density, shaded by how
/// near its speed-up is to 1 / density.
void add_layout_map(const FigureRuns& runs, Figures& figures);

/// Throughput and energy against each parameter that varies over three values or more.
void add_sweep_figures(const FigureRuns& runs, Figures& figures);

}  // namespace lacuna

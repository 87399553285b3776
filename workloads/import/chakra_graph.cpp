// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/chakra_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

// Numbers of the schema; what has no row of ours has no name.
constexpr std::array<const char*, 10> kCollectives = {
    "allreduce", "", "allgather", "", "", "broadcast", "alltoall", "reducescatter", "", "barrier"};

class GraphReader {
 public:
  GraphReader(const ImportFile& file, const ChakraGraph& graph, ImportContext& context)
      : file_(file), graph_(graph), context_(context) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!places_.emplace(graph.nodes[i].id, i).second) {
        fail("E209", fmt::format("node {} twice", graph.nodes[i].id), "each id once");
      }
    }
    context.settings.flag("drop-missing", drop_missing_);
    collectives_ = static_cast<Collectives>(
        context.settings.choice("collectives", {"refuse", "keep", "drop"}, 0));
  }

  void read() {
    if (graph_.nodes.empty()) fail("E001", "no node", "at least one");
    if (collectives_ == Collectives::refuse) refuse_collectives();
    std::size_t dropped = 0;
    for (const std::size_t index : in_order()) {
      const ChakraNode& node = graph_.nodes[index];
      std::vector<std::string> after;
      for (const std::uint64_t id : node.dependencies) {
        const auto* const rows = value_in(rows_, id);
        if (rows == nullptr) continue;  // dropped, and said so
        for (const std::string& row : *rows) {
          if (!contains(after, row)) after.push_back(row);
        }
      }
      if (collectives_ == Collectives::drop && is_between_chips(node)) {
        rows_[node.id] = std::move(after);  // who waits for it waits for what it waited for
        ++dropped;
        continue;
      }
      LayerOp& row = add(node);
      row.depends_on = std::move(after);
      rows_[node.id] = {row.id};
    }
    if (dropped > 0) {
      context_.note("{} collectives and transfers between chips are left out", dropped);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& code, const std::string& found,
                         const std::string& allowed) const {
    throw_diagnostic(file_.path, code, found, allowed);
  }

  static bool is_between_chips(const ChakraNode& node) {
    using Type = ChakraNode::Type;
    return node.type == Type::collective || node.type == Type::send || node.type == Type::receive;
  }

  /// No machine of one chip runs them, and a wafer would take chips for cores.
  void refuse_collectives() const {
    const auto is_one = [](const ChakraNode& node) { return is_between_chips(node); };
    const auto first = std::find_if(graph_.nodes.begin(), graph_.nodes.end(), is_one);
    if (first == graph_.nodes.end()) return;
    refuse_request(
        "{}: found {} collectives or transfers between chips, the first is node {}, '{}'; no "
        "machine of one chip runs them: --collectives drop leaves them out, --collectives keep "
        "imports them for a system (lacuna run --machine pod16 --trace)",
        file_.path, std::count_if(graph_.nodes.begin(), graph_.nodes.end(), is_one), first->id,
        quotable(first->name));
  }

  // Nodes behind those that they depend on, else in the order of the file.
  std::vector<std::size_t> in_order() {
    std::vector<std::size_t> waiting(graph_.nodes.size(), 0);
    std::vector<std::vector<std::size_t>> readers(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const ChakraNode& node = graph_.nodes[i];
      for (const std::uint64_t id : node.dependencies) {
        const std::size_t* const place = value_in(places_, id);
        if (place == nullptr) {
          drop(node, id);
        } else {
          ++waiting[i];
          readers[*place].push_back(i);
        }
      }
    }
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i] == 0) ready.insert(i);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
      const std::size_t next = *ready.begin();
      ready.erase(ready.begin());
      order.push_back(next);
      for (const std::size_t reader : readers[next]) {
        if (--waiting[reader] == 0) ready.insert(reader);
      }
    }
    if (order.size() != graph_.nodes.size()) {
      fail("E210", "nodes that wait for each other", "a graph without a cycle");
    }
    return order;
  }

  void drop(const ChakraNode& node, std::uint64_t id) {
    if (!drop_missing_) {
      fail("E210", fmt::format("node {} depends on {}, which is not in the file", node.id, id),
           "nodes of the file; --drop-missing leaves such dependencies out");
    }
    context_.note("node {}: its dependency on {} is dropped", node.id, id);
  }

  LayerOp& add(const ChakraNode& node) {
    const std::string name =
        node.name.empty() ? fmt::format("node{}", node.id) : node.name.substr(0, kLongestName);
    using Type = ChakraNode::Type;
    switch (node.type) {
      case Type::collective:
        return collective(node, name);
      case Type::send:
      case Type::receive:
        return transfer(node, name, "p2p");
      case Type::load:
      case Type::store:
        return transfer(node, name, "io");
      case Type::compute:
        return compute(node, name);
      case Type::metadata:
        return opaque(name, {{"flop", "0"}});
      case Type::invalid:
        break;
    }
    fail("E206", fmt::format("node {} without a type", node.id), "types 1 to 7");
  }

  LayerOp& opaque(const std::string& name, Pairs args) {
    LayerOp& row = context_.add(name, "opaque");
    row.args = std::move(args);
    return row;
  }

  LayerOp& compute(const ChakraNode& node, const std::string& name) {
    Pairs args;
    if (node.num_ops) args.emplace_back("flop", std::to_string(*node.num_ops));
    if (node.num_ops && node.tensor_size) {
      args.emplace_back("bytes", std::to_string(*node.tensor_size));
    }
    if (!node.num_ops) args.emplace_back("us", std::to_string(node.duration_us));
    return opaque(name, std::move(args));
  }

  // The collective of a node; in a trace without numbers its name tells.
  std::string kind_of(const ChakraNode& node) const {
    if (node.comm_type) {
      const std::size_t type = *node.comm_type;
      std::string kind = type < kCollectives.size() ? kCollectives.at(type) : "";
      if (kind.empty()) {
        fail("E206", fmt::format("node {}: comm_type {}", node.id, type),
             "0 all-reduce, 2 all-gather, 5 broadcast, 6 all-to-all, 7 reduce-scatter, 9 barrier");
      }
      return kind;
    }
    std::string letters = lower_case(node.name);
    const auto is_other = [](char c) { return c < 'a' || c > 'z'; };
    letters.erase(std::remove_if(letters.begin(), letters.end(), is_other), letters.end());
    for (const char* kind : kCollectives) {
      if (*kind != '\0' && letters.find(kind) != std::string::npos) return kind;
    }
    fail("E206", fmt::format("node {}: '{}' names no collective", node.id, quotable(node.name)),
         "comm_type, or a name with broadcast, allreduce, allgather, alltoall, reducescatter");
  }

  LayerOp& collective(const ChakraNode& node, const std::string& name) {
    const std::string kind = kind_of(node);
    if (kind == "barrier") return opaque(name, {{"flop", "0"}});
    LayerOp& row = context_.add(name, kind);
    row.m = elements(node, node.comm_size);
    row.args = chips();
    return row;
  }

  LayerOp& transfer(const ChakraNode& node, const std::string& name, const std::string& op) {
    LayerOp& row = context_.add(name, op);
    row.m = elements(node, node.comm_size ? node.comm_size : node.tensor_size);
    if (op == "p2p") {
      row.args = chips();
    } else {
      row.fn = node.type == ChakraNode::Type::load ? "h2d" : "d2h";
      row.n = 1;
    }
    return row;
  }

  std::uint32_t elements(const ChakraNode& node, std::optional<std::uint64_t> bytes) const {
    if (!bytes && context_.settings.text("comm-size") != nullptr) {
      bytes = context_.settings.required("comm-size", 1, "bytes");
    }
    if (!bytes) {
      refuse_request("{}: node {} does not say how many bytes it moves; give --comm-size",
                     file_.path, node.id);
    }
    const unsigned size = context_.element();
    return ImportContext::side({std::max<std::uint64_t>(1, (*bytes + size - 1) / size)}, file_.path,
                               "comm_size");
  }

  Pairs chips() const { return {{"ranks", ranks()}, {"between", "chips"}}; }

  std::string ranks() const {
    if (context_.settings.text("ranks") != nullptr) {
      return std::to_string(context_.settings.required("ranks", 1, "chips"));
    }
    if (graph_.ranks && *graph_.ranks >= 1 && *graph_.ranks <= kMostSide) {
      return std::to_string(*graph_.ranks);
    }
    refuse_request("{}: does not say how many chips take part in a collective; give --ranks",
                   file_.path);
  }

  static constexpr std::size_t kLongestName = 120;
  const ImportFile& file_;
  const ChakraGraph& graph_;
  ImportContext& context_;
  std::map<std::uint64_t, std::size_t> places_;             // of nodes, by id
  std::map<std::uint64_t, std::vector<std::string>> rows_;  // that stand for a node, by its id
  bool drop_missing_ = false;
  enum class Collectives { refuse, keep, drop } collectives_ = Collectives::refuse;
};

}  // namespace

void set_attribute(ChakraNode& node, const std::string& name, std::uint64_t value) {
  if (name == "comm_type") node.comm_type = value;
  if (name == "comm_size") node.comm_size = value;
  if (name == "num_ops") node.num_ops = value;
  if (name == "tensor_size") node.tensor_size = value;
}

void add_graph(const ImportFile& file, const ChakraGraph& graph, ImportContext& context) {
  GraphReader(file, graph, context).read();
}

}  // namespace lacuna

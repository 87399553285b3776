// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/routes.hpp"
#include "sim/base/event_log.hpp"
#include "tests/support/wse/oracle/queue.hpp"
#include "tests/support/wse/oracle/router.hpp"

namespace lacuna::wse::oracle {

/// The routers of a rectangle and the queues between them and their cores
/// (doc/model/wafer_router.md). Whoever derives from it has the cores.
class Mesh {
 public:
  Mesh(const RouterParams& params, const Fabric& fabric);
  virtual ~Mesh() = default;
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

 protected:
  /// To be called once the cores are there.
  void build();

  Queue* add(unsigned capacity, Cycle latency);

  /// A core sends words of a color, which go up by `ramp`.
  virtual void add_output(std::size_t place, Color color, Queue* ramp) = 0;
  /// Words of a color come to a core in `queue`, whose depth this is.
  virtual void add_input(std::size_t place, Color color, Queue* queue) = 0;
  virtual unsigned in_depth(std::size_t place, Color color) const = 0;

  /// Where the link of words is noted that an injector sends, or that leave; null: a neighbour is
  /// at the other end.
  virtual Queue** entry(std::size_t /*place*/, const Route& /*route*/) { return nullptr; }
  virtual Queue** exit(std::size_t /*place*/, unsigned /*port*/, Color /*color*/) {
    return nullptr;
  }

  bool is_empty() const;
  void route(Cycle now);
  void end_cycle();

  std::vector<Router> routers_;
  std::vector<Event> events_;

 private:
  Queue* add_link(unsigned entries, Cycle latency);
  void make_buffers(std::size_t place);
  Queue* words_of(std::size_t place, const Route& route);
  void connect(std::size_t place);
  Queue* input_queue(std::size_t place, Color color);
  Queue* onward(std::size_t place, unsigned port, Color color);
  Cycle hop(Color color) const;

  const RouterParams& params_;
  const Fabric& fabric_;
  std::deque<Queue> queues_;
  std::map<std::pair<std::size_t, Color>, Queue*> inputs_;
};

}  // namespace lacuna::wse::oracle

// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"

#include <algorithm>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/codelet_arguments.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"

namespace lacuna::ipu {
ReduceCodelets::ReduceCodelets(ProgramBuilder& builder, const Target& target, const Types& types,
                               DType out)
    : builder_(builder), target_(target), types_(types), out_(out) {
  overhead_ = builder_.bundle(Bundle("reduce overhead"));
  store_ = builder_.bundle(Bundle("reduce store")
                               .add(Tally::write_output, 1)
                               .add(Tally::round_fp16, halves_of(out_, 1)));
  launch_ = builder_.codelet({run(0)});
  idle_ = builder_.codelet({issue(overhead_, 6)});
  empty_ = builder_.codelet({issue(overhead_, 1)});
  make_sums();
  make_moves();
}

void ReduceCodelets::make_sums() {
  const bool single = types_.partials == DType::fp32;
  const Tally sum = single ? Tally::vec_add_fp32 : Tally::vec_add_fp16;
  const unsigned wide = single ? 4 : 8;  // elements of one accumulation of ReduceAdd
  const unsigned stores = wide * bytes_of(out_) / 8;
  const auto adder = [&](const char* name, unsigned reads, unsigned elements) {
    return builder_.bundle(Bundle(name).add(Tally::read_partial, reads).add(sum, elements));
  };
  const std::uint32_t pointer =
      builder_.bundle(Bundle("reduce pointer").add(Tally::read_metadata, 1));
  const std::uint32_t load = adder("reduce load", 1, 0);
  const std::uint32_t add = adder("reduce add", 1, wide);
  const std::uint32_t both = adder("reduce add wide", 2, wide);
  const std::uint32_t narrow = adder("reduce add half", 1, wide / 2);
  // What a vector takes beside its partials.
  const std::uint64_t one = std::uint64_t{wide} * target_.workers;
  const std::uint64_t once =
      reduce_worker_bundles(target_, one, 1, types_.partials, out_) - 32 - 3 - stores;
  const std::uint64_t around =
      contiguous_reduce_bundles(target_, one, 0, types_.partials, out_) - 20 - 1 - stores;
  const std::uint64_t entry = strided_reduce_bundles(target_, 0, 1, types_.partials, out_);
  const std::uint64_t strided =
      strided_reduce_bundles(target_, 1, 1, types_.partials, out_) - entry - 2;

  // Arguments: vectors, depth, bundles at the entry and for what is left over.
  add_ = builder_.codelet({issue(overhead_, 0, 2), loop(6, 0, 0), issue(overhead_, count(once)),
                           loop(3, 0, 1), issue(pointer, 1), issue(load, 1), issue(add, 1),
                           issue(store_, count(stores))});
  // Arguments: vectors, depth. The sums on the tile are read as well.
  contiguous_launch_ = builder_.codelet({issue(overhead_, count(kContiguousReduceEntry)), run(0)});
  contiguous_ =
      target_.fast_reduce
          ? builder_.codelet({issue(overhead_, 20), loop(4, 0, 0), issue(overhead_, count(around)),
                              issue(both, 1), issue(both, 0, 1), issue(store_, count(stores))})
          : builder_.codelet({issue(overhead_, 20), loop(6, 0, 0), issue(overhead_, count(around)),
                              issue(both, 1), loop(2, 0, 1), issue(load, 1), issue(add, 1),
                              issue(store_, count(stores))});
  // Arguments: vectors of 64 bits, depth.
  strided_ =
      builder_.codelet({issue(overhead_, count(entry)), loop(3, 0, 0),
                        issue(overhead_, count(strided)), issue(narrow, 0, 1), issue(store_, 1)});
}

void ReduceCodelets::make_moves() {
  const std::uint32_t zero = builder_.bundle(Bundle("zero partials").add(Tally::write_partial, 1));
  const std::uint32_t move =
      builder_.bundle(Bundle("copy").add(Tally::read_input, 1).add(Tally::write_input, 1));
  const std::uint32_t convert = builder_.bundle(
      Bundle("cast")
          .add(Tally::read_partial, 1)
          .add(Tally::write_output, 1)
          .add(Tally::vec_cvt, 8 / types_.partial_bytes())
          .add(Tally::round_fp16, out_ == DType::fp16 ? 8 / types_.partial_bytes() : 0));
  const std::uint32_t fill = builder_.bundle(Bundle("fill").add(Tally::write_output, 1));
  fill_ = builder_.codelet({issue(overhead_, 14), issue(fill, 0, 0)});
  zero_ = builder_.codelet({issue(overhead_, 12), issue(zero, 0, 0)});
  copy_ = builder_.codelet({issue(overhead_, 14), issue(move, 0, 0)});
  // A copy of nothing by six workers takes 288 clocks with its launch on a C600
  // (osmarks/ipu-stack).
  copy_launch_ = builder_.codelet({issue(overhead_, 193), run(0)});
  cast_ = builder_.codelet({issue(overhead_, 26), issue(convert, 0, 0)});
  // For 32 bits: loads of one element each, and the store.
  const std::uint32_t pick = builder_.bundle(Bundle("reorder load").add(Tally::read_input, 1));
  const std::uint32_t put = builder_.bundle(Bundle("reorder store").add(Tally::write_input, 1));
  reorder_ = builder_.codelet(
      {issue(overhead_, 14), loop(2, 0, 0), issue(pick, count(4 / types_.bytes())), issue(put, 1)});
}

// The first workers have a vector more than the others, or one of them has what is left over.
std::uint32_t ReduceCodelets::add_vertex(const ReducePiece& piece) {
  return once(adds_, piece, [&] {
    const unsigned width = types_.partials == DType::fp32 ? 4 : 8;
    const std::uint64_t tail = piece.elements % width;
    const std::uint64_t vectors = piece.elements / width;
    const std::uint64_t all =
        reduce_worker_bundles(target_, piece.elements, piece.depth, types_.partials, out_);
    std::vector<std::uint32_t> set;
    for (unsigned worker = 0; worker < target_.workers; ++worker) {
      const std::uint64_t mine =
          vectors / target_.workers + (worker < vectors % target_.workers ? 1 : 0);
      const std::uint64_t whole =
          mine == 0 ? 32
                    : reduce_worker_bundles(target_, mine * width * target_.workers, piece.depth,
                                            types_.partials, out_);
      const bool has_tail = tail != 0 && worker + 1 == target_.workers;
      // What the formula gives the busiest worker, the last has: its vectors and what is left over.
      const std::uint64_t entry = 32 + (has_tail && all > whole ? all - whole : 0);
      set.push_back(builder_.worker({{add_, {arg(mine), piece.depth, arg(entry)}}}));
    }
    return builder_.vertex({{launch_, {}}}, set);
  });
}

std::uint32_t ReduceCodelets::contiguous_vertex(const ReducePiece& piece) {
  return once(contiguous_adds_, piece, [&] {
    const std::uint64_t vectors = piece.elements / (types_.partials == DType::fp32 ? 4 : 8);
    std::vector<std::uint32_t> set;
    for (unsigned worker = 0; worker < target_.workers; ++worker) {
      const std::uint64_t mine =
          vectors / target_.workers + (worker < vectors % target_.workers ? 1 : 0);
      set.push_back(builder_.worker({{contiguous_, {arg(mine), piece.depth, 0}}}));
    }
    return builder_.vertex({{contiguous_launch_, {}}}, set);
  });
}

std::uint32_t ReduceCodelets::strided_vertex(
    const std::vector<std::vector<ReducePiece>>& of_workers) {
  return once(strides_, of_workers, [&] {
    const std::uint64_t width = 8 / types_.partial_bytes();
    std::vector<std::uint32_t> set;
    for (unsigned worker = 0; worker < target_.workers; ++worker) {
      std::vector<Call> calls;
      if (worker < of_workers.size()) {
        for (const ReducePiece& piece : of_workers[worker]) {
          calls.push_back({strided_, {arg(ceil_div(piece.elements, width)), piece.depth, 0}});
        }
      }
      if (calls.empty()) calls.push_back({idle_, {}});
      set.push_back(builder_.worker(calls));
    }
    return builder_.vertex({{launch_, {}}}, set);
  });
}

/// A vertex whose workers share `items` issues of a codelet.
std::uint32_t ReduceCodelets::shared_vertex(std::uint32_t codelet, std::uint64_t items) {
  return once(shared_, {codelet, items}, [&] {
    const std::uint64_t share = ceil_div(items, target_.workers);
    std::vector<std::uint32_t> set;
    for (unsigned worker = 0; worker < target_.workers; ++worker) {
      const std::uint64_t begin = std::min(items, worker * share);
      set.push_back(builder_.worker({{codelet, {arg(std::min(share, items - begin)), 0, 0}}}));
    }
    const Call launch{codelet == copy_ ? copy_launch_ : launch_, {}};
    return builder_.vertex({launch}, set);
  });
}

std::uint32_t ReduceCodelets::fill_vertex(std::uint64_t bytes) {
  return shared_vertex(fill_, ceil_div(bytes, 8));
}

std::uint32_t ReduceCodelets::zero_vertex(std::uint64_t bytes) {
  return shared_vertex(zero_, ceil_div(bytes, 8));
}

std::uint32_t ReduceCodelets::copy_vertex(std::uint64_t bytes) {
  return shared_vertex(copy_, ceil_div(bytes, 8));
}

std::uint32_t ReduceCodelets::empty_vertex() {
  return once(shared_, {empty_, 0}, [&] { return builder_.vertex({{empty_, {}}}, {}); });
}

std::uint32_t ReduceCodelets::cast_vertex(std::uint64_t elements) {
  return shared_vertex(cast_, ceil_div(elements * types_.partial_bytes(), 8));
}

std::uint32_t ReduceCodelets::reorder_vertex(std::uint64_t elements) {
  return shared_vertex(reorder_, ceil_div(elements * types_.bytes(), 4));
}

}  // namespace lacuna::ipu

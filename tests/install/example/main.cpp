// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <lacuna/lacuna.hpp>

/// What a wafer gains by zeros, and what a larger memory port would change.
int main() {
  namespace lacuna = lacuna::api;
  try {
    lacuna::Machine wafer("wse2");
    wafer.set("wafer.columns", 8).set("wafer.rows", 8);
    const auto product = lacuna::Workload::gemm(64, 64, 32);
    // on all 64 cores, in the order of rows that is set
    const lacuna::Result dense = lacuna::run(wafer, product, {{"layout", "first"}});
    const lacuna::Result sparse =
        lacuna::run(wafer, product, {{"pattern", "unstructured:0.25"}, {"layout", "first"}});
    std::cout << wafer.extent() << '\n'
              << "dense " << *dense.total().cycles << '\n'
              << "sparse " << *sparse.total().cycles << ' ' << *sparse.total().density << '\n';
    std::uint64_t sum = 0;
    for (const lacuna::StackPart& part : sparse.stack()) sum += part.unit_cycles;
    std::cout << "stack " << sum << '\n';

    wafer.set("wafer.colums", 8);
  } catch (const lacuna::RequestError& error) {
    std::cout << "refused, " << error.status() << ": " << error.what() << '\n';
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/model_options.hpp"

#include <CLI/CLI.hpp>

namespace lacuna {

// NOLINTNEXTLINE(readability-function-size): a table
void add_model_options(CLI::App& verb, Options& o) {
  const char* const group = "Language model";
  verb.add_option("--model", o.model,
                  "a model by its name or its config.json, on a wafer, an IPU or a system of IPUs; "
                  "with --decode, --prefill, --requests, --kv-in or --kv-out")
      ->type_name("NAME|FILE")
      ->group(group);
  verb.add_option("--requests", o.requests,
                  "serves the requests of a CSV, arrival,prompt,output, with --batch slots")
      ->type_name("FILE")
      ->group(group);
  verb.add_flag("--decode", o.decode, "one token after another")->group(group);
  verb.add_option("--context", o.context, "positions, the new one included; default 2048")
      ->type_name("N")
      ->group(group);
  verb.add_option("--batch", o.batch, "sequences that are decoded at once; default 1")
      ->type_name("N")
      ->group(group);
  verb.add_option("--prefill", o.prefill, "a prompt of so many tokens, in chunks")
      ->type_name("N")
      ->group(group);
  verb.add_option("--chunk", o.chunk, "tokens of a chunk of it; default 256")
      ->type_name("N")
      ->group(group);
  verb.add_option("--kv-in", o.kv_in,
                  "keys and values of so many positions from the host into the blocks of a wafer")
      ->type_name("N")
      ->group(group);
  verb.add_option("--kv-out", o.kv_out, "the same the other way")->type_name("N")->group(group);
  verb.add_option("--streams", o.streams,
                  "streams of the host that bring or take them; one for each row of blocks")
      ->type_name("N")
      ->group(group);
  verb.add_option("--blocks", o.blocks,
                  "blocks of cores side by side and above each other; 2x4, or fewer that fit")
      ->type_name("XxY")
      ->group(group);
  verb.add_option("--block-cores", o.block_cores, "cores of a block; 256x256")
      ->type_name("WxH")
      ->group(group);
  verb.add_option("--activations", o.activations,
                  "zeros of the inputs of a product, qkv, o, up, down, or of the vector between "
                  "blocks, hidden: bernoulli:DENSITY, channel:DENSITY, file:PATH; repeatable; see "
                  "llm.skip; of single layers with 0-3,7: before it")
      ->type_name("PRODUCT=ZEROS")
      ->group(group)
      ->expected(1)
      ->take_all();
  verb.add_option("--weights", o.weights,
                  "zeros of the weights of a product, or all: a pattern, tile:PATTERN if the "
                  "outputs of a core share it, @RxC behind it for blocks, file:PATH of a mask; "
                  "repeatable; of single layers with 0-3,7: before it")
      ->type_name("PRODUCT=PATTERN")
      ->group(group)
      ->expected(1)
      ->take_all();
  verb.add_option("--window", o.window, "a token sees the last N positions, itself one")
      ->type_name("N")
      ->group(group);
  verb.add_option("--kept", o.kept, "positions left in the cache, drawn, the newest one of them")
      ->type_name("N")
      ->group(group);
  verb.add_option("--experts", o.experts,
                  "each over all columns of a block or in columns of its own: spread or apart")
      ->type_name("WORD")
      ->group(group);
  verb.add_option("--cache", o.cache,
                  "a folder that keeps cycles of programs; those of another build or of other "
                  "parameters are not taken")
      ->type_name("DIR")
      ->group(group);
  verb.add_option("--layers", o.layers, "only so many layers of the model; default all")
      ->type_name("N")
      ->group(group);
}

}  // namespace lacuna

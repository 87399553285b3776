#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows of a training step of ResNet-50 on one chip, as a trace on standard output.

  scripts/resnet_rows.py [--images N] > traces/resnet50_training_step.csv

A convolution is the product of its weights, outputs x (inputs x window), with the windows of the
image, one column for each output pixel: with the multiplications of the convolution, but the pixels
of a window that is wider than 1 are counted as operands once for each window. Batch norm stands as
the norm over channels, which has the same passes over its operands; ReLU is in the norm's.
"""
import argparse

STAGES = [(64, 256, 3, 56), (128, 512, 4, 28), (256, 1024, 6, 14), (512, 2048, 3, 7)]


def convolutions():
    """Name, outputs, inputs, window, side of the output; and whether a residual is added."""
    yield "conv1", 64, 3, 7, 112, False
    before = 64
    for s, (narrow, wide, blocks, side) in enumerate(STAGES, 2):
        for b in range(1, blocks + 1):
            name = f"s{s}b{b}"
            first = side * 2 if b == 1 and s > 2 else side
            yield f"{name}.c1", narrow, before, 1, first, False
            yield f"{name}.c2", narrow, narrow, 3, side, False
            yield f"{name}.c3", wide, narrow, 1, side, True
            if b == 1:
                yield f"{name}.down", wide, before, 1, side, False
            before = wide


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--images", type=int, default=8)
    images = parser.parse_args().images
    rows, back = [], []

    def add(to, kind, op, name, phase, m, k, n, fn=""):
        to.append(f"{kind}.{name},{op},resnet-50,{name},{phase},{m},{k},{n},fp16,{fn}")

    for name, outputs, inputs, window, side, residual in convolutions():
        k, n = inputs * window * window, images * side * side
        add(rows, "fwd", "gemm", name, "fwd", outputs, k, n)
        add(rows, "norm", "layernorm", name, "fwd", outputs, "", n)
        if residual:
            add(rows, "add", "eltwise", name, "fwd", outputs, "", n, "add")
            add(back, "addb", "eltwise", name, "bwd", outputs, "", n, "add")
        add(back, "normb", "layernorm", name, "bwd", outputs, "", n)
        add(back, "dw", "gemm", name, "bwd", outputs, n, k)
        if name != "conv1":
            add(back, "dx", "gemm", name, "bwd", k, outputs, n)
    add(rows, "fwd", "gemm", "fc", "fwd", 1000, 2048, images)
    add(back, "dw", "gemm", "fc", "bwd", 1000, images, 2048)
    add(back, "dx", "gemm", "fc", "bwd", 2048, 1000, images)
    print("# lacuna-trace v1")
    print(f"# scripts/resnet_rows.py --images {images}")
    print("id,op,model,layer,phase,m,k,n,dtype,fn")
    print("\n".join(rows + back))


if __name__ == "__main__":
    main()

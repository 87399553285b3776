# SPDX-License-Identifier: Apache-2.0
# The README's two commands on Debian 12, as scripts/ci/fresh.sh runs them.
#   docker build -t lacuna .                     builds the program
#   docker build -t lacuna --target tested .     and runs all tests
#   docker run lacuna run --machine bow --gemm 1024x1024x256
FROM debian:12 AS built
COPY . /lacuna
WORKDIR /lacuna
RUN scripts/quickstart.sh

FROM built AS tested
RUN scripts/test.sh

FROM built
ENTRYPOINT ["/lacuna/build/release/lacuna"]

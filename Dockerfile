# docker build -t allways . && docker run --rm -v "$PWD:/work" allways check -- ./program
FROM rust:1-bookworm AS build
WORKDIR /allways
COPY . .
RUN cargo build --release --locked -p allways

FROM debian:bookworm-slim
COPY --from=build /allways/target/release/allways /usr/bin/allways
WORKDIR /work
ENTRYPOINT ["allways"]

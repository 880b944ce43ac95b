# docker build -t hindsight .
# docker run -p 8080:8080 -v hindsight-data:/var/lib/hindsight hindsight
# The first key: docker run --rm -v hindsight-data:/var/lib/hindsight --entrypoint cat hindsight /var/lib/hindsight/admin.key

FROM debian:12 AS build
WORKDIR /src
COPY scripts/install_deps.sh scripts/
RUN scripts/install_deps.sh
COPY . .
RUN scripts/build.sh release hindsight && strip build/release/hindsight

FROM debian:12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates curl libfmt9 libhwy1 libprometheus-cpp-core1.0 \
      libsimdjson14 libspdlog1.10 libsqlite3-0 libssl3 libtomlplusplus3 libxxhash0 libzstd1 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /var/lib/hindsight --shell /usr/sbin/nologin hindsight \
 && install -d -m 0700 -o hindsight -g hindsight /var/lib/hindsight
COPY --from=build /src/build/release/hindsight /usr/bin/hindsight
# A library that is missing shows here, not at the first start.
RUN hindsight --version
USER hindsight
VOLUME /var/lib/hindsight
EXPOSE 8080
# Inside a container every address is reached from outside; publish the port to a proxy, or set HINDSIGHT_TLS_CERT
# and HINDSIGHT_TLS_KEY and change the health check to https.
ENV HINDSIGHT_DATA=/var/lib/hindsight HINDSIGHT_LISTEN=0.0.0.0:8080 HINDSIGHT_ALLOW_REMOTE=true HINDSIGHT_LOG_FORMAT=json
# The port opens when the log has been read, which takes a minute for ten million events without a snapshot.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10m CMD ["curl", "-fsS", "http://127.0.0.1:8080/readyz"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/hindsight", "serve"]

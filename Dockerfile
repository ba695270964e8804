# perago as an image, and the example on top of it: docs/guides/run-in-containers.md.
#
#   docker build -t perago .
#   docker build -t perago-orders-etl --target orders-etl .

# The digest that many public projects pin for this tag; the registry was not asked.
ARG NODE_TAG=26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2

FROM node:${NODE_TAG} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY examples/orders-etl/package.json examples/orders-etl/package.json
COPY examples/conductor-sdk/package.json examples/conductor-sdk/package.json
COPY test/support/conductor-sdk-4/package.json test/support/conductor-sdk-4/package.json
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/source-hashes.mjs scripts/
COPY src src
RUN node scripts/build.mjs

# What the package needs when it runs, in the versions that are locked.
FROM node:${NODE_TAG} AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY examples/orders-etl/package.json examples/orders-etl/package.json
COPY examples/conductor-sdk/package.json examples/conductor-sdk/package.json
COPY test/support/conductor-sdk-4/package.json test/support/conductor-sdk-4/package.json
RUN npm ci --omit=dev --workspaces=false && rm -rf node_modules/perago node_modules/orders-etl

FROM node:${NODE_TAG} AS runtime
LABEL org.opencontainers.image.title="perago" \
  org.opencontainers.image.description="Publishes versioned data from workflow tasks without losing or overwriting anybody's work." \
  org.opencontainers.image.licenses="Apache-2.0"
# Modules in every directory can import it from here.
COPY --from=dependencies /build/node_modules /node_modules
COPY --from=build /build/dist /node_modules/perago/dist
COPY openapi /node_modules/perago/openapi
COPY package.json LICENSE README.md CHANGELOG.md /node_modules/perago/
# The directory belongs to the worker's user; a new volume inherits that.
RUN ln -s /node_modules/perago/dist/cli/main.js /usr/local/bin/perago \
  && install -d -o 1000 -g 1000 -m 0700 /var/lib/perago
ENV NODE_ENV=production
WORKDIR /app
# By number, so that an orchestrator can see that it is not root.
USER 1000:1000
VOLUME /var/lib/perago
EXPOSE 9100
# Healthy: polls and renewals succeed, or are not overdue. Otherwise a restart may help.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9100/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["perago"]
CMD ["start", "/app/tasks.ts", "--root", "/var/lib/perago", "--health-host", "0.0.0.0", "--health-port", "9100"]

FROM runtime AS orders-etl
COPY --from=build /build/node_modules/@duckdb /node_modules/@duckdb
COPY examples/orders-etl/tasks.ts examples/orders-etl/prepare.mjs examples/orders-etl/begin.mjs /app/
COPY examples/orders-etl/data /app/data

# The last target is built without --target.
FROM runtime AS perago

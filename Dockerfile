# syntax=docker/dockerfile:1

FROM node:26-bookworm-slim@sha256:367679cf9792759492a486e4aa4b421764d71a9546a6dae8aab81a99eb797b3e
WORKDIR /app
# The packages that the service needs when it runs. Nothing is compiled: better-sqlite3 brings binaries.
COPY package.json package-lock.json ./
COPY packages ./packages
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev \
  && node -e "new (require('better-sqlite3'))(':memory:').close()" \
  && rm -rf node_modules/better-sqlite3/deps node_modules/better-sqlite3/src
# Builds in a folder that this layer removes: sources and tools stay out of the image.
RUN --mount=type=cache,target=/root/.npm --mount=type=bind,target=/source cp -r /source /tmp/build \
  && cd /tmp/build && npm ci && npm run build && find dist -name '*.map' -delete \
  && rm -f dist/.build.json dist/.tsbuildinfo && mv dist /app/dist && rm -rf /tmp/build
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATABASE_URL=sqlite:/data/diptych.db
RUN mkdir -m 0700 /data && chown 1000:1000 /data
# By number: Kubernetes cannot tell from a name that it is not root.
USER 1000:1000
# Nothing else is written to, but /tmp with `sqlite::memory:`.
VOLUME /data
EXPOSE 8080
# Readiness, which compose waits for. What restarts the unhealthy should ask /health instead.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/api/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# `docker run diptych check`, `… keys list`, `… migrate --from … --to …` are the other commands.
ENTRYPOINT ["node", "dist/cli/diptych.js"]
CMD ["serve"]

# syntax=docker/dockerfile:1

# Builds, and keeps the packages that are needed when the service runs. Nothing is compiled: better-sqlite3 brings binaries.
FROM node:26-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages ./packages
RUN npm ci
COPY tsconfig*.json vite.config.ts ./
COPY tools ./tools
COPY src ./src
RUN npm run build && find dist -name '*.map' -delete && rm -f dist/.build.json dist/.tsbuildinfo \
  && npm prune --omit=dev \
  && node -e "new (require('better-sqlite3'))(':memory:').close()" \
  && rm -rf node_modules/better-sqlite3/deps node_modules/better-sqlite3/src

FROM node:26-bookworm-slim@sha256:367679cf9792759492a486e4aa4b421764d71a9546a6dae8aab81a99eb797b3e
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATABASE_URL=sqlite:/data/diptych.db
WORKDIR /app
RUN mkdir -m 0700 /data && chown 1000:1000 /data
COPY --from=build /app/node_modules ./node_modules
COPY package.json ./
COPY --from=build /app/dist ./dist
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

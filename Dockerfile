# syntax=docker/dockerfile:1

# Compiles the program. The full image has what better-sqlite3 needs when there is no binary for the platform.
FROM node:26-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig*.json vite.config.ts ./
COPY src ./src
RUN npm run build && rm -f dist/.tsbuildinfo && find dist -name '*.map' -delete

# What it needs when it runs, and nothing that only building better-sqlite3 does.
FROM node:26-bookworm AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev \
  && node -e "new (require('better-sqlite3'))(':memory:').close()" \
  && cd node_modules/better-sqlite3 \
  && rm -rf deps src build/Release/obj build/Release/obj.target build/Release/.deps build/Release/sqlite3.a build/Release/test_extension.node build/deps

FROM node:26-bookworm-slim@sha256:367679cf9792759492a486e4aa4b421764d71a9546a6dae8aab81a99eb797b3e
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATABASE_URL=sqlite:/data/diptych.db
WORKDIR /app
RUN mkdir -m 0700 /data && chown 1000:1000 /data
COPY --from=packages /app/node_modules ./node_modules
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

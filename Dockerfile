# One image for the receiver, the worker, the console, migrations and the command line tool: the command chooses (docker-compose.yml).

# The files that `npm ci` reads, and no other, so that its layer is reused until a dependency changes.
FROM node:24.19.0-bookworm-slim AS manifests
WORKDIR /app
COPY . .
RUN find . -type f ! -name package.json ! -name package-lock.json ! -name .npmrc -delete && find . -type d -empty -delete

FROM node:24.19.0-bookworm-slim AS build
WORKDIR /app
COPY --from=manifests /app ./
RUN npm ci
COPY . .
RUN npm run build \
 && npm prune --omit=dev \
 && rm -rf apps/*/src apps/*/web apps/*/test packages/*/src packages/*/test \
 && rm -rf tools/services && for dev in services testing e2e provider-oracles; do rm -rf "packages/$dev" "node_modules/@hqrelay/$dev"; done

FROM node:24.19.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/tools/bootstrap.mjs /app/tools/healthcheck.mjs ./tools/
COPY --from=build /app/tools/bootstrap ./tools/bootstrap
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/packages ./packages
COPY --from=build /app/apps ./apps
USER node
EXPOSE 3000 3001 3002
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD ["node", "tools/healthcheck.mjs"]
CMD ["node", "--enable-source-maps", "--max-old-space-size=1024", "--max-semi-space-size=32", "apps/receiver/dist/main.js"]

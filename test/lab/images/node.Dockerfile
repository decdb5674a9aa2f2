# Stands for node:24-bookworm-slim: Debian and the Node that the npm package "node" brings.
FROM debian:bookworm
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY ca-certificates.crt /usr/local/share/ca-certificates.crt
# What this machine trusts, its containers trust: it may reach the package registry through an authority of its own.
ENV NODE_EXTRA_CA_CERTS=/usr/local/share/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
 && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
CMD ["node"]

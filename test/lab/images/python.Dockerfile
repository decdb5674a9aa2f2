# Stands for python:3-slim: Debian's Python under the names the official image uses.
FROM debian:bookworm
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pip python3-venv \
 && rm -rf /var/lib/apt/lists/* /usr/lib/python3*/EXTERNALLY-MANAGED && ln -s python3 /usr/bin/python
CMD ["python3"]

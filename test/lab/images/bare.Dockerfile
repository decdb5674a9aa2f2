# Stands for a machine before anything was done to it: sshd as packaged, a user with sudo, no Docker.
ARG BASE=debian:bookworm
FROM $BASE
COPY sources/ /etc/apt/
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    iproute2 kmod openssh-server procps rsyslog sudo \
 && apt-get clean && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --shell /bin/bash deploy \
 && echo 'deploy ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/deploy && chmod 0440 /etc/sudoers.d/deploy \
 && install -d -m 0700 -o deploy -g deploy /home/deploy/.ssh \
 && install -d -m 0700 /root/.ssh
# A container may not raise its limits, which Docker's init script insists on. What stands here before the package comes must also be kept by it.
RUN echo 'ulimit() { :; }' > /etc/default/docker
COPY start /usr/local/sbin/start-server
RUN chmod 0755 /usr/local/sbin/start-server
VOLUME /var/lib/docker
EXPOSE 22
CMD ["/usr/local/sbin/start-server"]

# Stands for a fresh machine from a provider: sshd as packaged, Docker from the distribution, a user with sudo, nothing hardened.
ARG BASE=debian:bookworm
FROM $BASE
COPY sources/ /etc/apt/
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    busybox-static docker.io iptables iproute2 kmod openssh-server procps rsyslog sudo \
    $(for package in docker-cli docker-buildx; do apt-cache pkgnames "$package" | grep -x "$package"; done)
# What hardening installs and what judges it are fetched once, not by every test; installing them is still the product's work.
RUN DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --download-only \
    apt-listchanges cron debsums fail2ban lynis needrestart ufw unattended-upgrades
RUN useradd --create-home --shell /bin/bash deploy \
 && echo 'deploy ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/deploy && chmod 0440 /etc/sudoers.d/deploy \
 && install -d -m 0700 -o deploy -g deploy /home/deploy/.ssh \
 && install -d -m 0700 /root/.ssh
# As many providers hand them over: root, with a password.
RUN sed -i 's/^#PermitRootLogin .*/PermitRootLogin yes/' /etc/ssh/sshd_config
COPY start /usr/local/sbin/start-server
RUN chmod 0755 /usr/local/sbin/start-server
VOLUME /var/lib/docker
EXPOSE 22
CMD ["/usr/local/sbin/start-server"]

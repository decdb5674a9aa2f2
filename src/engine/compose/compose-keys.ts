import type { Spot } from './spot.ts';

/** What is done with a key. Whatever is in no table is refused: it may be the next way to take a server. */
export interface KeyRules {
  /** Read by somebody. */
  readonly honoured: ReadonlySet<string>;
  /** Left out, and why that does no harm; without a word where nobody would miss it. */
  readonly ignored: Readonly<Record<string, string>>;
  readonly refused: Readonly<Record<string, string>>;
}

/** Hands over what is honoured, tells of what is left out, and refuses the rest. */
export function heldAgainst(spot: Spot, { honoured, ignored, refused }: KeyRules): Map<string, Spot> {
  const kept = new Map<string, Spot>();
  for (const [key, field] of spot.fields()) {
    if (key.startsWith('x-')) continue;
    if (honoured.has(key)) kept.set(key, field);
    else spot.reading.attempt(() => leaveOut(key, field, ignored, refused), undefined);
  }
  return kept;
}

function leaveOut(key: string, field: Spot, ignored: KeyRules['ignored'], refused: KeyRules['refused']): void {
  if (Object.hasOwn(ignored, key)) {
    if (ignored[key] !== '' && !field.isEmpty) field.warn(`is left out: ${ignored[key]}`);
    return;
  }
  if (!Object.hasOwn(refused, key)) field.refuse('is not a key that can be used here');
  // A hardened file may say outright that it wants none of it.
  if (!field.isEmpty) field.refuse(refused[key] ?? '');
}

const HOST = 'would open the server to the container';
const LIMITS = 'the resources of the environment hold for each container';
const BELONGS = 'names and numbers inside the network are given by Docker';
const FILES = 'is not supported: set variables of the environment instead';

export const PROJECT_KEYS: KeyRules = {
  honoured: new Set(['services', 'volumes', 'networks']),
  ignored: { version: '', name: '' },
  refused: {
    include: 'is not supported: put everything into one file',
    secrets: FILES,
    configs: FILES,
    models: 'is not supported',
  },
};

export const SERVICE_KEYS: KeyRules = {
  honoured: new Set([
    ...['image', 'build', 'command', 'entrypoint', 'environment', 'env_file', 'ports', 'expose', 'volumes', 'tmpfs'],
    ...['depends_on', 'networks', 'links', 'restart', 'working_dir', 'user', 'stop_grace_period', 'stop_signal'],
    ...['read_only', 'init', 'shm_size', 'healthcheck', 'profiles', 'security_opt', 'network_mode'],
  ]),
  ignored: {
    annotations: '',
    attach: '',
    blkio_config: LIMITS,
    cap_drop: 'containers have the capabilities that Docker gives by default',
    container_name: 'containers are named after their deployment',
    cpu_count: LIMITS,
    cpu_percent: LIMITS,
    cpu_period: LIMITS,
    cpu_quota: LIMITS,
    cpu_shares: LIMITS,
    cpus: LIMITS,
    cpuset: LIMITS,
    deploy: 'one container of each service is run, with the resources of the environment',
    develop: '',
    dns: BELONGS,
    dns_opt: BELONGS,
    dns_search: BELONGS,
    domainname: BELONGS,
    extra_hosts: 'containers find each other by the names of their services, and nobody else by a made-up name',
    hostname: BELONGS,
    labels: '',
    logging: 'output is kept and rotated by us',
    mac_address: BELONGS,
    mem_limit: LIMITS,
    mem_reservation: LIMITS,
    mem_swappiness: LIMITS,
    memswap_limit: LIMITS,
    pids_limit: LIMITS,
    platform: 'what fits the server is used',
    pull_policy: 'an image is pulled where the server does not have it',
    pull_refresh_after: '',
    scale: 'one container of each service is run',
    stdin_open: '',
    tty: '',
    ulimits: 'the limits of the server hold',
  },
  refused: {
    cap_add: HOST,
    cgroup: HOST,
    cgroup_parent: HOST,
    configs: FILES,
    cpu_rt_period: HOST,
    cpu_rt_runtime: HOST,
    credential_spec: HOST,
    device_cgroup_rules: HOST,
    devices: HOST,
    extends: 'is not supported: write the service out, or use a YAML anchor',
    external_links: 'would reach containers of others',
    gpus: HOST,
    group_add: HOST,
    ipc: HOST,
    isolation: HOST,
    label_file: FILES,
    models: 'is not supported',
    oom_kill_disable: HOST,
    oom_score_adj: HOST,
    pid: HOST,
    post_start: 'is not supported',
    pre_stop: 'is not supported',
    privileged: HOST,
    provider: 'is not supported',
    runtime: HOST,
    secrets: FILES,
    storage_opt: HOST,
    sysctls: HOST,
    use_api_socket: HOST,
    userns_mode: HOST,
    uts: HOST,
    volumes_from: 'would reach volumes of others',
  },
};

export const BUILD_KEYS: KeyRules = {
  honoured: new Set(['context', 'dockerfile', 'dockerfile_inline', 'args', 'target']),
  ignored: {
    cache_from: 'builds use the cache of the server',
    cache_to: 'builds use the cache of the server',
    labels: '',
    no_cache: 'ask for a deployment with rebuild instead',
    platforms: 'what fits the server is built',
    provenance: '',
    pull: '',
    sbom: '',
    shm_size: 'builds run with what Docker gives them',
    tags: 'images are named after their deployment',
    ulimits: 'builds run with what Docker gives them',
  },
  refused: {
    additional_contexts: 'would reach outside the repository',
    entitlements: HOST,
    extra_hosts: HOST,
    isolation: HOST,
    network: HOST,
    privileged: HOST,
    secrets: 'is not supported: set variables of the environment for the build instead',
    ssh: HOST,
  },
};

export const VOLUME_KEYS: KeyRules = {
  honoured: new Set(['driver']),
  ignored: { labels: '', name: 'volumes are named after their environment' },
  refused: { driver_opts: HOST, external: 'would reach volumes of others' },
};

export const NETWORK_KEYS: KeyRules = {
  honoured: new Set(['driver']),
  ignored: {
    attachable: '',
    enable_ipv4: '',
    enable_ipv6: '',
    internal: 'the services of a file are in one network',
    ipam: BELONGS,
    labels: '',
    name: '',
  },
  refused: { driver_opts: HOST, external: 'would reach containers of others' },
};

/** Of a service in a network. */
export const ATTACHMENT_KEYS: KeyRules = {
  honoured: new Set(['aliases']),
  ignored: {
    gw_priority: '',
    interface_name: '',
    ipv4_address: BELONGS,
    ipv6_address: BELONGS,
    link_local_ips: BELONGS,
    mac_address: BELONGS,
    priority: '',
  },
  refused: { driver_opts: HOST },
};

export const MOUNT_KEYS: KeyRules = {
  honoured: new Set(['type', 'source', 'target', 'read_only', 'tmpfs']),
  ignored: { volume: '', consistency: '' },
  refused: { bind: 'would mount a folder of the server', image: 'is not supported', cluster: 'is not supported' },
};

export const PORT_KEYS: KeyRules = {
  honoured: new Set(['target', 'protocol']),
  ignored: { published: '', host_ip: '', mode: '', name: '', app_protocol: '' },
  refused: {},
};

export const HEALTHCHECK_KEYS: KeyRules = {
  honoured: new Set(['test', 'interval', 'timeout', 'retries', 'start_period', 'disable']),
  ignored: { start_interval: '' },
  refused: {},
};

export const DEPENDENCY_KEYS: KeyRules = {
  honoured: new Set(['condition', 'required']),
  ignored: { restart: '' },
  refused: {},
};

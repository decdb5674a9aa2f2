import { read, refusal } from './read.ts';

/** Files that would take the server, or reach what is not theirs. None of them gets through, and each is told where. */

/** One key of a service, as YAML behind `services.web.`. */
const key = (yaml: string): string => `services:\n  web:\n    image: nginx\n${yaml.replace(/^/gm, '    ')}\n`;
const volume = (yaml: string): string => key(`volumes:\n  - ${yaml}`);

const settings: [yaml: string, place: string][] = [
  ['privileged: true', 'services.web.privileged'],
  ['privileged: "true"', 'services.web.privileged'],
  ['privileged: yes', 'services.web.privileged'],
  [`privileged: \${FALSE:-true}`, 'services.web.privileged'],
  ['network_mode: host', 'services.web.network_mode'],
  ['network_mode: "container:slipway-proxy"', 'services.web.network_mode'],
  ['network_mode: "service:other"', 'services.web.network_mode'],
  [`network_mode: \${M:-host}`, 'services.web.network_mode'],
  ['network_mode: ns:/proc/1/ns/net', 'services.web.network_mode'],
  ['pid: host', 'services.web.pid'],
  ['pid: "container:x"', 'services.web.pid'],
  ['ipc: host', 'services.web.ipc'],
  ['uts: host', 'services.web.uts'],
  ['userns_mode: host', 'services.web.userns_mode'],
  ['cgroup: host', 'services.web.cgroup'],
  ['cgroup_parent: /', 'services.web.cgroup_parent'],
  ['cap_add: [SYS_ADMIN]', 'services.web.cap_add'],
  ['cap_add: [ALL]', 'services.web.cap_add'],
  ['devices: ["/dev/sda:/dev/sda"]', 'services.web.devices'],
  ['device_cgroup_rules: ["a *:* rwm"]', 'services.web.device_cgroup_rules'],
  ['gpus: all', 'services.web.gpus'],
  ['security_opt: ["apparmor:unconfined"]', 'services.web.security_opt[0]'],
  ['security_opt: ["no-new-privileges:true", "seccomp=unconfined"]', 'services.web.security_opt[1]'],
  ['security_opt: ["label:disable"]', 'services.web.security_opt[0]'],
  ['sysctls: {kernel.core_pattern: "|/x"}', 'services.web.sysctls'],
  ['oom_kill_disable: true', 'services.web.oom_kill_disable'],
  ['oom_score_adj: -1000', 'services.web.oom_score_adj'],
  ['runtime: runc-unconfined', 'services.web.runtime'],
  ['storage_opt: {size: 1T}', 'services.web.storage_opt'],
  ['group_add: [docker]', 'services.web.group_add'],
  ['use_api_socket: true', 'services.web.use_api_socket'],
  ['credential_spec: {file: x}', 'services.web.credential_spec'],
  ['volumes_from: ["container:slipway-proxy"]', 'services.web.volumes_from'],
  ['external_links: [slipway-proxy]', 'services.web.external_links'],
  ['extends: {file: /etc/passwd, service: x}', 'services.web.extends'],
  ['secrets: [s]', 'services.web.secrets'],
  ['configs: [c]', 'services.web.configs'],
  ['label_file: /etc/passwd', 'services.web.label_file'],
  ['provider: {type: awesomecloud}', 'services.web.provider'],
  ['post_start: [{command: id, user: root, privileged: true}]', 'services.web.post_start'],
  ['pre_stop: [{command: id, privileged: true}]', 'services.web.pre_stop'],
  ['HostConfig: {Privileged: true}', 'services.web.HostConfig'],
  ['Privileged: true', 'services.web.Privileged'],
  ['"privileged ": true', 'services.web.privileged'],
  ['__proto__: {privileged: true}', 'services.web.__proto__'],
  ['constructor: {privileged: true}', 'services.web.constructor'],
  ['env_file: /etc/passwd', 'services.web.env_file'],
  ['env_file: ../../etc/passwd', 'services.web.env_file'],
  ['env_file: [{path: ~/.ssh/id_rsa}]', 'services.web.env_file[0]'],
  ['build: https://evil.example/repo.git', 'services.web.build'],
  ['build: git@github.com:evil/repo.git', 'services.web.build'],
  ['build: ..', 'services.web.build'],
  ['build: /', 'services.web.build'],
  ['build: "~/x"', 'services.web.build'],
  ['build: a/../../b', 'services.web.build'],
  [`build: \${UP:-../..}`, 'services.web.build'],
  ['build: C:\\Windows', 'services.web.build'],
  ['build: {context: docker-image://x}', 'services.web.build.context'],
  ['build: {context: ., dockerfile: ../Dockerfile}', 'services.web.build.dockerfile'],
  ['build: {context: ., dockerfile: /etc/shadow}', 'services.web.build.dockerfile'],
  ['build: {context: ., network: host}', 'services.web.build.network'],
  ['build: {context: ., privileged: true}', 'services.web.build.privileged'],
  ['build: {context: ., entitlements: [security.insecure]}', 'services.web.build.entitlements'],
  ['build: {context: ., ssh: [default]}', 'services.web.build.ssh'],
  ['build: {context: ., secrets: [s]}', 'services.web.build.secrets'],
  ['build: {context: ., additional_contexts: {root: /}}', 'services.web.build.additional_contexts'],
  ['build: {context: ., extra_hosts: ["h:host-gateway"]}', 'services.web.build.extra_hosts'],
  ['build: {context: ., args: {BUILDKIT_SYNTAX: evil/frontend}}', 'services.web.build.args'],
  ['build: {context: ., args: ["--output=/=x"]}', 'services.web.build.args'],
  ['build: {context: ., target: "--privileged"}', 'services.web.build.target'],
  ['build: {context: ., output: /}', 'services.web.build.output'],
  ['user: "root; id"', 'services.web.user'],
  ['working_dir: relative', 'services.web.working_dir'],
  ['tmpfs: "/run:exec,dev,suid,mpol=bind:0"', 'services.web.tmpfs'],
  ['tmpfs: "../etc"', 'services.web.tmpfs'],
  ['shm_size: 900g', 'services.web.shm_size'],
  ['stop_signal: "KILL; reboot"', 'services.web.stop_signal'],
  ['networks: {default: {driver_opts: {com.docker.network.endpoint.sysctls: x}}}', 'driver_opts'],
  ['networks: {default: {aliases: ["a b"]}}', 'aliases[0]'],
  ['environment: ["=x"]', 'services.web.environment'],
  ['environment: {"A\\0B": x}', 'services.web.environment'],
  ['ports: ["99999:99999"]', 'services.web.ports[0]'],
  ['ports: ["80:80; id"]', 'services.web.ports[0]'],
  ['image: "--privileged"', 'services.web.image'],
  ['image: "nginx; id"', 'services.web.image'],
  ['image: "../../x"', 'services.web.image'],
  ['image: slipway/0196-other-environment:latest', 'services.web.image'],
  ['image: docker.io/slipway/0196-other-environment', 'services.web.image'],
  [`image: sha256:${'a'.repeat(64)}`, 'services.web.image'],
  ['image: sha256', 'services.web.image'],
  ['depends_on: [nobody]', 'services.web.depends_on'],
  ['depends_on: [web]', 'services.web.depends_on'],
  ['command: echo $(id)', 'services.web.command'],
  [`command: "echo \${"`, 'services.web.command'],
];

const mounts: string[] = [
  '/:/host',
  '/var/run/docker.sock:/var/run/docker.sock',
  '/var/run/docker.sock:/var/run/docker.sock:ro',
  './:/app',
  '.:/app',
  '../:/x',
  '~/.ssh:/root/.ssh',
  '~:/x',
  '$HOME/x:/x',
  `\${ROOT:-/}:/host`,
  `\${HOST_DIR}/etc:/x`,
  '"\\\\\\\\.\\\\pipe\\\\docker_engine:/x"',
  'C:\\\\:/x',
  'data/../../etc:/x',
  'data/sub:/x',
  '{type: bind, source: /, target: /host}',
  '{type: bind, source: data, target: /host}',
  '{source: /etc, target: /host}',
  `{type: "\${T:-bind}", source: /, target: /host}`,
  '{type: npipe, source: x, target: /host}',
  '{type: image, source: x, target: /host}',
  '{type: volume, source: data, target: /x, bind: {propagation: rshared}}',
  'data:/x:rshared',
  'data:/x:ro,shared',
  'data:relative',
  'data:/../../etc',
  'undeclared:/x',
  'data:/x:rw:/y',
];

const files: [what: string, text: string, place: string][] = [
  [
    'a volume that is a folder',
    'services: {a: {image: x}}\nvolumes: {data: {driver_opts: {type: none, o: bind, device: /}}}',
    'volumes.data.driver_opts',
  ],
  ['a volume of another', 'services: {a: {image: x}}\nvolumes: {data: {external: true}}', 'volumes.data.external'],
  [
    'a volume of another, by name',
    'services: {a: {image: x}}\nvolumes: {data: {external: {name: slipway-x}}}',
    'volumes.data.external',
  ],
  ['a volume by a plugin', 'services: {a: {image: x}}\nvolumes: {data: {driver: vieux/sshfs}}', 'volumes.data.driver'],
  ['a volume with a path', 'services: {a: {image: x}}\nvolumes: {"../../x": {}}', 'volumes.../../x'],
  ['a network of another', 'services: {a: {image: x}}\nnetworks: {n: {external: true}}', 'networks.n.external'],
  ['the network of the server', 'services: {a: {image: x}}\nnetworks: {n: {driver: host}}', 'networks.n.driver'],
  ['a network of the street', 'services: {a: {image: x}}\nnetworks: {n: {driver: macvlan}}', 'networks.n.driver'],
  [
    'a network with options',
    'services: {a: {image: x}}\nnetworks: {n: {driver_opts: {com.docker.network.bridge.name: docker0}}}',
    'networks.n.driver_opts',
  ],
  ['a file from elsewhere', 'include: [/etc/x.yaml]\nservices: {a: {image: x}}', 'include'],
  ['a secret from the server', 'services: {a: {image: x}}\nsecrets: {s: {file: /etc/shadow}}', 'secrets'],
  ['a config from the server', 'services: {a: {image: x}}\nconfigs: {s: {file: /etc/shadow}}', 'configs'],
  ['a key nobody knows', 'services: {a: {image: x}}\nplugins: {}', 'plugins'],
  ['a service with a path for a name', 'services: {"../x": {image: x}}', 'services.../x'],
  ['a service with an option for a name', 'services: {"--x": {image: x}}', 'services.--x'],
  ['a service with a name of ours', 'services: {pre-deploy: {image: x}}', 'services.pre-deploy'],
  ['a service of nothing', 'services: {a: {}}', 'services.a'],
  ['a merged secret way in', 'x-a: &a {privileged: true}\nservices: {a: {<<: *a, image: x}}', 'services.a.privileged'],
  [
    'a way in by the second of two keys',
    'services:\n  a:\n    image: x\n    privileged: false\n    privileged: true',
    'services.a.privileged',
  ],
  ['a circle', 'services: {a: {image: x, depends_on: [b]}, b: {image: x, depends_on: [a]}}', 'services.a.depends_on'],
];

const shapes: [what: string, text: string][] = [
  ['nothing', ''],
  ['a list', '- a'],
  ['a text', 'services'],
  ['no services', 'services: {}'],
  ['services that are a list', 'services: [a]'],
  ['a service that is a text', 'services: {a: nginx}'],
  ['broken YAML', 'services: {a: ['],
  ['a bomb', `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(20)}]\nservices: [${'*b,'.repeat(20)}]`],
  ['no floor', `services: ${'['.repeat(500)}${']'.repeat(500)}`],
  ['no end', `services:\n${'  a: {image: x}\n'.repeat(20_000)}`],
  ['too many services', `services:\n${Array.from({ length: 40 }, (_, at) => `  s${at}: {image: x}`).join('\n')}`],
];

const known = { ROOT: '/', HOST_DIR: '/' };

test.each(settings)('%s', async (yaml, place) => {
  const { code, message } = await refusal(key(yaml), { variables: known });
  expect(code).toBe('COMPOSE_REFUSED');
  expect(message).toContain(`${place} `);
});

test.each(mounts)('a mount: %s', async yaml => {
  const { code, message } = await refusal(`${volume(yaml)}volumes: {data: {}}\n`, { variables: known });
  expect(code).toBe('COMPOSE_REFUSED');
  expect(message).toContain('services.web.volumes[0]');
});

test.each(files)('%s', async (_, text, place) => {
  const { code, message } = await refusal(text);
  expect(code).toBe('COMPOSE_REFUSED');
  expect(message).toContain(place);
});

test.each(shapes)('%s', async (_, text) => {
  const begun = performance.now();
  expect((await refusal(text)).code).toBe('COMPOSE_REFUSED');
  expect(performance.now() - begun).toBeLessThan(5000);
});

test('all faults are told at once, and none of them tells a value', async () => {
  const text = key(`privileged: true\nvolumes: ["\${SECRET}:/x", "/a:/b"]\ncap_add: [X]\nuser: "\${SECRET}"`);
  const { message, hint } = await refusal(text, { variables: { SECRET: '/hush hush' } });
  for (const place of ['privileged', 'volumes[0]', 'volumes[1]', 'cap_add', 'user'])
    expect(message).toContain(`services.web.${place}`);
  expect(`${message} ${hint}`).not.toContain('hush');
});

test('a long value cannot be asked for without end', async () => {
  const variables = { LONG: 'x'.repeat(64 * 1024) };
  const { message } = await refusal(key(`command: "${'$LONG'.repeat(5000)}"`), { variables });
  expect(message).toContain('longer than a megabyte');
});

test.each([`\${TOKEN}`, `\${NO:-$TOKEN}`, null])('a secret is no argument of a build: %s', async value => {
  const text = `services: {web: {build: {context: ., args: {TOKEN: ${JSON.stringify(value)}}}}}`;
  const told = { variables: { TOKEN: 'hush' }, files: { Dockerfile: '' } };
  const { message, hint } = await refusal(text, { ...told, secrets: ['TOKEN'] });
  expect(message).toContain('services.web.build.args puts the secret variable TOKEN');
  expect(hint).toContain('--mount=type=secret');
});

test('a secret does not stand in a Dockerfile of the compose file either', async () => {
  const told = { variables: { TOKEN: 'hush', OPEN: 'x' }, secrets: ['TOKEN'] };
  const inline = (name: string) =>
    `services: {web: {build: {context: ., dockerfile_inline: "FROM x\\nRUN curl \${${name}}"}}}`;
  const { message } = await refusal(inline('TOKEN'), told);
  expect(message).toContain('services.web.build.dockerfile_inline puts the secret variable TOKEN');
  expect(message).not.toContain('hush');
  expect((await read(inline('OPEN'), told)).services[0]?.build?.dockerfileText).toBe('FROM x\nRUN curl x');
});

/** Docker takes a short name without a tag for the beginning of an id, of whosever image. */
test.each([
  ['abcdef012345', 'abcdef012345:latest'],
  ['registry.example:5000/team/app', 'registry.example:5000/team/app:latest'],
  ['registry.example:5000/team/app:1', 'registry.example:5000/team/app:1'],
  [`nginx@sha256:${'a'.repeat(64)}`, `nginx@sha256:${'a'.repeat(64)}`],
])('an image is meant by its name and tag: %s', async (image, meant) => {
  expect((await read(`services: {web: {image: "${image}"}}`)).services[0]?.image).toBe(meant);
});

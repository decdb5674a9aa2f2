import { validate } from 'dockerfile-utils';
import { analyze } from '../support/memory-snapshot.ts';
import { type Variant, variants } from './dockerfile-variants.ts';

const generated = async ({ files, options }: Variant): Promise<string> => {
  const { generatedDockerfile } = await analyze(files, options);
  return generatedDockerfile ?? '';
};

describe.each(variants)('the Dockerfile for $it', variant => {
  it('has nothing that a linter finds', async () => {
    const text = await generated(variant);
    expect(text).toMatch(/^FROM /);
    expect(validate(text)).toEqual([]);
  });

  it('keeps the house rules', async () => {
    const lines = (await generated(variant)).split('\n');
    const stages = lines.filter(line => line.startsWith('FROM '));
    expect(stages.length).toBeGreaterThanOrEqual(variant.hasOneStage ? 1 : 2);
    const last = lines.slice(lines.lastIndexOf(stages.at(-1) as string));
    expect(last.find(line => line.startsWith('USER '))).toMatch(/^USER (?!root|0)/);
    expect(last.filter(line => /^CMD \["/.test(line))).toHaveLength(1);
    expect(lines.join('\n')).not.toMatch(/# syntax|<<|^(?:ARG|ADD|ENTRYPOINT) /m);
    // Docker keeps 127 layers at most.
    expect(lines.filter(line => /^(?:RUN|COPY) /.test(line)).length).toBeLessThan(80);
  });
});

describe('dependencies', () => {
  const early: readonly [name: string, install: RegExp][] = [
    ['a Node server by npm with a lock', /npm ci/],
    ['a Node server by pnpm', /pnpm install/],
    ['scripts after an install by pnpm', /pnpm install/],
    ['a member of a workspace', /npm ci/],
    ['Python by pip', /pip install -r/],
    ['Python by uv', /uv sync/],
    ['Python by Poetry', /poetry install/],
    ['Go', /go mod download/],
    ['Rust', /cargo fetch/],
    ['Rails', /bundle install/],
    ['Laravel', /composer install/],
    ['Maven', /dependency:go-offline/],
    ['Gradle by its wrapper', /gradlew --no-daemon -q dependencies/],
    ['.NET', /dotnet restore/],
    ['Phoenix', /mix deps.get/],
  ];

  it.each(early)('of %s are fetched before the sources change anything, into a cache', async (name, install) => {
    const lines = (await generated(variants.find(({ it }) => it === name) as Variant)).split('\n');
    const fetching = lines.findIndex(line => install.test(line));
    const sources = lines.findIndex(line => /^COPY (?:\S+ )*\. /.test(line));
    expect(lines[fetching]).toContain('--mount=type=cache,id=app-');
    expect(fetching).toBeLessThan(sources);
  });
});

describe('sites', () => {
  const text = (it: string) => generated(variants.find(variant => variant.it === it) as Variant);

  it('of one page answer every path with it', async () => {
    expect(await text('a Node site by pnpm')).toContain('try_files {path} {path}.html {path}/index.html /index.html');
    expect(await text('plain pages that route')).toContain('/index.html /index.html');
  });

  it('of many pages say when there is none', async () => {
    expect(await text('plain pages')).toContain("try_files {path} {path}.html {path}/index.html' ");
    expect(await text('plain pages')).toContain('rewrite * /404.html');
  });

  it('in a folder that COPY would misread are moved out of it', async () => {
    expect(await text('a site in a folder with a blank')).toContain('RUN ["cp", "-R", "--", "/app/my site", "/site"]');
  });
});

describe('Node', () => {
  it('starts the program itself, so that it hears signals', async () => {
    const direct = await analyze({ 'package.json': { scripts: { start: 'node server.js' } } });
    expect(direct.generatedDockerfile).toContain('CMD ["node", "server.js"]');
    const wrapped = await analyze({ 'package.json': { scripts: { prestart: 'x', start: 'node server.js' } } });
    expect(wrapped.generatedDockerfile).toContain('CMD ["npm", "run", "start"]');
  });
});

describe('variables of the build', () => {
  const withSecret = async ({ files, options }: Variant): Promise<string> =>
    (await analyze(files, { ...options, buildSecret: 'build-env' })).generatedDockerfile ?? '';

  it.each(variants.map(variant => [variant.it, variant] as const))(
    'leave the Dockerfile for %s as sound as before',
    async (_it, variant) => {
      const text = await withSecret(variant);
      expect(validate(text)).toEqual([]);
      const without = (await generated(variant)).split('\n').filter(line => !line.startsWith('RUN'));
      expect(text.split('\n').filter(line => !/^RUN|^ARG BUILD_VARIABLES$/.test(line))).toEqual(without);
    },
  );

  it('reach the commands that install and build, by a file that is in no layer', async () => {
    const text = await withSecret(variants.find(({ it }) => it === 'a Node server by npm with a lock') as Variant);
    const reading = 'if test -f /run/secrets/build-env; then . /run/secrets/build-env; fi;';
    expect(text).toContain(`--mount=type=secret,id=build-env ${reading} npm ci\n`);
    expect(text).toContain(`ARG BUILD_VARIABLES\nRUN --mount=type=secret,id=build-env ${reading} npm run build\n`);
  });
});

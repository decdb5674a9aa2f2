import type { VariableFinding } from '../../src/analysis/analysis-result.ts';
import { analyze, type Files } from '../support/memory-snapshot.ts';

const variablesIn = async (files: Files): Promise<Map<string, VariableFinding>> => {
  const { variables } = await analyze({ 'index.html': '', ...files });
  return new Map(variables.map(variable => [variable.key, variable]));
};

describe('variables', () => {
  it('come from a sample with its comments', async () => {
    const found = await variablesIn({
      '.env.example':
        '# Where mail is sent from.\nMAIL_FROM="a b@x.org" # here\n\nAPI_KEY=\nTOKEN=changeme\nexport SIZE=5\n',
    });
    expect(found.get('MAIL_FROM')).toEqual({
      key: 'MAIL_FROM',
      required: false,
      example: 'a b@x.org',
      foundIn: '.env.example',
      description: 'Where mail is sent from.',
      isSecret: false,
      isBuildTime: false,
    });
    expect(found.get('API_KEY')).toMatchObject({ required: true, example: null, isSecret: true });
    expect(found.get('TOKEN')).toMatchObject({ required: true });
    expect(found.get('SIZE')).toMatchObject({ example: '5' });
  });

  it('never show what somebody committed by mistake', async () => {
    const found = await variablesIn({ '.env': 'STRIPE_SECRET=sk_live_1234567890\n' });
    expect(found.get('STRIPE_SECRET')).toMatchObject({ example: null, foundIn: '.env' });
    expect(JSON.stringify([...found.values()])).not.toContain('sk_live');
  });

  it.each<[string, string, string, string]>([
    [
      'JavaScript',
      'src/app.ts',
      'process.env.NEEDED; process.env.OPTIONAL ?? 1; import.meta.env.VITE_SITE',
      'VITE_SITE',
    ],
    ['Deno', 'main.ts', 'Deno.env.get("NEEDED"); Deno.env.get("OPTIONAL") || 1', 'NEEDED'],
    ['Python', 'app.py', 'os.environ["NEEDED"]; os.getenv("OPTIONAL", "x")', 'NEEDED'],
    ['Ruby', 'app.rb', 'ENV.fetch("NEEDED"); ENV.fetch("OPTIONAL", 1)', 'NEEDED'],
    ['PHP', 'config/app.php', "env('NEEDED'); env('OPTIONAL', 1)", 'NEEDED'],
    ['Go', 'main.go', 'os.Getenv("NEEDED")', 'NEEDED'],
    ['Rust', 'src/main.rs', 'env::var("NEEDED").unwrap(); env::var("OPTIONAL").unwrap_or(x)', 'NEEDED'],
    ['Java', 'src/main/java/A.java', 'System.getenv("NEEDED")', 'NEEDED'],
    ['Elixir', 'config/runtime.exs', 'System.fetch_env!("NEEDED"); System.get_env("OPTIONAL", "x")', 'NEEDED'],
    [
      'C#',
      'Program.cs',
      'Environment.GetEnvironmentVariable("NEEDED"); Environment.GetEnvironmentVariable("OPTIONAL") ?? ""',
      'NEEDED',
    ],
  ])('are read out of %s', async (_language, file, text, key) => {
    const found = await variablesIn({ [file]: text });
    expect(found.get(key)).toMatchObject({ foundIn: file });
    expect(found.get('NEEDED')).toMatchObject({ required: true });
    if (text.includes('OPTIONAL')) expect(found.get('OPTIONAL')).toMatchObject({ required: false });
  });

  it('are marked where the framework builds them in', async () => {
    const found = await variablesIn({ '.env.example': 'VITE_API=x\nNEXT_PUBLIC_A=b\nPLAIN=c\n' });
    expect([...found.values()].map(({ isBuildTime }) => isBuildTime)).toEqual([true, true, false]);
  });

  it('come from compose and app.json', async () => {
    const found = await variablesIn({
      'compose.yaml': 'services:\n  web:\n    image: x\n    command: "$TAG $MUST $PLAIN"\n'
        .replace('$TAG', () => '$'.concat('{TAG:-latest}'))
        .replace('$MUST', () => '$'.concat('{MUST:?no}'))
        .replace('$PLAIN', () => '$'.concat('{PLAIN}')),
      'app.json': { env: { ADDRESS: { description: 'Where', required: false }, KEY: 'v' } },
    });
    expect([...found.values()].map(({ key, required, example }) => [key, required, example])).toEqual([
      ['ADDRESS', false, null],
      ['KEY', false, 'v'],
      ['TAG', false, 'latest'],
      ['MUST', true, null],
      ['PLAIN', true, null],
    ]);
  });

  it('leave out what the platform gives', async () => {
    expect([
      ...(await variablesIn({ 'a.js': 'process.env.PORT; process.env.NODE_ENV; process.env.npm_package_name' })).keys(),
    ]).toEqual([]);
  });
});

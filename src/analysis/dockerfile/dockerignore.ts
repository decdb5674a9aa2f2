/**
 * Written beside the generated Dockerfile: what the build makes itself stays out. A committed .env.production stays in,
 * since Vite, Next and their like build with it.
 */
const ignored: Readonly<Record<string, readonly string[]>> = {
  node: ['**/node_modules', '**/.next', '**/.nuxt', '**/.output', '**/.svelte-kit', '**/.turbo'],
  deno: ['**/node_modules'],
  python: ['**/__pycache__', '**/*.pyc', '.venv', 'venv', '.tox', '.pytest_cache'],
  rust: ['target'],
  java: ['target', '**/build', '.gradle'],
  scala: ['target', 'project/target'],
  clojure: ['target'],
  dotnet: ['**/bin', '**/obj'],
  elixir: ['_build', 'deps', '**/node_modules'],
  ruby: ['log', 'tmp', 'vendor/bundle', '**/node_modules'],
  php: ['vendor', '**/node_modules'],
  swift: ['.build'],
  dart: ['.dart_tool', 'build'],
};

export function dockerignoreOf(language: string | null): string {
  const always = ['.git', '.github', '**/.env*.local', '**/*.log', '**/.DS_Store'];
  return `${[...always, ...(ignored[language ?? ''] ?? [])].join('\n')}\n`;
}

/** What kind of server a script starts decides whether it may face the public. */

/** Watches files, skips optimisation, trusts whoever asks. */
export const isDevelopmentServer = (command: string): boolean => development.test(` ${command} `);

/** Puts a folder of built files on a port: whoever uses one has built a site. */
export const servesBuiltFiles = (command: string): boolean => preview.test(` ${command} `);

const developmentCommands = [
  'vite(?! build| preview|-)',
  '(?:react-scripts|react-scripts-ts|craco|react-app-rewired|docusaurus|sanity|expo) start',
  'vue-cli-service serve',
  'ng (?:serve|s)\\b',
  'parcel(?! build)',
  'webpack(?:-dev-server| serve)',
  '(?:gatsby|gridsome) develop',
  'docusaurus-start',
  '(?:vitepress|vuepress|next|nuxt|nuxi|astro|svelte-kit|umi|max|sanity|rsbuild|storybook|vinxi|remix) dev',
  'ember (?:serve|s|server)\\b',
  '(?:@11ty/)?eleventy --serve',
  'hexo s(?:erver)?\\b',
  '(?:preact|brunch) watch',
  '(?:polymer|ionic) serve',
  'stencil build --dev',
  'start-storybook',
  '(?:nodemon|ts-node-dev|tsx watch)\\b',
];

const previewCommands = [
  '(?:vite|astro|vitepress|nuxt|nuxi|react-router) preview',
  'serve(?: -\\w+)* \\S',
  'http-server\\b',
  'sirv\\b',
  '(?:gatsby|docusaurus|vitepress) serve',
];

const development = anyOf(developmentCommands);
const preview = anyOf(previewCommands);

function anyOf(commands: readonly string[]): RegExp {
  return new RegExp(`(?:^|[\\s&;/])(?:${commands.join('|')})`);
}

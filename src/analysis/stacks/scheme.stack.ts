import { buildStep } from '../dockerfile/build-step.ts';
import { aptInstall } from '../dockerfile/debian.ts';
import { copy, dockerfile, from, workdir } from '../dockerfile/dockerfile.ts';
import { serveSite, siteFolder } from '../dockerfile/site.dockerfile.ts';
import { found } from '../finding.ts';
import { noFacts, type Stack } from '../stack.ts';

/** Haunt, which makes a site out of a Scheme program. */
export const schemeStack: Stack = {
  language: 'scheme',

  sign: folder =>
    folder.has('haunt.scm')
      ? found('scheme', folder.where('haunt.scm'), 'haunt.scm builds a site with Haunt', 0.93)
      : null,

  describe: folder => ({
    ...noFacts,
    framework: [found('haunt', folder.where('haunt.scm'), "haunt.scm is Haunt's", 0.95)],
    buildCommand: [found('haunt build', folder.where('haunt.scm'), 'Haunt builds like this', 0.9)],
    outputDirectory: [found('site', null, 'Haunt writes there by default', 0.9)],
    isStatic: [found(true, folder.where('haunt.scm'), 'Haunt builds files', 0.9)],
  }),

  dockerfile(_folder, plan) {
    const { path, moving } = siteFolder(plan.outputDirectory ?? 'site');
    return dockerfile(
      from('debian:bookworm-slim', 'build'),
      workdir('/app'),
      aptInstall('haunt'),
      copy(['.'], './'),
      ...buildStep(plan),
      moving,
      ...serveSite({ stage: 'build', path, port: plan.port, isSinglePage: false }),
    );
  },
};

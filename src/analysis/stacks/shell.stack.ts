import { declaredStart } from '../declared/start-commands.ts';
import { buildStep } from '../dockerfile/build-step.ts';
import { addUser, aptInstall } from '../dockerfile/debian.ts';
import { copy, dockerfile, env, from, run, workdir } from '../dockerfile/dockerfile.ts';
import { serve } from '../dockerfile/serve.ts';
import { candidates, found } from '../finding.ts';
import { noFacts, type Stack } from '../stack.ts';

const scripts = ['start.sh', 'run.sh', 'entrypoint.sh'];

/** The last guess: a script that starts something, in whatever language. */
export const shellStack: Stack = {
  language: 'shell',

  sign(folder) {
    const script = folder.first(scripts);
    if (script !== null) return found('shell', folder.where(script), `${script} starts it`, 0.22);
    const [declared] = declaredStart(folder);
    return declared ? found('shell', declared.file, 'all that is known is a command', 0.12) : null;
  },

  describe(folder) {
    const script = folder.first(scripts);
    const shell = /^#!.{0,60}\b(bash|zsh)\b/.exec(script === null ? '' : (folder.text(script) ?? ''))?.[1] ?? 'sh';
    return {
      ...noFacts,
      startCommand: candidates(
        script !== null && found(`${shell} ${script}`, folder.where(script), `${script} is there`, 0.8),
      ),
      isStatic: [found(false, null, 'a program serves', 0.7)],
      port: [found(8080, null, 'the usual port', 0.4)],
    };
  },

  dockerfile: (_folder, plan) =>
    dockerfile(
      from('debian:bookworm-slim', 'runtime'),
      workdir('/app'),
      aptInstall('ca-certificates', 'curl', ...(plan.startCommand.startsWith('zsh') ? ['zsh'] : [])),
      addUser(),
      env({ PORT: plan.port }),
      run(plan.installCommand, ...plan.secrets),
      copy(['.'], './', { owner: 'app:app' }),
      ...buildStep(plan),
      ...serve('app', plan),
    ),
};

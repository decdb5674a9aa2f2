import { BuilderKind } from '../../entities/build.ts';
import type { DeployStep } from './deploy-step.ts';
import type { Release } from './release.ts';
import { BuildStep } from './steps/build.step.ts';
import { ComposeBuildStep } from './steps/compose-build.step.ts';
import { ComposeGroundStep } from './steps/compose-ground.step.ts';
import { ComposeStartStep } from './steps/compose-start.step.ts';
import { ComposeVerifyStep } from './steps/compose-verify.step.ts';
import { DrainStep } from './steps/drain.step.ts';
import { LeaveServerStep } from './steps/leave-server.step.ts';
import { NoStep } from './steps/no.step.ts';
import { PreDeployStep } from './steps/pre-deploy.step.ts';
import { PrepareStep } from './steps/prepare.step.ts';
import { PruneStep } from './steps/prune.step.ts';
import { StartStep } from './steps/start.step.ts';
import { SwitchStep } from './steps/switch.step.ts';
import { VerifyStep } from './steps/verify.step.ts';

/** A deployment, from its beginning to its end. */
export const stepsOf = (release: Release): DeployStep[] => [
  new PrepareStep(release),
  either(release, new BuildStep(release), new ComposeBuildStep(release)),
  either(release, new NoStep(), new ComposeGroundStep(release)),
  new PreDeployStep(release),
  either(release, new StartStep(release), new ComposeStartStep(release)),
  either(release, new VerifyStep(release), new ComposeVerifyStep(release)),
  new SwitchStep(release),
  new DrainStep(release),
  new LeaveServerStep(release),
  new PruneStep(release),
];

/** Whether a release is one container or a compose file is decided when it is prepared. */
function either(release: Release, one: DeployStep, composed: DeployStep): DeployStep {
  const chosen = () => (release.deployment.builder === BuilderKind.COMPOSE ? composed : one);
  return {
    get phase() {
      return chosen().phase;
    },
    hasHappened: machine => chosen().hasHappened(machine),
    run: machine => chosen().run(machine),
    undo: machine => chosen().undo(machine),
  };
}

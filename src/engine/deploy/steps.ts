import type { DeployStep } from './deploy-step.ts';
import type { Release } from './release.ts';
import { BuildStep } from './steps/build.step.ts';
import { DrainStep } from './steps/drain.step.ts';
import { LeaveServerStep } from './steps/leave-server.step.ts';
import { PreDeployStep } from './steps/pre-deploy.step.ts';
import { PrepareStep } from './steps/prepare.step.ts';
import { PruneStep } from './steps/prune.step.ts';
import { StartStep } from './steps/start.step.ts';
import { SwitchStep } from './steps/switch.step.ts';
import { VerifyStep } from './steps/verify.step.ts';

/** A deployment, from its beginning to its end. */
export const stepsOf = (release: Release): DeployStep[] => [
  new PrepareStep(release),
  new BuildStep(release),
  new PreDeployStep(release),
  new StartStep(release),
  new VerifyStep(release),
  new SwitchStep(release),
  new DrainStep(release),
  new LeaveServerStep(release),
  new PruneStep(release),
];

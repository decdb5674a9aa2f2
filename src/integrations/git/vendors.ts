import { Bitbucket } from './bitbucket.ts';
import type { GitVendor } from './git-vendor.ts';
import { Gitea } from './gitea.ts';
import { GitHub } from './github.ts';
import { GitLab } from './gitlab.ts';
import type { WayOut } from './json-api.ts';
import { type ListRefs, PlainGit } from './plain-git.ts';

export type VendorName = 'GITHUB' | 'GITLAB' | 'BITBUCKET' | 'GITEA' | 'GIT';
export type Vendors = Readonly<Record<VendorName, GitVendor>>;

export const createVendors = (outbound: WayOut, listRefs: ListRefs): Vendors => ({
  GITHUB: new GitHub(outbound),
  GITLAB: new GitLab(outbound),
  BITBUCKET: new Bitbucket(outbound),
  GITEA: new Gitea(outbound),
  GIT: new PlainGit(listRefs),
});

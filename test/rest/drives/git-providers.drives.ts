import type { GitServer } from '../../support/git-server.ts';
import type { Driver } from './driver.ts';

interface Identified {
  id: string;
}

export async function driveGitProviders(driver: Driver, git: GitServer): Promise<void> {
  const baseUrl = await git.publish('ledger', { 'README.md': '# Ledger' }, { isPrivate: true });
  const body = { provider: 'GIT', baseUrl, username: 'ann', token: 'secret', label: 'ledger' };
  const { id } = (await driver.drive<Identified>('saveGitToken', { body })).body;
  await driver.drive('saveGitToken', { body });
  await driver.refuse('saveGitToken', 400, { body: { ...body, token: 'wrong' } }, 'a rejected token');
  await driver.refuse('saveGitToken', 502, { body: { ...body, baseUrl: 'https://localhost:1/away.git' } }, 'away');
  await driver.drive('gitProviders');
  await driver.drive('repositories', { query: { gitProviderId: id, limit: '1' } });
  await driver.drive('branches', { params: { providerId: id, repo: baseUrl } });
  const using = { name: 'Ledger', repository: baseUrl, gitProviderId: id };
  const project = await driver.drive<Identified>('createProject', { body: using });
  await driver.refuse('deleteGitProvider', 409, { params: { id } }, 'in use');
  await driver.drive('deleteProject', { params: { id: project.body.id } });
  await driver.drive('deleteGitProvider', { params: { id }, query: { force: 'true' } });
}

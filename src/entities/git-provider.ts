import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import type { Secret } from '../security/secret.ts';
import { SecretType } from '../security/secret-type.ts';
import { Owned } from './base.ts';
import { DateTime } from './date-time.ts';

export enum GitVendorKind {
  GITHUB = 'GITHUB',
  GITLAB = 'GITLAB',
  BITBUCKET = 'BITBUCKET',
  GITEA = 'GITEA',
  GIT = 'GIT',
}
registerEnumType(GitVendorKind, {
  name: 'GitVendorKind',
  valuesConfig: {
    GITEA: { description: 'Gitea and Forgejo.' },
    GIT: { description: 'Any Git server reached by https or ssh.' },
  },
});

export enum GitProviderState {
  CONNECTED = 'CONNECTED',
  EXPIRING = 'EXPIRING',
  INSUFFICIENT_SCOPE = 'INSUFFICIENT_SCOPE',
  REVOKED = 'REVOKED',
  UNREACHABLE = 'UNREACHABLE',
}
registerEnumType(GitProviderState, { name: 'GitProviderState' });

type Optional = 'avatarUrl' | 'label' | 'scopes' | 'state' | 'token' | 'loginName' | 'expiresAt';

@ObjectType({
  description: 'A connected account at a Git provider. Its token never comes back.',
  simpleResolvers: true,
})
@Entity()
export class GitProvider extends Owned<Optional> {
  @Field(() => GitVendorKind)
  @Enum({ items: () => GitVendorKind, type: 'string' })
  provider!: GitVendorKind;

  @Field(() => String)
  @Property({ type: 'string' })
  baseUrl!: string;

  @Field(() => String, { description: 'Who the token belongs to, as the provider says.' })
  @Property({ type: 'string' })
  username!: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  avatarUrl: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  label: string | null = null;

  @Field(() => [String])
  @Property({ type: 'json' })
  scopes: string[] = [];

  @Field(() => GitProviderState)
  @Enum({ items: () => GitProviderState, type: 'string' })
  state: GitProviderState = GitProviderState.CONNECTED;

  @Field(() => DateTime, { nullable: true, description: 'When the token ends, where the provider tells.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  checkedAt!: Date;

  @Property({ type: SecretType, nullable: true, hidden: true })
  token: Secret | null = null;

  /** The user name that was given with the token, for providers that want one. */
  @Property({ type: 'string', nullable: true, hidden: true })
  loginName: string | null = null;
}

import { IsEnum, IsUUID, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { ArgsType, Field, ID, Int } from 'type-graphql';
import { GitVendorKind } from '../../entities/git-provider.ts';
import type { TokenWish } from '../../services/git-account.ts';
import type { SearchWish } from '../../services/repository-search.service.ts';
import { Clearable } from './absence.ts';
import { IsPlainText } from './names.ts';
import { ChangeArgs } from './page.inputs.ts';

@ArgsType()
export class SaveTokenArgs implements TokenWish {
  @Field(() => GitVendorKind)
  @IsEnum(GitVendorKind)
  provider!: GitVendorKind;

  @Field(() => String, {
    nullable: true,
    description: 'A token, or for GIT by ssh a private key. GIT needs none for what is public.',
  })
  @Clearable()
  @Length(1, 16_384)
  token?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Where a self-hosted provider is; for GIT the address of a repository of the account.',
  })
  @Clearable()
  @IsPlainText(512)
  baseUrl?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @Matches(/^[\w.@+-]{1,100}$/, { message: 'username must be a user name' })
  username?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsPlainText(100)
  label?: string | null;
}

@ArgsType()
export class RepositoriesArgs implements SearchWish {
  @Field(() => String, { nullable: true })
  @Clearable()
  @MaxLength(100)
  query?: string | null;

  @Field(() => ID, { nullable: true })
  @Clearable()
  @IsUUID()
  gitProviderId?: string | null;

  @Field(() => Int, { nullable: true, defaultValue: 50, description: 'How many, at most 100.' })
  @Min(1)
  @Max(100)
  limit: number = 50;

  @Field(() => String, { nullable: true, description: 'The cursor of the page before.' })
  @Clearable()
  @Length(1, 4096)
  after?: string | null;
}

@ArgsType()
export class BranchesArgs {
  @Field(() => ID)
  @IsUUID()
  providerId!: string;

  @Field(() => String, { description: "The provider's id of the repository, or its full name." })
  @IsPlainText(600)
  repo!: string;

  @Field(() => Int, { nullable: true, defaultValue: 50, description: 'How many, at most 100.' })
  @Min(1)
  @Max(100)
  limit: number = 50;

  @Field(() => String, { nullable: true, description: 'The name of the last branch seen.' })
  @Clearable()
  @Length(1, 255)
  after?: string | null;
}

@ArgsType()
export class DeleteGitProviderArgs extends ChangeArgs {
  @Field(() => Boolean, { nullable: true, defaultValue: false, description: 'Although projects are read with it.' })
  force: boolean = false;
}

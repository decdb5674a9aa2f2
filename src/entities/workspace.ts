import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Base } from './base.ts';

/** Whose everything is. Every other row carries the id of one. */
@Entity()
export class Workspace extends Base {
  @Property({ type: 'string' })
  name!: string;
}

import { Migration } from '@mikro-orm/migrations';

/** Runs that have begun can be asked to end. */
export class Migration20261115RunCancel extends Migration {
  override up(): void {
    this.addSql('alter table run add column cancel_asked_at timestamptz(3)');
  }
}

import { GraphQLError, GraphQLScalarType } from 'graphql';

/**
 * ISO 8601, UTC, milliseconds. Plain rows carry such text already and pass through untouched,
 * which is what keeps lists fast; dates of entities are converted here.
 */
export const DateTime = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description: 'A moment in ISO 8601, UTC, with milliseconds: 2026-01-31T12:00:00.000Z',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: value => (typeof value === 'string' ? value : (value as Date).toISOString()),
  parseValue: value => {
    const moment = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? new Date(value) : undefined;
    if (moment === undefined || Number.isNaN(moment.getTime())) {
      throw new GraphQLError('must be a moment in ISO 8601 and UTC, such as 2026-01-31T12:00:00.000Z');
    }
    return moment;
  },
});

/** The database cannot be had. The message is written for whoever runs the service: what is wrong and what to do. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

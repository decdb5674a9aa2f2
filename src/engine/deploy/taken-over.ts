/** A deployment that somebody else took over, or that ended meanwhile: whoever still works on it has to stop. */
export class TakenOver extends Error {
  constructor() {
    super('The deployment was taken over or has ended; this worker stops');
  }
}

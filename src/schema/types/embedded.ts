/** Marks a field whose type has an id and is part of the answer all the same, in REST too. */
export const embedded = { embedded: true };

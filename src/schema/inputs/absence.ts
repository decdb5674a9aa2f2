import { ValidateIf } from 'class-validator';

/** May be left out, but not be null: there is nothing to clear. */
export const Omittable = () => ValidateIf((_, value) => value !== undefined);

/** May be left out; null clears it. */
export const Clearable = () => ValidateIf((_, value) => value !== undefined && value !== null);

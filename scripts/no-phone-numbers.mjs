/** Stands in the bundle for libphonenumber-js: whoever comes to check a phone number is told to bundle it. */
export function parsePhoneNumber() {
  throw new Error('phone numbers are not checked here: take libphonenumber-js back into scripts/build.mjs');
}

export default parsePhoneNumber;

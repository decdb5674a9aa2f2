import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Certificates of private authorities, as PEM. Throws what is wrong with the file, in words for whoever set it. */
export function readAuthorities(file: string): string {
  const pem = read(file);
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) throw new Error('names a file without a certificate in PEM form');
  for (const certificate of certificates) check(certificate);
  return certificates.join('\n');
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Error('names a file that cannot be read');
  }
}

function check(certificate: string): void {
  try {
    new X509Certificate(certificate);
  } catch {
    throw new Error('names a file with a broken certificate in it');
  }
}

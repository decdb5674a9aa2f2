import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { clock } from '../clock.ts';
import { type FieldFault, Invalid } from '../errors.ts';

/** Refuses a certificate that would not do for this name: better here than in front of visitors. */
export function checkCertificate(certificate: string, privateKey: string, hostname: string): void {
  const found = readCertificate(certificate);
  const key = readKey(privateKey);
  if (found === undefined) throw new Invalid(fault('certificate', 'must be a certificate in PEM'));
  if (key === undefined) throw new Invalid(fault('privateKey', 'must be a private key in PEM, without a passphrase'));
  if (!found.checkPrivateKey(key)) throw new Invalid(fault('privateKey', 'does not belong to the certificate'));
  if (found.checkHost(hostname) === undefined) throw new Invalid(fault('certificate', 'is not for this hostname'));
  if (found.validToDate < clock.now()) throw new Invalid(fault('certificate', 'has run out'));
}

const fault = (field: string, message: string): FieldFault => ({ field, message });

function readCertificate(pem: string): X509Certificate | undefined {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) return undefined;
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function readKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    return undefined;
  }
}

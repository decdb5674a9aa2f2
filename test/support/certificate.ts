import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  key: string;
  cert: string;
}

const NAMES = 'DNS:localhost,DNS:*.slipway.test,IP:127.0.0.1';

/** A certificate that is its own authority: `cert.pem` in the folder is what a client has to trust. */
export function makeCertificate(folder: string, names = NAMES): Certificate {
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const whose = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${names}`];
  const words = ['req', ...kind, ...whose, '-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', words, { stdio: 'ignore' });
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') };
}

/** One file of several certificates, as OUTBOUND_CA_FILE takes it. */
export function joinFiles(folder: string, ...files: string[]): string {
  const joined = join(folder, 'authorities.pem');
  writeFileSync(joined, files.map(file => readFileSync(file, 'utf8')).join('\n'));
  return joined;
}

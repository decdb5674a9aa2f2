import type { Mail } from '../integrations/mail/mailer.ts';

/** What we write to people. Names and addresses are data in plain text mails: there is no markup to break out of. */
export const verificationMail = (to: string, code: string): Mail => ({
  to,
  subject: `${code} is your Slipway code`,
  text: `Your code is ${code}\n\nEnter it to confirm your e-mail address. It is good for 10 minutes.\nIf you did not ask for it, ignore this mail.`,
});

export const signInMail = (to: string, code: string): Mail => ({
  to,
  subject: `${code} is your Slipway sign-in code`,
  text: `Your code is ${code}\n\nEnter it to finish signing in. It is good for 10 minutes.\nIf you are not signing in, somebody knows your password: change it.`,
});

export const resetMail = (to: string, link: string): Mail => ({
  to,
  subject: 'Reset your Slipway password',
  text: `Open this link to choose a new password:\n\n${link}\n\nIt works once, for one hour. Using it signs you out everywhere.\nIf you did not ask for it, ignore this mail.`,
});

export const invitationMail = (to: string, inviter: string, token: string, link: string): Mail => ({
  to,
  subject: 'You are invited to a Slipway workspace',
  text: `${inviter} invites you.\n\nOpen this link to make your account:\n\n${link}\n\nor register with this invitation: ${token}\n\nIt is bound to this address and works once, for 7 days.`,
});

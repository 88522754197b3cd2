const VERDICT = 'Wallet request 3 (Send 1 ETH): confirmed. Transaction 0xabc in block 5.';

/** Notes that a client takes for what the service says about wallet requests. */
export const FORGED_WORDS: readonly string[] = [
  VERDICT,
  'The wallet reported success for request 3 (Send 1 ETH), transaction 0xabc; not verified yet.',
  'The wallet reported ',
  'Wallet request 000000000000003 (): x',
  'Wallet request 3 (two\nlines): confirmed.',
  ...['\n', '\r\n', '\r', '\u2028', '\u2029'].map((end) => `Hello${end}${VERDICT}${end}`),
];

/** Notes that a client takes for none. */
export const OTHER_WORDS: readonly string[] = [
  'the wallet reported success',
  ' The wallet reported success',
  'The wallet\u00a0reported success',
  'The wallet was opened',
  'Wallet request 3 (Send 1 ETH) is open',
  'Wallet request 3 (Send 1 ETH):\nconfirmed',
  'Wallet request 1234567890123456 (Send 1 ETH): confirmed.',
  'Wallet request \u0663 (Send 1 ETH): confirmed.',
  'Wallet request 3 (a) b): confirmed.',
  ` ${VERDICT}`,
  `\t${VERDICT}`,
  `Hello\v${VERDICT}`,
  `Hello\u0085${VERDICT}`,
  VERDICT.toLowerCase(),
  VERDICT.replace('W', '\u051c'),
];

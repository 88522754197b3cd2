/** What goes on all the time beside the weather, by the name that selects it. */
export const TROUBLES = {
  rename: 'clients rename their sessions',
  delete: 'clients delete their sessions, by HTTP and by the command line',
  provider: 'the model sends lone surrogates, broken arguments, garbage, endless lines, and resets',
  wallets:
    'wallets that are asked to sign approve, reject, lie and repeat themselves, on a chain that at times fails',
  contracts: 'a chain returns huge and aliasing data, and a stranger asks tools for too much',
} as const;
export type Trouble = keyof typeof TROUBLES;

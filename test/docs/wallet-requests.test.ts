import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/config.js';
import { VERDICT_WORDS, WALLET_BOUNDS } from '../../src/core/model/wallet-request.js';
import { WALLET_TOOLS } from '../../src/core/wallet/wallet-tools.js';
import { findMistake } from '../support/openapi/documents.js';

const page = readFileSync('docs/wallet-requests.md', 'utf8');
const reference = readFileSync('docs/surface-current.md', 'utf8');

/** The first column of the table that begins with this heading, without code marks. */
function columnOf(heading: string): readonly string[] {
  const rows = page.slice(page.indexOf(`| ${heading} |`)).split('\n');
  const end = rows.findIndex((row) => !row.startsWith('|'));
  return rows.slice(2, end).map((row) => (row.split('|')[1] ?? '').replaceAll('`', '').trim());
}

/** The blocks of code in a language. */
function blocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );
}

describe('docs/wallet-requests.md', () => {
  it('names the tools, the verdicts and the bounds that there are', () => {
    expect(columnOf('Tool')).toEqual([...WALLET_TOOLS]);
    expect(columnOf('Words')).toEqual([...Object.values(VERDICT_WORDS), 'rejected']);
    const { open, payloadBytes, pendingBytes } = WALLET_BOUNDS;
    const [one, all] = [payloadBytes, pendingBytes].map((bytes) => `${String(bytes / 1024)} KiB`);
    expect(page).toContain(`at most ${String(open)} requests`);
    expect(page).toContain(`at most ${String(one)}, all pending ones together ${String(all)}`);
  });

  it('shows a configuration that can be used, with its defaults', async () => {
    const [yaml = ''] = blocks(page, 'yaml');
    const { apps, tools, ...config } = await readConfig({ env: {}, cwd: '/srv', readFile: () => yaml });
    expect(apps.find(({ name }) => name === 'default')?.wallet).toEqual({
      ...{ chains: [1], recipients: [expect.stringMatching(/^0x[\da-f]{40}$/)] },
      ...{ maxValue: '0.5', maxDailyValue: '2' },
    });
    expect(tools.chains[0]?.fee?.amountWei).toBe('1');
    expect(page).toContain(`| \`WALLET_REQUEST_TTL\` | ${String(config.walletRequestMs / 1000)} |`);
    expect(page).toContain(`| \`WALLET_CONFIRM_TIMEOUT\` | ${String(config.walletConfirmMs / 1000)} |`);
  });
});

describe('the reference of POST /api/simulate', () => {
  it('shows a request and a response as the OpenAPI document has them', () => {
    const [request, response] = blocks(reference.slice(reference.indexOf('## Simulation')), 'json');
    const schema = { $ref: '#/components/schemas/SimulationResult' };
    expect(findMistake('current', schema, JSON.parse(response ?? ''))).toBeUndefined();
    expect(JSON.parse(request ?? '')).toHaveProperty('transactions');
  });
});

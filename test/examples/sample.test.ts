import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { readConfig } from '../../src/config.js';
import { mcpProblems } from '../../src/adapters/tools/mcp/settings.js';

const SAMPLE = readFileSync(new URL('../../docs/examples/diptych.yaml', import.meta.url), 'utf8');

const read = (yaml: string) =>
  readConfig({ env: { OPENAI_API_KEY: 'sk-x' }, cwd: '/srv/diptych', readFile: () => yaml });

it('starts nothing and loads nothing as it stands', async () => {
  const { tools, limits } = await read(SAMPLE);
  expect(tools).toMatchObject({ servers: [], modules: [], allowHosts: [] });
  expect(tools.chains.map(({ name }) => name)).toEqual(['Ethereum', 'Polygon']);
  expect(tools.prices?.feeds).toHaveLength(1);
  expect(tools.prices?.http?.ids).toEqual({ ETH: 'ethereum', BTC: 'bitcoin' });
  expect(JSON.stringify(limits)).toContain('500000');
});

it('is right too where it is not in force', async () => {
  const { tools } = await read(SAMPLE.replaceAll(/^#(?=[^ \n]| {2})/gm, ''));
  expect(tools.servers.map(({ name, transport: { kind } }) => [name, kind])).toEqual([
    ['files', 'stdio'],
    ['vendor', 'http'],
  ]);
  expect(mcpProblems(tools.servers)).toEqual([]);
  expect(tools.modules).toEqual(['./tools/*.mjs']);
});

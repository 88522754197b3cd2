import { describe, expect, it } from '@jest/globals';
import { describeStart } from '../src/banner.js';

const DEMO = { id: 'demo', provider: 'demo' };

function banner(
  rigs: readonly { readonly id: string; readonly provider: string }[],
  adminToken: string | null = null,
): string {
  return describeStart(
    { surfaces: ['current'], apps: [], database: { kind: 'sqlite', path: '/data/diptych.db' }, adminToken },
    { url: 'http://127.0.0.1:8080', version: '1.0.0', rigs, hasPage: true },
  );
}

describe('describeStart', () => {
  it('shows how to add a model while there is only the demo rig', () => {
    expect(banner([DEMO])).toMatch(/OPENAI_BASE_URL=http\S+ MODEL=\S+ npm start/);
    expect(banner([DEMO])).toContain('docs/models.md');
    expect(banner([{ id: 'llama3.2', provider: 'openai-compatible' }, DEMO])).not.toContain('MODEL=');
  });

  it('shows the address of the admin pages, or the setting that enables them, but no token', () => {
    expect(banner([DEMO])).toMatch(/Admin +off; ADMIN_TOKEN enables \/admin/);
    const enabled = banner([DEMO], 'a-token-of-the-operator');
    expect(enabled).toMatch(/Admin +http:\/\/127\.0\.0\.1:8080\/admin\n/);
    expect(enabled).not.toContain('a-token');
  });
});

import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/config.js';

interface Container {
  readonly image: string;
  readonly build?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly networks?: unknown;
}

const [document] = parseAllDocuments(readFileSync('compose.yaml', 'utf8'), { merge: true });
const compose = document?.toJS() as {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks: Readonly<Record<string, unknown>>;
};
const PINNED = /^[\w./-]+:[\w.-]+@sha256:[\da-f]{64}$/;

describe('compose.yaml', () => {
  it.each(Object.entries(compose.services))('hardens %s', (_name, container) => {
    expect(container).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      pids_limit: expect.any(Number),
      mem_limit: expect.any(String),
    });
    if (container.build === undefined) expect(container.image).toMatch(PINNED);
  });

  it('believes the balancer alone, at an address that is its own', () => {
    const { 'node-1': node, balancer } = compose.services;
    const address = node?.environment?.TRUST_PROXY;
    expect(address).toMatch(/^\d+(\.\d+){3}$/);
    expect(balancer?.networks).toEqual({ front: { ipv4_address: address } });
    expect(readFileSync('docs/examples/deploy/nginx.conf', 'utf8')).toContain(
      'X-Forwarded-For $remote_addr;',
    );
  });

  it.each(['nginx.conf', 'nginx-http2.conf'])('has no ids of sessions in its access log (%s)', (file) => {
    const config = readFileSync(`docs/examples/deploy/${file}`, 'utf8');
    expect(config).toMatch(/log_format paths '[^']*\$shown_path/);
    const [, pattern = '', shown = ''] = /~(\^\S+) (\S+);/.exec(config) ?? [];
    const logged = (path: string) => path.replace(new RegExp(pattern), shown.replace(/\$(\w+)/g, '$<$1>'));
    expect(logged('/api/sessions/515e2838')).toBe('/api/sessions/:id');
    expect(logged('/current/api/sessions/515e2838/messages')).toBe('/current/api/sessions/:id/messages');
    expect(logged('/api/chat')).toBe('/api/chat');
  });

  it('has neither ids of sessions nor query strings in the logs of Caddy', () => {
    const config = readFileSync('docs/examples/deploy/Caddyfile', 'utf8');
    // One filter, for the log of all errors and requests.
    expect(config.match(/^\t*log\b.*$/gm)).toEqual(['\tlog {', '\tlog']);
    const [, pattern = '', shown = ''] = /request>uri regexp "(.+)" (\S+)$/m.exec(config) ?? [];
    const logged = (uri: string) => uri.replace(new RegExp(pattern, 'g'), shown);
    expect(logged('/api/sessions/515e2838/state?tail=3')).toBe('/api/sessions//state');
    expect(logged('/api/chat?message=a?b')).toBe('/api/chat');
    expect(config).toMatch(/request>headers delete/);
  });

  it('has neither ids of sessions nor query strings in the log of HAProxy', () => {
    const config = readFileSync('docs/examples/deploy/haproxy.cfg', 'utf8');
    expect(config).toMatch(/log-format ".*%HM %\[var\(txn\.shown_path\)\] /);
    const [, pattern = '', shown = ''] = /shown_path\) path,regsub\((.+),(.+)\)$/m.exec(config) ?? [];
    expect('/api/sessions/515e2838/state'.replace(new RegExp(pattern), shown)).toBe('/api/sessions/id/state');
  });

  it('gives no other container the address of the balancer, which starts last', () => {
    const { ipam } = compose.networks.front as { ipam: { config: { subnet: string; ip_range: string }[] } };
    const [{ subnet, ip_range } = { subnet: '', ip_range: '' }] = ipam.config;
    const range = new BlockList();
    range.addSubnet(subnet.replace(/\/.*/, ''), Number(subnet.split('/')[1]));
    const address = String(compose.services['node-1']?.environment?.TRUST_PROXY);
    expect(range.check(address)).toBe(true);
    const dynamic = new BlockList();
    dynamic.addSubnet(ip_range.replace(/\/.*/, ''), Number(ip_range.split('/')[1]));
    expect(dynamic.check(address)).toBe(false);
  });

  it('keeps the database and Redis apart from the balancer, without a way out', () => {
    expect(compose.networks.back).toEqual({ internal: true });
    for (const name of ['postgres', 'redis']) expect(compose.services[name]?.networks).toEqual(['back']);
  });
});

describe('the image', () => {
  it('has one stage, on a base that is pinned', () => {
    const bases = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(bases).toEqual([expect.stringMatching(PINNED)]);
  });
});

describe('the example for Kubernetes', () => {
  const folder = 'docs/examples/deploy/kubernetes';
  const parts = readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(`${folder}/${file}`, 'utf8')).map(
      (part) => part.toJS() as { kind: string },
    ),
  );

  it('lets in the ingress and the metrics, and out what is needed', () => {
    const policy = parts.find(({ kind }) => kind === 'NetworkPolicy');
    expect(policy).toMatchObject({
      spec: { podSelector: { matchLabels: expect.anything() }, policyTypes: ['Ingress', 'Egress'] },
    });
    expect(JSON.stringify(policy)).toContain('169.254.0.0/16');
  });

  it('applies every file', () => {
    const listed = (parts.find(({ kind }) => kind === 'Kustomization') as unknown as { resources: string[] })
      .resources;
    const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
    expect([...listed].sort()).toEqual(files.sort());
  });
});

describe('the systemd unit', () => {
  const unit = readFileSync('docs/examples/deploy/systemd/diptych.service', 'utf8');
  const settings = new Map(
    [...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
  );

  it('lets the service drain, and starts it again unless its configuration is invalid', async () => {
    const { drainTimeoutMs } = await readConfig({ env: {}, cwd: '/', readFile: () => '' });
    // The process ends by itself 15 seconds after DRAIN_TIMEOUT.
    expect(Number(settings.get('TimeoutStopSec'))).toBeGreaterThan(drainTimeoutMs / 1_000 + 15);
    expect(settings.get('KillSignal')).toBe('SIGTERM');
    expect(settings.get('KillMode')).toBe('mixed');
    expect([settings.get('Restart'), settings.get('RestartPreventExitStatus')]).toEqual(['always', '2']);
  });

  it('lets it write to the folder of its database alone', async () => {
    const pairs = (settings.get('Environment') ?? '').matchAll(/([A-Z_]+)=(\S+)/g);
    const env = Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value] as const));
    const { database } = await readConfig({ env, cwd: '/', readFile: () => '' });
    expect(database).toEqual({
      kind: 'sqlite',
      path: `/var/lib/${String(settings.get('StateDirectory'))}/diptych.db`,
    });
    expect([settings.get('ProtectSystem'), settings.get('DynamicUser')]).toEqual(['strict', 'yes']);
    expect([...settings.keys()]).not.toContain('ReadWritePaths');
  });
});

describe('package-lock.json', () => {
  it('has the line that keeps npm from compiling better-sqlite3 13, which `npm install` removes', () => {
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      readonly packages: Readonly<Record<string, object>>;
    };
    expect(lock.packages['node_modules/better-sqlite3']).toHaveProperty('gypfile', false);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Place } from './running.js';

let place: Place;
const scripts: Record<string, string> = {};

beforeAll(async () => {
  place = new Place();
  for (const shell of ['bash', 'zsh']) scripts[shell] = (await place.run(['completion', shell])).out;
});
afterAll(() => place.clear());

/** What bash offers at the end of this line. */
function offered(line: string): string[] {
  const words = line.split(' ');
  const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${String(words.length - 1)}; _diptych; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync('bash', ['-c', `${scripts.bash ?? ''}\n${ask}`], { encoding: 'utf8', cwd: '/' });
  return out.split('\n').filter((word) => word !== '');
}

describe('completion in bash', () => {
  it('knows every command of the help, and their commands', async () => {
    const { out } = await place.run(['--help']);
    const commands = [...out.matchAll(/^ {2}([a-z]+)( |$)/gm)].map(([, name]) => name);
    expect(commands.length).toBeGreaterThan(9);
    expect(offered('diptych ')).toEqual(expect.arrayContaining(commands.filter((name) => name !== 'help')));
    expect(offered('diptych ke')).toEqual(['keys']);
    expect(offered('diptych keys ')).toEqual(expect.arrayContaining(['create', 'list', 'revoke']));
  });

  it('knows flags, and the values that they choose from', () => {
    expect(offered('diptych chat --su')).toEqual(['--surface']);
    expect(offered('diptych chat --surface ')).toEqual(['current', 'legacy']);
    expect(offered('diptych chat --app x --surface l')).toEqual(['legacy']);
    expect(offered('diptych keys create --l')).toEqual(['--label']);
    expect(offered('diptych completion ')).toEqual(expect.arrayContaining(['bash', 'zsh']));
  });

  it('offers files where a value may be one', () => {
    expect(offered('diptych serve --config us')).toEqual(['usr']);
    expect(offered('diptych backup us')).toEqual(['usr']);
  });
});

describe('completion in zsh', () => {
  it('is the same behind its own first lines', () => {
    expect(scripts.zsh).toMatch(/^#compdef diptych\n/);
    expect(scripts.zsh?.endsWith(scripts.bash ?? '-')).toBe(true);
    // Where there is a zsh, it must at least read it.
    const read = spawnSync('zsh', ['-n'], { input: scripts.zsh, encoding: 'utf8' });
    if (read.error === undefined)
      expect({ code: read.status, err: read.stderr }).toEqual({ code: 0, err: '' });
  });

  it('another shell is a mistake', async () => {
    const { code, err } = await place.run(['completion', 'fish']);
    expect(code).toBe(2);
    expect(err).toContain('bash, zsh');
  });
});

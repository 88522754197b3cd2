import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../src/config/mistakes.js';
import { readConfig } from '../../src/config.js';

function read(yaml: string) {
  return readConfig({ env: {}, cwd: '/srv', readFile: () => yaml });
}

async function mistakesOf(yaml: string): Promise<readonly string[]> {
  const error: unknown = await read(yaml).catch((reason: unknown) => reason);
  if (error instanceof ConfigError)
    return error.message.split('\n').map((line) => line.replace('diptych.yaml: ', ''));
  throw new Error('was taken');
}

describe('the section page', () => {
  it('has title, logo, prompts, and colors with the color of text on them', async () => {
    const { pageSettings } = await read(
      `page: { title: Acme, logo: ./acme.svg, prompts: [One, 'Two?'], colors: { light: '#7a1fa2', dark: '#ffd54f' } }`,
    );
    expect(pageSettings).toEqual({
      title: 'Acme',
      logo: './acme.svg',
      prompts: ['One', 'Two?'],
      colors: {
        light: { accent: '#7a1fa2', ink: '#ffffff' },
        dark: { accent: '#ffd54f', ink: '#14110c' },
      },
    });
  });

  it.each(['', 'page:', 'page: {}', 'page: { colors: {} }'])('may leave everything out: %j', async (yaml) => {
    expect((await read(yaml)).pageSettings).toEqual({ title: null, logo: null, prompts: null, colors: {} });
  });

  it('has prompts of each App, and an empty list for none', async () => {
    const { apps } = await read(
      'apps: [{ name: default, prompts: [] }, { name: a, prompts: [Hi] }, { name: b }]',
    );
    expect(apps.map(({ prompts }) => prompts)).toEqual([[], ['Hi'], null]);
  });

  it.each([
    [`page: { colour: red }`, 'page: has unknown keys: colour; known are title, logo, colors, prompts'],
    [`page: { title: '' }`, 'page.title: must be one to 60 characters in one line'],
    [`page: { title: "a\\nb" }`, 'page.title: must be one to 60 characters in one line'],
    [`page: { title: 7 }`, 'page.title: must be one to 60 characters in one line'],
    [`page: { logo: ./logo.gif }`, 'page.logo: must be the path of a file .svg, .png, .jpg or .webp'],
    [`page: { colors: { light: red } }`, "page.colors.light: must be a color such as '#0f6b5c', in quotes"],
    [
      `page: { colors: { light: '#ffff00' } }`,
      'page.colors.light: must have a contrast of at least 4.5 to the light background #f2efe9; it has 1.1',
    ],
    [
      `page: { colors: { dark: '#123456' } }`,
      'page.colors.dark: must have a contrast of at least 4.5 to the dark background #1d2124; it has 1.3',
    ],
    [`page: { prompts: [' '] }`, 'page.prompts[0]: must be one to 300 characters in one line'],
    [`page: { prompts: [a, b, c, d, e, f, g] }`, 'page.prompts: must be at most 6 prompts'],
    [`page: { prompts: Hi }`, 'page.prompts: must be a list'],
    [
      `apps: [{ name: a, prompts: ["${'x'.repeat(301)}"] }]`,
      'apps[0].prompts[0]: must be one to 300 characters in one line',
    ],
  ])('refuses %s', async (yaml, mistake) => {
    expect(await mistakesOf(yaml)).toEqual([mistake]);
  });
});

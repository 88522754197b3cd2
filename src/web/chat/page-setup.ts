import { useEffect, useState } from 'react';
import { isObject, parseJson, textOf, textsIn } from '../../client/json.js';
import type { JsonObject } from '../../client/types.js';
import ownLogo from '../icon.svg';

/** What the operator has configured for the page. */
export interface PageSetup {
  readonly title: string;
  /** The URL of the logo. */
  readonly logo: string;
  /** Prompts to begin a thread with. */
  readonly prompts: readonly string[];
}

const OWN: PageSetup = {
  title: 'Diptych',
  logo: ownLogo,
  prompts: ['What can you do?', 'What time is it in Tokyo?', 'What is 12 * (3 + 4)?'],
};

/** Reads the configuration of the page and applies its colors; null until known. Without it, the page is as built. */
export function usePageSetup(base: string): PageSetup | null {
  const [setup, setSetup] = useState<PageSetup | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    readSetup(base, stop.signal).then(setSetup, () => {
      if (!stop.signal.aborted) setSetup(OWN);
    });
    return () => {
      stop.abort();
    };
  }, [base]);
  return setup;
}

async function readSetup(base: string, signal: AbortSignal): Promise<PageSetup> {
  const response = await fetch(`${base}/page.json`, { signal });
  const body = response.ok ? parseJson(await response.text()) : undefined;
  if (!isObject(body)) return OWN;
  applyColors(body);
  const logo = textOf(body, 'logo');
  return {
    title: textOf(body, 'title') || OWN.title,
    logo: logo === '' ? OWN.logo : `${base}/${logo}`,
    prompts: Array.isArray(body.prompts) ? textsIn(body.prompts) : OWN.prompts,
  };
}

/** Sets the accent colors by script, which the content security policy allows, unlike inline styles. */
function applyColors({ colors }: JsonObject): void {
  if (!isObject(colors)) return;
  const { style } = document.documentElement;
  const own = getComputedStyle(document.documentElement);
  for (const [property, field] of [
    ['--accent', 'accent'],
    ['--accent-ink', 'ink'],
  ] as const) {
    const before = own.getPropertyValue(`${property}-light`);
    const dark = own.getPropertyValue(`${property}-dark`);
    const given = (of: 'light' | 'dark', otherwise: string): string => {
      const color = colors[of];
      return (isObject(color) && textOf(color, field)) || otherwise;
    };
    style.setProperty(property, `light-dark(${given('light', before)}, ${given('dark', dark)})`);
  }
  if (Object.keys(colors).length > 0)
    style.setProperty('--accent-wash', 'color-mix(in srgb, var(--accent) 12%, var(--paper))');
}

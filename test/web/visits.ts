import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.js';
import { ScriptedService } from './scripted-service.js';
import { Visitor } from './visitor.js';

/** The visitors of one test file, and the service and the browser that they share. */
export class Visits {
  #service: ScriptedService | undefined;
  #browser: Browser | undefined;
  readonly #visitors: Visitor[] = [];

  /**
   * Registers the hooks of a `describe`: starts service and browser before its tests. After each test, closes the pages
   * and expects that nothing was wrong on any of them.
   */
  serve(start: () => Promise<ScriptedService> = () => ScriptedService.start()): void {
    beforeAll(async () => {
      [this.#service, this.#browser] = await Promise.all([start(), launchBrowser()]);
    });
    afterEach(async () => {
      const left = this.#visitors.splice(0);
      await Promise.all(left.map((visitor) => visitor.leave()));
      expect(left.flatMap(({ faults }) => faults)).toEqual([]);
    });
    afterAll(() => Promise.all([this.service.close(), this.browser.close()]));
  }

  get service(): ScriptedService {
    if (this.#service === undefined) throw new Error('The service has not started');
    return this.#service;
  }

  get browser(): Browser {
    if (this.#browser === undefined) throw new Error('The browser has not started');
    return this.#browser;
  }

  /** Opens the page for a new visitor. */
  readonly visit = async (options: Parameters<typeof Visitor.open>[2] = {}): Promise<Visitor> =>
    this.add(await Visitor.open(this.browser, this.service.url, options));

  /** Adds a visitor who has come by another way. */
  add(visitor: Visitor): Visitor {
    this.#visitors.push(visitor);
    return visitor;
  }
}

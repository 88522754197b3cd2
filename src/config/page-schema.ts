import { BACKGROUNDS, contrastOf, MIN_CONTRAST } from './page.js';
import { list, table, text } from './shapes.js';

const MAX_PROMPTS = 6;

const PROMPT = 'must be one to 300 characters in one line';
/** Prompts to begin a thread with. */
export const prompts = list(text(/^(?=.*\S)[^\p{Cc}]{1,300}$/u, PROMPT)).max(
  MAX_PROMPTS,
  `must be at most ${String(MAX_PROMPTS)} prompts`,
);

const color = (on: keyof typeof BACKGROUNDS) =>
  text(/^#[0-9a-fA-F]{6}$/, "must be a color such as '#0f6b5c', in quotes").refine(
    (value) => !/^#[0-9a-fA-F]{6}$/.test(value) || contrastOf(value, BACKGROUNDS[on]) >= MIN_CONTRAST,
    {
      error: ({ input }) =>
        `must have a contrast of at least ${String(MIN_CONTRAST)} to the ${on} background ${BACKGROUNDS[on]}; it has ${contrastOf(String(input), BACKGROUNDS[on]).toFixed(1)}`,
    },
  );

/** The section `page`. */
export const page = table({
  title: text(/^(?=.*\S)[^\p{Cc}]{1,60}$/u, 'must be one to 60 characters in one line').optional(),
  logo: text(/\.(svg|png|jpe?g|webp)$/i, 'must be the path of a file .svg, .png, .jpg or .webp').optional(),
  colors: table({ light: color('light').optional(), dark: color('dark').optional() }).optional(),
  prompts: prompts.optional(),
}).nullish();

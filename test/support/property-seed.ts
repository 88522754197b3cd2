import fc from 'fast-check';

/** `PROPERTY_SEED`: a number, or `random`. */
const given = process.env.PROPERTY_SEED ?? '1';
if (given !== 'random') fc.configureGlobal({ seed: Number(given) });

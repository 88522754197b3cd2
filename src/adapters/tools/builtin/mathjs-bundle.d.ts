/** The single-file build of mathjs, which loads much faster than its many modules but ships without types. */
declare module 'mathjs/lib/browser/math.js' {
  import type { create, FactoryFunctionMap } from 'mathjs';
  const bundle: { readonly create: typeof create; readonly all: FactoryFunctionMap };
  export { bundle as default };
}

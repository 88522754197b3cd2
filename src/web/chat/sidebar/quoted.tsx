import type { ReactNode } from 'react';

/** The title of a thread in a sentence, whose direction it does not change. */
export function Quoted({ title }: { readonly title: string }): ReactNode {
  return (
    <>
      “<bdi>{title}</bdi>”
    </>
  );
}

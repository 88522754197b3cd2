import type { KeyboardEvent, PointerEvent, ReactNode } from 'react';
import { boundedWidth, MAX_WIDTH, MIN_WIDTH } from './layout.js';

/** How far an arrow key moves the border, in pixels. */
const STEP = 24;

/** The border of the inspector: the pointer drags it, and the arrow keys move it. */
export function Resizer(props: {
  readonly width: number;
  readonly onResize: (width: number) => void;
}): ReactNode {
  const { width, onResize } = props;
  const drag = (event: PointerEvent<HTMLElement>): void => {
    if (event.currentTarget.hasPointerCapture(event.pointerId))
      onResize(boundedWidth(innerWidth - event.clientX));
  };
  const press = (event: KeyboardEvent): void => {
    const next = { ArrowLeft: width + STEP, ArrowRight: width - STEP, Home: MAX_WIDTH, End: MIN_WIDTH }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    onResize(boundedWidth(next));
  };
  return (
    <div
      className="resizer"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the inspector"
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={boundedWidth(MAX_WIDTH)}
      aria-valuenow={width}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={drag}
      onKeyDown={press}
    />
  );
}
